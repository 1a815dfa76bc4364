"""The order of definitions in an emitted module: each one stands just below the definitions that it refers to."""

import heapq

from generator.errors import GeneratorError
from generator.model import Alias, CatchAll, Definition, Field, Named, Presence, Struct, Union, parts
from generator.values import names_in


def soft_dependencies(definition: Definition) -> list[str]:
    """List the names that a definition refers to, in annotations as well."""
    found: list[str] = []
    match definition:
        case Struct(fields=fields) | CatchAll(fields=fields):
            for entry in fields:
                found.extend(p.name for p in parts(entry.kind) if isinstance(p, Named))
        case _:
            pass
    return [*eager_dependencies(definition), *found]


def eager_dependencies(definition: Definition) -> list[str]:
    """List the names that must exist when Python executes a definition: bases, members of unions, defaults."""
    found: list[str] = []
    match definition:
        case Struct(fields=fields, base=base):
            found.extend([base] if base else [])
            found.extend(_in_defaults(fields))
        case CatchAll(fields=fields):
            found.extend(_in_defaults(fields))
        case Alias(kind=kind):
            found.extend(p.name for p in parts(kind) if isinstance(p, Named))
        case Union(tagged=tagged, others=others, fallbacks=fallbacks):
            for kind in (*tagged, *others, *fallbacks):
                found.extend(p.name for p in parts(kind) if isinstance(p, Named))
        case _:
            pass
    return found


def _in_defaults(fields: tuple[Field, ...]) -> list[str]:
    found: list[str] = []
    for entry in fields:
        if entry.default is None:
            continue
        found.extend(sorted(set(names_in(entry.default))))
        if entry.presence is Presence.DEFAULTED:  # an empty list or map is written with the type of its items
            found.extend(p.name for p in parts(entry.kind) if isinstance(p, Named))
    return found


def has_forward_references(definitions: list[Definition]) -> bool:
    """Return whether a definition refers to itself, or to one that stands below it."""
    seen: set[str] = set()
    known = {d.name for d in definitions}
    for definition in definitions:
        if any(name in known and name not in seen for name in soft_dependencies(definition)):
            return True
        seen.add(definition.name)
    return False


def ordered(definitions: tuple[Definition, ...], file: str) -> list[Definition]:
    """Order definitions for readers and for Python, independently of their order in the input."""
    by_name = {d.name: d for d in definitions}
    rank = _reading_rank(by_name)
    waiting = {n: {e for e in eager_dependencies(d) if e in by_name and e != n} for n, d in by_name.items()}
    for name, definition in by_name.items():
        if name in eager_dependencies(definition):
            raise GeneratorError(f"{name} is made of itself", file=file, pointer=definition.pointer)
    ready = [(rank[n], n) for n, needs in waiting.items() if not needs]
    heapq.heapify(ready)
    users: dict[str, list[str]] = {}
    for name, needs in waiting.items():
        for need in needs:
            users.setdefault(need, []).append(name)
    out: list[Definition] = []
    while ready:
        _, name = heapq.heappop(ready)
        out.append(by_name[name])
        for user in users.get(name, []):
            waiting[user].discard(name)
            if not waiting[user]:
                heapq.heappush(ready, (rank[user], user))
    if len(out) < len(by_name):
        stuck = min(n for n, needs in waiting.items() if needs)
        raise GeneratorError(
            f"{stuck} is made of itself by way of {min(waiting[stuck])}",
            file=file,
            pointer=by_name[stuck].pointer,
            hint="aliases, unions and defaults may not form a cycle",
        )
    return out


def _reading_rank(by_name: dict[str, Definition]) -> dict[str, int]:
    rank: dict[str, int] = {}
    entered: set[str] = set()
    for start in sorted(by_name):
        stack: list[tuple[str, bool]] = [(start, False)]
        while stack:
            name, done = stack.pop()
            if done:
                rank.setdefault(name, len(rank))
            elif name not in entered:
                entered.add(name)
                stack.append((name, True))
                needs = dict.fromkeys(n for n in soft_dependencies(by_name[name]) if n in by_name)
                stack.extend((need, False) for need in reversed(list(needs)))
    return rank
