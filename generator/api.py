"""The public names, each with the part of the schema that it represents, so that none disappears unnoticed.

A name may be removed together with its definition, variant, property or value. As long as upstream has that part of the
schema, its name must stay, or `[label.renamed]` in the overrides must say the new name.

The coroutines of the endpoints in `aio` and the members of `AgentMethod` and `ClientMethod` are not recorded: they
follow upstream's own keys for the methods. A class can keep its old name as an alias, but a second coroutine for the
same method would be a second thing to override.
"""

from dataclasses import dataclass

from generator.errors import GeneratorError, Problems
from generator.model import CatchAll, Enumeration, Module, Struct, Union
from generator.overrides import Overrides

FILE = "api.txt"
FORMERLY = "formerly "
HEAD = "# Every public name and what it stands for in the schema. Written by `python -m generator generate`.\n"


@dataclass(frozen=True, slots=True)
class PublicName:
    """One public name, relative to its module, and the part of the schema that it represents."""

    name: str
    stands_for: str


def entries_of(module: Module, overrides: Overrides) -> list[PublicName]:
    """List the names of one module; a class with its union's tag also represents the variant."""
    found: list[PublicName] = []
    for definition in module.definitions:
        name = definition.name
        if definition.pointer == f"/$defs/{name}":
            found.append(PublicName(name, f"#/$defs/{name}"))
        match definition:
            case Struct(fields=fields) | CatchAll(fields=fields):
                found += [PublicName(f"{name}.{f.name}", f"{name}: {f.wire}") for f in fields]
            case Enumeration(members=members):
                found += [PublicName(f"{name}.{m.name}", f"{name} = {m.value}") for m in members]
            case Union(variants=variants):
                found += [PublicName(made, f"variant {name}/{steps}") for steps, made in variants]
            case _:
                pass
    named = {e.name for e in found}
    found += [PublicName(d.name, f"inline #{d.pointer}") for d in module.definitions if d.name not in named]
    for envelope in module.envelopes:
        prefix = "request" if envelope.is_request else "notification"
        found.append(PublicName(envelope.name, f"{prefix} {envelope.method}"))
    found += [PublicName(r.name, f"routing {r.name}") for r in module.routings]
    found += [PublicName(old, f"{FORMERLY}{new}") for old, new in overrides.renamed.items()]
    return sorted(set(found), key=lambda e: (e.name, e.stands_for))


def check_names(label: str, entries: list[PublicName], before: list[PublicName], overrides: Overrides) -> None:
    """Refuse removed names whose part of the schema still exists, and `renamed` entries that do not apply."""
    problems = Problems()
    own = {e.name for e in entries if not e.stands_for.startswith(FORMERLY)}
    for old, new in overrides.renamed.items():
        problem = ""
        if old in own:
            problem = f"{old} is still a separate name"
        elif new not in own or "." in new:
            problem = f"{old} = {new!r}: there is no class {new}"
        if problem:
            problems.add(GeneratorError(f"[{label}.renamed] {problem}", file=overrides.file, hint="correct the entry"))
    for entry, now in lost_names(entries, before):
        problems.add(
            GeneratorError(
                f"the name {label}.{entry.name} would become {now}, but what it stands for is still upstream: "
                f"{entry.stands_for}",
                file=f"generated/{FILE}",
                hint=f'keep the old name alive with [{label}.renamed] {entry.name} = "{now}" in {overrides.file}',
            )
        )
    problems.stop()


def lost_names(entries: list[PublicName], before: list[PublicName]) -> list[tuple[PublicName, str]]:
    """Find the removed names whose part of the schema still exists, each with its new name."""
    names = {e.name for e in entries}
    present = {e.stands_for: e.name for e in entries if not e.stands_for.startswith(FORMERLY)}
    return [(e, present[e.stands_for]) for e in before if e.name not in names and e.stands_for in present]


def to_text(entries: dict[str, list[PublicName]]) -> str:
    """Return the list as it is stored."""
    lines = [f"{label}.{e.name}\t{e.stands_for}\n" for label, found in entries.items() for e in found]
    return HEAD + "".join(lines)


def from_text(text: str, label: str) -> list[PublicName]:
    """Read the stored names of one module; invalid lines are ignored, since each run rewrites the list."""
    found: list[PublicName] = []
    for line in text.splitlines():
        name, _, stands_for = line.partition("\t")
        if name.startswith(f"{label}.") and stands_for:
            found.append(PublicName(name.removeprefix(f"{label}."), stands_for))
    return found
