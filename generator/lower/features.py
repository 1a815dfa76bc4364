"""Features: what the emitted endpoints do with the protocol's methods, found by methods and the shapes of their types.

A feature is there only if the schema has everything that it needs. Fields are looked up by their Python names, since
the emitted code uses them under these names.
"""

from collections.abc import Iterable, Mapping

from generator.aliases import unwrap
from generator.lower.messages import Messages
from generator.model import (
    AgentTurn,
    ClientTurn,
    Conversation,
    Coroutine,
    Definition,
    Endpoint,
    Enumeration,
    Features,
    Field,
    FileService,
    Handshake,
    Identifier,
    InitializePart,
    ListOf,
    Named,
    PermissionService,
    Plain,
    Struct,
    TerminalService,
    Type,
    Union,
)
from generator.names import method_names

INITIALIZE = "initialize"
CANCEL_REQUEST = "$/cancel_request"
"""The one method that connections handle themselves."""
PROMPT, CANCEL, CLOSE = "session/prompt", "session/cancel", "session/close"
NEW, LOAD, RESUME = "session/new", "session/load", "session/resume"
ASK, UPDATE = "session/request_permission", "session/update"
READ_FILE, WRITE_FILE = "fs/read_text_file", "fs/write_text_file"
CREATE, KILL, OUTPUT = "terminal/create", "terminal/kill", "terminal/output"
RELEASE, WAIT = "terminal/release", "terminal/wait_for_exit"
SERVED: dict[str, tuple[set[str], set[str]]] = {
    READ_FILE: ({"path"}, {"content"}),
    WRITE_FILE: ({"path", "content"}, set()),
    CREATE: ({"session_id", "command"}, {"terminal_id"}),
    KILL: ({"session_id", "terminal_id"}, set()),
    OUTPUT: ({"session_id", "terminal_id"}, {"output", "truncated", "exit_status"}),
    RELEASE: ({"session_id", "terminal_id"}, set()),
    WAIT: ({"session_id", "terminal_id"}, {"exit_code", "signal"}),
}
"""The methods that ready handlers serve, with the fields that they need in the params and write to the result."""
OPTIONAL = {READ_FILE: {"line", "limit"}, CREATE: {"args", "env", "cwd", "output_byte_limit"}}
"""The fields of the params that they use where a schema has them."""
LOGINS = ("authenticate", "auth/login")
"""The methods by which a client signs in, of one version or another."""
SESSION_OPTIONS = frozenset({"mcp_servers", "additional_directories", "meta"})
"""The fields of the params of `session/new` that a conversation sets where a schema has them."""
TEXT, LINK, FROM_START = "text", "resource_link", "start"
"""The tags of the blocks that a conversation makes, and of what asks for a session from its beginning."""
SELECTED, CANCELLED = "selected", "cancelled"
IDLE_UPDATE = ("state_update", "idle")
"""The tags of the update that reports an idle session; its variants, if it is a union again, have more tags."""


def lower_features(definitions: Iterable[Definition], messages: Messages, file: str) -> Features | None:
    """Find the features of a schema; None where it has no messages."""
    if not messages.envelopes:
        return None
    agent, client = (_handled_by(side, messages, file) for side in ("agent", "client"))
    finder = _Finder(definitions, agent, client)
    permissions = finder.permissions()
    client_turn = finder.client_turn(permissions)
    cancel = next((c for c in agent if c.method == CANCEL_REQUEST), None)
    return Features(
        agent=Endpoint("agent", tuple(c for c in agent if c.method != CANCEL_REQUEST), client),
        client=Endpoint("client", tuple(c for c in client if c.method != CANCEL_REQUEST), agent),
        cancel_request=cancel,
        handshake=finder.handshake(),
        agent_turn=finder.agent_turn(),
        client_turn=client_turn,
        files=finder.files(),
        terminals=finder.terminals(),
        permissions=permissions,
        conversation=finder.conversation(client_turn.prompt) if client_turn is not None else None,
    )


def _handled_by(side: str, messages: Messages, file: str) -> tuple[Coroutine, ...]:
    """List what one side handles, by the names of the coroutines."""
    methods = [m for m in messages.methods if side in m.handled_by]
    names = method_names([(m.key, m.request is not None, m.notification is not None) for m in methods], file)
    envelopes = {(e.method, e.is_request): e.name for e in messages.envelopes}
    found: list[Coroutine] = []
    for method in methods:
        parts = (
            (True, method.request, method.requests_handled_by),
            (False, method.notification, method.notifications_handled_by),
        )
        for is_request, params, handled_by in parts:
            envelope = envelopes.get((method.name, is_request))
            if params is not None and envelope is not None and side in handled_by:
                name = names[method.key, is_request]
                result = method.response if is_request else None
                found.append(Coroutine(name, method.name, params, envelope, is_request, result))
    return tuple(sorted(found, key=lambda c: c.name))


class _Finder:
    """Looks for features among the definitions and the methods of both sides."""

    def __init__(
        self, definitions: Iterable[Definition], agent: Iterable[Coroutine], client: Iterable[Coroutine]
    ) -> None:
        self._definitions = {d.name: d for d in definitions}
        self._agent = _by_method(agent)
        self._client = _by_method(client)

    def handshake(self) -> Handshake | None:
        """Find both parts of `initialize`."""
        initialize = self._agent.get(INITIALIZE)
        if initialize is None or initialize.result is None:
            return None
        request, response = self._initialize_part(initialize.params), self._initialize_part(initialize.result)
        return Handshake(initialize, request, response) if request is not None and response is not None else None

    def _initialize_part(self, name: str) -> InitializePart | None:
        """Find the fields that hold a side's capabilities, and its name and version."""
        fields = self._fields(name)
        capabilities = next((f for f in fields.values() if f.name.endswith("capabilities")), None)
        info = next((f for f in fields.values() if self._has(_named(f.kind), {"name", "version"})), None)
        if capabilities is None or info is None or "protocol_version" not in fields:
            return None
        capabilities_type, info_type = _named(capabilities.kind), _named(info.kind)
        if not capabilities_type or not info_type:
            return None
        return InitializePart(name, capabilities, capabilities_type, info, info_type)

    def files(self) -> FileService | None:
        """Find the methods that work on files."""
        read, write = self._served(READ_FILE), self._served(WRITE_FILE)
        return FileService(read, write, self._optional(read)) if read and write else None

    def terminals(self) -> TerminalService | None:
        """Find the methods that work on terminals."""
        create, kill, output = self._served(CREATE), self._served(KILL), self._served(OUTPUT)
        release, wait = self._served(RELEASE), self._served(WAIT)
        if not (create and kill and output and release and wait):
            return None
        id_type = self._fields(create.result)["terminal_id"].kind
        is_text, name = id_type == Plain("str"), _named(id_type)
        status = _named(self._fields(output.result)["exit_status"].kind)
        if not (is_text or isinstance(self._definitions.get(name), Identifier)):
            return None
        if not self._has(status, {"exit_code", "signal"}):
            return None
        id_type_name = None if is_text else name
        return TerminalService(create, kill, output, release, wait, id_type_name, status, self._optional(create))

    def _served(self, method: str) -> Coroutine | None:
        """Find a method that the client alone handles and whose types have the fields that a ready handler uses."""
        read, written = SERVED[method]
        found = self._client.get(method)
        if found is None or found.result is None or method in self._agent:
            return None
        return found if self._has(found.params, read) and self._has(found.result, written) else None

    def _optional(self, served: Coroutine) -> frozenset[str]:
        return frozenset(OPTIONAL[served.method] & self._fields(served.params).keys())

    def permissions(self) -> PermissionService | None:
        """Find the permission request, and the outcomes that it can be answered with."""
        ask = self._client.get(ASK)
        if ask is None or not self._has(ask.params, {"session_id", "options"}):
            return None
        outcomes = self._variants(ask.result, "outcome")
        if SELECTED not in outcomes or CANCELLED not in outcomes:
            return None
        return PermissionService(ask, outcomes[SELECTED], outcomes[CANCELLED])

    def agent_turn(self) -> AgentTurn | None:
        """Find the stop reason of a prompt that was cancelled."""
        prompt, cancel = self._prompt_and_cancel()
        field = self._fields(prompt.result).get("stop_reason") if prompt is not None else None
        if prompt is None or cancel is None or field is None:
            return None
        reason = self._definitions.get(_named(field.kind))
        members = reason.members if isinstance(reason, Enumeration) else ()
        cancelled = next((m.name for m in members if m.value == CANCELLED), None)
        if reason is None or cancelled is None:
            return None
        return AgentTurn(prompt, cancel, self._close(), field, reason.name, cancelled)

    def client_turn(self, permissions: PermissionService | None) -> ClientTurn | None:
        """Find what ends a prompt turn at the client."""
        prompt, cancel = self._prompt_and_cancel()
        if prompt is None or cancel is None or permissions is None:
            return None
        update = self._client.get(UPDATE)
        updates = self._variants(update.params, "update") if update is not None else {}
        # The tags stand first in the steps to a variant; behind them may be those of a union inside it.
        idle = tuple(name for steps, name in updates.items() if tuple(steps.split("/")[:2]) == IDLE_UPDATE)
        turn_end = (update, idle) if update is not None and idle else None
        return ClientTurn(prompt, cancel, self._close(), permissions, turn_end)

    def conversation(self, prompt: Coroutine) -> Conversation | None:
        """Find what a client needs to open sessions and to follow their turns."""
        update, new = self._client.get(UPDATE), self._agent.get(NEW)
        if update is None or not self._has(update.params, {"session_id", "update"}):
            return None
        if new is None or not self._has(new.params, {"cwd"}) or not self._has(new.result, {"session_id"}):
            return None
        block = self._item(prompt.params, "prompt")
        blocks = self._variants_of(block)
        if not self._has(blocks.get(TEXT), {"text"}):
            return None
        resume, initialize = self._reopens(RESUME), self._agent.get(INITIALIZE)
        logins = (self._agent.get(method) for method in LOGINS)
        login = next((c for c in logins if c is not None and self._has(c.params, {"method_id"})), None)
        return Conversation(
            update=update,
            new=new,
            load=self._reopens(LOAD),
            resume=resume,
            replay=self._variants(resume.params, "replay_from").get(FROM_START) if resume is not None else None,
            block=block,
            text=blocks[TEXT],
            link=blocks[LINK] if self._has(blocks.get(LINK), {"uri", "name"}) else None,
            options=tuple(f for f in self._fields(new.params).values() if f.name in SESSION_OPTIONS),
            login=login,
            auth_method=self._item(initialize.result, "auth_methods") or None if login and initialize else None,
        )

    def _reopens(self, method: str) -> Coroutine | None:
        found = self._agent.get(method)
        return found if found is not None and self._has(found.params, {"session_id", "cwd"}) else None

    def _prompt_and_cancel(self) -> tuple[Coroutine, Coroutine] | tuple[None, None]:
        prompt, cancel = self._agent.get(PROMPT), self._agent.get(CANCEL)
        if prompt is None or cancel is None:
            return None, None
        both = all(self._has(c.params, {"session_id"}) for c in (prompt, cancel))
        return (prompt, cancel) if both else (None, None)

    def _close(self) -> Coroutine | None:
        close = self._agent.get(CLOSE)
        is_usable = close is not None and CLOSE not in self._client and self._has(close.params, {"session_id"})
        return close if is_usable else None

    def _fields(self, name: str | None) -> Mapping[str, Field]:
        found = self._definitions.get(name or "")
        return {f.name: f for f in found.fields} if isinstance(found, Struct) else {}

    def _has(self, name: str | None, fields: set[str]) -> bool:
        """Return whether a name is that of a struct with these fields."""
        return isinstance(self._definitions.get(name or ""), Struct) and fields <= self._fields(name).keys()

    def _variants(self, owner: str | None, field: str) -> dict[str, str]:
        """Return the classes of the union in a field, by tag."""
        found = self._fields(owner).get(field)
        return self._variants_of(_named(found.kind)) if found is not None else {}

    def _variants_of(self, name: str) -> dict[str, str]:
        union = self._definitions.get(name)
        return dict(union.variants) if isinstance(union, Union) else {}

    def _item(self, owner: str | None, field: str) -> str:
        """Return the definition of the items of a list in a field; empty if there is none."""
        found = self._fields(owner).get(field)
        bare = unwrap(found.kind, lambda _: None, null=True) if found is not None else None
        return _named(bare.item) if isinstance(bare, ListOf) else ""


def _by_method(coroutines: Iterable[Coroutine]) -> dict[str, Coroutine]:
    """Index coroutines by method; of a method that is both, the request counts."""
    return {c.method: c for c in sorted(coroutines, key=lambda c: c.is_request)}


def _named(kind: Type) -> str:
    """Return the name of the definition that a type refers to, null aside; empty if it refers to none."""
    bare = unwrap(kind, lambda _: None, null=True)
    return bare.name if isinstance(bare, Named) else ""
