"""Folding tags: a payload that one variant alone uses carries that variant's tag itself.

Other payloads stay untagged, and each variant that uses one becomes a tagged subclass of it. What a tag is, `nodes`
says (`required_constants`); which key is that of a union, and the class of each variant, `unions`.
"""

from generator.engine import SchemaObject
from generator.lower.categories import has_shared_part
from generator.lower.context import Context
from generator.lower.exclusions import exclusion_of
from generator.lower.nodes import all_of, branches_of, definition_refs, required_constants, sole_branch
from generator.model import Guard, Tag


def fold_tags(context: Context) -> dict[str, Tag]:
    """Find the payloads that carry a tag, by the names of their definitions."""
    refs = _count_refs(context)
    out: dict[str, Tag] = {}
    # The variants of an inline union are named after it, and leave payloads untagged.
    for name in context.lowered_names():
        node = context.definition(name)
        if name not in context.schema.names or has_shared_part(node):
            continue
        for branch in branches_of(node)[1]:
            found = _sole_payload(branch) if isinstance(branch, SchemaObject) else None
            with context.attempt():
                if found is not None and refs[found[0]] == 1 and _can_carry(context, *found):
                    out[found[0]] = found[1]
    return out


def _sole_payload(branch: SchemaObject) -> tuple[str, Tag] | None:
    """Return the payload and the tag of a branch that consists of nothing else."""
    tags, targets = required_constants(branch), all_of(branch)
    adds = len(branch.properties or {}) > 1 or branch.anyOf or branch.oneOf or branch.additionalProperties
    if len(tags) != 1 or len(targets) != 1 or adds or "not" in branch.extras:
        return None
    return targets[0], Tag(*tags[0])


def _can_carry(context: Context, payload: str, tag: Tag) -> bool:
    """Return whether a payload is an object without the tag's key, and not a message's params or result."""
    node = context.definition(payload)
    if not context.is_struct(payload) or "x-method" in node.extras or sole_branch(node) is not None:
        return False
    guard = exclusion_of(context, node, context.pointer(payload)).guard
    is_allowed = guard is None or guard == Guard(tag.field, tag.value)
    return is_allowed and tag.field not in (node.properties or {})


def _count_refs(context: Context) -> dict[str, int]:
    """Count the references to each definition, those of routing definitions aside."""
    raw = context.schema.source.raw["$defs"]
    out = dict.fromkeys(raw, 0)
    for name, node in raw.items():
        if name not in context.routing:
            for target in definition_refs(node):
                out[target] = out.get(target, 0) + 1  # where a reference is dangling, the run stops later
    return out
