"""Proposals for capabilities: of those that the handling side can advertise, the one that is named like the method."""

import re
from collections.abc import Collection, Iterator, Mapping

from generator.diff.compare.shapes import META
from generator.lower.needs import INITIALIZE
from generator.model import Definition, Method, Module, Named, Struct, unwrap

DEEPEST = 6
"""How many keys a path has at most."""


def proposal(method: Method, module: Module) -> str:
    """Return the path of the capability that a method may need; empty if none is named like it.

    The last key of the path must be one of the words of the method, and the others the more like it, the better.
    """
    words = _words(method.name)
    found = [
        path
        for side, path in capabilities_of(module)
        if side in method.handled_by
        and any(last in word or word in last for last in _words(path.rpartition(".")[2]) for word in words[1:] or words)
    ]
    return max(found, key=lambda path: (len({*words} & {*_words(path)}), -len(path)), default="")


def capabilities_of(module: Module) -> list[tuple[str, str]]:
    """List what each side can advertise: the side, and the path of keys from `initialize`."""
    known = {d.name: d for d in module.definitions}
    initialize = next((m for m in module.methods if m.name == INITIALIZE), None)
    if initialize is None:
        return []
    starts = {"agent": initialize.response, "client": initialize.request}
    return [(side, path) for side, name in starts.items() for path in _paths(known.get(name or ""), known)]


def unneeded(new: Module, old: Module, proposed: Collection[str]) -> list[tuple[str, str]]:
    """List the new capabilities that nothing needs; of one and those below it, only the first.

    `proposed` are paths that are asked for already.
    """
    wanted = {*proposed, *(n.capability for n in new.needs)}
    fresh = sorted((side, path) for side, path in {*capabilities_of(new)} - {*capabilities_of(old)})
    tops = [(s, p) for s, p in fresh if not any(s == other and p.startswith(f"{top}.") for other, top in fresh)]
    return [(s, p) for s, p in tops if not any(w == p or w.startswith(f"{p}.") for w in wanted)]


def places_like(path: str, module: Module) -> list[str]:
    """List the parts of params that are named like a capability, as the overrides write them."""
    last = path.rpartition(".")[2]
    fields = {d.name: d.fields for d in module.definitions if isinstance(d, Struct)}
    methods = [(m.name, m.request or m.notification or "") for m in module.methods]
    return [f"{name}#{f.wire}" for name, params in methods for f in fields.get(params, ()) if f.wire == last]


def _words(name: str) -> list[str]:
    return [w.lower() for w in re.findall(r"[A-Z]?[a-z]+", name)]


def _paths(start: Definition | None, known: Mapping[str, Definition], depth: int = 0) -> Iterator[str]:
    """List the paths of keys below a definition, as far as they lead through objects."""
    for entry in start.fields if isinstance(start, Struct) and depth < DEEPEST else ():
        kind = unwrap(entry.kind, known.get, null=True)
        if depth or entry.name.endswith("capabilities"):
            if entry.wire == META:
                continue
            if depth:
                yield entry.wire
            below = known.get(kind.name) if isinstance(kind, Named) else None
            yield from (f"{entry.wire}.{path}" for path in _paths(below, known, depth + 1))
