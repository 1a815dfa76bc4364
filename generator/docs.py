"""Docstrings: texts from `schema/docs/`, else the descriptions of the schema if it has any."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generator.errors import GeneratorError, Problems, stale
from generator.jsonutil import is_array, is_object
from generator.overrides import STABLE_OF
from generator.source import ROOT, Source, read_bytes

FOLDER = "schema/docs"
SHARED = "shared"
METHODS = "methods"
KEYS = {"doc": str, "fields": dict, "members": dict}


@dataclass(slots=True)
class Docs:
    """The texts for one schema.

    Each file is named after the label that it documents; `shared.toml` has texts of fields that mean the same in every
    class. For a pinned schema, unused entries of the label's own file are errors.
    """

    source: Source
    files: dict[str, dict[str, Any]]
    _used: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    _found: int = 0
    missing: list[str] = field(default_factory=list[str])
    """The places without a text, as dotted names."""

    def of_class(self, name: str, pointer: str) -> str | None:
        """Return the text of a class or alias."""
        return self._find((name, "doc"), pointer)

    def of_field(self, name: str, key: str, pointer: str) -> str | None:
        """Return the text of a property."""
        return self._find((name, "fields", key), pointer, shared=("fields", key))

    def of_member(self, name: str, value: str | int, pointer: str) -> str | None:
        """Return the text of an enumeration's value."""
        return self._find((name, "members", str(value)), pointer)

    def of_method(self, name: str) -> str | None:
        """Return the text of a protocol method."""
        return self._find((METHODS, name), "")

    @property
    def places(self) -> frozenset[tuple[str, ...]]:
        """The places whose texts were asked for."""
        return frozenset(self._used)

    @property
    def coverage(self) -> tuple[int, int]:
        """The number of places with a text, and of all places."""
        return self._found, self._found + len(self.missing)

    def check_used(self) -> None:
        """Refuse unused entries of the label's own file."""
        own = self.files.get(self.source.label, {})
        gone = own.keys() - {path[0] for path in self._used}
        unused = [".".join(path[:1] if path[0] in gone else path) for path in entries_of(own) if path not in self._used]
        stale(dict.fromkeys(unused), file=f"{FOLDER}/{self.source.label}.toml", schema=self.source.file)

    def _find(self, path: tuple[str, ...], pointer: str, shared: tuple[str, ...] | None = None) -> str | None:
        found = self._own(path)
        self._used.add(path)
        if found is None and shared is not None:
            # A property of a flattened variant has the text of the definition that declares it.
            declared = (pointer.split("/")[2], *shared) if pointer.startswith("/$defs/") else path
            found = self._own(declared)
            if found is not None:
                self._used.add(declared)
            else:
                found = _at(self.files.get(SHARED, {}), shared)
        if found is None:
            found = self._description(pointer)
        if found is None:
            self.missing.append(".".join(path))
        else:
            self._found += 1
        return " ".join(str(found).split()) if found is not None else None

    def _own(self, path: tuple[str, ...]) -> str | None:
        """Look up a text in the label's files; the later file wins."""
        found: str | None = None
        for name in (n for n in self.files if n != SHARED):
            found = _at(self.files[name], path) or found
        return found

    def _description(self, pointer: str) -> str | None:
        node: Any = self.source.raw
        for token in (t.replace("~1", "/").replace("~0", "~") for t in pointer.split("/")[1:]):
            if is_array(node):
                node = node[int(token)]
            elif is_object(node):
                node = node.get(token)
        text = node.get("description") if is_object(node) else None
        return text if isinstance(text, str) and text.strip() else None


def load_docs(source: Source, root: Path = ROOT) -> Docs:
    """Read the files that document a schema."""
    found: dict[str, bytes] = {}
    for name in files_of(source.label):
        path = root / name
        if path.exists():
            found[name] = read_bytes(path, name)
    return docs_from(source, found)


def files_of(label: str) -> list[str]:
    """List the files that document a schema; of two texts for one place, that of the later file counts."""
    names = dict.fromkeys((SHARED, STABLE_OF.get(label, label), label))
    return [f"{FOLDER}/{name}.toml" for name in names]


def docs_from(source: Source, contents: Mapping[str, bytes]) -> Docs:
    """Read the contents of the files that document a schema."""
    files: dict[str, dict[str, Any]] = {}
    for file in files_of(source.label):
        if file in contents:
            name = Path(file).stem
            files[name] = _load(contents[file], file, shared=name == SHARED)
    return Docs(source, files)


def _load(data: bytes, shown: str, *, shared: bool) -> dict[str, Any]:
    try:
        raw = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as why:
        raise GeneratorError(f"is not TOML: {why}", file=shown) from None
    tables = {SHARED: raw} if shared else {n: e for n, e in raw.items() if n != METHODS}
    problems = Problems()
    for name, entry in tables.items():
        for key, value in entry.items() if is_object(entry) else [("", None)]:
            if key not in KEYS or not isinstance(value, KEYS[key]):
                what, hint = f"[{name}] has an unknown entry {key!r}", f"one of {', '.join(KEYS)}"
                problems.add(GeneratorError(what, file=shown, hint=hint))
    problems.stop()
    return raw


def _at(table: dict[str, Any], path: tuple[str, ...]) -> str | None:
    node: Any = table
    for token in path:
        node = node.get(token) if is_object(node) else None
    return node if isinstance(node, str) else None


def entries_of(table: dict[str, Any]) -> list[tuple[str, ...]]:
    """List the places that a file has texts for."""
    out: list[tuple[str, ...]] = []
    for name, entry in table.items():
        for key, value in entry.items():
            out.extend([(name, key)] if isinstance(value, str) else [(name, key, k) for k in value])
    return out
