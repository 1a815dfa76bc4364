"""Writes `types.py`: payloads and unions."""

from dataclasses import dataclass

from generator.docs import Docs
from generator.emit.order import has_forward_references, ordered
from generator.emit.rendering import Rendering
from generator.emit.views import View, Viewer
from generator.engine import format_code
from generator.model import Definition
from generator.source import ROOT
from generator.templates import environment


@dataclass(frozen=True, slots=True)
class TypesView:
    """The definitions in the order of the file; `is_forward`: one mentions another that follows later."""

    definitions: tuple[View, ...]
    is_forward: bool


def write_types(rendering: Rendering, docs: Docs) -> dict[str, str]:
    """Write the payloads and unions of a schema, each right after the definitions that it refers to."""
    definitions, own = rendering.module.definitions, rendering.types
    viewer = Viewer(docs, definitions)
    in_order = ordered(tuple(d for d in definitions if d.name in own), rendering.source.file)
    view = TypesView(tuple(viewer.view(d) for d in in_order), has_forward_references(in_order))
    return rendering.render("types", view, {".enums": {n: n for n in rendering.enums}}, viewer.writer.hidden)


def write_definition(definition: Definition, docs: Docs) -> str:
    """Write one definition alone, for `generator explain`."""
    view = Viewer(docs).view(definition)
    return format_code(environment().get_template("explain.py.jinja").render(view=view), ROOT)
