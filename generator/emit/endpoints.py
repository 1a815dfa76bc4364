"""Writes `aio.py`: the endpoints of a connection, with a coroutine for each method, and the ready handlers."""

from collections.abc import Mapping
from dataclasses import dataclass

from generator.emit.docstrings import doc_lines
from generator.emit.imports import HELPERS
from generator.emit.messages import FRAME, FUNCTIONS
from generator.emit.rendering import Rendering
from generator.emit.text import quoted, value_text
from generator.model import (
    AgentTurn,
    ClientTurn,
    Coroutine,
    Endpoint,
    Features,
    FileService,
    InitializePart,
    Need,
    Nullable,
    PermissionService,
    TerminalService,
)
from generator.names import words_of

CLASSES = frozenset({"Agent", "Client", "AgentConnection", "ClientConnection"})
"""The classes that the template makes of the names of both sides."""


@dataclass(frozen=True, slots=True)
class CoroutineView:
    """One coroutine of a handler or a connection."""

    name: str
    method: str
    params: str
    result: str
    envelope: str
    is_request: bool
    is_initialize: bool
    """Whether it answers `initialize`, which every handler can do."""
    doc: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InitializeView:
    """One side's part of `initialize`: its class, and its fields for capabilities and for name and version."""

    type: str
    key: str
    """The JSON key of the capabilities."""
    capabilities: str
    capabilities_type: str
    info: str
    info_type: str
    info_required: bool


@dataclass(frozen=True, slots=True)
class EndpointView:
    """One endpoint: its handler class and its connection class."""

    name: str
    phrase: str
    """Its name with an article."""
    peer: str
    peer_phrase: str
    needs: tuple[str, ...]
    needs_name: str
    peer_needs_name: str
    handlers: tuple[CoroutineView, ...]
    calls: tuple[CoroutineView, ...]
    initialize: InitializeView | None
    cancels_turns: bool
    turn: str
    negotiates: bool

    @property
    def requests(self) -> tuple[CoroutineView, ...]:
        """The handlers of requests."""
        return tuple(h for h in self.handlers if h.is_request)

    @property
    def notifications(self) -> tuple[CoroutineView, ...]:
        """The handlers of notifications."""
        return tuple(h for h in self.handlers if not h.is_request)


@dataclass(frozen=True, slots=True)
class FilesView:
    """The ready handler for files."""

    read: CoroutineView
    write: CoroutineView
    optional: frozenset[str]


@dataclass(frozen=True, slots=True)
class TerminalsView:
    """The ready handler for terminals."""

    create: CoroutineView
    kill: CoroutineView
    output: CoroutineView
    release: CoroutineView
    wait: CoroutineView
    made_id: str
    """The id of a new terminal, built from the text `made`."""
    exit_status_type: str
    optional: frozenset[str]


@dataclass(frozen=True, slots=True)
class PermissionsView:
    """The ready handler for permission requests."""

    ask: CoroutineView
    selected: str
    cancelled: str


@dataclass(frozen=True, slots=True)
class EndpointsView:
    """The whole module."""

    agent: EndpointView
    client: EndpointView
    version: int
    cancel: str
    cancel_params: str
    notification_of: str
    files: FilesView | None
    terminals: TerminalsView | None
    permissions: PermissionsView | None

    @property
    def endpoints(self) -> tuple[EndpointView, EndpointView]:
        """Both endpoints."""
        return self.agent, self.client


def write_endpoints(rendering: Rendering, features: Features, texts: Mapping[str, str | None]) -> dict[str, str]:
    """Write the endpoints of a schema; `texts` are those of its methods."""
    own = words_of("aio.py.jinja") | words_of("aio_serving.jinja") | HELPERS | CLASSES
    own |= {c.name for c in (*features.agent.sends, *features.client.sends)}
    spelling = rendering.spellings(own)
    messages = (*FRAME, *FUNCTIONS, "METHODS", "notification", *(e.name for e in rendering.module.envelopes))
    siblings = {
        ".enums": {n: spelling[n] for n in rendering.enums},
        ".messages": {n: n for n in messages},
        ".types": {n: spelling[n] for n in rendering.types},
    }
    return rendering.render("aio", _Endpoints(rendering, features, spelling, texts).view(), siblings)


class _Endpoints:
    """Builds the view of one schema's endpoints."""

    def __init__(
        self,
        rendering: Rendering,
        features: Features,
        spelling: Mapping[str, str],
        texts: Mapping[str, str | None],
    ) -> None:
        self._module = rendering.module
        self._features = features
        self._spelling = spelling
        self._texts = texts

    def view(self) -> EndpointsView:
        """Build the view of the module."""
        features, cancel = self._features, self._features.cancel_request
        has_notifications = any(not e.is_request for e in self._module.envelopes)
        return EndpointsView(
            agent=self._agent(),
            client=self._client(),
            version=self._module.version,
            cancel=cancel.envelope if cancel else "None",
            cancel_params=self._spelling[cancel.params] if cancel else "None",
            notification_of="notification" if has_notifications else "None",
            files=self._files(features.files) if features.files else None,
            terminals=self._terminals(features.terminals) if features.terminals else None,
            permissions=self._permissions(features.permissions) if features.permissions else None,
        )

    def _agent(self) -> EndpointView:
        handshake, turn = self._features.handshake, self._features.agent_turn
        return self._endpoint(
            self._features.agent,
            self._features.client,
            handshake.response if handshake else None,
            self._agent_turn(turn) if turn else "None",
        )

    def _client(self) -> EndpointView:
        handshake, turn = self._features.handshake, self._features.client_turn
        return self._endpoint(
            self._features.client,
            self._features.agent,
            handshake.request if handshake else None,
            self._client_turn(turn) if turn else "None",
        )

    def _endpoint(self, endpoint: Endpoint, peer: Endpoint, part: InitializePart | None, turn: str) -> EndpointView:
        is_agent = endpoint is self._features.agent
        needs = self._needs(endpoint)
        return EndpointView(
            name=endpoint.side.capitalize(),
            phrase=_with_article(endpoint.side),
            peer=peer.side,
            peer_phrase=_with_article(peer.side),
            needs=needs,
            needs_name=_needs_name(endpoint) if needs else "()",
            peer_needs_name=_needs_name(peer) if self._needs(peer) else "()",
            handlers=tuple(self._coroutine(c) for c in endpoint.handles),
            calls=tuple(self._coroutine(c) for c in endpoint.sends),
            initialize=self._initialize(part) if part else None,
            cancels_turns=is_agent and turn != "None",
            turn=turn,
            negotiates=not is_agent and part is not None,
        )

    def _coroutine(self, coroutine: Coroutine) -> CoroutineView:
        text = self._texts[coroutine.method] or "A method without a description."
        no_result = "Any" if coroutine.is_request else "None"
        handshake = self._features.handshake
        return CoroutineView(
            name=coroutine.name,
            method=quoted(coroutine.method),
            params=self._spelling[coroutine.params],
            result=self._spelling[coroutine.result] if coroutine.result else no_result,
            envelope=coroutine.envelope,
            is_request=coroutine.is_request,
            is_initialize=handshake is not None and coroutine == handshake.initialize,
            doc=doc_lines(f"{text} [{coroutine.method}]", "", 8),
        )

    def _initialize(self, part: InitializePart) -> InitializeView:
        return InitializeView(
            type=self._spelling[part.type],
            key=quoted(part.capabilities.wire),
            capabilities=part.capabilities.name,
            capabilities_type=self._spelling[part.capabilities_type],
            info=part.info.name,
            info_type=self._spelling[part.info_type],
            info_required=not isinstance(part.info.kind, Nullable),
        )

    def _needs(self, endpoint: Endpoint) -> tuple[str, ...]:
        return tuple(_need(n, endpoint) for n in self._module.needs if n.side == endpoint.side)

    def _agent_turn(self, turn: AgentTurn) -> str:
        reason = f"{self._spelling[turn.stop_reason_type]}.{turn.cancelled}"
        result = f"{self._spelling[turn.prompt.result or '']}({turn.stop_reason.name}={reason})"
        parts = [quoted(turn.prompt.name), quoted(turn.cancel.name), f"lambda: {result}"]
        parts += [f"close={quoted(turn.close.name)}", "base=Agent"] if turn.close else []
        return f"AgentTurn({', '.join(parts)})"

    def _client_turn(self, turn: ClientTurn) -> str:
        ask = turn.permissions.ask
        result = f"{self._spelling[ask.result or '']}(outcome={self._spelling[turn.permissions.cancelled]}())"
        parts = [quoted(turn.prompt.method), quoted(turn.cancel.method), quoted(ask.name), f"lambda: {result}"]
        if turn.idle:
            update, idle = turn.idle
            parts += [quoted(update.name), f"({', '.join(self._spelling[name] for name in idle)},)"]
        parts += [f"close={quoted(turn.close.method)}"] if turn.close else []
        return f"ClientTurn({', '.join(parts)})"

    def _files(self, service: FileService) -> FilesView:
        return FilesView(self._coroutine(service.read), self._coroutine(service.write), service.optional)

    def _terminals(self, service: TerminalService) -> TerminalsView:
        return TerminalsView(
            create=self._coroutine(service.create),
            kill=self._coroutine(service.kill),
            output=self._coroutine(service.output),
            release=self._coroutine(service.release),
            wait=self._coroutine(service.wait),
            made_id=f"{self._spelling[service.id_type]}(made)" if service.id_type else "made",
            exit_status_type=self._spelling[service.exit_status_type],
            optional=service.optional,
        )

    def _permissions(self, service: PermissionService) -> PermissionsView:
        return PermissionsView(
            self._coroutine(service.ask), self._spelling[service.selected], self._spelling[service.cancelled]
        )


def _with_article(side: str) -> str:
    return f"an {side}" if side == "agent" else f"a {side}"


def _needs_name(endpoint: Endpoint) -> str:
    return f"_{endpoint.side.upper()}_NEEDS"


def _need(need: Need, endpoint: Endpoint) -> str:
    """Write the arguments of a `Need` of the package."""
    parts = [quoted(need.method), quoted(need.capability)]
    if need.leaf is not None:
        name = next(c.name for c in endpoint.handles if c.method == need.method)
        parts += [f"name={quoted(name)}", f"leaf={value_text(need.leaf)}"]
    if need.field is not None:
        parts.append(f"field={quoted(need.field)}")
    if need.value is not None:
        parts.append(f"value={quoted(need.value)}")
    if need.group:
        parts.append("group=True")
    return ", ".join(parts)
