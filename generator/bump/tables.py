"""The entries of one label in the overrides as data: a flat map, the way back, and what renames do to them."""

from collections.abc import Mapping
from typing import Any

from generator.jsonutil import is_array, is_object
from generator.overrides import FREE, GONE, LISTS, MARKER, SETS, UNIONS

Entry = tuple[str, ...]
Entries = Mapping[Entry, Any]

ITEM = object()
"""The value of an entry that is an item of a list."""
OF_DEFINITIONS = (*SETS, *UNIONS, "default", "unknown_member")
"""The tables whose entries begin with a definition."""
OF_METHODS = ("capabilities", FREE)
"""Those whose entries begin with a method."""
RENAMED = "renamed"


def entries(table: Any) -> dict[Entry, Any]:
    """List the entries of a label; its marker and the names that may go are no facts of the schema and left out."""
    found: dict[Entry, Any] = {}
    for kind, value in table.items() if is_object(table) else ():
        if kind in (MARKER, GONE):
            continue
        if is_array(value):
            found |= {(kind, str(item)): ITEM for item in value}
        elif not is_object(value):
            found[(kind,)] = value
        else:
            for name, inner in value.items():
                found |= {(kind, name, str(i)): ITEM for i in inner} if is_array(inner) else {(kind, name): inner}
    return found


def table(found: Entries) -> dict[str, Any]:
    """Make the table of a label of its entries."""
    out: dict[str, Any] = {}
    for entry, value in found.items():
        match entry:
            case (kind,):
                out[kind] = value
            case (kind, name) if value is ITEM:
                out.setdefault(kind, []).append(name)
            case (kind, name):
                out.setdefault(kind, {})[name] = value
            case (kind, name, item):
                out.setdefault(kind, {}).setdefault(name, []).append(item)
            case _:
                pass
    return out


def is_list(entry: Entry) -> bool:
    """Return whether an entry is an item of a list."""
    return len(entry) == 3 or (len(entry) == 2 and entry[0] in LISTS)


def key_of(entry: Entry) -> str:
    """Return the key under which the overrides note that an entry was used."""
    return ".".join(entry)


def after(entry: Entry, value: Any, names: Mapping[str, str], methods: Mapping[str, str]) -> tuple[Entry, Any]:
    """Return what an entry becomes once definitions and methods have new names."""
    match entry:
        case (kind, name, *items) if kind in OF_DEFINITIONS:
            head, dot, rest = name.partition(".")
            return (kind, names.get(head, head) + dot + rest, *items), value
        case (kind, name) if kind in OF_METHODS:
            head, sign, rest = name.partition("#")
            return (kind, methods.get(head, head) + sign + rest), value
        case (kind, _) if kind == RENAMED:
            return entry, new_name(value, names)
        case _:
            return entry, value


def new_name(value: Any, names: Mapping[str, str]) -> Any:
    """Return the value of an alias once its target has a new name."""
    if is_object(value):
        return {**value, "name": names.get(str(value.get("name")), value.get("name"))}
    return names.get(value, value) if isinstance(value, str) else value


def target_of(value: Any) -> str:
    """Return the name that an alias stands for."""
    return str(value.get("name")) if is_object(value) else str(value)
