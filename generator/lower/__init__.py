"""Lowering: from a schema that was read to the few kinds of definitions that templates can write.

One pass after the other; a pass sees the context and what earlier passes have made. It
imports the schema (`read`), the overrides and the names; nothing here knows Python text, which `emit` writes.
Problems are collected: see `context`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from generator.errors import GeneratorError, Problems
from generator.lower.annotations import annotations_of
from generator.lower.context import Context
from generator.lower.definitions import claim_names, lower_objects, lower_values
from generator.lower.features import lower_features
from generator.lower.inline import hoist_inline
from generator.lower.messages import lower_messages, routing_names
from generator.lower.needs import lower_needs
from generator.lower.states import find_updates
from generator.lower.tags import fold_tags
from generator.lower.undecided import find_undecided
from generator.lower.unions import lower_unions, with_fallback_guards
from generator.model import Definition, Features, Module
from generator.names import Names
from generator.overrides import Overrides
from generator.read import Schema


@dataclass(frozen=True, slots=True)
class Lowered:
    """The module of a schema; where it is not complete, it lacks what has a problem, and cannot be emitted."""

    module: Module
    is_complete: bool


def lower(schema: Schema, overrides: Overrides) -> Module:
    """Lower a schema; stale overrides of a pinned schema are an error.

    Raises `GeneratorError` with all problems.
    """
    problems = Problems()
    lowered = lower_collecting(schema, overrides, problems)
    problems.stop()
    return lowered.module


def lower_collecting(schema: Schema, overrides: Overrides, problems: Problems) -> Lowered:
    """Lower a schema as far as it can be read and lowered, and add its problems to `problems`."""
    file = schema.source.file
    context = Context(schema, overrides, Names(file), routing_names(schema.source), problems, {*schema.broken})
    context.is_complete = not schema.problems_at
    claim_names(context)
    hoist_inline(context)
    context.upserted = find_updates(context)
    folded = fold_tags(context)
    lower_values(context)
    objects = lower_objects(context, folded)
    unions = lower_unions(context, folded)
    definitions = with_fallback_guards([*context.values.values(), *objects, *unions])
    messages = lower_messages(context, context.routing)
    needs = lower_needs(context, definitions, messages.methods)
    features: Features | None = None
    with context.attempt():
        features = lower_features(definitions, messages, file)
    version = 1
    with problems.collect():
        version = _version(schema, overrides)
    module = Module(
        label=schema.source.label,
        definitions=tuple(sorted(definitions, key=lambda d: d.name)),
        envelopes=messages.envelopes,
        routings=messages.routings,
        methods=messages.methods,
        exports=tuple(sorted({e.name for e in (*definitions, *messages.envelopes, *messages.routings)})),
        needs=needs,
        request_id=messages.request_id,
        error=messages.error,
        features=features,
        version=version,
        annotations=annotations_of(schema),
    )
    overrides.keep_fitting_names(module.exports)
    # Looked for in every schema: it marks the entries that are used.
    undecided = find_undecided(schema.source, overrides, module, is_complete=context.is_complete)
    if schema.source.pinned:
        with problems.collect():
            overrides.check_used(schema, unsure=_unsure(context, definitions))
        for problem in undecided:
            problems.add(problem)
    return Lowered(module, context.is_complete)


def _unsure(context: Context, definitions: Iterable[Definition]) -> frozenset[str]:
    """List the definitions of the schema that are missing, or lack something."""
    whole = {d.name for d in definitions if context.is_whole(d)}
    return frozenset() if context.is_complete else frozenset(context.schema.names) - context.routing - whole


def _version(schema: Schema, overrides: Overrides) -> int:
    """Return the protocol version: that of upstream's list of methods, else of the overrides that the schema fits."""
    meta = schema.source.meta or {}
    family = overrides.family.removeprefix("v")
    version = meta.get("version", int(family) if family.isdecimal() else 1)
    if type(version) is not int or version < 0:
        raise GeneratorError("is not a version number", file=schema.source.meta_file, pointer="/version")
    return version


__all__ = ["Lowered", "lower", "lower_collecting"]
