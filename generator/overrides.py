"""Overrides: rules of the reference that the schema does not express, kept as data; stale entries are errors."""

import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generator.errors import GeneratorError, Problems, stale
from generator.jsonutil import is_array, is_object
from generator.read import Schema
from generator.source import ROOT, Source, read_bytes

FILE = "schema/overrides.toml"
TABLES = ("patch", "not_patch", "enforced", "forbids", "default", "unknown_member", "renamed", "capabilities")
SETS = ("patch", "not_patch", "enforced", "forbids")
"""The tables whose entries are sets of keys."""
MARKER, NULL_AS_EMPTY = "marker", "null_as_empty"
FREE, GONE, MERGED = "free", "gone", "merged"
UNIONS = ("tag_decides", "verbatim")
LISTS = (*UNIONS, FREE, GONE, MERGED)
"""Lists of names that a label has besides its tables."""
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

    Each look-up marks its entry as used. Every entry for a pinned schema must be used, but not those that an unstable
    schema has from its stable one; for any other schema, which may be older or newer than the entries, entries without
    a match are ignored.
    """

    file: str = FILE
    strict: bool = True
    patch: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    not_patch: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Nullable properties with two states though the schema marks them, or others of the definition have three."""
    enforced: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """The limits that readers enforce: a definition, or `Definition.property`, with their keywords."""
    forbids: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """The keys that exclude a definition where a union has it as a variant."""
    lists: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """The lists `LISTS`. `tag_decides`: a known tag excludes the fallbacks. `verbatim`: no value changes. `free`: the
    methods that need no capability. `merged`: the properties whose objects an update merges. `gone`: names and roles
    that may go though what they stand for is still there."""
    null_as_empty: bool = False
    """Whether null stands for an empty object where a payload of a method requires nothing."""
    default: dict[str, str] = field(default_factory=dict[str, str])
    unknown_member: dict[str, str] = field(default_factory=dict[str, str])
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    """Deprecated names of former releases, each with the current name."""
    capabilities: dict[str, Capability] = field(default_factory=dict[str, "Capability"])
    """The capability that a method, or a part of its params, needs."""
    family: str = "v1"
    """The stable schema whose entries these are."""
    inherited: set[str] = field(default_factory=set[str])
    """The entries that an unstable schema has from its stable one, where they apply only if they match."""
    undecided: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """Nullable properties of definitions with patch facts of which the facts say nothing, with their pointers."""
    _used: set[str] = field(default_factory=set[str])

    @property
    def used(self) -> frozenset[str]:
        """The entries that have matched so far."""
        return frozenset(self._used)

    def set_of(self, table: str) -> dict[str, set[str]]:
        """Return one of the tables `SETS`."""
        found: dict[str, set[str]] = getattr(self, table)
        return found

    def is_patch(self, definition: str, key: str, *, marked: bool = False) -> bool:
        """Return whether a property is a patch field: absent, null and a value mean different things.

        `marked` is whether the schema says so; an entry that only repeats that counts as unused.
        """
        found, excepted = key in self.patch.get(definition, ()), key in self.not_patch.get(definition, ())
        if found and not marked:
            self._used.add(f"patch.{definition}.{key}")
        if excepted and marked:
            self._used.add(f"not_patch.{definition}.{key}")
        return found or (marked and not excepted)

    def enforces(self, place: str, keyword: str) -> bool:
        """Return whether readers enforce a limit; `place` is a definition, or `Definition.property`."""
        found = keyword in self.enforced.get(place, ())
        if found:
            self._used.add(f"enforced.{place}.{keyword}")
        return found

    def forbidden(self, definition: str, marked: Collection[str]) -> tuple[str, ...]:
        """Return the keys that exclude a definition from a union, besides those that the schema marks."""
        found = tuple(sorted(self.forbids.get(definition, set[str]()) - set(marked)))
        self._used.update(f"forbids.{definition}.{key}" for key in found)
        return found

    def lists_union(self, key: str, union: str) -> bool:
        """Return whether a list of unions has one; `key` is one of `LISTS`."""
        found = union in self.lists.get(key, ())
        if found:
            self._used.add(f"{key}.{union}")
        return found

    def merges(self, key: str) -> bool:
        """Return whether an update merges the object of a property into the present one."""
        found = key in self.lists.get(MERGED, ())
        if found:
            self._used.add(f"{MERGED}.{key}")
        return found

    def takes_null(self) -> bool:
        """Return whether null stands for an empty payload that requires nothing."""
        if self.null_as_empty:
            self._used.add(NULL_AS_EMPTY)
        return self.null_as_empty

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

    def unused(self, entry: str) -> None:
        """Take back that an entry was used: it does not fit its place."""
        self._used.discard(entry)

    def ask_for_state(self, definition: str, key: str, pointer: str) -> None:
        """Note a property that could be a patch field, if the facts of its definition do not say what it is."""
        if key in self.not_patch.get(definition, ()):
            self._used.add(f"not_patch.{definition}.{key}")
        elif definition in self.patch:
            self.undecided.setdefault(definition, {})[key] = pointer

    def use_capability(self, key: str) -> None:
        """Mark an entry of `capabilities` as used."""
        self._used.add(f"capabilities.{key}")

    @property
    def gone(self) -> set[str]:
        """The names and roles of former releases that may go."""
        return self.lists.get(GONE, set())

    def is_free(self, method: str) -> bool:
        """Return whether a method is known to need no capability."""
        found = method in self.lists.get(FREE, ())
        if found:
            self._used.add(f"{FREE}.{method}")
        return found

    def keep_fitting_names(self, exports: Collection[str]) -> None:
        """Drop the old names that an unstable schema has from its stable one and that do not fit it."""
        for old, new in list(self.renamed.items()):
            if f"renamed.{old}" in self.inherited and (old in exports or new not in exports):
                del self.renamed[old]

    def check_used(self, schema: Schema, unsure: Collection[str] = ()) -> None:
        """Refuse entries that were never used; those that the definitions `unsure` may have needed are left alone."""
        sets = ((t, d, keys) for t in SETS for d, keys in self.set_of(t).items() if d not in unsure)
        entries = [f"{t}.{d}.{key}" for t, d, keys in sets for key in keys]
        known = {found.extras.get("x-method") for found in schema.definitions.values() if unsure}
        lists = ((key, name) for key, names in self.lists.items() for name in names if key != GONE)
        entries += [f"{key}.{name}" for key, name in lists if name not in unsure and name not in known]
        entries += [NULL_AS_EMPTY] if self.null_as_empty and not unsure else []
        entries += [f"default.{e}" for e in self.default if not unsure or e not in schema.names]
        entries += [f"unknown_member.{d}" for d in self.unknown_member if d not in unsure]
        entries += [f"capabilities.{key}" for key in self.capabilities if key.partition("#")[0] not in known]
        stale(sorted(set(entries) - self._used - self.inherited), file=self.file, schema=schema.source.file)


def load_overrides(source: Source, path: Path = ROOT / FILE) -> Overrides:
    """Read the entries for a schema.

    For a label that the file lacks, they are those of the version whose marker the schema defines, else of v1.
    """
    shown = FILE if path == ROOT / FILE else str(path)
    return overrides_from(source, read_bytes(path, shown), shown)


def overrides_from(source: Source, data: bytes, shown: str = FILE) -> Overrides:
    """Read the entries for a schema from the content of the file `shown`."""
    try:
        raw = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as why:
        raise GeneratorError(f"is not TOML: {why}", file=shown) from None
    return overrides_of(source, raw, shown)


def overrides_of(source: Source, raw: dict[str, Any], shown: str = FILE) -> Overrides:
    """Read the entries for a schema from the tables of the file `shown`."""
    label = source.label
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
        inherits = table != tables[-1] and label in STABLE_OF
        entries = raw.get(table, {})
        if not is_object(entries):
            problems.add(GeneratorError(f"[{table}] is not a table", file=shown))
            continue
        _add(out, table, entries, problems, inherits=inherits)
        names = {".".join(entry) for entry in entries_of(entries)}
        out.inherited = out.inherited | names if inherits else out.inherited - names
    problems.stop()
    return out


def entries_of(table: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """List the entries of a label: each has the keys that lead to it, and the item where it is one of a list."""
    for kind, entries in table.items():
        if is_array(entries):
            yield from ((kind, str(item)) for item in entries)
        elif not is_object(entries):
            yield (kind,)
        else:
            for name, value in entries.items():
                yield from ((kind, name, str(item)) for item in value) if is_array(value) else [(kind, name)]


def _add(out: Overrides, table: str, raw: dict[str, Any], problems: Problems, *, inherits: bool) -> None:
    shown = out.file
    for key, entries in raw.items():
        if key == MARKER:
            continue
        if key == NULL_AS_EMPTY and isinstance(entries, bool):
            out.null_as_empty = entries
            continue
        if key in LISTS and is_array(entries) and all(isinstance(e, str) for e in entries):
            out.lists.setdefault(key, set()).update(entries)
            continue
        if key not in TABLES or not is_object(entries):
            hint = f"one of {', '.join(TABLES)}"
            problems.add(GeneratorError(f"[{table}] has an unknown table {key!r}", file=shown, hint=hint))
            continue
        for name, value in entries.items():
            if key in SETS and is_array(value):
                out.set_of(key).setdefault(name, set()).update(str(v) for v in value)
            elif key == "default" and isinstance(value, str):
                out.default[name] = value
            elif key == "unknown_member" and isinstance(value, str):
                out.unknown_member[name] = value
            elif key == "renamed" and (new := _new_name(value)) is not None:
                if not (inherits and is_object(value)):
                    out.renamed[name] = new
            elif key == "capabilities" and (made := _capability(name, value)) is not None:
                out.capabilities[name] = made
            else:
                problems.add(GeneratorError(f"[{table}.{key}] {name} has a value of the wrong type", file=shown))


def _new_name(value: Any) -> str | None:
    """Read the new name of an old one: a text, or `{ name = "…", unstable = false }` for the stable module alone."""
    if isinstance(value, str):
        return value
    is_stable_only = is_object(value) and value.keys() == {"name", "unstable"} and value["unstable"] is False
    return value["name"] if is_stable_only and isinstance(value["name"], str) else None


def _capability(name: str, value: Any) -> Capability | None:
    if isinstance(value, str):
        return Capability(value)
    if is_object(value) and isinstance(path := value.get("path"), str):
        allowed = ("derived",) if "#" in name else ("optional", "group")
        flags = {key: flag for key, flag in value.items() if key in allowed and isinstance(flag, bool)}
        if flags and len(flags) == len(value) - 1:
            return Capability(path, **flags)
    return None
