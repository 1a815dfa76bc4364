"""What the template of the typed ends needs for the protocol's own rules: the handshake, turns, ready handlers."""

from dataclasses import dataclass
from typing import Any

from generator.emit.text import quoted
from generator.model import Definition, Enumeration, Field, Module, Named, Nullable, Struct, Type, Union
from generator.names import member_of

INITIALIZE = "initialize"
PROMPT, CANCEL, CLOSE = "session/prompt", "session/cancel", "session/close"
ASK, UPDATE = "session/request_permission", "session/update"
FILES = {
    "fs/read_text_file": ({"sessionId", "path", "line", "limit"}, {"content"}),
    "fs/write_text_file": ({"sessionId", "path", "content"}, set[str]()),
}
TERMINALS = {
    "terminal/create": ({"sessionId", "command", "args", "env", "cwd", "outputByteLimit"}, {"terminalId"}),
    "terminal/kill": ({"sessionId", "terminalId"}, set[str]()),
    "terminal/output": ({"sessionId", "terminalId"}, {"output", "truncated", "exitStatus"}),
    "terminal/release": ({"sessionId", "terminalId"}, set[str]()),
    "terminal/wait_for_exit": ({"sessionId", "terminalId"}, {"exitCode", "signal"}),
}
"""The methods that ready handlers serve, with the keys that they read and write."""
ALWAYS_LOCAL = ("cancelled", "selected")


@dataclass(frozen=True, slots=True)
class Told:
    """One side's part of `initialize`: its class, and where its capabilities and its name stand in it."""

    kind: str
    key: str
    capabilities: str
    capabilities_kind: str
    info: str
    info_kind: str
    info_required: bool


class Protocol:
    """What a module has of the protocol; `uses` collects the names that the emitted code needs."""

    def __init__(self, module: Module) -> None:
        """Look the definitions and methods up."""
        self.uses: set[str] = set()
        self._known: dict[str, Definition] = {d.name: d for d in module.definitions}
        self._methods = {m.name: m for m in module.methods}

    def view(self) -> dict[str, Any]:
        """Make what the template needs; what a schema does not have is None."""
        told = {"Agent": self._told("response", "Agent"), "Client": self._told("request", "Client")}
        if None in told.values():
            told = {"Agent": None, "Client": None}
        for part in told.values():
            if part is not None:
                self.uses |= {part.kind, part.capabilities_kind, part.info_kind, "Handshake", "UnsupportedVersion"}
                self.uses |= {"Callable", "derived_capabilities", "is_overridden", "negotiated_version"}
                if part.info_required:
                    self.uses.add("default_info")
        files, terminals = self._serves(FILES), self._serves(TERMINALS)
        permissions = self._outcomes()
        if files:
            self.uses.add("Files")
        if terminals:
            self.uses.add("Terminals")
        if permissions:
            self.uses |= {"Permissions", "choose", *permissions.values()}
        agent_turn, client_turn = self._agent_turn(), self._client_turn(permissions)
        return {
            "told": told,
            "turns": {"Agent": agent_turn, "Client": client_turn},
            "files": self._types(FILES) if files else None,
            "terminals": {
                **self._types(TERMINALS),
                "id": self._use("TerminalId"),
                "status": self._use("TerminalExitStatus"),
            }
            if terminals
            else None,
            "permissions": permissions,
        }

    def _use(self, name: str) -> str:
        self.uses.add(name)
        return name

    def _fields(self, name: str | None) -> dict[str, Field]:
        found = self._known.get(name or "")
        return {f.wire: f for f in found.fields} if isinstance(found, Struct) else {}

    def _told(self, part: str, owner: str) -> Told | None:
        method = self._methods.get(INITIALIZE)
        kind: str | None = getattr(method, part, None)
        fields = self._fields(kind)
        capabilities = next((f for f in fields.values() if _named(f.kind) == f"{owner}Capabilities"), None)
        info = next((f for f in fields.values() if _named(f.kind) == "Implementation"), None)
        if kind is None or capabilities is None or info is None or "protocolVersion" not in fields:
            return None
        return Told(
            kind,
            quoted(capabilities.wire),
            capabilities.name,
            f"{owner}Capabilities",
            info.name,
            "Implementation",
            not isinstance(info.kind, Nullable),
        )

    def _serves(self, wanted: dict[str, tuple[set[str], set[str]]]) -> bool:
        for name, (read, written) in wanted.items():
            method = self._methods.get(name)
            if method is None or not method.response or method.handled_by != ("client",):
                return False
            if not read <= self._fields(method.request).keys() or not written <= self._fields(method.response).keys():
                return False
        return True

    def _types(self, wanted: dict[str, Any]) -> dict[str, str]:
        found = [self._methods[name] for name in wanted]
        types = {m.key.partition("_")[2]: (self._use(str(m.request)), self._use(str(m.response))) for m in found}
        return {f"{k}_{end}": pair[n] for k, pair in types.items() for n, end in enumerate(("params", "result"))}

    def _outcomes(self) -> dict[str, str] | None:
        method = self._methods.get(ASK)
        if method is None or not {"sessionId", "options"} <= self._fields(method.request).keys():
            return None
        outcome = self._fields(method.response).get("outcome")
        union = self._known.get(_named(outcome.kind) or "") if outcome is not None else None
        if not isinstance(union, Union):
            return None
        classes = dict(union.variants)
        if not all(tag in classes for tag in ALWAYS_LOCAL):
            return None
        made = {"params": str(method.request), "result": str(method.response)}
        return {**made, **{tag: classes[tag] for tag in ALWAYS_LOCAL}}

    def _has_cancel(self) -> bool:
        methods = [self._methods.get(name) for name in (PROMPT, CANCEL)]
        params = [m.request if m and m.request else m.notification if m else None for m in methods]
        return all("sessionId" in self._fields(p) for p in params)

    def _has_close(self) -> bool:
        method = self._methods.get(CLOSE)
        return method is not None and method.handled_by == ("agent",) and "sessionId" in self._fields(method.request)

    def _agent_turn(self) -> str | None:
        prompt = self._methods.get(PROMPT)
        answer = self._fields(prompt.response if prompt else None).get("stopReason")
        reason = self._known.get(_named(answer.kind) or "") if answer is not None else None
        if prompt is None or not self._has_cancel() or not isinstance(reason, Enumeration):
            return None
        if not any(m.value == "cancelled" for m in reason.members):
            return None
        self.uses |= {"AgentTurn", reason.name, str(prompt.response)}
        made = f"{prompt.response}(stop_reason={reason.name}.{member_of('cancelled', None)})"
        close = f', close="{self._methods[CLOSE].key}", base=Agent' if self._has_close() else ""
        return f'AgentTurn("{prompt.key}", "{self._methods[CANCEL].key}", lambda: {made}{close})'

    def _client_turn(self, permissions: dict[str, str] | None) -> str | None:
        if permissions is None or not self._has_cancel():
            return None
        self.uses.add("ClientTurn")
        cancelled = f"lambda: {permissions['result']}(outcome={permissions['cancelled']}())"
        idle = self._idle()
        ends = f', "{self._methods[UPDATE].key}", {self._use(idle)}' if idle else ""
        close = f', close="{CLOSE}"' if self._has_close() else ""
        return f'ClientTurn("{PROMPT}", "{CANCEL}", "{self._methods[ASK].key}", {cancelled}{ends}{close})'

    def _idle(self) -> str | None:
        """Find the update that says that a session is idle."""
        method = self._methods.get(UPDATE)
        update = self._fields(method.notification if method else None).get("update")
        union = self._known.get(_named(update.kind) or "") if update is not None else None
        variants = dict(union.variants) if isinstance(union, Union) else {}
        return variants.get("state_update/idle")


def _named(kind: Type) -> str | None:
    match kind:
        case Nullable(inner=inner):
            return _named(inner)
        case Named(name=name):
            return name
        case _:
            return None
