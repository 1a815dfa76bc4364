"""The public names, each with the part of the schema that it represents, so that none disappears unnoticed.

A name may be removed together with its definition, variant, property or value. As long as upstream has that part of the
schema, its name must stay, or `[label.renamed]` in the overrides must say the new name.

A class can keep its old name as an alias. A field, a member of an enumeration and a coroutine of `aio` cannot: a second
coroutine for the same method would be a second thing to override. Such a name may go only if `gone` of its label in the
overrides lists it. The same is true of the roles, which are recorded beside the names.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from generator.emit import PACKAGE
from generator.errors import GeneratorError, Problems
from generator.model import CatchAll, Enumeration, Module, Struct, Union
from generator.overrides import GONE, Overrides
from generator.roles import FILES, PERMISSIONS, TERMINALS, roles_of, why_absent

FILE = "api.txt"
FORMERLY = "formerly "
ROLE = "role "
OWN = "part of the package"
"""What a name stands for that the package has for any schema."""
MIXINS = {"ServesFiles": FILES, "ServesTerminals": TERMINALS, "DecidesPermissions": PERMISSIONS}
"""The classes of `aio` that stand for a role."""
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


def names_of_package(module: Module, files: Mapping[str, str]) -> list[PublicName]:
    """List the public names of one module that are not its definitions: endpoints, handlers, functions, and roles."""
    found = [PublicName(f"{ROLE}{role}", ROLE.strip()) for role in roles_of(module)]
    for name in ("aio", "build", "conversation", "messages"):
        text = files.get(f"{PACKAGE}/{module.label}/{name}.py")
        for node in ast.parse(text).body if text is not None else ():
            if name == "aio" and isinstance(node, ast.ClassDef):
                found += _endpoint(node, module)
            elif name == "conversation":
                found += _of_conversation(node)
            elif isinstance(node, ast.ClassDef):
                found += _method_members(node)
            elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                found.append(PublicName(node.name, OWN))
    return sorted(set(found), key=lambda e: (e.name, e.stands_for))


def _endpoint(node: ast.ClassDef, module: Module) -> Iterator[PublicName]:
    """List a class of `aio` and its public members."""
    if node.name.startswith("_"):
        return
    whole = f"{ROLE}{MIXINS[node.name]}" if node.name in MIXINS else OWN
    yield PublicName(f"aio.{node.name}", whole)
    stands_for: dict[str, str] = {}
    for end in (module.features.agent, module.features.client) if module.features is not None else ():
        name = end.side.capitalize()
        for owner, verb, coroutines in ((name, "handles", end.handles), (f"{name}Connection", "sends", end.sends)):
            if node.name == owner:
                kinds = {True: "request", False: "notification"}
                stands_for |= {c.name: f"{end.side} {verb} {kinds[c.is_request]} {c.method}" for c in coroutines}
    for member in node.body:
        match member:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                if not name.startswith("_"):
                    yield PublicName(f"aio.{node.name}.{name}", stands_for.get(name, whole))
            case _:
                pass


def _of_conversation(node: ast.stmt) -> Iterator[PublicName]:
    """List a class of `conversation` and its public methods, or another public name."""
    match node:
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            if not name.startswith("_"):
                yield PublicName(f"conversation.{name}", OWN)
        case _:
            return
    for member in node.body if isinstance(node, ast.ClassDef) else ():
        match member:
            case ast.FunctionDef(name=method) | ast.AsyncFunctionDef(name=method) if not method.startswith("_"):
                yield PublicName(f"conversation.{name}.{method}", OWN)
            case _:
                pass


def _method_members(node: ast.ClassDef) -> Iterator[PublicName]:
    """List the members of an enumeration of methods."""
    if any(isinstance(base, ast.Name) and base.id == "StrEnum" for base in node.bases):
        for member in node.body:
            match member:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(value))):
                    yield PublicName(f"{node.name}.{name}", f"{node.name} = {value}")
                case _:
                    pass


def check_names(label: str, entries: list[PublicName], before: list[PublicName], overrides: Overrides) -> None:
    """Refuse removed names whose part of the schema still exists, and entries for names that do not apply."""
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
    for name in sorted(overrides.gone & own):
        if f"{GONE}.{name}" not in overrides.inherited:
            problem = f"`{GONE}` of [{label}] names {name}, which is still there"
            problems.add(GeneratorError(problem, file=overrides.file, hint="remove the entry"))
    for why in name_problems(label, entries, before, overrides):
        problems.add(why)
    problems.stop()


def name_problems(
    label: str, entries: list[PublicName], before: list[PublicName], overrides: Overrides
) -> list[GeneratorError]:
    """Return an error for each name that would vanish, and that no entry of the overrides accounts for."""
    found: list[GeneratorError] = []
    for entry, now in lost_names(entries, before):
        problem = f"the name {label}.{entry.name} would become {now}, but what it stands for is still upstream: "
        hint = f'keep the old name alive with [{label}.renamed] {entry.name} = "{now}" in {overrides.file}'
        if not (is_class(entry) and is_class(PublicName(now, ""))):
            hint = _how_to_let_go(label, entry.name, overrides)
        if entry.name not in overrides.gone:
            found.append(GeneratorError(problem + entry.stands_for, file=f"generated/{FILE}", hint=hint))
    for entry in _vanished(entries, before, overrides):
        if entry.stands_for != ROLE.strip():
            problem = f"the name {label}.{entry.name} would vanish, which is not upstream's"
            hint = _how_to_let_go(label, entry.name, overrides)
            found.append(GeneratorError(problem, file=f"generated/{FILE}", hint=hint))
    return found


def role_problems(
    module: Module, entries: list[PublicName], before: list[PublicName], overrides: Overrides
) -> list[GeneratorError]:
    """Return an error for each role that a schema had and has no more, and that no entry accounts for."""
    roles = [e.name.removeprefix(ROLE) for e in _vanished(entries, before, overrides) if e.stands_for == ROLE.strip()]
    return [
        GeneratorError(
            f"the role {role} of {module.label} was there before and is not found now: {why_absent(role, module)}",
            file=f"generated/{FILE}",
            hint=_how_to_let_go(module.label, f"{ROLE}{role}", overrides),
        )
        for role in roles
    ]


def is_class(entry: PublicName) -> bool:
    """Return whether a name is that of a class of the module itself, which can have an alias."""
    return "." not in entry.name and " " not in entry.name


def _how_to_let_go(label: str, name: str, overrides: Overrides) -> str:
    return f'find out why, or let it go with "{name}" in `{GONE}` of [{label}] in {overrides.file}'


def _vanished(entries: list[PublicName], before: list[PublicName], overrides: Overrides) -> list[PublicName]:
    """List the roles and the package's own names that are not there any more.

    Names that go along with a role or a class are not listed, nor those that may go.
    """
    names = {e.name for e in entries}
    gone = [e for e in before if e.name not in names and _is_own(e) and names >= {e.stands_for} - {OWN, ROLE.strip()}]
    whole = {e.name for e in gone}
    return [e for e in gone if e.name.rpartition(".")[0] not in whole and e.name not in overrides.gone]


def lost_names(entries: list[PublicName], before: list[PublicName]) -> list[tuple[PublicName, str]]:
    """Find the removed names whose part of the schema still exists, each with its new name."""
    names = {e.name for e in entries}
    present = {e.stands_for: e.name for e in entries if not (e.stands_for.startswith(FORMERLY) or _is_own(e))}
    return [(e, present[e.stands_for]) for e in before if e.name not in names and e.stands_for in present]


def _is_own(entry: PublicName) -> bool:
    """Return whether a name stands for a part of the package, or for a role, and not for one part of the schema."""
    return entry.stands_for in (OWN, ROLE.strip()) or entry.stands_for.startswith(ROLE)


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
