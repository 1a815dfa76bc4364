"""What a person must decide: everything that would otherwise go wrong in silence, or that stops `generate`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from generator import api
from generator.bump.emission import Emission
from generator.bump.entries import Family
from generator.bump.labels import Label, module_of
from generator.bump.plan import Decision, Group
from generator.bump.propose import capabilities_of, places_like, proposal, unneeded
from generator.diff.compare.index import declaring_key
from generator.diff.compare.shapes import META
from generator.errors import GeneratorError
from generator.lower.undecided import undecided_needs, undecided_states
from generator.model import Field, Module, Presence, Struct, Union
from generator.overrides import FILE, MARKER
from generator.tolerant import Tolerated


def decisions_of(
    families: Iterable[Family], final: Mapping[str, Tolerated], emitted: Mapping[str, Emission], raw: Mapping[str, Any]
) -> list[Decision]:
    """List the decisions; `final` are the new modules with the edited overrides, `raw` these overrides."""
    found: list[Decision] = []
    for family in families:
        for label in family.labels:
            module = final.get(label.name)
            found += _reading(label, module, emitted.get(label.name))
            found += _marker(label, raw)
            if module is not None:
                found += _states(label, module)
                found += _needs(label, module)
            if label.name in emitted and module is not None:
                found += _names(label, emitted[label.name], module)
    found += _senders([x for family in families for x in family.labels], final)
    return _without_repeats(found, families)


def _decision(group: Group, label: str, why: GeneratorError) -> Decision:
    place = f"{why.file}#{why.pointer}" if why.pointer else why.file
    return Decision(group, label, place, why.problem, why.hint)


def _reading(label: Label, module: Tolerated | None, emission: Emission | None) -> Iterator[Decision]:
    problems = [*label.broken, *(module.problems if module else ()), *(emission.problems if emission else ())]
    return (_decision(Group.READING, label.name, why) for why in dict.fromkeys(problems))


def _marker(label: Label, raw: Mapping[str, Any]) -> Iterator[Decision]:
    marker = raw.get(label.name, {}).get(MARKER)
    definitions: Mapping[str, Any] = label.new.source.raw.get("$defs", {}) if label.new is not None else {}
    if isinstance(marker, str) and label.new is not None and marker not in definitions:
        what = f"the marker {marker} is not a definition of {label.name} any more"
        hint = f"name another definition that only this version has, as {MARKER} of [{label.name}] in {FILE}"
        yield Decision(Group.READING, label.name, label.new.source.file, what, hint)


def _senders(labels: Iterable[Label], final: Mapping[str, Tolerated]) -> Iterator[Decision]:
    """Report senders that the old schemas did not have: no endpoint is written for one that is not agent or client.

    What becomes of a sender is decided once for all schemas that have it.
    """
    new: dict[str, list[tuple[Label, str]]] = {}
    methods: dict[str, set[str]] = {}
    for label in labels:
        old, found = module_of(label.old), final.get(label.name)
        if old is None or found is None:
            continue
        module, known = found.module, {r.sender for r in old.routings}
        for sender in sorted({r.sender for r in module.routings} - known):
            routings = [r for r in module.routings if r.sender == sender]
            new.setdefault(sender, []).append((label, f"{found.source.file}#{routings[0].pointer}"))
            methods.setdefault(sender, set()).update(
                e.method for r in routings for e in module.envelopes if e.name in r.envelopes
            )
    for sender, places in new.items():
        names = ", ".join(label.name for label, _ in places)
        yield Decision(
            Group.SENDERS,
            places[0][0].name,
            places[0][1],
            f"{sender} is a new sender, in {names}: {', '.join(sorted(methods[sender])) or 'responses only'}",
            "its messages are read and written; say in the changelog that `aio` has no endpoint for it, or add one",
            tuple(place for _, place in places[1:]),
        )


def _states(label: Label, found: Tolerated) -> Iterator[Decision]:
    for why in undecided_states(found.source, found.overrides):
        yield _decision(Group.STATES, label.name, why)
    yield from _new_updates(label, found)


def _new_updates(label: Label, found: Tolerated) -> Iterator[Decision]:
    """Report new variants with nullable fields beside variants with patch facts: only the reference knows more."""
    if label.old is None:
        return
    structs = {d.name: d for d in found.module.definitions if isinstance(d, Struct)}
    known = {d.name for d in label.old.module.definitions} | {*label.names.values()}
    seen: set[str] = set()
    for union in (d for d in found.module.definitions if isinstance(d, Union)):
        variants = [(name, tuple(_fields(name, structs))) for _, name in union.variants]
        if not any(f.presence is Presence.PATCH for _, fields in variants for f in fields):
            continue
        for name, fields in variants:
            optional = [f for f in fields if f.presence is Presence.OPTION and f.constant is None]
            optional = [f for f in optional if any(o.wire != META for o in optional)]
            owners = sorted({declaring_key(f.pointer) for f in optional} - known - found.overrides.not_patch.keys())
            is_patched = any(f.presence is Presence.PATCH for f in fields)
            if name in known or is_patched or not owners or owners[0] in seen:
                continue
            seen.update(owners)
            keys = ", ".join(f.wire for f in optional if declaring_key(f.pointer) == owners[0])
            yield Decision(
                Group.STATES,
                label.name,
                f"{found.source.file}#/$defs/{owners[0]}",
                f"{owners[0]} is new in {union.name}, other variants of which have three states: {keys}",
                f"watch the reference, and say it in [{label.name}.patch] or [{label.name}.not_patch] of {FILE}",
            )


def _fields(name: str, structs: Mapping[str, Struct]) -> Iterator[Field]:
    while name in structs:
        yield from structs[name].fields
        name = structs[name].base or ""


def _needs(label: Label, found: Tolerated) -> Iterator[Decision]:
    """Report methods without a capability, and new capabilities that nothing needs."""
    proposed: set[str] = set()
    for why, method in undecided_needs(found.source, found.overrides, found.module):
        path = proposal(method, found.module)
        proposed.add(path)
        entry = f'perhaps "{method.name}" = "{path}"; ' if path else ""
        yield replace(_decision(Group.CAPABILITIES, label.name, why), hint=entry + why.hint)
    old = module_of(label.old)
    if old is None:
        return
    for side, path in unneeded(found.module, old, proposed):
        like = places_like(path, found.module)
        entry = f"perhaps {', '.join(like)}; " if like else ""
        yield Decision(
            Group.CAPABILITIES,
            label.name,
            found.source.file,
            f"the {side} can advertise {path}, {_lack(path, old)}",
            f"{entry}say what needs it in [{label.name}.capabilities] of {FILE}, if anything does",
        )


def _lack(path: str, old: Module) -> str:
    is_old = any(path == known for _, known in capabilities_of(old))
    return "and nothing is known to need it any more" if is_old else "which is new, and nothing is known to need it"


def _names(label: Label, emission: Emission, found: Tolerated) -> Iterator[Decision]:
    names, before = list(emission.names), list(label.before)
    for why in api.role_problems(found.module, names, before, found.overrides):
        yield _decision(Group.ROLES, label.name, why)
    for why in api.name_problems(label.name, names, before, found.overrides):
        yield _decision(Group.NAMES, label.name, why)


def _without_repeats(found: list[Decision], families: Iterable[Family]) -> list[Decision]:
    """Join what both schemas of a family ask alike: one entry in the table of the stable one decides both."""
    stable_of = {x.name: family.stable.name for family in families for x in family.labels}
    groups = (Group.STATES, Group.CAPABILITIES)
    out: dict[tuple[str, str], Decision] = {}
    for number, decision in enumerate(found):
        what = decision.what.replace(decision.label, "") if decision.group in groups else str(number)
        key = (stable_of[decision.label], what)
        first = out.get(key)
        out[key] = decision if first is None else replace(first, also=(*first.also, decision.place))
    return sorted(out.values(), key=lambda d: list(Group).index(d.group))
