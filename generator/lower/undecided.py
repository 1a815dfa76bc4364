"""What a schema leaves undecided: places where the reference may act in a way that only the overrides can say.

Each is an error for a pinned schema, so that a decision is made once, and kept as data.
"""

from collections.abc import Iterable

from generator.errors import GeneratorError, child
from generator.lower.needs import without_capability
from generator.model import Method, Need
from generator.overrides import FREE, Overrides
from generator.read import Schema


def find_undecided(
    schema: Schema, overrides: Overrides, methods: Iterable[Method], needs: Iterable[Need]
) -> list[GeneratorError]:
    """List the decisions that the overrides lack."""
    label = schema.source.label
    found = [_states(schema, overrides, name, places) for name, places in sorted(overrides.undecided.items())]
    for method in without_capability(methods, needs, overrides):
        part = method.request or method.notification or method.response or ""
        found.append(
            schema.fail(
                child("", "$defs", part, "x-method"),
                f"{overrides.file} does not say which capability the method {method.name!r} needs",
                f"add it to [{label}.capabilities], or to `{FREE}` of [{label}] if it needs none",
            )
        )
    return found


def _states(schema: Schema, overrides: Overrides, name: str, places: dict[str, str]) -> GeneratorError:
    """Return the error for the nullable properties of one definition."""
    label = schema.source.label
    keys = ", ".join(f'"{key}"' for key in places)
    return schema.fail(
        next(iter(places.values())),
        f"{overrides.file} does not say whether absent and null differ for {', '.join(places)} of {name}, "
        "some of whose properties have three states",
        f"add {name} = [{keys}] to [{label}.patch] or to [{label}.not_patch]",
    )
