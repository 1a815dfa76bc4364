"""The report as JSON, for programs.

The document is one object; keys are added in later versions, but never renamed or removed without another `format`:

    format      1
    old, new    what was compared, as it was named
    labels      the modules that were compared, in order
    version     "major", "minor", "patch" or "none": what the changes ask of the next release
    why         the reason, one sentence
    status      the exit status: 0, 3 or 4
    counts      {"reader": {class: number}, "writer": {class: number}} with all four classes
    changes     a list, by label, then by gravity, then by name; each an object:
        kind        the rule, such as "field.removed"
        label       the module
        owner       the Python name of the definition that declares what changed, or "methods"
        name        the Python name of what changed
        reader      "breaking", "tightened", "loosened" or "compatible"
        writer      the same for those who write
        severity    the graver of the two
        version     what this change alone asks of the next release
        sentence    what changed
        reason      why the rule has these classes
        pointers    {"old": JSON pointer or null, "new": JSON pointer or null}, null where the place is missing
        before      the code that users see, "" where there was none
        after       the same for the new side
        used_in     places that refer to the owner, or that repeat the change since they were made of it
        methods     the methods whose messages may carry the owner
        also        names that come or go along with it; "Old -> New" for those that follow a rename
        evidence    what a rename was recognised by, else ""
"""

import json
from typing import Any

from generator.diff.compare.change import Change
from generator.diff.compare.comparison import Comparison
from generator.diff.compare.rules import EFFECTS

FORMAT = 1


def render_json(comparison: Comparison) -> str:
    """Write the whole report."""
    document = {
        "format": FORMAT,
        "old": comparison.old,
        "new": comparison.new,
        "labels": list(comparison.labels),
        "version": comparison.version,
        "why": comparison.why,
        "status": comparison.status,
        "counts": {side: {e: comparison.count(side, e) for e in EFFECTS} for side in ("reader", "writer")},
        "changes": [_change(c) for c in comparison.changes],
    }
    return json.dumps(document, indent=2) + "\n"


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": change.rule.kind,
        "label": change.label,
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
