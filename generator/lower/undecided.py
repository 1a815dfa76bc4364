"""What a schema leaves undecided: places where the reference may act in a way that only the overrides can say.

Each is an error for a pinned schema, so that a decision is made once, and kept as data.
"""

from collections.abc import Iterable

from generator.errors import GeneratorError, child
from generator.lower.needs import without_capability
from generator.model import Method, Module
from generator.overrides import FREE, Overrides
from generator.source import Source


def find_undecided(
    source: Source, overrides: Overrides, module: Module, *, is_complete: bool = True
) -> list[GeneratorError]:
    """List the decisions that the overrides lack.

    Where a part of the schema could not be lowered, an entry may name a capability in it: that is no lack.
    """
    listed = () if is_complete else {key.partition("#")[0] for key in overrides.capabilities}
    needs = undecided_needs(source, overrides, module)
    return [*undecided_states(source, overrides), *(why for why, method in needs if method.name not in listed)]


def undecided_states(source: Source, overrides: Overrides) -> list[GeneratorError]:
    """List the definitions with patch facts that say nothing of some of their nullable properties."""
    label = source.label
    return [
        GeneratorError(
            f"{overrides.file} does not say whether absent and null differ for {', '.join(places)} of {name}, "
            "some of whose properties have three states",
            file=source.file,
            pointer=next(iter(places.values())),
            hint=f"add {name} = [{_quoted(places)}] to [{label}.patch] or to [{label}.not_patch]",
        )
        for name, places in sorted(overrides.undecided.items())
    ]


def undecided_needs(source: Source, overrides: Overrides, module: Module) -> list[tuple[GeneratorError, Method]]:
    """List the methods of which the overrides do not say what capability they need, each with its error."""
    label = source.label
    return [
        (
            GeneratorError(
                f"{overrides.file} does not say which capability the method {method.name!r} needs",
                file=source.file,
                pointer=child("", "$defs", method.request or method.notification or method.response or "", "x-method"),
                hint=f"add it to [{label}.capabilities], or to `{FREE}` of [{label}] if it needs none",
            ),
            method,
        )
        for method in without_capability(module, overrides)
    ]


def _quoted(keys: Iterable[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)
