"""Which files of a source are which schemas: upstream's layouts over time, and those of packages."""

import json
from dataclasses import replace
from typing import Any

from generator.errors import GeneratorError
from generator.jsonutil import digest, is_array, is_object, parse_object
from generator.pin.origin import Origin, Pinned, PinnedFile
from generator.source import EARLY, LABELS, LockEntry, definitions_of, without_prose

NAMES = tuple(sorted({name for pair in LABELS.values() for name in pair}))
EARLY_NAMES = {name: old for label, pair in LABELS.items() for name, old in zip(pair, EARLY[label], strict=True)}
STABLE_OF_UNSTABLE = {"v1/schema.unstable.json": "v1/schema.json", "v2/schema.unstable.json": "v2/schema.json"}
DRAFT_MARK = "**UNSTABLE**"
"""How upstream's texts mark what is a draft; since drafts have files of their own, no stable file has the mark."""


def paths_of(name: str) -> list[str]:
    """List the possible paths of a file: at the top of a folder or in a checkout's `schema/`, in each layout."""
    old = EARLY_NAMES[name]
    return [name, f"schema/{name}", old, f"schema/{old}"]


def read_files(origin: Origin) -> Pinned:
    """Read and check all schema and meta files of a source.

    Raises `GeneratorError` if a file is not a schema, or if there is none.
    """
    found = {name: there for name in NAMES if (there := _find(origin, name)) is not None}
    parsed = {name: parse_object(data, _shown(origin, path)) for name, (path, data) in found.items()}
    moved: dict[str, str] = {}
    if origin.is_package:
        for unstable, stable in STABLE_OF_UNSTABLE.items():
            if stable in parsed and has_drafts(parsed[stable]):
                moved[stable] = _as_unstable(origin, found, parsed, stable, unstable)
    if not any("schema" in name for name in found):
        raise GeneratorError(
            "has no schema", file=origin.shown, hint=f"looked for {', '.join(paths_of('v1/schema.json'))}"
        )
    files = {name: _checked(name, *found[name], parsed[name], origin) for name in sorted(found)}
    provenance = replace(origin.provenance, notes=tuple(moved.values()))
    return Pinned(files, replace(origin, provenance=provenance), moved)


def has_drafts(raw: Any) -> bool:
    """Return whether a description marks something as a draft."""
    if is_array(raw):
        return any(map(has_drafts, raw))
    if not is_object(raw):
        return False
    text = raw.get("description")
    return (isinstance(text, str) and text.startswith(DRAFT_MARK)) or any(map(has_drafts, raw.values()))


def _as_unstable(
    origin: Origin, found: dict[str, tuple[str, bytes]], parsed: dict[str, Any], stable: str, unstable: str
) -> str:
    """Take a file of drafts for what it is, or refuse it if there is another; return the reason."""
    path = found[stable][0]
    if unstable in found:
        raise GeneratorError(
            "marks drafts as unstable, so it is not the stable schema that its name promises",
            file=_shown(origin, path),
            hint="pin a checkout of upstream, or another version",
        )
    found[unstable], parsed[unstable] = found.pop(stable), parsed.pop(stable)
    return f"its one schema, {path}, has drafts, so it is {unstable}"


def _checked(name: str, path: str, data: bytes, raw: dict[str, Any], origin: Origin) -> PinnedFile:
    """Check one upstream file; return it with its entry in the lock, and without descriptions."""
    if "schema" in name:
        definitions_of(raw, _shown(origin, path))
    stored = (json.dumps(without_prose(raw), indent=2, ensure_ascii=False) + "\n").encode("utf-8")
    upstream = path if path.startswith("schema/") else f"schema/{path}"
    if "unstable" in name and "unstable" not in path:
        upstream = upstream.removesuffix(".json") + ".unstable.json"
    is_elsewhere = origin.inside or not upstream.endswith(path)
    there = origin.inside + path if is_elsewhere else ""
    return PinnedFile(LockEntry(name, upstream, digest(data), digest(stored), there), data, stored)


def _find(origin: Origin, name: str) -> tuple[str, bytes] | None:
    for path in paths_of(name):
        data = origin.read(path)
        if data is not None:
            return path, data
    return None


def _shown(origin: Origin, path: str) -> str:
    return f"{origin.shown}/{origin.inside}{path}"
