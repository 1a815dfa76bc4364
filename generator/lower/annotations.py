"""Annotations: keywords that only describe. They change nothing of what a reader takes, so they are carried along."""

from collections.abc import Iterator
from typing import Any

from generator.errors import child
from generator.jsonutil import is_array, is_object
from generator.model import Annotation
from generator.read import Schema, is_annotation
from generator.values import of_json

_TITLE = "title"
_SCHEMAS = frozenset({"items", "not", "additionalProperties", "propertyNames"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf"})
_NAMED = frozenset({"properties", "$defs"})


def annotations_of(schema: Schema) -> tuple[Annotation, ...]:
    """List the annotations of a schema, in the order of the document."""
    return tuple(_below(schema.source.raw, ""))


def _below(node: Any, pointer: str) -> Iterator[Annotation]:
    for key, value in node.items() if is_object(node) else ():
        if key == _TITLE or is_annotation(key):
            yield Annotation(pointer, key, of_json(value))
        elif key in _SCHEMAS:
            yield from _below(value, child(pointer, key))
        elif key in _LISTS and is_array(value):
            for index, branch in enumerate(value):
                yield from _below(branch, child(pointer, key, index))
        elif key in _NAMED and is_object(value):
            for name, inner in value.items():
                yield from _below(inner, child(pointer, key, name))
