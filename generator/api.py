"""The public names: written down with what each stands for, so that none vanishes unnoticed.

A name may go when what it stands for goes. While upstream still has the definition, variant, property or value, its
name must stay, unless `[label.renamed]` in the overrides says what it is called now.

The coroutines of the ends in `aio` are not listed, nor are the members of `AgentMethod`: they bear upstream's own keys
for the methods, and follow them. A class that lives on under its old name stays right; a second coroutine for one
method would be a second thing to override.
"""

from dataclasses import dataclass

from generator.errors import GeneratorError
from generator.model import CatchAll, Enumeration, Module, Struct, Union
from generator.overrides import Overrides

FILE = "api.txt"
HEAD = "# Every public name and what it stands for in the schema. Written by `python -m generator generate`.\n"


@dataclass(frozen=True, slots=True)
class Entry:
    """One public name, dotted from its module's label, and the part of the schema that it stands for."""

    name: str
    stands_for: str


def entries_of(module: Module, overrides: Overrides) -> list[Entry]:
    """List the names of one module; a class that carries its union's tag stands for its variant, too."""
    found: list[Entry] = []
    for definition in module.definitions:
        name = definition.name
        if definition.pointer == f"/$defs/{name}":
            found.append(Entry(name, f"#/$defs/{name}"))
        match definition:
            case Struct(fields=fields) | CatchAll(fields=fields):
                found += [Entry(f"{name}.{f.name}", f"{name}: {f.wire}") for f in fields]
            case Enumeration(members=members):
                found += [Entry(f"{name}.{m.name}", f"{name} = {m.value}") for m in members]
            case Union(variants=variants):
                found += [Entry(made, f"variant {name}/{steps}") for steps, made in variants]
            case _:
                pass
    named = {e.name for e in found}
    found += [Entry(d.name, f"inline #{d.pointer}") for d in module.definitions if d.name not in named]
    for envelope in module.envelopes:
        kind = "request" if envelope.is_request else "notification"
        found.append(Entry(envelope.name, f"{kind} {envelope.method}"))
    found += [Entry(r.name, f"routing {r.name}") for r in module.routings]
    found += [Entry(old, f"formerly {new}") for old, new in overrides.renamed.items()]
    return sorted(set(found), key=lambda e: (e.name, e.stands_for))


def check_names(label: str, entries: list[Entry], before: list[Entry], overrides: Overrides) -> None:
    """Refuse names that are gone while what they stood for is still there, and renamings that rename nothing."""
    names = {e.name for e in entries}
    own = {e.name for e in entries if not e.stands_for.startswith("formerly ")}
    present = {e.stands_for: e.name for e in entries if not e.stands_for.startswith("formerly ")}
    for old, new in overrides.renamed.items():
        problem = ""
        if old in own:
            problem = f"{old} is still a name of its own"
        elif new not in own or "." in new:
            problem = f"{old} = {new!r}: there is no class {new}"
        if problem:
            raise GeneratorError(f"[{label}.renamed] {problem}", file=overrides.file, hint="correct the entry")
    for entry in before:
        now = present.get(entry.stands_for)
        if entry.name not in names and now is not None:
            raise GeneratorError(
                f"the name {label}.{entry.name} would become {now}, but what it stands for is still upstream: "
                f"{entry.stands_for}",
                file=f"generated/{FILE}",
                hint=f'keep the old name alive with [{label}.renamed] {entry.name} = "{now}" in {overrides.file}',
            )


def to_text(entries: dict[str, list[Entry]]) -> str:
    """Write the list as it is stored."""
    lines = [f"{label}.{e.name}\t{e.stands_for}\n" for label, found in entries.items() for e in found]
    return HEAD + "".join(lines)


def from_text(text: str, label: str) -> list[Entry]:
    """Read the stored names of one module; lines that are none are left aside, as the list is written anew."""
    found: list[Entry] = []
    for line in text.splitlines():
        name, _, stands_for = line.partition("\t")
        if name.startswith(f"{label}.") and stands_for:
            found.append(Entry(name.removeprefix(f"{label}."), stands_for))
    return found
