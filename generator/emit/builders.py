"""Writes `build.py`: functions that build what one writes daily, such as text blocks, diffs and plans."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from generator.aliases import unwrap
from generator.builders import Builders, Changes, Made, Options, Steps
from generator.emit.imports import HELPERS
from generator.emit.rendering import Rendering
from generator.emit.text import quoted
from generator.model import Definition, Identifier, Named, Type
from generator.names import words_of

FLAGS = ("image", "audio", "embedded")
"""The arguments that say what the reader of a prompt takes."""


@dataclass(frozen=True, slots=True)
class CallView:
    """A class, and the call that builds an object of it."""

    type: str
    call: str


@dataclass(frozen=True, slots=True)
class EmbeddedView:
    """An embedded resource, built from a file that was read as text or as Base64."""

    type: str
    text: str
    blob: str


@dataclass(frozen=True, slots=True)
class FileBlockView:
    """The forms of a file in a prompt; `flags` are the arguments that say which the reader takes."""

    capabilities: str
    flags: tuple[str, ...]
    text: CallView
    image: CallView
    audio: CallView


@dataclass(frozen=True, slots=True)
class ChangesView:
    """A diff as a list of changes with a patch."""

    type: str
    call: str
    change_type: str
    operations: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class StepsView:
    """The entries of a plan."""

    type: str
    call: str
    status: tuple[tuple[str, str], ...]
    status_type: str
    priority: str | None
    priority_type: str | None


@dataclass(frozen=True, slots=True)
class OptionsView:
    """The options of a permission request."""

    type: str
    call: str
    kind: str
    kinds: str
    """The kinds as literals, separated by commas."""


@dataclass(frozen=True, slots=True)
class BuildersView:
    """The whole module; what a schema lacks is None."""

    text: CallView | None
    image: CallView | None
    audio: CallView | None
    link: CallView | None
    embedded: EmbeddedView | None
    file_block: FileBlockView | None
    texts: CallView | None
    changes: ChangesView | None
    steps: StepsView | None
    options: OptionsView | None
    exports: tuple[str, ...]


def write_builders(rendering: Rendering, builders: Builders) -> dict[str, str]:
    """Write the builders of a schema that has some."""
    spelling = rendering.spellings(words_of("build.py.jinja") | HELPERS)
    siblings = {
        ".enums": {n: spelling[n] for n in rendering.enums},
        ".types": {n: spelling[n] for n in rendering.types},
    }
    return rendering.render("build", _Views(rendering, builders, spelling).view(), siblings)


class _Views:
    """Builds the view of one schema's builders."""

    def __init__(self, rendering: Rendering, builders: Builders, spelling: Mapping[str, str]) -> None:
        self._definitions: dict[str, Definition] = {d.name: d for d in rendering.module.definitions}
        self._builders = builders
        self._spelling = spelling

    def view(self) -> BuildersView:
        """Build the view of the module."""
        found = self._builders
        media = {"data": "base64_text(data)", "mime_type": "mime_type", "uri": "uri"}
        return BuildersView(
            text=self._call(found.text, {"text": "text"}) if found.text else None,
            image=self._call(found.image, media) if found.image else None,
            audio=self._call(found.audio, media) if found.audio else None,
            link=self._link() if found.link else None,
            embedded=self._embedded() if found.embedded else None,
            file_block=self._file_block() if found.has_file_block else None,
            texts=self._call(found.texts, {"path": "checked_absolute(path)", "old_text": "old", "new_text": "new"})
            if found.texts
            else None,
            changes=self._changes(found.changes) if found.changes else None,
            steps=self._steps(found.steps) if found.steps else None,
            options=self._options(found.options) if found.options else None,
            exports=tuple(found.names),
        )

    def _link(self) -> CallView:
        names = ("uri", "name", "mime_type", "size")
        return self._call(self._builders.link, {name: f"found.{name}" for name in names}, optional={"mime_type"})

    def _embedded(self) -> EmbeddedView:
        found = self._builders.embedded
        assert found is not None
        common = {"uri": "found.uri", "mime_type": "found.mime_type"}
        text = self._call(found.text, {**common, "text": "found.text"}, optional={"mime_type"}).call
        blob = self._call(found.blob, {**common, "blob": "found.base64"}, optional={"mime_type"}).call
        calls = [self._call(found.block, {"resource": resource}) for resource in (text, blob)]
        return EmbeddedView(calls[0].type, calls[0].call, calls[1].call)

    def _file_block(self) -> FileBlockView:
        capabilities = self._builders.capabilities
        assert capabilities is not None
        read = {"data": "found.base64", "mime_type": 'found.mime_type or ""', "uri": "found.uri"}
        flags = [
            f"capabilities.{name}" if is_flag else f"capabilities.{name} is not None"
            for name, is_flag in capabilities.fields
        ]
        return FileBlockView(
            capabilities=self._spelling[capabilities.type],
            flags=tuple(f"{name}=capabilities is not None and {flag}" for name, flag in zip(FLAGS, flags, strict=True)),
            text=self._call(self._builders.text, {"text": "found.text"}),
            image=self._call(self._builders.image, read),
            audio=self._call(self._builders.audio, read),
        )

    def _changes(self, found: Changes) -> ChangesView:
        enumeration, member = found.format
        patch = {"format": f"{self._spelling[enumeration]}.{member}", "text": "patch"}
        made = self._call(found.patch, patch).call
        whole = self._call(found.diff, {"changes": "[change]", "patch": f"{made} if patch is not None else None"})
        calls = [(operation, self._call(change, {"path": "where"})) for operation, change in found.operations]
        kinds = " | ".join(call.type for _, call in calls)
        return ChangesView(whole.type, whole.call, kinds, tuple((operation, call.call) for operation, call in calls))

    def _steps(self, found: Steps) -> StepsView:
        enumeration, members = found.status
        status = self._spelling[enumeration]
        call = self._call(found.entry, {"content": "step", "status": "_STATUS[status]", "priority": "priority"})
        kind, member = found.priority or (None, None)
        return StepsView(
            type=call.type,
            call=call.call,
            status=tuple((value, f"{status}.{name}") for value, name in members),
            status_type=status,
            priority=f"{self._spelling[kind]}.{member}" if kind else None,
            priority_type=self._spelling[kind] if kind else None,
        )

    def _options(self, found: Options) -> OptionsView:
        call = self._call(found.option, {"option_id": "kind.value", "name": "label", "kind": "kind"})
        return OptionsView(call.type, call.call, self._spelling[found.kind], ", ".join(map(quoted, found.kinds)))

    def _call(self, made: Made | None, values: Mapping[str, str], optional: Collection[str] = ()) -> CallView:
        """Write the call that builds a class from Python expressions; those of `optional` may be None."""
        assert made is not None
        arguments: list[str] = []
        for field in made.fields:
            if field.name in values:
                value, identifier = values[field.name], self._identifier(field.kind)
                text = f"{identifier}({value})" if identifier else value
                is_guarded = identifier is not None and field.name in optional
                arguments.append(f"{field.name}={text}" + (f" if {value} is not None else None" if is_guarded else ""))
        spelled = self._spelling[made.type]
        return CallView(spelled, f"{spelled}({', '.join(arguments)})")

    def _identifier(self, kind: Type) -> str | None:
        """Return how the id is spelled that a field holds; None for another field."""
        bare = unwrap(kind, self._definitions.get, null=True)
        found = self._definitions.get(bare.name) if isinstance(bare, Named) else None
        return self._spelling[found.name] if isinstance(found, Identifier) else None
