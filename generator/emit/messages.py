"""Writes `messages.py`: envelopes, routing unions, methods, decoders and builders."""

from collections.abc import Mapping
from dataclasses import dataclass

from generator.docs import Docs
from generator.emit.docstrings import doc_lines, plain_doc
from generator.emit.imports import HELPERS
from generator.emit.rendering import Rendering
from generator.emit.text import quoted
from generator.model import Alias, Envelope, Method, Module, Named, Routing, RoutingKind
from generator.names import member_of, words_of

FRAME = ("Request", "Notification", "Response", "ErrorResponse", "ExtensionRequest", "ExtensionNotification")
"""The envelopes that every schema has."""
FUNCTIONS = (
    "decode_agent_batch",
    "decode_agent_message",
    "decode_client_batch",
    "decode_client_message",
    "decode_result",
    "error_response",
    "extension_notification",
    "extension_request",
    "response",
)
UNKNOWN_REQUEST_ID, UNKNOWN_ERROR = "int | str | None", "Any"
"""The types of ids and errors in a schema that does not define them."""


@dataclass(frozen=True, slots=True)
class EnvelopeView:
    """The class of one envelope."""

    name: str
    base: str
    method: str
    params: str | None
    doc: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoutingView:
    """One routing union: `line` is its declaration."""

    line: str
    doc: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SenderView:
    """What one side sends: the union of all its messages, and the envelopes that the other side decodes."""

    name: str
    phrase: str
    """Its name with an article."""
    receiver: str
    """The other side, with an article."""
    union: str
    members: str
    envelopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MethodView:
    """One entry of the table of methods; the types are None where the method lacks them."""

    name: str
    handled_by: str
    requests_handled_by: str | None
    """None where all sides that handle the method handle requests, or where there are none."""
    notifications_handled_by: str | None
    request: str | None
    response: str | None
    notification: str | None


@dataclass(frozen=True, slots=True)
class MemberView:
    """One member of an enumeration of methods."""

    name: str
    value: str
    doc: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BuiltView:
    """An envelope and the params that a builder makes it of."""

    envelope: str
    params: str


@dataclass(frozen=True, slots=True)
class BuilderView:
    """The function that builds requests or notifications; it has overloads if it builds several."""

    name: str
    parameters: str
    """What precedes the params in the signature."""
    arguments: str
    """What precedes the params in the call."""
    of_request: bool
    builds: tuple[BuiltView, ...]
    overloads: tuple[BuiltView, ...]


@dataclass(frozen=True, slots=True)
class MessagesView:
    """The whole module."""

    request_id: str
    error: str
    envelopes: tuple[EnvelopeView, ...]
    routings: tuple[RoutingView, ...]
    senders: tuple[SenderView, ...]
    unread: str
    """Envelopes that can be built, but that neither side decodes: those of proxies."""
    results: str
    methods: tuple[MethodView, ...]
    agent_methods: tuple[MemberView, ...]
    client_methods: tuple[MemberView, ...]
    builders: tuple[BuilderView, ...]


def write_messages(rendering: Rendering, docs: Docs, texts: Mapping[str, str | None]) -> dict[str, str]:
    """Write the messages of a schema; `texts` are those of its methods."""
    spelling = rendering.spellings(words_of("messages.py.jinja") | HELPERS)
    view = _Messages(rendering.module, spelling, texts).view(docs)
    siblings = {
        ".enums": {n: spelling[n] for n in rendering.enums},
        ".types": {n: spelling[n] for n in rendering.types},
    }
    return rendering.render("messages", view, siblings)


def exports_of(module: Module) -> list[str]:
    """List the public names of `messages`."""
    found = ["METHODS", "AgentMethod", "ClientMethod", "MessageFromAgent", "MessageFromClient", *FRAME, *FUNCTIONS]
    found += [e.name for e in module.envelopes] + [r.name for r in module.routings]
    found += [name for name, is_request in (("request", True), ("notification", False)) if _built(module, is_request)]
    return sorted([*found, *(["Result"] if any(m.response for m in module.methods) else [])])


def _built(module: Module, is_request: bool) -> list[Envelope]:
    """List the envelopes that a builder makes; params that only rename other params are built under those."""
    renamed = {d.name for d in module.definitions if isinstance(d, Alias) and isinstance(d.kind, Named)}
    return [e for e in module.envelopes if e.is_request is is_request and e.params not in renamed]


class _Messages:
    """Builds the view of one schema's messages."""

    def __init__(self, module: Module, spelling: Mapping[str, str], texts: Mapping[str, str | None]) -> None:
        self._module = module
        self._spelling = spelling
        self._texts = texts
        self._request_id = spelling[module.request_id] if module.request_id else UNKNOWN_REQUEST_ID

    def view(self, docs: Docs) -> MessagesView:
        """Build the view; `docs` has the texts of the routing unions."""
        module = self._module
        senders = (self._sender("Client", "a client", "an agent"), self._sender("Agent", "an agent", "a client"))
        builders = tuple(b for b in (self._builder(of_request=True), self._builder(of_request=False)) if b.builds)
        read = {name for sender in senders for name in sender.envelopes}
        built = [b.envelope for builder in builders for b in builder.builds]
        return MessagesView(
            request_id=self._request_id,
            error=self._spelling[module.error] if module.error else UNKNOWN_ERROR,
            envelopes=tuple(self._envelope(e) for e in module.envelopes),
            routings=tuple(_routing(r, docs) for r in module.routings),
            senders=senders,
            unread=", ".join(name for name in built if name not in read),
            results=" | ".join(dict.fromkeys(self._spelling[m.response] for m in module.methods if m.response)),
            methods=tuple(self._method(m) for m in module.methods),
            agent_methods=self._members("agent"),
            client_methods=self._members("client"),
            builders=builders,
        )

    def _spell(self, name: str | None) -> str | None:
        return None if name is None else self._spelling[name]

    def _envelope(self, envelope: Envelope) -> EnvelopeView:
        kind = "request" if envelope.is_request else "notification"
        text = self._texts[envelope.method] or f"The {kind} `{envelope.method}`."
        return EnvelopeView(
            name=envelope.name,
            base=kind.capitalize(),
            method=quoted(envelope.method),
            params=self._spell(envelope.params),
            doc=doc_lines(text, envelope.pointer, 4),
        )

    def _sender(self, name: str, phrase: str, receiver: str) -> SenderView:
        """Collect what one side sends, protocol-level messages included."""
        kinds = (RoutingKind.REQUESTS, RoutingKind.NOTIFICATIONS, RoutingKind.PROTOCOL_LEVEL)
        senders = (name.lower(), "protocol")
        sent = [r for kind in kinds for r in self._module.routings if r.kind is kind and r.sender in senders]
        return SenderView(
            name=name.lower(),
            phrase=phrase,
            receiver=receiver,
            union=f"MessageFrom{name}",
            members=" | ".join([*(r.name for r in sent), *FRAME[2:]]),
            envelopes=tuple(dict.fromkeys(e for r in sent for e in r.envelopes)),
        )

    def _method(self, method: Method) -> MethodView:
        handled_by = (method.requests_handled_by, method.notifications_handled_by)
        differs = all(handled_by) and handled_by[0] != handled_by[1]
        return MethodView(
            name=quoted(method.name),
            handled_by=_sides(method.handled_by),
            requests_handled_by=_sides(method.requests_handled_by) if differs else None,
            notifications_handled_by=_sides(method.notifications_handled_by) if differs else None,
            request=self._spell(method.request),
            response=self._spell(method.response),
            notification=self._spell(method.notification),
        )

    def _members(self, side: str) -> tuple[MemberView, ...]:
        found = [m for m in self._module.methods if side in m.handled_by and not m.name.startswith("$/")]
        return tuple(
            MemberView(member_of(m.key, None), quoted(m.name), plain_doc(self._texts[m.name], 4))
            for m in sorted(found, key=lambda m: m.key)
        )

    def _builder(self, *, of_request: bool) -> BuilderView:
        builds = tuple(
            BuiltView(e.name, self._spelling[e.params] if e.params else "None")
            for e in _built(self._module, of_request)
        )
        return BuilderView(
            name="request" if of_request else "notification",
            parameters=f"id: {self._request_id}, " if of_request else "",
            arguments="id=id, " if of_request else "",
            of_request=of_request,
            builds=builds,
            overloads=builds if len(builds) > 1 else (),
        )


def _sides(sides: tuple[str, ...]) -> str:
    return ", ".join(quoted(side) for side in sides)


def _routing(routing: Routing, docs: Docs) -> RoutingView:
    known = " | ".join(routing.envelopes)
    match routing.kind:
        case RoutingKind.REQUESTS:
            union = f"Routed[{known}, ExtensionRequest]"
        case RoutingKind.NOTIFICATIONS:
            union = f"Routed[{known}, ExtensionNotification]"
        case RoutingKind.PROTOCOL_LEVEL:
            union = f"Tagged[{known}]"
        case RoutingKind.RESPONSES | RoutingKind.OUTGOING:
            answers = "Response | ErrorResponse"
            union = f"Fallback[{known}, {answers}]" if known else f"Untagged[{answers}]"
    doc = doc_lines(docs.of_class(routing.name, routing.pointer), routing.pointer, 0)
    return RoutingView(f"{routing.name}: TypeAlias = {union}", doc)
