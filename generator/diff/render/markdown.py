"""The report as Markdown for release notes: a section and a table per label."""

import re

from generator.diff.compare.change import Change
from generator.diff.compare.comparison import Comparison, severities
from generator.diff.render.text import excerpts, printable, shortened

SPECIAL = re.compile(r"[\\`*\[\]<>|~&@#$]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|:(?=//)")
"""Characters with a meaning inside a line; an underscore only at the edge of a word, a colon only in a URL."""


def prose(text: str) -> str:
    """Escape text so that Markdown shows it as it is."""
    return SPECIAL.sub(r"\\\g<0>", printable(text))


def code(text: str) -> str:
    """Write text as code in a table cell."""
    if not text:
        return ""
    shown = printable(text).replace("|", "\\|")
    # The fence must be longer than any run of backticks in the text.
    fence = "`" * (max((len(run) for run in re.findall(r"`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def render_markdown(comparison: Comparison) -> str:
    """Write the whole report."""
    lines = [f"# Schema changes: {code(comparison.old)} to {code(comparison.new)}", ""]
    for label in comparison.labels:
        groups = severities(comparison.of(label))
        figures = ", ".join(f"{len(found)} {effect}" for effect, found in groups) or "no change"
        lines += [f"## {prose(label)}", "", f"{figures[:1].upper()}{figures[1:]}.", ""]
        if groups:
            lines += ["| reader | writer | change | before | after |", "|---|---|---|---|---|"]
            lines += [_row(change) for _, found in groups for change in found]
            lines.append("")
    lines += ["## Version advice", "", f"**{comparison.version}**: {prose(comparison.why)}."]
    return "\n".join(lines) + "\n"


def _row(change: Change) -> str:
    rule = change.rule
    said = prose(change.sentence)
    if change.used_in:
        said += f" Used in {prose(shortened(change.used_in))}."
    if change.also:
        said += f" Along with it: {prose(shortened(change.also))}."
    cells = [rule.reader, rule.writer, said, *map(code, excerpts(change.before, change.after))]
    return f"| {' | '.join(cells)} |"
