"""The report as plain text, for terminals and pipes: aligned, without colour."""

from itertools import groupby

from generator.diff.compare.comparison import Comparison, figures
from generator.diff.compare.folding import FoldedChange
from generator.diff.render.head import head
from generator.diff.render.plain import excerpts, places, printable, repeated, shortened


def render_text(comparison: Comparison) -> str:
    """Write the whole report."""
    lines = [f"{printable(comparison.old)} -> {printable(comparison.new)}", ""]
    lines += [f"{line.name:<9} {line.text}" for line in head(comparison)]
    folded = comparison.folded
    for label in comparison.labels:
        lines += ["", f"{label}: {figures(comparison.of(label))}{repeated(label, folded)}", ""]
        own = [f for f in folded if f.change.label == label]
        for effect, group in groupby(own, lambda f: f.change.rule.severity):
            found = list(group)
            lines += [f"  {effect}", ""]
            width = max(len(f.change.rule.kind) for f in found)
            for shown in found:
                lines += _change(shown, width)
        lines.pop()
    lines += ["", f"version advice: {comparison.version} - {printable(comparison.why)}"]
    return "\n".join(lines) + "\n"


def _change(shown: FoldedChange, width: int) -> list[str]:
    change = shown.change
    rule = change.rule
    line = f"    {rule.kind:<{width}}  reader {rule.reader:<10}  writer {rule.writer:<10}  {printable(change.sentence)}"
    before, after = excerpts(change.before, change.after)
    rows = [
        ("-", before),
        ("+", after),
        ("at", places(change)),
        ("used in", shortened(change.used_in)),
        ("methods", shortened(change.methods)),
        ("also", shortened(change.also)),
        ("known by", change.evidence),
        ("same in", ", ".join(shown.labels[1:])),
        ("  used in", shortened(shown.uses_elsewhere)),
        ("  methods", shortened(shown.methods_elsewhere)),
    ]
    return [line.rstrip(), *(f"      {name:<9} {text}".rstrip() for name, text in rows if text), ""]
