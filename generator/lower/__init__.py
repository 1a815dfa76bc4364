"""Lowering: from a schema that was read to the few kinds of definitions that templates can write.

One pass after the other; a pass sees the context and what earlier passes have made. It
imports the schema (`read`), the overrides and the names; nothing here knows Python text, which `emit` writes.
"""

from generator.errors import GeneratorError
from generator.lower.annotations import annotations_of
from generator.lower.context import Context
from generator.lower.definitions import claim_names, lower_objects, lower_values
from generator.lower.features import lower_features
from generator.lower.inline import hoist_inline
from generator.lower.messages import lower_messages, routing_names
from generator.lower.needs import lower_needs
from generator.lower.states import find_upserts
from generator.lower.tags import fold_tags
from generator.lower.undecided import find_undecided
from generator.lower.unions import lower_unions, with_fallback_guards
from generator.model import Module
from generator.names import Names
from generator.overrides import Overrides
from generator.read import Schema


def lower(schema: Schema, overrides: Overrides) -> Module:
    """Lower a schema; stale overrides of a pinned schema are an error."""
    file = schema.source.file
    context = Context(schema, overrides, Names(file), routing_names(schema.source))
    claim_names(context)
    hoist_inline(context)
    context.upserted = find_upserts(context)
    folded = fold_tags(context)
    lower_values(context)
    objects = lower_objects(context, folded)
    unions = lower_unions(context, folded)
    definitions = with_fallback_guards([*context.values.values(), *objects, *unions])
    messages = lower_messages(context, context.routing)
    needs = lower_needs(definitions, messages.methods, overrides, file)
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
        features=lower_features(definitions, messages, schema.source.file),
        version=_version(schema, overrides),
        annotations=annotations_of(schema),
    )
    overrides.keep_fitting_names(module.exports)
    undecided = find_undecided(schema.source, overrides, module)
    if schema.source.pinned:
        overrides.check_used(schema)
        if undecided:
            raise undecided[0]
    return module


def _version(schema: Schema, overrides: Overrides) -> int:
    """Return the protocol version: that of upstream's list of methods, else of the overrides that the schema fits."""
    meta = schema.source.meta or {}
    family = overrides.family.removeprefix("v")
    version = meta.get("version", int(family) if family.isdecimal() else 1)
    if type(version) is not int or version < 0:
        raise GeneratorError("is not a version number", file=schema.source.meta_file, pointer="/version")
    return version


__all__ = ["lower"]
