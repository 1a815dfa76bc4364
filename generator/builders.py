"""Builders: which classes of a schema the functions of its `build.py` make, found by methods and shapes.

A builder is there only if the schema has a class for it that can be made from what the builder sets: every required
field is among them. Definitions are found from the methods that carry them, never by their names.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from generator.aliases import unwrap
from generator.lower.features import ASK, PROMPT, UPDATE
from generator.model import (
    Coroutine,
    Definition,
    Enumeration,
    Field,
    Identifier,
    ListOf,
    Module,
    Named,
    Plain,
    Presence,
    Struct,
    Type,
    Union,
    parts,
)

T = TypeVar("T")

TEXT, IMAGE, AUDIO, LINK, RESOURCE, DIFF = "text", "image", "audio", "resource_link", "resource", "diff"
"""The tags of the variants that builders make."""
CAPABILITIES = ("image", "audio", "embedded_context")
"""The fields that say what prompts may contain."""
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")
"""The kinds of permission options."""
STATUSES = ("pending", "in_progress", "completed")
OPERATIONS = ("add", "delete", "modify")
PATCH_FORMAT, MEDIUM = "git_patch", "medium"
TEXTS = {"blob", "content", "data", "mime_type", "name", "new_text", "old_text", "option_id", "path", "text", "uri"}
"""The fields that builders set to text, so that they must take it."""


@dataclass(frozen=True, slots=True)
class Made:
    """A class that a builder makes, and the fields that it may set."""

    type: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Embedded:
    """An embedded resource, and the two kinds of its content."""

    block: Made
    text: Made
    blob: Made


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What prompts may contain: the class, and for each field whether it is a flag; else it is set or None."""

    type: str
    fields: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """A diff as a list of changes with a patch: the class of each operation, and the member for the patch's format."""

    diff: Made
    operations: tuple[tuple[str, Made], ...]
    patch: Made
    format: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Steps:
    """The entries of a plan: the class, the member for each status, and the priority if there is one."""

    entry: Made
    status: tuple[str, tuple[tuple[str, str], ...]]
    priority: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a permission request: the class, and the kinds with their enumeration."""

    option: Made
    kind: str
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Builders:
    """What can be built in one schema; None where the schema lacks it."""

    text: Made | None = None
    image: Made | None = None
    audio: Made | None = None
    link: Made | None = None
    embedded: Embedded | None = None
    capabilities: Capabilities | None = None
    texts: Made | None = None
    """A diff of one file, as its texts before and after."""
    changes: Changes | None = None
    steps: Steps | None = None
    options: Options | None = None

    @property
    def names(self) -> list[str]:
        """The functions that `build.py` has."""
        found = {
            "audio": self.audio,
            "diff": self.texts or self.changes,
            "embedded": self.embedded,
            "file_block": self.has_file_block or None,
            "image": self.image,
            "link": self.link,
            "permission_options": self.options,
            "plan_entries": self.steps,
            "text": self.text,
        }
        return [name for name, made in found.items() if made is not None]

    @property
    def has_file_block(self) -> bool:
        """Whether all forms that a file can have in a prompt are there."""
        forms = (self.text, self.image, self.audio, self.link, self.embedded, self.capabilities)
        return all(form is not None for form in forms)


def find_builders(module: Module) -> Builders:
    """Find what the builders of a schema make."""
    return _Finder(module).find()


class _Finder:
    """Looks for shapes among the definitions that a method carries."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._definitions: dict[str, Definition] = {d.name: d for d in module.definitions}

    def find(self) -> Builders:
        blocks = self._blocks()
        return Builders(
            text=self._made(blocks.get(TEXT), {"text"}),
            image=self._made(blocks.get(IMAGE), {"data", "mime_type", "uri"}),
            audio=self._made(blocks.get(AUDIO), {"data", "mime_type"}),
            link=self._made(blocks.get(LINK), {"uri", "name"}, {"mime_type", "size"}),
            embedded=self._embedded(blocks.get(RESOURCE)),
            capabilities=self._capabilities(),
            texts=self._texts(),
            changes=self._changes(),
            steps=self._steps(),
            options=self._options(),
        )

    def _blocks(self) -> dict[str, str]:
        """Return the classes of content blocks in a prompt, by tag."""
        prompt = self._coroutine("agent", PROMPT)
        field = self._field(prompt.params if prompt else None, "prompt")
        return self._variants(self._item(field.kind)) if field is not None else {}

    def _embedded(self, name: str | None) -> Embedded | None:
        block = self._made(name, {"resource"})
        if block is None:
            return None
        union = self._definitions.get(self._named(block.fields[0].kind))
        options = [self._named(kind) for kind in union.fallbacks] if isinstance(union, Union) else []
        text = _first(self._made(o, {"uri", "text"}, {"mime_type"}) for o in options)
        blob = _first(self._made(o, {"uri", "blob"}, {"mime_type"}) for o in options)
        return Embedded(block, text, blob) if text is not None and blob is not None else None

    def _capabilities(self) -> Capabilities | None:
        """Find what an agent says of prompts, somewhere in its answer to `initialize`."""
        handshake = self._module.features.handshake if self._module.features is not None else None
        found: list[Capabilities] = []
        for struct in self._reached(handshake.response.type if handshake else None):
            fields = {f.name: f for f in struct.fields}
            if set(CAPABILITIES) <= fields.keys():
                chosen = [fields[name] for name in CAPABILITIES]
                is_flag = [self._bare(f.kind) == Plain("bool") for f in chosen]
                is_usable = all(f.presence is not Presence.PATCH for f in chosen)
                if is_usable and all(flag or self._named(f.kind) for f, flag in zip(chosen, is_flag, strict=True)):
                    found.append(Capabilities(struct.name, tuple(zip(CAPABILITIES, is_flag, strict=True))))
        return found[0] if len(found) == 1 else None

    def _texts(self) -> Made | None:
        return _only(self._made(name, {"path", "old_text", "new_text"}) for name in self._diffs())

    def _changes(self) -> Changes | None:
        return _only(self._changes_of(name) for name in self._diffs())

    def _changes_of(self, name: str) -> Changes | None:
        diff = self._made(name, {"changes", "patch"})
        if diff is None:
            return None
        fields = {f.name: f for f in diff.fields}
        variants = self._variants(self._item(fields["changes"].kind))
        operations = {o: self._made(variants.get(o), {"path"}) for o in OPERATIONS}
        patch = self._made(self._named(fields["patch"].kind), {"format", "text"})
        written = next((f for f in patch.fields if f.name == "format"), None) if patch else None
        member = self._member(written, PATCH_FORMAT)
        usable = tuple((o, made) for o, made in operations.items() if made is not None)
        if patch is None or member is None or len(usable) < len(OPERATIONS):
            return None
        return Changes(diff, usable, patch, member)

    def _diffs(self) -> list[str]:
        """List the classes with the tag of a diff in what `session/update` carries."""
        reached = self._reached(self._params("client", UPDATE))
        return [s.name for s in reached if s.tag is not None and s.tag.value == DIFF]

    def _steps(self) -> Steps | None:
        """Find the entries of plans in what `session/update` carries."""
        reached = self._reached(self._params("client", UPDATE))
        return _only(self._steps_of(struct.name) for struct in reached)

    def _steps_of(self, name: str) -> Steps | None:
        entry = self._made(name, {"content", "status"}, {"priority"})
        if entry is None:
            return None
        fields = {f.name: f for f in entry.fields}
        status = {value: self._member(fields["status"], value) for value in STATUSES}
        priority = self._member(fields.get("priority"), MEDIUM)
        members = tuple((value, found[1]) for value, found in status.items() if found is not None)
        first = status["pending"]
        if first is None or len(members) < len(STATUSES) or ("priority" in fields and priority is None):
            return None
        return Steps(entry, (first[0], members), priority)

    def _options(self) -> Options | None:
        params = self._params("client", ASK)
        field = self._field(params, "options")
        option = self._made(self._item(field.kind), {"option_id", "name", "kind"}) if field is not None else None
        kind = next((f for f in option.fields if f.name == "kind"), None) if option else None
        found = [(value, self._member(kind, value)) for value in KINDS]
        kinds = tuple(value for value, member in found if member is not None)
        return Options(option, self._named(kind.kind), kinds) if option and kind and kinds else None

    def _coroutine(self, side: str, method: str) -> Coroutine | None:
        """Find the request or notification of a method that one side handles."""
        features = self._module.features
        end = getattr(features, side) if features is not None else None
        return next((c for c in end.handles if c.method == method), None) if end is not None else None

    def _params(self, side: str, method: str) -> str | None:
        found = self._coroutine(side, method)
        return found.params if found else None

    def _made(self, name: str | None, needed: set[str], optional: Iterable[str] = ()) -> Made | None:
        """Return a class if it has the fields, and requires no others."""
        found = self._definitions.get(name or "")
        if not isinstance(found, Struct) or found.takes_null:
            return None
        fields = {f.name: f for f in found.fields}
        settable = needed | {*optional}
        required = {f.name for f in found.fields if f.presence is Presence.REQUIRED}
        chosen = tuple(f for f in found.fields if f.name in settable)
        is_usable = needed <= fields.keys() and required <= settable
        return Made(found.name, chosen) if is_usable and all(self._takes_text(f) for f in chosen) else None

    def _member(self, field: Field | None, value: str) -> tuple[str, str] | None:
        """Return the enumeration of a field and its member for a value."""
        found = self._definitions.get(self._named(field.kind)) if field is not None else None
        members = found.members if isinstance(found, Enumeration) else ()
        name = next((m.name for m in members if m.value == value), None)
        return (found.name, name) if found is not None and name is not None else None

    def _variants(self, name: str) -> dict[str, str]:
        union = self._definitions.get(name)
        return dict(union.variants) if isinstance(union, Union) else {}

    def _field(self, owner: str | None, name: str) -> Field | None:
        found = self._definitions.get(owner or "")
        return next((f for f in found.fields if f.name == name), None) if isinstance(found, Struct) else None

    def _takes_text(self, field: Field) -> bool:
        kind = self._bare(field.kind)
        is_text = kind == Plain("str") or isinstance(self._definitions.get(self._named(kind)), Identifier)
        return is_text or field.name not in TEXTS

    def _bare(self, kind: Type) -> Type:
        return unwrap(kind, self._definitions.get, null=True)

    def _named(self, kind: Type) -> str:
        bare = self._bare(kind)
        return bare.name if isinstance(bare, Named) else ""

    def _item(self, kind: Type) -> str:
        """Return the definition of the items of a list."""
        bare = self._bare(kind)
        return self._named(bare.item) if isinstance(bare, ListOf) else ""

    def _reached(self, name: str | None) -> list[Struct]:
        """List the structs that a definition leads to, by name."""
        found: dict[str, Definition] = {}
        waiting = [name or ""]
        while waiting:
            definition = self._definitions.get(waiting.pop())
            if definition is not None and definition.name not in found:
                found[definition.name] = definition
                waiting += _references(definition)
        return [d for _, d in sorted(found.items()) if isinstance(d, Struct)]


def _first(found: Iterable[T | None]) -> T | None:
    return next((f for f in found if f is not None), None)


def _only(found: Iterable[T | None]) -> T | None:
    """Return the one that was found; None if there are several, since nothing decides between them."""
    made = [f for f in found if f is not None]
    return made[0] if len(made) == 1 else None


def _references(definition: Definition) -> Iterator[str]:
    """List the definitions that a definition refers to."""
    kinds: list[Type] = [f.kind for f in getattr(definition, "fields", ())]
    if isinstance(definition, Union):
        kinds += [*definition.tagged, *definition.others, *definition.fallbacks]
    alias = getattr(definition, "kind", None)
    kinds += [alias] if alias is not None else []
    yield from (part.name for kind in kinds for part in parts(kind) if isinstance(part, Named))
    base = getattr(definition, "base", None)
    if base is not None:
        yield base
