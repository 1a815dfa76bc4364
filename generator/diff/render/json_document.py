"""The report as JSON, for programs.

The document is one object. Later versions may add keys; renaming or removing one changes the `format`:

    format      1
    old, new    what was compared, as it was named
    labels      the modules that were compared, in order
    version     "major", "minor", "patch" or "none": the next release that the changes require
    why         the reason, one sentence
    status      the exit status: 0, 3 or 4
    counts      {"reader": {effect: number}, "writer": {effect: number}} with all four effects
    head        the first lines of every report, a list of objects:
        name        what the line is about: "advice", "modules", or a group of kinds such as "removed"
        text        the line
    changes     a list, by label, then by severity, then by name; each an object:
        kind        the rule, such as "field.removed"
        label       the module
        repeats     the module with the equal change that the reports for people show instead, or null
        owner       the Python name of the definition that declares the changed thing, or "methods"
        name        the Python name of the changed thing
        reader      "breaking", "tightened", "loosened" or "compatible"
        writer      the same for writers
        severity    the more severe of the two
        version     the next release that this change alone requires
        sentence    the change in one sentence
        reason      the reason for both effects
        pointers    {"old": JSON pointer or null, "new": JSON pointer or null}, null on the side that lacks it
        before      the old code as users see it, "" if there is none
        after       the same for the new side
        used_in     places that refer to the owner, or repeat the change because they were made from it
        methods     the methods whose messages may contain the owner
        also        names that are added or removed along with it; "Old -> New" for those that follow a rename
        evidence    how a rename was recognised, else ""
"""

import json
from typing import Any

from generator.diff.compare.change import Change
from generator.diff.compare.comparison import Comparison
from generator.diff.compare.rules import EFFECTS
from generator.diff.render.head import head

FORMAT = 1


def render_json(comparison: Comparison) -> str:
    """Write the whole report."""
    homes = {id(repeat): f.change.label for f in comparison.folded for repeat in f.repeats}
    document = {
        "format": FORMAT,
        "old": comparison.old,
        "new": comparison.new,
        "labels": list(comparison.labels),
        "version": comparison.version,
        "why": comparison.why,
        "status": comparison.status,
        "counts": {side: {e: comparison.count(side, e) for e in EFFECTS} for side in ("reader", "writer")},
        "head": [{"name": line.name, "text": line.text} for line in head(comparison)],
        "changes": [_change(c, homes.get(id(c))) for c in comparison.changes],
    }
    return json.dumps(document, indent=2) + "\n"


def _change(change: Change, repeats: str | None) -> dict[str, Any]:
    return {
        "kind": change.rule.kind,
        "label": change.label,
        "repeats": repeats,
        "owner": change.owner,
        "name": change.name,
        "reader": change.rule.reader,
        "writer": change.rule.writer,
        "severity": change.rule.severity,
        "version": change.rule.version,
        "sentence": change.sentence,
        "reason": change.rule.reason,
        "pointers": {"old": change.old_pointer, "new": change.new_pointer},
        "before": change.before,
        "after": change.after,
        "used_in": list(change.used_in),
        "methods": list(change.methods),
        "also": list(change.also),
        "evidence": change.evidence,
    }
