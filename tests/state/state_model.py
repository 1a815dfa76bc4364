"""The state of a session by the plainest means: every update copies everything, and nothing is clever.

It follows the descriptions of upstream and of `docs/concepts/state.md`, and is what `SessionState` is held against.
"""

import base64
import binascii
from copy import copy
from typing import Any

import acp_msgspec as acp
import msgspec
from acp_msgspec import UnknownVariant
from acp_msgspec.state import (
    CompactionView,
    CursorView,
    MessageView,
    PlanItem,
    PlanView,
    Role,
    SessionMessageView,
    Snapshot,
    SubagentView,
    TerminalView,
    ToolCallView,
    TurnView,
    UnknownView,
    UsageView,
)
from msgspec import UNSET

ENDS = ("completed", "failed", "cancelled")
ROLES = {"user": Role.USER, "agent": Role.AGENT}


def _joined(blocks: tuple[Any, ...], block: Any) -> tuple[Any, ...]:
    last: Any = blocks[-1] if blocks else None
    if (
        type(last) is type(block)
        and isinstance(block, msgspec.Struct)
        and hasattr(block, "text")
        and acp.to_builtins(last) | {"text": ""} == acp.to_builtins(block) | {"text": ""}
    ):
        whole: Any = copy(block)
        whole.text = last.text + whole.text
        return (*blocks[:-1], whole)
    return (*blocks, block)


def _tag(update: Any) -> tuple[str, bool]:
    """Give the tag of an update, and whether it is known."""
    if isinstance(update, UnknownVariant):
        return update.tag, False
    return update.session_update, type(update).__name__ != "SessionUpdateOther"


def is_merging(update: Any) -> bool:
    """Return whether an update is of a version whose metadata is merged key by key."""
    return ".v2" in type(update).__module__


def merged(present: dict[str, Any] | None, changes: dict[str, Any]) -> dict[str, Any]:
    """Merge metadata: null removes a key."""
    out = dict(present or {})
    for key, value in changes.items():
        out.pop(key, None)
        if value is not None:
            out[key] = value
    return out


def patched(view: Any, update: Any, names: dict[str, Any]) -> dict[str, Any]:
    """Find what an update sets; `names` has what null stands for."""
    three_states = {f.name: f.default is UNSET for f in msgspec.structs.fields(update)}
    out: dict[str, Any] = {}
    for name, cleared in names.items():
        value = getattr(update, name, UNSET)
        if value is UNSET or (value is None and not three_states[name]):
            continue
        if name == "meta" and is_merging(update) and value is not None:
            value = merged(view.meta, value)
        value = cleared if value is None else value
        out[name] = tuple(value) if isinstance(getattr(view, name), tuple) else value
    return out


CALL = {
    "title": None,
    "name": None,
    "kind": "other",
    "status": "pending",
    "content": (),
    "locations": (),
    "raw_input": None,
    "raw_output": None,
    "capabilities": None,
    "meta": None,
}
OF_SUBAGENTS = ("title", "description", "state", "cwd", "additional_directories", "capabilities", "meta")
OF_SESSION_MESSAGES = ("sender_session_id", "recipient_session_id", "sender_message_id", "recipient_message_id", "meta")


class Model:
    """Takes what `SessionState` takes."""

    def __init__(self) -> None:
        self.shot = Snapshot()
        self.open: int | None = None
        self.echo: int | None = None
        self.answered = True
        self.stopped: dict[str, str] = {}

    def set(self, **changes: Any) -> None:
        self.shot = msgspec.structs.replace(self.shot, **changes)

    @property
    def turn(self) -> int:
        return len(self.shot.turns)

    def put(self, index: int | None, entry: Any) -> int:
        entries = list(self.shot.timeline)
        if index is None:
            entries.append(entry)
        else:
            entries[index] = entry
        self.set(timeline=tuple(entries))
        return len(entries) - 1 if index is None else index

    def find(self, kind: type[Any], **wanted: Any) -> int | None:
        for index, entry in enumerate(self.shot.timeline):
            if isinstance(entry, kind) and all(getattr(entry, k) == v for k, v in wanted.items()):
                return index
        return None

    def begin(self) -> None:
        self.set(turns=(*self.shot.turns, TurnView(number=self.turn + 1)))
        self.answered = False

    def user_prompt(self, blocks: list[Any]) -> None:
        self.begin()
        self.open = self.echo = self.put(None, MessageView(turn=self.turn, role=Role.USER, blocks=tuple(blocks)))
        self.set(activity="running")

    def turn_ended(self, reason: str | None, usage: Any = None, *, failed: bool | None = None) -> None:
        if reason == "cancelled" or (reason is None if failed is None else failed):
            self.stop_calls()
        self.open = self.echo = None
        self.answered = True
        if self.shot.turns:
            *others, last = self.shot.turns
            why = last.stop_reason if last.stop_reason == "refusal" or reason is None else reason
            end = TurnView(number=last.number, ended=True, stop_reason=why, usage=usage or last.usage)
            self.set(turns=(*others, end))
        self.set(activity="idle")

    def idle(self, reason: str | None, usage: Any) -> None:
        for turn in self.shot.turns[:-1]:
            if not turn.ended:
                ended = msgspec.structs.replace(turn, ended=True)
                self.set(turns=tuple(ended if it is turn else it for it in self.shot.turns))
                if reason == "cancelled":
                    self.stop_calls(turn.number)
        self.turn_ended(reason, usage, failed=False)

    def stop_calls(self, turn: int | None = None) -> None:
        wanted = self.turn if turn is None else turn
        for index, entry in enumerate(self.shot.timeline):
            if isinstance(entry, ToolCallView) and entry.turn == wanted and entry.status not in ENDS:
                self.put(index, msgspec.structs.replace(entry, status=self.stopped[entry.tool_call_id]))

    def message(self, role: Role, key: str | None, changes: Any, *, is_open: bool) -> None:
        index = self.open if key is None else self.find(MessageView, role=role, message_id=key)
        if key is None and index is not None:
            entry = self.shot.timeline[index]
            if not isinstance(entry, MessageView) or entry.role is not role or index == self.echo:
                index = None
        if index is None and role is Role.USER and self.echo is not None and (not is_open or self.echo == self.open):
            index, self.echo = self.echo, None
            entry = self.shot.timeline[index]
            self.put(index, msgspec.structs.replace(entry, message_id=key, **({"blocks": ()} if is_open else {})))
        if index is None:
            if role is Role.USER and self.answered:
                self.begin()
            index = self.put(None, MessageView(turn=self.turn, role=role, message_id=key))
        if role is not Role.USER:
            self.answered = True
        entry = self.shot.timeline[index]
        self.open = self.put(index, msgspec.structs.replace(entry, **changes(entry)))

    def call(self, update: Any, changes: dict[str, Any] | None, *, whole: bool = False) -> None:
        index = self.find(ToolCallView, tool_call_id=update.tool_call_id)
        if index is None:
            self.open = None
            self.answered = True
        turn = self.turn if index is None else self.shot.timeline[index].turn
        entry: Any = ToolCallView(turn=turn, tool_call_id=update.tool_call_id)
        # Only version 2 has the word.
        self.stopped[update.tool_call_id] = "cancelled" if ".v2" in type(update).__module__ else "failed"
        if index is not None and not whole:
            entry = self.shot.timeline[index]
        if changes is None:
            changes = {"content": (*entry.content, update.content)}
        self.put(index, msgspec.structs.replace(entry, **changes))

    def apply(self, update: Any) -> None:
        tag, known = _tag(update)
        head, _, rest = tag.partition("_")
        if not known:
            self.put(None, UnknownView(turn=self.turn, tag=tag, update=update))
        elif rest.endswith("_chunk") and head in ROLES:
            role = Role.THOUGHT if "thought" in rest else ROLES[head]
            if getattr(update.content, "text", None) == "" and update.content.type == "text":
                return

            def appended(entry: Any) -> dict[str, Any]:
                return {"blocks": _joined(entry.blocks, update.content)}

            self.message(role, update.message_id, appended, is_open=True)
        elif head in ROLES:
            role = Role.THOUGHT if "thought" in rest else ROLES[head]

            def replaced(entry: Any) -> dict[str, Any]:
                content = {} if update.content is UNSET else {"blocks": tuple(update.content or ())}
                return content | patched(entry, update, {"meta": None})

            self.message(role, update.message_id, replaced, is_open=False)
        elif tag == "tool_call":
            self.call(update, patched(ToolCallView(turn=0, tool_call_id=""), update, CALL), whole=True)
        elif tag == "tool_call_update":
            self.call(update, patched(ToolCallView(turn=0, tool_call_id=""), update, CALL))
        elif tag == "tool_call_content_chunk":
            self.call(update, None)
        else:
            self.beside(tag, update)

    def beside(self, tag: str, update: Any) -> None:
        match tag:
            case "state_update":
                if update.state == "idle":
                    self.idle(getattr(update, "stop_reason", None), getattr(update, "usage", None))
                self.set(activity=update.state)
                background = getattr(update, "background", None)
                self.set(background=None if background is None else tuple(background))
            case "plan":
                self.plan(None, update)
            case "plan_update":
                unknown = isinstance(update.plan, UnknownVariant)
                self.plan(update.plan.data.get("planId") if unknown else update.plan.plan_id, update.plan)
            case "plan_removed":
                self.set(plans=tuple(plan for plan in self.shot.plans if plan.plan_id != update.plan_id))
            case "available_commands_update":
                self.set(commands=tuple(update.available_commands))
            case "current_mode_update":
                self.set(mode=update.current_mode_id)
            case "config_option_update":
                self.set(config_options=tuple(update.config_options))
            case "session_info_update":
                self.set(**patched(self.shot, update, {"title": None, "updated_at": None, "meta": None}))
            case "usage_update":
                known: Any = self.shot.usage if update.cost is UNSET else None
                cost = {"cost": update.cost.amount, "currency": update.cost.currency} if update.cost else {}
                kept: dict[str, Any] = {"cost": known.cost, "currency": known.currency} if known else cost
                self.set(usage=UsageView(used=update.used, size=update.size, **kept))
            case "notice" | "replay_complete":
                pass
            case "subagent_update":
                self.record("subagents", SubagentView(session_id=update.session_id), update, OF_SUBAGENTS)
            case "cursor_update":
                fields = ("anchor", "capabilities", "meta")
                self.record("cursors", CursorView(cursor_id=update.cursor_id), update, fields)
            case "prompt_suggestions_update":
                self.set(suggestions=tuple(update.suggestions))
            case "session_message" | "session_message_chunk":
                self.session_message(tag, update)
            case "compaction_update" | "compaction_summary_chunk":
                self.compaction(tag, update)
            case "terminal_update" | "terminal_output_chunk":
                self.terminal(tag, update)
            case _:
                raise AssertionError(tag)

    def plan(self, plan_id: str | None, content: Any) -> None:
        made = PlanView(plan_id=plan_id)
        kind = getattr(content, "type", "items")
        if isinstance(content, UnknownVariant) or kind not in ("items", "file", "markdown"):
            made = msgspec.structs.replace(made, other=content)
        elif kind == "file":
            made = msgspec.structs.replace(made, uri=content.uri)
        elif kind == "markdown":
            made = msgspec.structs.replace(made, markdown=content.content)
        else:
            items = [
                PlanItem(content=e.content, priority=e.priority, status=e.status, meta=e.meta) for e in content.entries
            ]
            made = msgspec.structs.replace(made, items=tuple(items))
        plans = {plan.plan_id: plan for plan in self.shot.plans}
        plans[plan_id] = made
        self.set(plans=tuple(plans.values()))

    def compaction(self, tag: str, update: Any) -> None:
        index = self.find(CompactionView, compaction_id=update.compaction_id)
        entry: Any = CompactionView(turn=self.turn, compaction_id=update.compaction_id, status="in_progress")
        if index is None:
            self.open = None
        else:
            entry = self.shot.timeline[index]
        if tag == "compaction_update":
            cleared = {"status": "in_progress", "summary": (), "error": None, "meta": None}
            changes = patched(entry, update, cleared)
        else:
            changes = {"summary": _joined(entry.summary, update.content)}
        self.put(index, msgspec.structs.replace(entry, **changes))

    def record(self, where: str, new: Any, update: Any, fields: tuple[str, ...]) -> None:
        """Put a record in, or what an update changes of the one with the same id."""
        records = {getattr(each, each.__struct_fields__[0]): each for each in getattr(self.shot, where)}
        key = getattr(new, new.__struct_fields__[0])
        changes = patched(new, update, dict.fromkeys(fields))
        if changes.get("additional_directories") is not None:
            changes["additional_directories"] = tuple(changes["additional_directories"])
        records[key] = msgspec.structs.replace(records.get(key, new), **changes)
        self.set(**{where: tuple(records.values())})

    def session_message(self, tag: str, update: Any) -> None:
        index = self.find(SessionMessageView, message_id=update.message_id)
        entry: Any = SessionMessageView(turn=self.turn, message_id=update.message_id)
        if index is None:
            self.open = None
        else:
            entry = self.shot.timeline[index]
        if tag == "session_message":
            changes = patched(entry, update, dict.fromkeys(OF_SESSION_MESSAGES))
            if update.content is not UNSET:
                changes["blocks"] = tuple(update.content or ())
        else:
            changes = {"blocks": _joined(entry.blocks, update.content)}
        self.put(index, msgspec.structs.replace(entry, **changes))

    def terminal(self, tag: str, update: Any) -> None:
        terminals = {terminal.terminal_id: terminal for terminal in self.shot.terminals}
        entry = terminals.get(update.terminal_id, TerminalView(terminal_id=update.terminal_id))
        changes: dict[str, Any] = {}
        if tag == "terminal_output_chunk":
            changes["output"] = entry.output + _decoded(update.data)
        else:
            changes = patched(entry, update, dict.fromkeys(("command", "cwd", "size", "capabilities", "meta")))
            if update.output is not UNSET:
                changes["output"] = b"" if update.output is None else _decoded(update.output.data)
            if update.exit_status is not UNSET:
                end = update.exit_status
                changes |= {"exited": end is not None, "exit_code": end and end.exit_code, "signal": end and end.signal}
        terminals[update.terminal_id] = msgspec.structs.replace(entry, **changes)
        self.set(terminals=tuple(terminals.values()))


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return b""
