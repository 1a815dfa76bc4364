"""Writes `enums.py`: ids and enumerations."""

from dataclasses import dataclass

from generator.docs import Docs
from generator.emit.rendering import Rendering
from generator.emit.views import View, Viewer


@dataclass(frozen=True, slots=True)
class EnumsView:
    """The definitions in the order of the file."""

    definitions: tuple[View, ...]


def write_enums(rendering: Rendering, docs: Docs) -> dict[str, str]:
    """Write the ids and enumerations of a schema by name."""
    definitions, own = rendering.module.definitions, rendering.enums
    viewer = Viewer(docs, definitions)
    chosen = sorted((d for d in definitions if d.name in own), key=lambda d: d.name)
    view = EnumsView(tuple(viewer.view(d) for d in chosen))
    return rendering.render("enums", view, hidden=viewer.writer.hidden)
