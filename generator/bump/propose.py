"""Capabilities by name: which one a method or a part of its params needs, for certain or perhaps.

Upstream names a capability like what it allows: `session/archive` and `sessionCapabilities.archive`. If both are new,
and nothing else is named so, that settles it; a name that is only alike is a proposal.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from generator.aliases import unwrap
from generator.diff.compare.shapes import META
from generator.lower.needs import INITIALIZE
from generator.model import Definition, Field, ListOf, Method, Module, Named, Presence, Struct, Union

DEEPEST = 6
"""How many keys a path has at most."""


def settled(new: Module, old: Module, asked: Iterable[Method]) -> dict[str, str]:
    """Return the capabilities that names settle, by method or `method#field` as the overrides write them.

    Method or field, and capability, are new, of the same area and named alike; the capability groups no others, since
    no schema tells whether one that does allows anything by itself. `asked` are the methods without a capability.
    """
    fresh = _ends({*capabilities_of(new)} - {*capabilities_of(old)})
    known, params, had = {m.name for m in old.methods}, _params(new), _params(old)
    found: dict[str, str] = {}
    for method in asked:
        area, _, rest = method.name.rpartition("/")
        paths = [p for p in _handled(method, fresh) if _is_of(area, p) and _ends_like(_words(rest), p)]
        if method.name not in known and len(paths) == 1:
            found[method.name] = paths[0]
    for method in new.methods:
        area = method.name.rpartition("/")[0]
        wires = {f.wire for f in had.get(method.name, ())}
        for entry in params.get(method.name, ()):
            paths = [p for p in _handled(method, fresh) if _is_of(area, p) and _is_like(_words(entry.wire), p)]
            if entry.wire not in wires and entry.presence is not Presence.REQUIRED and len(paths) == 1:
                found[f"{method.name}#{entry.wire}"] = paths[0]
    return found


def _handled(method: Method, capabilities: Iterable[tuple[str, str]]) -> list[str]:
    return [path for side, path in capabilities if side in method.handled_by]


def _ends(capabilities: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the capabilities that group no others."""
    return [(s, p) for s, p in capabilities if not any(s == o and q.startswith(f"{p}.") for o, q in capabilities)]


def _is_of(area: str, path: str) -> bool:
    """Return whether a capability is of an area of methods: one of the keys that lead to it begins so."""
    return not area or any(_words(key)[:1] == [area] for key in path.split(".")[:-1])


def _ends_like(words: list[str], path: str) -> bool:
    """Return whether a method ends with the name of a capability: `set_title` and `unarchive` do."""
    key = _words(path.rpartition(".")[2])
    end = words[-len(key) :]
    return len(end) == len(key) and all(word.endswith(part) for word, part in zip(end, key, strict=True))


def _is_like(words: list[str], path: str) -> bool:
    """Return whether a field has the name of a capability, or a form of it: `archived` is one of `archive`."""
    key = _words(path.rpartition(".")[2])
    return len(words) == len(key) and all(word.startswith(part) for word, part in zip(words, key, strict=True))


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
    """List the capabilities that nothing needs, if they are new or were needed; of one and those below it, the first.

    `proposed` are paths that are asked for already.
    """
    wanted = {*proposed, *(n.capability for n in new.needs)}
    needed = {n.capability for n in old.needs}
    known = {*capabilities_of(old)}
    fresh = [(s, p) for s, p in sorted({*capabilities_of(new)}) if (s, p) not in known or p in needed - wanted]
    tops = [(s, p) for s, p in fresh if not any(s == other and p.startswith(f"{top}.") for other, top in fresh)]
    return [(s, p) for s, p in tops if not any(w == p or w.startswith(f"{p}.") for w in wanted)]


def places_like(path: str, module: Module) -> list[str]:
    """List what params may have that is named like a capability, as the overrides write it: fields, or tags of values.

    Of a tag, the words of the capability are a part, in the singular: `subagents` is like `subagent_update`.
    """
    last = path.rpartition(".")[2]
    fields = [(f"{name}#{f.wire}", f) for name, found in _params(module).items() for f in found]
    same = [place for place, f in fields if f.wire == last]
    wanted = _stems(last)
    return same or [f"{place}={tag}" for place, f in fields for tag in _tags(f, module) if wanted <= _stems(tag)]


def _stems(name: str) -> set[str]:
    return {word.removesuffix("s") for word in _words(name)}


def _tags(entry: Field, module: Module) -> list[str]:
    """List the tags that a field's value may have, or those of its items."""
    known = {d.name: d for d in module.definitions}
    kind = unwrap(entry.kind, known.get, null=True)
    kind = unwrap(kind.item, known.get, null=True) if isinstance(kind, ListOf) else kind
    target = known.get(kind.name) if isinstance(kind, Named) else None
    if not isinstance(target, Union) or target.tag_field is None:
        return []
    return list(dict.fromkeys(tag.partition("/")[0] for tag, _ in target.variants))


def _params(module: Module) -> dict[str, tuple[Field, ...]]:
    """List the fields of the params of each method."""
    fields = {d.name: d.fields for d in module.definitions if isinstance(d, Struct)}
    return {m.name: fields.get(m.request or m.notification or "", ()) for m in module.methods}


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
