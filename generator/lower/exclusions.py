"""What a `not` says: the values that a tag must not have, or the key that an object must not have.

Upstream writes the first for the branch of an open union that takes unknown tags, and the second for the branch that
has no tag, so that a tag with a bad payload is not mistaken for it.
"""

from dataclasses import dataclass
from typing import Any

from generator.engine import SchemaObject
from generator.errors import child
from generator.jsonutil import is_object
from generator.lower.context import Context
from generator.lower.nodes import Node, branches_of, is_free, required_constants
from generator.model import Guard

SUPPORTED = "a `not` may only exclude values of one required tag, or one key"


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The tag `other_of` must not have one of the values `known`; or there is a guard."""

    other_of: str | None = None
    known: tuple[str, ...] = ()
    guard: Guard | None = None


def exclusion_of(context: Context, node: SchemaObject, pointer: str) -> Exclusion:
    """Read the `not` of an object; without one, nothing is excluded."""
    raw = node.extras.get("not")
    if raw is None:
        return Exclusion()
    place = child(pointer, "not")
    excluded = SchemaObject.model_validate(raw)
    guard = _guard(excluded)
    if guard is not None:
        if guard.key in (node.properties or {}):
            raise context.fail(place, f"excludes the key {guard.key!r}, which is a property", "drop one of the two")
        return Exclusion(guard=guard)
    pairs = [_value(branch) for branch in (branches_of(excluded)[1] or [excluded])]
    keys = {pair[0] for pair in pairs if pair is not None}
    if None in pairs or len(keys) != 1 or not keys <= set(node.required):
        raise context.fail(place, SUPPORTED)
    return Exclusion(keys.pop(), tuple(pair[1] for pair in pairs if pair is not None))


def _value(excluded: Node) -> tuple[str, str] | None:
    """Return the tag and the value that are excluded; None if something else is."""
    if not isinstance(excluded, SchemaObject) or not _is_plain(excluded):
        return None
    found = required_constants(excluded)
    return found[0] if len(found) == len(excluded.properties or {}) == len(excluded.required) == 1 else None


def _guard(excluded: SchemaObject) -> Guard | None:
    """Return the key that is excluded, whatever its value, or with any value but one."""
    if len(excluded.required) != 1 or not _is_plain(excluded):
        return None
    key = excluded.required[0]
    properties: dict[str, Any] = dict(excluded.properties or {})
    node = properties.pop(key, True)
    if properties:
        return None
    if not isinstance(node, SchemaObject):
        return Guard(key) if node is True else None
    allowed = node.extras.get("not")
    if allowed is None:
        return Guard(key) if is_free(node) else None
    is_text = is_object(allowed) and isinstance(allowed.get("const"), str) and allowed.keys() <= {"const", "type"}
    return Guard(key, allowed["const"]) if is_text and is_free(node) else None


def _is_plain(excluded: SchemaObject) -> bool:
    """Return whether an object describes its own properties only."""
    return not (excluded.anyOf or excluded.oneOf or excluded.allOf or excluded.ref or "not" in excluded.extras)
