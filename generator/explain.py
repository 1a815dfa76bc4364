"""Explaining one type: its place in the schema, its shape, how each field is read, its users, and the emitted code."""

import difflib
import json
from dataclasses import dataclass

from generator.docs import load_docs
from generator.emit import write_definition
from generator.emit.text import Writer, value_text
from generator.errors import GeneratorError
from generator.lower import lower
from generator.model import (
    Alias,
    CatchAll,
    Definition,
    Enumeration,
    Field,
    Identifier,
    Leniency,
    Member,
    Module,
    Named,
    Presence,
    Struct,
    Union,
    parts,
)
from generator.overrides import Overrides, load_overrides
from generator.read import read_schema
from generator.source import Source
from generator.values import MemberOf, to_json

PRESENCES = {
    Presence.REQUIRED: "required",
    Presence.OPTION: "option: absent and null are None, left out when None",
    Presence.PATCH: "patch: absent is UNSET, null is None",
    Presence.ABSENT: "absent is UNSET, null is an error, left out when UNSET",
    Presence.DEFAULTED: "defaulted: absent is the default, always written",
    Presence.EMPTY: "empty by default: left out when empty",
}
LENIENCIES = {
    Leniency.NONE: "",
    Leniency.ON_ERROR: "an invalid value is replaced by the default",
    Leniency.ON_NULL: "null is replaced by the default",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything about one type: a title, details as names and texts, fields, and the emitted code."""

    title: str
    details: tuple[tuple[str, str], ...]
    fields: tuple[tuple[str, str, str, str], ...]
    """For each: Python name, JSON key, type, how it is read."""
    code: str


def explain(source: Source, name: str) -> Explanation:
    """Explain a type of one schema; an unknown name is an error that suggests similar ones."""
    overrides = load_overrides(source)
    module = lower(read_schema(source), overrides)
    found = {d.name: d for d in module.definitions}
    if name not in found:
        close = difflib.get_close_matches(name, [*found, *(e.name for e in module.envelopes)], n=3, cutoff=0.5)
        close = close or [n for n in found if name.lower() in n.lower()][:3]
        hint = f"did you mean {' or '.join(close)}?" if close else "name a key of $defs or the class of a variant"
        raise GeneratorError(f"there is no type {name!r} in {source.label}", file=source.file, hint=hint)
    definition = found[name]
    return Explanation(
        title=f"{source.label}.{name}",
        details=tuple(_details(definition, module, source)),
        fields=tuple(_field(name, f, overrides, module) for f in getattr(definition, "fields", ())),
        code=write_definition(definition, load_docs(source)),
    )


def _details(definition: Definition, module: Module, source: Source) -> list[tuple[str, str]]:
    out = [("place", f"{source.file}#{definition.pointer}"), ("shape", _shape(definition))]
    base = getattr(definition, "base", None)
    if base:
        out.append(("inherits", f"the fields of {base}"))
    variants = [
        f"{d.name} ({steps})"
        for d in module.definitions
        if isinstance(d, Union)
        for steps, made in d.variants
        if made == definition.name
    ]
    if variants:
        out.append(("variant of", ", ".join(variants)))
    method, side = getattr(definition, "method", None), getattr(definition, "side", None)
    if method:
        out.append(("method", f"{method}, handled by: {side}"))
    out += _exceptions(definition)
    found = [_annotations(definition.pointer, module)]
    found += [f"{m.name}: {text}" for m in _members(definition) if (text := _annotations(m.pointer, module))]
    if any(found):
        out.append(("annotations", "; ".join(filter(None, found))))
    users = sorted({d.name for d in module.definitions if definition.name in _mentions(d) and d is not definition})
    users += [e.name for e in module.envelopes if e.params == definition.name]
    out.append(("used by", ", ".join(users) if users else "nothing else in this schema"))
    return out


def _annotations(pointer: str, module: Module) -> str:
    """List the annotations of one part of the schema."""
    return ", ".join(f"{a.keyword} = {json.dumps(to_json(a.value))}" for a in module.annotations_at(pointer))


def _members(definition: Definition) -> tuple[Member, ...]:
    return definition.members if isinstance(definition, Enumeration) else ()


def _exceptions(definition: Definition) -> list[tuple[str, str]]:
    """List what a class does besides its shape: the keys that exclude it, and null."""
    out: list[tuple[str, str]] = []
    if isinstance(definition, Struct | CatchAll) and definition.forbids:
        out.append(("excluded by", f"{', '.join(definition.forbids)}, where a union has it as a variant"))
    if isinstance(definition, Struct) and definition.takes_null:
        out.append(("null", "stands for an object without keys"))
    return out


def _shape(definition: Definition) -> str:
    match definition:
        case Struct(tag=None):
            return "object" + _guarded(definition)
        case Struct(tag=tag) if tag is not None:
            return f"object with the tag {tag.field} = {tag.value!r}"
        case CatchAll(other_of=None):
            return "object that keeps undeclared keys"
        case CatchAll(other_of=key, known=known):
            return f"catch-all for a {key} other than {', '.join(known)}; keeps undeclared keys"
        case Enumeration(is_open=is_open, unknown=unknown, members=members):
            rest = (
                "keeps unknown values" if is_open else f"reads unknown values as {unknown!r}" if unknown else "closed"
            )
            return f"enumeration of {len(members)} values, {rest}"
        case Identifier():
            return "text of a named type"
        case Alias():
            return "another name for a type"
        case Union(tag_field=key, others=others, fallbacks=fallbacks, tag_decides=decides):
            how = f"with the tag {key!r}" if key else "without a tag, tried in order"
            ends = ["open to other tags"] if others else []
            rest = "untagged fallbacks where the tag is unknown" if decides else "then untagged fallbacks"
            ends += [rest] if fallbacks and key else []
            return ", ".join([f"union {how}", *ends])
        case _:
            return "object"


def _guarded(struct: Struct) -> str:
    guard = struct.guard
    if guard is None:
        return ""
    return f" without the key {guard.key!r}" + (f", unless it is {guard.unless!r}" if guard.unless is not None else "")


def _mentions(definition: Definition) -> set[str]:
    kinds = [f.kind for f in getattr(definition, "fields", ())]
    match definition:
        case Alias(kind=kind):
            kinds.append(kind)
        case Union(tagged=tagged, others=others, fallbacks=fallbacks):
            kinds += [*tagged, *others, *fallbacks]
        case Struct(base=base) if base is not None:
            kinds.append(Named(base))
        case _:
            pass
    return {p.name for kind in kinds for p in parts(kind) if isinstance(p, Named)}


def _field(owner: str, entry: Field, overrides: Overrides, module: Module) -> tuple[str, str, str, str]:
    notes = [PRESENCES[entry.presence]]
    if entry.default is not None:
        notes[0] += f" ({value_text(entry.default)})"
    if entry.constant is not None:
        notes = [f"always {entry.constant!r}"]
    if LENIENCIES[entry.leniency]:
        notes.append(LENIENCIES[entry.leniency])
    text = Writer().annotation(entry)
    if "SkipInvalid[" in text:
        notes.append("invalid items are dropped")
    if entry.presence is Presence.PATCH:
        declared = _declared_in(entry, owner)
        listed = entry.wire in overrides.patch.get(declared, ())
        notes.append(f"override patch.{declared} in {overrides.file}" if listed else "as the schema says: an update")
    if entry.merged:
        notes.append(f"merged key by key: override merged in {overrides.file}")
    if entry.presence is Presence.EMPTY and isinstance(entry.default, MemberOf):
        notes.append(f"override default.{entry.default.enumeration} in {overrides.file}")
    annotations = _annotations(entry.pointer, module)
    if annotations:
        notes.append(f"annotated {annotations}")
    return entry.name, entry.wire, text, "; ".join(notes)


def _declared_in(entry: Field, owner: str) -> str:
    tokens = entry.pointer.split("/")
    return tokens[2] if len(tokens) > 2 else owner
