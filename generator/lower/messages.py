"""Messages: which definitions travel under which method, and who sends them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from generator.errors import GeneratorError, child
from generator.jsonutil import is_array, is_object
from generator.lower.context import Context
from generator.lower.nodes import definition_refs, text_of
from generator.model import Envelope, Method, Routing, RoutingKind
from generator.names import envelope_name
from generator.source import Source, definitions_of

KINDS = {
    "Request": RoutingKind.REQUESTS,
    "Notification": RoutingKind.NOTIFICATIONS,
    "Response": RoutingKind.RESPONSES,
    "OutgoingMessage": RoutingKind.OUTGOING,
}
"""How the keys of routing definitions end; they begin with a sender."""
SENDERS = ("Agent", "Client", "Proxy")
HANDLED_BY = {
    "agent": ("agent",),
    "client": ("client",),
    "proxy": ("proxy",),
    "both": ("agent", "client"),
    "all": ("agent", "client", "proxy"),
    "protocol": ("agent", "client"),
}
RECEIVERS = {
    "Agent": ("client", "both", "all"),
    "Client": ("agent", "both", "all"),
    "Proxy": ("proxy", "all"),
    "ProtocolLevel": ("protocol",),
}
"""Values of `x-side` that fit what each sender sends."""
RESPONDERS = {"Agent": ("agent", "both", "all"), "Client": ("client", "both", "all"), "Proxy": ("proxy", "all")}
"""Values of `x-side` that fit the responses of each sender."""
META_TABLES = {
    "agentMethods": "agent",
    "clientMethods": "client",
    "protocolMethods": "protocol",
    "proxyMethods": "proxy",
}
LISTED_FOR = {"both": HANDLED_BY["both"], "all": HANDLED_BY["all"]}
"""The tables of the meta file that list the methods of several sides."""
PROTOCOL_LEVEL = "ProtocolLevelNotification"


def routing_names(source: Source) -> frozenset[str]:
    """List the definitions that describe whole messages; the message schema replaces them."""
    wanted = {f"{sender}{suffix}" for sender in SENDERS for suffix in KINDS} | {PROTOCOL_LEVEL}
    found = definitions_of(source.raw, source.file)
    return frozenset(n for n, d in found.items() if n in wanted and is_object(d) and "x-docs-ignore" in d)


@dataclass(frozen=True, slots=True)
class Messages:
    """The envelopes, routing unions and methods of one schema, and the definitions that all messages share."""

    envelopes: tuple[Envelope, ...]
    routings: tuple[Routing, ...]
    methods: tuple[Method, ...]
    request_id: str | None
    error: str | None


@dataclass(slots=True)
class _Types:
    """The types that one method carries, and the values of `x-side` of its requests and of its notifications."""

    request_sides: set[str] = field(default_factory=set[str])
    notification_sides: set[str] = field(default_factory=set[str])
    request: str | None = None
    response: str | None = None
    notification: str | None = None

    @property
    def sides(self) -> set[str]:
        """The values of `x-side` of all parts."""
        return self.request_sides | self.notification_sides


def lower_messages(context: Context, routing: frozenset[str]) -> Messages:
    """Create envelopes for the parts of routing definitions; check `x-side`, `x-method` and the meta file."""
    _refuse_unknown_senders(context, routing)
    request_id, error = _types_of(context, routing, "id"), _types_of(context, routing, "error")
    router = _Router(context, request_id | error)
    is_complete, context.is_complete = context.is_complete, True
    for name in sorted(routing):
        if not name.endswith("OutgoingMessage"):
            with context.attempt():
                router.route(name)
    router.route_protocol_level(is_listed=PROTOCOL_LEVEL in routing)
    for name in sorted(routing):
        if name.endswith("OutgoingMessage"):
            with context.attempt():
                router.route_outgoing(name)
    router.place_the_rest()
    keys = _meta_keys(context, router.methods, are_complete=context.is_complete)
    context.is_complete = context.is_complete and is_complete
    return Messages(
        tuple(router.envelopes[n] for n in sorted(router.envelopes)),
        tuple(router.routings),
        tuple(_method(name, keys[name], types) for name, types in sorted(router.methods.items())),
        min(request_id, default=None),
        min(error, default=None),
    )


def _refuse_unknown_senders(context: Context, routing: frozenset[str]) -> None:
    """Refuse a definition that lists messages as a routing definition does, of a sender that is not known."""
    raw = context.schema.source.raw["$defs"]
    for name in context.schema.names:
        carried = set(_carried(raw[name])) if name not in routing else set[str]()
        if any("x-method" in context.definition(r).extras for r in carried if r in raw):
            raise context.fail(
                context.pointer(name),
                f"{name} lists messages of a sender that is not known",
                f"the known ones are {', '.join(SENDERS)}; see SENDERS in generator/lower/messages.py",
            )


def _carried(node: Any) -> Iterator[str]:
    """List the definitions that whole messages in a schema carry as their params or results."""
    if is_object(node):
        properties = node.get("properties")
        for beside, key in (("method", "params"), ("id", "result")):
            if is_object(properties) and beside in properties:
                yield from definition_refs(properties.get(key))
    for value in node.values() if is_object(node) else node if is_array(node) else ():
        yield from _carried(value)


def _method(name: str, key: str, types: _Types) -> Method:
    sides = (types.request_sides, types.notification_sides)
    requests, notifications = (tuple(sorted({h for s in found for h in HANDLED_BY[s]})) for found in sides)
    return Method(name, key, requests, notifications, types.request, types.response, types.notification)


class _Router:
    """Collects what the routing definitions say."""

    def __init__(self, context: Context, shared: frozenset[str]) -> None:
        self.context = context
        self.shared = shared
        self.methods: dict[str, _Types] = {}
        self.envelopes: dict[str, Envelope] = {}
        self.routings: list[Routing] = []
        self._placed: set[str] = set()

    def route(self, name: str) -> None:
        """Place the parts of a routing definition under their methods."""
        sender, suffix = _split(name)
        is_response = suffix == "Response"
        definitions = _parts(self.context, name, self.shared)
        for definition in definitions:
            with self.context.attempt():
                method, side = _routed(self.context, definition, name)
                self._placed.add(definition)
                if side not in (RESPONDERS if is_response else RECEIVERS)[sender]:
                    raise self.context.fail(
                        child(self.context.pointer(definition), "x-side"),
                        f"x-side is {side!r}, but {name} says that the {sender.lower()} "
                        f"{'answers' if is_response else 'sends'} it",
                    )
                self._place(method, side, suffix, definition)
                if not is_response:
                    self._envelope(definition, method, is_request=suffix == "Request")
        self._routing(name, definitions if not is_response else ())

    def route_protocol_level(self, *, is_listed: bool) -> None:
        """Route what either side may send; `is_listed`: a definition of the schema lists it."""
        found = [n for n in self.context.schema.names if text_of(self.context.declared(n), "x-side") == "protocol"]
        for definition in found:
            with self.context.attempt():
                method, side = _routed(self.context, definition, PROTOCOL_LEVEL)
                self._place(method, side, "Notification", definition)
                self._envelope(definition, method, is_request=False)
        if found and not is_listed:
            with self.context.attempt():
                self._routing(PROTOCOL_LEVEL, found, pointer="")

    def route_outgoing(self, name: str) -> None:
        """Route what a sender sends of any kind: the parts of its other routing definitions."""
        by_name = {r.name: r for r in self.routings}
        targets = definition_refs(self.context.schema.source.raw["$defs"][name])
        envelopes = tuple(e for t in targets if t in by_name for e in by_name[t].envelopes)
        pointer = self.context.pointer(name)
        self.context.names.claim(name, pointer)
        self.routings.append(Routing(name, pointer, _split(name)[0].lower(), RoutingKind.OUTGOING, envelopes))

    def place_the_rest(self) -> None:
        """Place the responses that no routing definition names; any other part must be named by one."""
        for name in self.context.schema.names:
            node = self.context.declared(name)
            method, side = text_of(node, "x-method"), text_of(node, "x-side")
            if name in self._placed or method is None or side is None:
                continue
            with self.context.attempt():
                if not name.endswith("Response"):
                    raise self.context.fail(
                        self.context.pointer(name), f"{method} has the part {name}, which no routing definition names"
                    )
                self._place(method, side, "Response", name)

    def _place(self, method: str, side: str, suffix: str, definition: str) -> None:
        """Note a definition as the part of a method that `suffix` names."""
        types = self.methods.setdefault(method, _Types())
        (types.notification_sides if suffix == "Notification" else types.request_sides).add(side)
        slot = suffix.lower()
        known = getattr(types, slot)
        if known not in (None, definition):
            place = child(self.context.pointer(definition), "x-method")
            raise self.context.fail(place, f"{method} already has the {slot} {known}", "one per method")
        setattr(types, slot, definition)
        self._placed.add(definition)

    def _envelope(self, definition: str, method: str, *, is_request: bool) -> None:
        name = envelope_name(definition)
        if name not in self.envelopes:
            pointer = self.context.pointer(definition)
            self.context.names.claim(name, pointer)
            self.envelopes[name] = Envelope(name, pointer, method, definition, is_request)

    def _routing(self, name: str, definitions: Iterable[str], pointer: str | None = None) -> None:
        pointer = self.context.pointer(name) if pointer is None else pointer
        self.context.names.claim(name, pointer)
        sender, suffix = _split(name)
        parts = tuple(n for n in map(envelope_name, definitions) if n in self.envelopes)
        if name == PROTOCOL_LEVEL:
            self.routings.append(Routing(name, pointer, "protocol", RoutingKind.PROTOCOL_LEVEL, parts))
        else:
            self.routings.append(Routing(name, pointer, sender.lower(), KINDS[suffix], parts))


def _split(name: str) -> tuple[str, str]:
    """Split the key of a routing definition into the sender and the suffix, such as `Request`."""
    suffix = next(s for s in KINDS if name.endswith(s))
    return name.removesuffix(suffix), suffix


def _types_of(context: Context, routing: frozenset[str], key: str) -> frozenset[str]:
    """List the definitions that a property of whole messages refers to."""
    return frozenset(r for name in routing for r in _property_refs(context.schema.source.raw["$defs"][name], key))


def _property_refs(node: Any, key: str) -> Iterator[str]:
    if is_object(node):
        properties = node.get("properties")
        if is_object(properties):
            yield from definition_refs(properties.get(key))
    for value in node.values() if is_object(node) else node if is_array(node) else ():
        yield from _property_refs(value, key)


def _parts(context: Context, name: str, shared: frozenset[str]) -> list[str]:
    """List the params or result types of a routing definition; free JSON and what messages share do not count."""
    raw = context.schema.source.raw["$defs"][name]
    found: list[str] = []
    for target in dict.fromkeys(t for t in definition_refs(raw) if t in context.schema.definitions):
        extras = context.declared(target).extras
        if "x-method" in extras or _request_of(context, target) is not None:
            found.append(target)
        elif target not in shared and not _is_extension(context, target) and not _is_draft(context, target):
            with context.attempt():
                raise context.fail(
                    context.pointer(target), f"{name} carries {target}, which has no x-method", "its route is unknown"
                )
    return found


def _is_draft(context: Context, name: str) -> bool:
    """Return whether upstream hides a part from its docs; its method may still change, so it stays a plain type."""
    request = context.schema.definitions.get(f"{name.removesuffix('Response')}Request")
    return any("x-docs-ignore" in n.extras for n in (context.declared(name), request) if n is not None)


def _request_of(context: Context, name: str) -> str | None:
    """Find the request that an early schema's response without a method answers: the one of the same name."""
    if not name.endswith("Response"):
        return None
    request = f"{name.removesuffix('Response')}Request"
    known = context.schema.definitions.get(request)
    return request if known is not None and "x-method" in known.extras else None


def _is_extension(context: Context, name: str) -> bool:
    node = context.declared(name)
    return name.startswith("Ext") and not (node.type or node.properties or node.anyOf or node.oneOf)


def _routed(context: Context, definition: str, routing: str) -> tuple[str, str]:
    node = context.declared(definition)
    if "x-method" not in node.extras:
        node = context.declared(_request_of(context, definition) or definition)
    method, side = text_of(node, "x-method"), text_of(node, "x-side")
    if method is None or side is None:
        raise context.fail(context.pointer(definition), f"{routing} carries it, but it has no x-method and x-side")
    return method, side


def _meta_keys(context: Context, methods: dict[str, _Types], *, are_complete: bool) -> dict[str, str]:
    """Return the key of each method: that of the meta file, or one formed the same way.

    Both files must agree; where the methods are not complete, only the meta file itself is checked.
    """
    source = context.schema.source
    keys = {m: m.removeprefix("$/").replace("/", "_") for m in methods}
    if source.meta is None:
        return keys
    known = {text_of(context.declared(n), "x-method") for n in context.schema.names}
    listed: dict[str, set[str]] = {}
    for key, method, side in _meta_entries(context, known - {None}):
        keys[method] = key
        listed.setdefault(method, set()).add(side)
    for method, types in sorted(methods.items()) if are_complete and context.is_complete else ():
        wanted = {table for side in types.sides for table in LISTED_FOR.get(side, (side,))}
        if listed.get(method, set()) != wanted:
            with context.attempt():
                raise GeneratorError(
                    f"{method!r} is handled by {_and(wanted)} in {source.file}, but listed for "
                    f"{_and(listed.get(method, set())) or 'nobody'} here",
                    file=source.meta_file,
                    hint="the two files must come from one commit",
                )
    for key in sorted(source.meta.keys() - META_TABLES.keys() - {"version"}):
        with context.attempt():
            raise GeneratorError(f"unknown key {key!r}", file=source.meta_file, hint="see META_TABLES in messages.py")
    return keys


def _meta_entries(context: Context, methods: Collection[str | None]) -> list[tuple[str, str, str]]:
    """List the key, the method and the side of each entry of the meta file."""
    source = context.schema.source
    found: list[tuple[str, str, str]] = []
    for table, side in META_TABLES.items():
        entries = (source.meta or {}).get(table, {})
        with context.attempt():
            if not is_object(entries):
                raise GeneratorError("is not an object", file=source.meta_file, pointer=child("", table))
        for key, method in entries.items() if is_object(entries) else ():
            with context.attempt():
                found.append((key, _method_of_meta(source, method, methods, child("", table, key)), side))
    return found


def _method_of_meta(source: Source, method: Any, methods: Collection[str | None], place: str) -> str:
    if not isinstance(method, str) or not method.strip():
        raise GeneratorError("is not the name of a method", file=source.meta_file, pointer=place)
    # The oldest schemas define no methods, though their meta files list some.
    if methods and method not in methods:
        raise GeneratorError(
            f"the method {method!r} has no definition in {source.file}", file=source.meta_file, pointer=place
        )
    return method


def _and(sides: set[str]) -> str:
    return " and ".join(sorted(sides))
