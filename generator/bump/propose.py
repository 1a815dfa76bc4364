"""Proposals for capabilities: of those that the handling side can advertise, the one that is named like the method."""

import re
from collections.abc import Iterator, Mapping

from generator.lower.needs import INITIALIZE
from generator.model import Definition, Method, Module, Named, Struct, unwrap

DEEPEST = 6
"""How many keys a path has at most."""


def proposal(method: Method, module: Module) -> str:
    """Return the path of the capability that a method may need; empty if none is named like it.

    The last key of the path must be one of the words of the method, and the others the more like it, the better.
    """
    known = {d.name: d for d in module.definitions}
    initialize = next((m for m in module.methods if m.name == INITIALIZE), None)
    if initialize is None:
        return ""
    starts = {"agent": initialize.response, "client": initialize.request}
    words = _words(method.name)
    found = [
        path
        for side in method.handled_by
        for path in _paths(known.get(starts.get(side) or ""), known)
        if any(last in word or word in last for last in _words(path.rpartition(".")[2]) for word in words[1:] or words)
    ]
    return max(found, key=lambda path: (len({*words} & {*_words(path)}), -len(path)), default="")


def _words(name: str) -> list[str]:
    return [w.lower() for w in re.findall(r"[A-Z]?[a-z]+", name)]


def _paths(start: Definition | None, known: Mapping[str, Definition], depth: int = 0) -> Iterator[str]:
    """List the paths of keys below a definition, as far as they lead through objects."""
    for entry in start.fields if isinstance(start, Struct) and depth < DEEPEST else ():
        kind = unwrap(entry.kind, known.get, null=True)
        if depth or entry.name.endswith("capabilities"):
            if depth:
                yield entry.wire
            below = known.get(kind.name) if isinstance(kind, Named) else None
            yield from (f"{entry.wire}.{path}" for path in _paths(below, known, depth + 1))
