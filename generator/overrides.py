"""Overrides: rules of the reference that the schema does not express, kept as data; stale entries are errors."""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generator.errors import GeneratorError, Problems, stale
from generator.jsonutil import is_array, is_object
from generator.read import Schema
from generator.source import ROOT, Source, read_bytes

FILE = "schema/overrides.toml"
TABLES = ("patch", "default", "unknown_member", "renamed", "capabilities")
MARKER = "marker"
STABLE_OF = {"v1_unstable": "v1", "v2_unstable": "v2"}


@dataclass(frozen=True, slots=True)
class Capability:
    """A capability: `path` are the keys in `initialize` that lead to it, joined by dots.

    For a method: an `optional` capability can be advertised without the method; a `group` only contains other
    capabilities, so that an empty object advertises nothing. For a part of the params: a `derived` capability is
    advertised by everyone who handles the method.
    """

    path: str
    optional: bool = False
    derived: bool = False
    group: bool = False


@dataclass(slots=True)
class Overrides:
    """The entries for one schema.

    Each look-up marks its entry as used. Every entry for a pinned schema must be used; for any other schema, which may
    be older or newer than the entries, entries without a match are ignored.
    """

    file: str = FILE
    strict: bool = True
    patch: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    default: dict[str, str] = field(default_factory=dict[str, str])
    unknown_member: dict[str, str] = field(default_factory=dict[str, str])
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    """Deprecated names of former releases, each with the current name."""
    capabilities: dict[str, Capability] = field(default_factory=dict[str, "Capability"])
    """The capability that a method, or a part of its params, needs."""
    family: str = "v1"
    """The stable schema whose entries these are."""
    _used: set[str] = field(default_factory=set[str])

    def is_patch(self, definition: str, key: str) -> bool:
        """Return whether a property is a patch field: absent, null and a value mean different things."""
        found = key in self.patch.get(definition, ())
        if found:
            self._used.add(f"patch.{definition}.{key}")
        return found

    def default_of(self, enumeration: str) -> str | None:
        """Return the default of a property whose type is the enumeration."""
        found = self.default.get(enumeration)
        if found is not None:
            self._used.add(f"default.{enumeration}")
        return found

    def unknown_of(self, definition: str) -> str | None:
        """Return the member that replaces unknown values of an enumeration."""
        found = self.unknown_member.get(definition)
        if found is not None:
            self._used.add(f"unknown_member.{definition}")
        return found

    def use_capability(self, key: str) -> None:
        """Mark an entry of `capabilities` as used."""
        self._used.add(f"capabilities.{key}")

    def check_used(self, schema: Schema, unsure: Collection[str] = ()) -> None:
        """Refuse entries that were never used; those that the definitions `unsure` may have needed are left alone."""
        entries = [f"patch.{d}.{key}" for d, keys in self.patch.items() for key in keys if d not in unsure]
        entries += [f"default.{e}" for e in self.default if not unsure or e not in schema.names]
        entries += [f"unknown_member.{d}" for d in self.unknown_member if d not in unsure]
        known = {found.extras.get("x-method") for found in schema.definitions.values() if unsure}
        entries += [f"capabilities.{key}" for key in self.capabilities if key.partition("#")[0] not in known]
        stale(sorted(set(entries) - self._used), file=self.file, schema=schema.source.file)


def load_overrides(source: Source, path: Path = ROOT / FILE) -> Overrides:
    """Read the entries for a schema.

    For a label that the file lacks, they are those of the version whose marker the schema defines, else of v1.
    """
    label = source.label
    shown = FILE if path == ROOT / FILE else str(path)
    try:
        raw = tomllib.loads(read_bytes(path, shown).decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as why:
        raise GeneratorError(f"is not TOML: {why}", file=shown) from None
    if label in STABLE_OF:
        tables = [STABLE_OF[label], label]
    elif label in raw:
        tables = [label]
    else:
        given = source.raw.get("$defs")
        known: dict[str, Any] = given if is_object(given) else {}  # reading refuses anything else
        marked = (t for t, entries in raw.items() if is_object(entries) and entries.get(MARKER) in known)
        family = next(marked, "v1")
        tables = [family, f"{family}_unstable"]
    out = Overrides(shown, strict=source.pinned, family=tables[0])
    problems = Problems()
    for table in tables:
        _add(out, table, raw.get(table, {}), shown, problems)
    problems.stop()
    return out


def _add(out: Overrides, table: str, raw: Any, shown: str, problems: Problems) -> None:
    if not is_object(raw):
        problems.add(GeneratorError(f"[{table}] is not a table", file=shown))
        return
    for key, entries in raw.items():
        if key == MARKER:
            continue
        if key not in TABLES or not is_object(entries):
            hint = f"one of {', '.join(TABLES)}"
            problems.add(GeneratorError(f"[{table}] has an unknown table {key!r}", file=shown, hint=hint))
            continue
        for name, value in entries.items():
            if key == "patch" and is_array(value):
                out.patch.setdefault(name, set()).update(str(v) for v in value)
            elif key == "default" and isinstance(value, str):
                out.default[name] = value
            elif key in ("unknown_member", "renamed") and isinstance(value, str):
                (out.unknown_member if key == "unknown_member" else out.renamed)[name] = value
            elif key == "capabilities" and (made := _capability(name, value)) is not None:
                out.capabilities[name] = made
            else:
                problems.add(GeneratorError(f"[{table}.{key}] {name} has a value of the wrong type", file=shown))


def _capability(name: str, value: Any) -> Capability | None:
    if isinstance(value, str):
        return Capability(value)
    if is_object(value) and isinstance(path := value.get("path"), str):
        allowed = ("derived",) if "#" in name else ("optional", "group")
        flags = {key: flag for key, flag in value.items() if key in allowed and isinstance(flag, bool)}
        if flags and len(flags) == len(value) - 1:
            return Capability(path, **flags)
    return None
