"""The message layer: which definitions travel under which method, and who sends them."""

from dataclasses import dataclass

from generator.errors import GeneratorError, child
from generator.jsonutil import is_object
from generator.lower.context import Context
from generator.lower.nodes import definition_refs, text_of
from generator.model import Envelope, Method, Routing
from generator.names import envelope_name
from generator.source import Source, definitions_of

KINDS = ("Request", "Notification", "Response", "OutgoingMessage")
SENDERS = ("Agent", "Client", "Proxy")
HANDLED_BY = {
    "agent": ("agent",),
    "client": ("client",),
    "proxy": ("proxy",),
    "both": ("agent", "client"),
    "protocol": ("agent", "client"),
}
RECEIVERS = {
    "Agent": ("client", "both"),
    "Client": ("agent", "both"),
    "Proxy": ("proxy",),
    "ProtocolLevel": ("protocol",),
}
ANSWERERS = {"Agent": ("agent", "both"), "Client": ("client", "both"), "Proxy": ("proxy",)}
META_TABLES = {
    "agentMethods": "agent",
    "clientMethods": "client",
    "protocolMethods": "protocol",
    "proxyMethods": "proxy",
}
FRAME = ("RequestId", "Error")
PROTOCOL_LEVEL = "ProtocolLevelNotification"


def routing_names(source: Source) -> frozenset[str]:
    """List the definitions that describe whole messages; the message layer replaces them."""
    wanted = {f"{sender}{kind}" for sender in SENDERS for kind in KINDS} | {PROTOCOL_LEVEL}
    found = definitions_of(source.raw, source.file)
    return frozenset(n for n, d in found.items() if n in wanted and is_object(d) and "x-docs-ignore" in d)


@dataclass(frozen=True, slots=True)
class Messages:
    """The envelopes, routing unions and methods of one schema."""

    envelopes: tuple[Envelope, ...]
    routings: tuple[Routing, ...]
    methods: tuple[Method, ...]


@dataclass(slots=True)
class _Types:
    """The types that one method carries."""

    sides: set[str]
    request: str | None = None
    response: str | None = None
    notification: str | None = None


def lower_messages(context: Context, routing: frozenset[str]) -> Messages:
    """Make envelopes of the routing definitions' parts; hold them against `x-side`, `x-method` and the meta file."""
    sent = {name: _parts(context, name) for name in sorted(routing) if not name.endswith("OutgoingMessage")}
    methods: dict[str, _Types] = {}
    envelopes: dict[str, Envelope] = {}
    routings: list[Routing] = []
    placed: set[str] = set()
    for name, definitions in sent.items():
        sender, kind = _split(name)
        for definition in definitions:
            method, side = _routed(context, definition, name)
            if side not in (ANSWERERS if kind == "Response" else RECEIVERS)[sender]:
                raise context.fail(
                    child(context.pointer(definition), "x-side"),
                    f"x-side is {side!r}, but {name} says that the {sender.lower()} {_verb(kind)} it",
                )
            _place(context, methods, method, side, kind, definition)
            placed.add(definition)
            if kind != "Response":
                pointer = context.pointer(definition)
                envelope = envelope_name(definition)
                if envelope not in envelopes:
                    context.names.claim(envelope, pointer)
                    envelopes[envelope] = Envelope(envelope, pointer, method, definition, kind == "Request")
        parts = tuple(envelope_name(d) for d in definitions) if kind != "Response" else ()
        context.names.claim(name, context.pointer(name))
        routings.append(Routing(name, context.pointer(name), parts, responses=kind == "Response"))
    routings += _protocol_level(context, methods, envelopes, placed, routing)
    routings += _outgoing(context, routing, {r.name: r for r in routings})
    _check_all_placed(context, methods, placed)
    keys = _meta_keys(context.schema.source, methods)
    listed = tuple(
        Method(
            name,
            keys[name],
            tuple(sorted({h for s in types.sides for h in HANDLED_BY[s]})),
            types.request,
            types.response,
            types.notification,
        )
        for name, types in sorted(methods.items())
    )
    return Messages(tuple(envelopes[n] for n in sorted(envelopes)), tuple(routings), listed)


def _split(name: str) -> tuple[str, str]:
    for kind in KINDS:
        if name.endswith(kind):
            return name.removesuffix(kind), kind
    raise ValueError(name)


def _verb(kind: str) -> str:
    return "answers" if kind == "Response" else "sends"


def _parts(context: Context, name: str) -> list[str]:
    """List the params or result types of a routing definition, free JSON and the frame's own types aside."""
    raw = context.schema.source.raw["$defs"][name]
    found: list[str] = []
    for target in dict.fromkeys(definition_refs(raw)):
        extras = context.definition(target).extras
        if "x-method" in extras or _request_of(context, target) is not None:
            found.append(target)
        elif target not in FRAME and not _is_extension(context, target) and not _is_draft(context, target):
            raise context.fail(
                context.pointer(target), f"{name} carries {target}, which has no x-method", "its route is unknown"
            )
    return found


def _is_draft(context: Context, name: str) -> bool:
    """Say whether upstream hides a part from its docs: its method is not settled then, and it stays a plain type."""
    request = context.schema.definitions.get(f"{name.removesuffix('Response')}Request")
    return any("x-docs-ignore" in n.extras for n in (context.definition(name), request) if n is not None)


def _request_of(context: Context, name: str) -> str | None:
    """Find the request that an early schema's response without a method answers: the one of the same name."""
    if not name.endswith("Response"):
        return None
    request = f"{name.removesuffix('Response')}Request"
    known = context.schema.definitions.get(request)
    return request if known is not None and "x-method" in known.extras else None


def _is_extension(context: Context, name: str) -> bool:
    node = context.definition(name)
    return name.startswith("Ext") and not (node.type or node.properties or node.anyOf or node.oneOf)


def _routed(context: Context, definition: str, routing: str) -> tuple[str, str]:
    node = context.definition(definition)
    if "x-method" not in node.extras:
        node = context.definition(_request_of(context, definition) or definition)
    method, side = text_of(node, "x-method"), text_of(node, "x-side")
    if method is None or side is None:
        raise context.fail(context.pointer(definition), f"{routing} carries it, but it has no x-method and x-side")
    return method, side


def _place(context: Context, methods: dict[str, _Types], method: str, side: str, kind: str, definition: str) -> None:
    types = methods.setdefault(method, _Types(set()))
    types.sides.add(side)
    slot = kind.lower()
    known = getattr(types, slot)
    if known not in (None, definition):
        raise context.fail(
            child(context.pointer(definition), "x-method"), f"{method} already has the {slot} {known}", "one per method"
        )
    setattr(types, slot, definition)


def _protocol_level(
    context: Context,
    methods: dict[str, _Types],
    envelopes: dict[str, Envelope],
    placed: set[str],
    routing: frozenset[str],
) -> list[Routing]:
    """Route what either side may send; not every schema has a definition for it."""
    found: list[str] = []
    for name in context.schema.names:
        node = context.definition(name)
        if text_of(node, "x-side") == "protocol":
            method, side = _routed(context, name, PROTOCOL_LEVEL)
            _place(context, methods, method, side, "Notification", name)
            placed.add(name)
            envelope = envelope_name(name)
            if envelope not in envelopes:
                context.names.claim(envelope, context.pointer(name))
                envelopes[envelope] = Envelope(envelope, context.pointer(name), method, name, is_request=False)
            found.append(envelope)
    if not found or PROTOCOL_LEVEL in routing:
        return []
    context.names.claim(PROTOCOL_LEVEL, "")
    return [Routing(PROTOCOL_LEVEL, "", tuple(found))]


def _outgoing(context: Context, routing: frozenset[str], known: dict[str, Routing]) -> list[Routing]:
    out: list[Routing] = []
    for name in sorted(n for n in routing if n.endswith("OutgoingMessage")):
        context.names.claim(name, context.pointer(name))
        targets = [known[t] for t in definition_refs(context.schema.source.raw["$defs"][name]) if t in known]
        parts = tuple(e for t in targets for e in t.envelopes)
        out.append(Routing(name, context.pointer(name), parts, responses=any(t.responses for t in targets)))
    return out


def _check_all_placed(context: Context, methods: dict[str, _Types], placed: set[str]) -> None:
    """Place the definitions that have a method and no routing definition names, by the ends of their keys."""
    for name in context.schema.names:
        node = context.definition(name)
        method, side = text_of(node, "x-method"), text_of(node, "x-side")
        if name in placed or method is None or side is None:
            continue
        kind = next((k for k in KINDS[:3] if name.endswith(k)), None)
        if kind is None or kind != "Response":
            raise context.fail(
                context.pointer(name), f"{method} has the part {name}, which no routing definition names"
            )
        _place(context, methods, method, side, kind, name)


def _meta_keys(source: Source, methods: dict[str, _Types]) -> dict[str, str]:
    """Give the key of each method in the meta file, or one made the same way; hold both against each other."""
    keys = {m: m.removeprefix("$/").replace("/", "_") for m in methods}
    if source.meta is None:
        return keys
    told = bool(methods)  # the oldest schemas tell nothing of methods, their meta files do
    listed: dict[str, set[str]] = {}
    for table, side in META_TABLES.items():
        entries = source.meta.get(table, {})
        if not is_object(entries):
            raise GeneratorError("is not an object", file=source.meta_file, pointer=child("", table))
        for key, method in entries.items():
            place = child("", table, key)
            if not isinstance(method, str) or not method.strip():
                raise GeneratorError("is not the name of a method", file=source.meta_file, pointer=place)
            if told and method not in methods:
                raise GeneratorError(
                    f"the method {method!r} has no definition in {source.file}", file=source.meta_file, pointer=place
                )
            keys[method] = key
            listed.setdefault(method, set()).add(side)
    for method, types in sorted(methods.items()):
        wanted = {"agent", "client"} if "both" in types.sides else types.sides
        if listed.get(method, set()) != wanted:
            raise GeneratorError(
                f"{method!r} is handled by {_and(wanted)} in {source.file}, but listed for "
                f"{_and(listed.get(method, set())) or 'nobody'} here",
                file=source.meta_file,
                hint="the two files must come from one commit",
            )
    unknown = sorted(source.meta.keys() - META_TABLES.keys() - {"version"})
    if unknown:
        raise GeneratorError(
            f"unknown key {unknown[0]!r}", file=source.meta_file, hint="see META_TABLES in messages.py"
        )
    return keys


def _and(sides: set[str]) -> str:
    return " and ".join(sorted(sides))
