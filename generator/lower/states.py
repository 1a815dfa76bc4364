"""Updates: the objects whose absent, null and given properties mean different things.

The keyword `x-state` says what an object does to the state of a session. It stands on a definition, or on the branch of
a union. An object that updates something as a whole leaves what it does not mention as it is. Exceptions are in the
overrides.
"""

from collections.abc import Iterator

from generator.engine import SchemaObject
from generator.errors import child
from generator.jsonutil import is_array, is_object
from generator.lower.context import Context
from generator.lower.nodes import Node, all_of, branches_of, reference_of
from generator.read import STATE

UPSERT = "upsert"


def find_updates(context: Context) -> frozenset[str]:
    """List the pointers of all objects that update something as a whole."""
    found: dict[str, None] = {}
    for name in context.lowered_names():
        with context.attempt():
            node, pointer = context.definition(name), context.pointer(name)
            if _upserts(node):
                _include(context, node, pointer, found)
            keyword, branches = branches_of(node)
            for index, branch in enumerate(branches):
                if _upserts(branch):
                    _include(context, branch, child(pointer, keyword, index), found)
    return frozenset(found)


def _upserts(node: Node) -> bool:
    """Return whether a schema updates something as a whole: an entry with a `value` has the update in a property."""
    return any(entry.get("action") == UPSERT and "value" not in entry for entry in _entries(node))


def _entries(node: Node) -> Iterator[dict[str, object]]:
    state = node.extras.get(STATE) if isinstance(node, SchemaObject) else None
    for entries in state.values() if is_object(state) else ():
        yield from (e for e in entries if is_object(e)) if is_array(entries) else ()


def _include(context: Context, node: Node, pointer: str, found: dict[str, None]) -> None:
    """Add an object, all that it includes, and the branches that it consists of."""
    if not isinstance(node, SchemaObject) or pointer in found:
        return
    found[pointer] = None
    target = reference_of(node)
    for name in [target] if target is not None else all_of(node):
        _include(context, context.definition(name), context.pointer(name), found)
    keyword, branches = branches_of(node)
    for index, branch in enumerate(branches):
        _include(context, branch, child(pointer, keyword, index), found)
