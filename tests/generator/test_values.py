"""Default values: how they are written, which classes they name, and what a rename changes in them."""

import ast
import builtins

import pytest

from generator.emit.imports import used_names
from generator.emit.text import Writer, value_text
from generator.model import Field, Leniency, ListOf, Named, Nullable, Plain, Presence, Type
from generator.values import ListValue, Literal, MapValue, MemberOf, New, Value, is_mutable, names_in, of_json, renamed

LIMITS = New("Limits", (("level", MemberOf("Level", "LOW")), ("ids", ListValue((Literal("a", newtype="Id"),)))))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Literal(None), "None"),
        (Literal(0.5), "0.5"),
        (Literal("Level"), "'Level'"),
        (ListValue(), "[]"),
        (New("Limits"), "Limits()"),
        (MapValue((("k", LIMITS),)), "{'k': Limits(level=Level.LOW, ids=[Id('a')])}"),
        (of_json({"a": [1, None, {"b": False}]}), "{'a': [1, None, {'b': False}]}"),
    ],
)
def test_text(value: Value, text: str) -> None:
    assert value_text(value) == text


def test_names_and_renames() -> None:
    value = MapValue((("Level", LIMITS), ("k", Literal("Limits"))))
    assert list(names_in(value)) == ["Limits", "Level", "Id"]
    # Texts and keys stay, even those that spell the name of a class.
    new = renamed(value, {"Limits": "Bounds", "Level": "Grade", "Id": "Key"})
    assert value_text(new) == "{'Level': Bounds(level=Grade.LOW, ids=[Key('a')]), 'k': 'Limits'}"
    assert renamed(value, {}) == value


@pytest.mark.parametrize(
    ("kind", "presence", "value", "text", "uses"),
    [
        (Plain("bool"), Presence.DEFAULTED, Literal(False), " = always(False)", {"always"}),
        (Named("Limits"), Presence.DEFAULTED, New("Limits"), " = always_new(Limits)", {"always_new", "Limits"}),
        (
            *(ListOf(Named("Id"), skips=True), Presence.DEFAULTED, ListValue()),
            *(" = always_new(list[Id])", {"always_new", "Id"}),
        ),
        # An alias may stand for a list that can be null, which is not callable.
        (Named("Ids"), Presence.DEFAULTED, ListValue(), " = always_new(lambda: [])", {"always_new"}),
        (Nullable(ListOf(Named("Id"))), Presence.DEFAULTED, ListValue(), " = always_new(lambda: [])", {"always_new"}),
        (Named("Level"), Presence.EMPTY, MemberOf("Level", "LOW"), " = Level.LOW", {"Level"}),
        (ListOf(Named("Id")), Presence.EMPTY, ListValue(), " = []", set[str]()),
    ],
)
def test_default_of_a_field(kind: Type, presence: Presence, value: Value, text: str, uses: set[str]) -> None:
    writer = Writer()
    entry = Field("f", "f", kind, presence, Leniency.NONE, "/f", value)
    assert writer.default(entry) == text
    assert used_names(ast.parse(f"f{text}")) - set(dir(builtins)) == uses


def test_each_object_needs_its_own_mutable_value() -> None:
    assert [is_mutable(v) for v in (Literal("x"), MemberOf("Level", "LOW"))] == [False, False]
    assert [is_mutable(v) for v in (ListValue(), MapValue(), New("Limits"))] == [True, True, True]
