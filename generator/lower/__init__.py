"""Lowering: from a schema that was read to the few kinds of definitions that templates can write."""

from generator.errors import GeneratorError
from generator.lower.context import Context
from generator.lower.definitions import Lowering
from generator.lower.features import lower_features
from generator.lower.messages import lower_messages, routing_names
from generator.lower.needs import lower_needs
from generator.model import Module
from generator.names import Names
from generator.overrides import Overrides
from generator.read import Schema


def lower(schema: Schema, overrides: Overrides) -> Module:
    """Lower a schema; stale overrides of a pinned schema are an error."""
    context = Context(schema, overrides, Names(schema.source.file))
    routing = routing_names(schema.source)
    Lowering(context, routing).run()
    messages = lower_messages(context, routing)
    needs = lower_needs(context.made, messages.methods, overrides, schema.source.file)
    if schema.source.pinned:
        overrides.check_used(schema)
    exports = (
        {d.name for d in context.made} | {e.name for e in messages.envelopes} | {r.name for r in messages.routings}
    )
    return Module(
        label=schema.source.label,
        definitions=tuple(context.made),
        envelopes=messages.envelopes,
        routings=messages.routings,
        methods=messages.methods,
        exports=tuple(sorted(exports)),
        needs=needs,
        request_id=messages.request_id,
        error=messages.error,
        features=lower_features(context.made, messages, schema.source.file),
        version=_version(schema, overrides),
    )


def _version(schema: Schema, overrides: Overrides) -> int:
    """Give the version of the protocol: that of upstream's list of methods, else of the table that the schema fits."""
    meta = schema.source.meta or {}
    version = meta.get("version", int(overrides.family.removeprefix("v") or 1))
    if type(version) is not int or version < 0:
        raise GeneratorError("is not the number of a version", file=schema.source.meta_file, pointer="/version")
    return version


__all__ = ["lower"]
