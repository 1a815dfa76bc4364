"""The state of one session, kept up to date by what the agent sends."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from msgspec import UNSET, Struct

from .._types.variants import CatchAll, UnknownVariant
from ._blocks import Block
from ._changes import Change, NoticeGiven, ReplayCompleted, UnknownKept
from ._compactions import Compactions
from ._messages import Messages
from ._metadata import Metadata
from ._plans import Plans, plan_id_of
from ._records import Cursors, Subagents
from ._session_messages import SessionMessages
from ._terminals import Terminals, exit_status_of
from ._timeline import Timeline, Turns
from ._tool_call import tool_call_of
from ._tool_calls import ToolCalls
from ._views import Role, Snapshot, UnknownView

Update: TypeAlias = Struct | CatchAll | UnknownVariant
"""A variant of the union `SessionUpdate` of any schema, or the params of `session/update` that hold one.

The params of `session/request_permission` and the `ToolCallUpdate` in them are updates, too.
"""
Listener: TypeAlias = Callable[[Change], object]

_ROLES = {
    "user_message_chunk": Role.USER,
    "agent_message_chunk": Role.AGENT,
    "agent_thought_chunk": Role.THOUGHT,
    "user_message": Role.USER,
    "agent_message": Role.AGENT,
    "agent_thought": Role.THOUGHT,
}
_REQUIRED_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "user_message_chunk": ("content",),
    "agent_message_chunk": ("content",),
    "agent_thought_chunk": ("content",),
    "user_message": ("message_id", "content", "meta"),
    "agent_message": ("message_id", "content", "meta"),
    "agent_thought": ("message_id", "content", "meta"),
    "state_update": ("state",),
    "tool_call": ("tool_call_id",),
    "tool_call_update": ("tool_call_id",),
    "tool_call_content_chunk": ("tool_call_id", "content"),
    "terminal_update": ("terminal_id", "output", "exit_status"),
    "terminal_output_chunk": ("terminal_id", "data"),
    "plan": ("entries",),
    "plan_update": ("plan",),
    "plan_removed": ("plan_id",),
    "available_commands_update": ("available_commands",),
    "current_mode_update": ("current_mode_id",),
    "config_option_update": ("config_options",),
    "session_info_update": ("title",),
    "usage_update": ("used", "size"),
    "notice": ("severity", "title", "description"),
    "compaction_update": ("compaction_id", "status"),
    "compaction_summary_chunk": ("compaction_id", "content"),
    "subagent_update": ("session_id", "state"),
    "session_message": ("message_id", "sender_session_id", "content"),
    "session_message_chunk": ("message_id", "content"),
    "cursor_update": ("cursor_id", "anchor"),
    "prompt_suggestions_update": ("suggestions",),
    "replay_complete": ("meta",),
}
"""The known tags, and the attributes that their updates need: another schema may use a tag differently."""


class _UnknownUpdate:
    """A timeline entry that never changes."""

    __slots__ = ("_view",)

    def __init__(self, view: UnknownView) -> None:
        self._view = view

    def view(self) -> UnknownView:
        return self._view


class SessionState:
    """What a user interface shows of one session.

    Call `apply` with every update and every permission request, in order, `user_prompt` with what the client sends, and
    `turn_ended` at the end of each turn. Read `snapshot` when it is time to draw. The cost of an update does not depend
    on the length of the session. A snapshot costs time for what has changed since the last one, and one pointer per
    entry.

    With `session_id`, updates for another session are refused. `output_limit` is the number of bytes of output kept per
    terminal that this client runs. The state is not thread-safe.

    Raises `ValueError` for a limit below 1.
    """

    def __init__(self, session_id: str | None = None, *, output_limit: int = 1024 * 1024) -> None:
        """Start with an empty session."""
        if output_limit < 1:
            raise ValueError("The limit must be at least 1")
        self.session_id = session_id
        self._timeline = Timeline()
        self._turns = Turns()
        self._messages = Messages(self._timeline, self._turns)
        self._calls = ToolCalls(self._timeline, self._turns, self._messages.close)
        self._compactions = Compactions(self._timeline, self._turns, self._messages.close)
        self._session_messages = SessionMessages(self._timeline, self._turns, self._messages.close)
        self._terminals = Terminals(output_limit)
        self._subagents = Subagents()
        self._cursors = Cursors()
        self._plans = Plans()
        self._metadata = Metadata()
        self._snapshot: Snapshot | None = None
        self._listeners: dict[object, Listener] = {}

    @property
    def snapshot(self) -> Snapshot:
        """The session as it is now; the same object until something changes."""
        if self._snapshot is None:
            metadata = self._metadata
            self._snapshot = Snapshot(
                session_id=self.session_id,
                timeline=self._timeline.views(),
                turns=self._turns.views(),
                activity=self._turns.activity,
                background=self._turns.background,
                plans=self._plans.views(),
                terminals=self._terminals.views(),
                subagents=self._subagents.views(),
                cursors=self._cursors.views(),
                suggestions=metadata.suggestions,
                commands=metadata.commands,
                mode=metadata.mode,
                modes=metadata.modes,
                config_options=metadata.config_options,
                usage=metadata.usage,
                title=metadata.info.title,
                updated_at=metadata.info.updated_at,
                meta=metadata.info.meta,
            )
        return self._snapshot

    @property
    def turn(self) -> int:
        """The number of the latest turn; 0 before the first."""
        return self._turns.number

    def subscribe(self, listener: Listener, /) -> Callable[[], None]:
        """Call `listener` after each change, with that change. Returns a function that ends the subscription.

        An exception of a listener propagates to the caller of the method that made the change, and the remaining
        listeners are not called. The state is up to date nevertheless.
        """
        key = object()
        self._listeners[key] = listener
        return lambda: self._listeners.pop(key, None) and None

    def apply(self, update: Update, /) -> tuple[Change, ...]:
        """Apply an update and return what it changed.

        `update` is a variant of `SessionUpdate` or the params of `session/update`, of any schema. The params of
        `session/request_permission` are accepted, too, for the tool call that they are about, and so is the
        `ToolCallUpdate` in them. An update that lacks the attributes of its tag is kept like one with an unknown tag.

        Raises `TypeError` for anything else and `ValueError` for params that name another session, but never for the
        content of an update.
        """
        is_params = isinstance(update, Struct) and "session_id" in update.__struct_fields__
        if is_params and not hasattr(update, "session_update"):  # an update may be about another session
            return self._apply_params(update)
        return self._commit(self._changes_of(update))

    def user_prompt(self, blocks: Iterable[Block], /) -> tuple[Change, ...]:
        """Begin a turn with the prompt that this client sends; `turn` is its number afterwards.

        If the agent repeats the prompt as a message of the user, that message replaces it.
        """
        return self._commit(self._prompt(list(blocks)))

    def turn_ended(
        self, stop_reason: str | None, usage: Struct | None = None, *, turn: int | None = None
    ) -> tuple[Change, ...]:
        """End a turn with the stop reason of the response to `session/prompt`; None means that the turn failed.

        `turn` is the number of the turn, the value of the property `turn` after `user_prompt`. Pass it if several
        prompts may be pending at once: the session becomes idle when none is. By default, the latest turn ends.

        If the turn was cancelled or failed, its open tool calls end as `cancelled`, or as `failed` if their schema
        lacks that status. A refused turn is no longer part of `Snapshot.conversation`, since the agent drops the prompt
        and everything after it from its context. Agents of version 2 send the end of a turn as an update, for `apply`.

        Raises `ValueError` for a turn that has not begun.
        """
        if turn is not None and not 0 < turn <= self._turns.number:
            raise ValueError(f"There is no turn {turn}")
        return self._commit(self._end(stop_reason, usage, turn=turn, failed=stop_reason is None))

    def adopt(self, response: Struct, /) -> tuple[Change, ...]:
        """Take modes and options from the response that opened the session, or that changed an option."""
        return self._commit(self._metadata.adopt(response))

    def mode_set(self, mode_id: str, /) -> tuple[Change, ...]:
        """Change the mode after the agent has answered `session/set_mode`."""
        return self._commit(self._metadata.set_mode(mode_id))

    def terminal_output(
        self,
        terminal_id: str,
        *,
        command: str | None = None,
        cwd: str | None = None,
        data: bytes = b"",
        exit_code: int | None = None,
        signal: str | None = None,
        exited: bool = False,
    ) -> tuple[Change, ...]:
        """Report news of a terminal that this client runs; tool calls carry only its id.

        `data` is the output since the last call. `exit_code`, `signal`, or `exited` if neither is known, mark it as
        ended. Each terminal keeps the last `output_limit` bytes of its output; all of them together keep 16 times as
        much.
        """
        fields = {name: value for name, value in (("command", command), ("cwd", cwd)) if value is not None}
        status = exit_status_of(exited=exited, exit_code=exit_code, signal=signal)
        return self._commit(self._terminals.report(terminal_id, fields, data, status))

    def _apply_params(self, params: Any) -> tuple[Change, ...]:
        fields = params.__struct_fields__
        if "update" not in fields and not ("options" in fields and ("tool_call" in fields or "subject" in fields)):
            raise TypeError(f"{type(params).__name__} is not a session update")
        if self.session_id is not None and params.session_id != self.session_id:
            raise ValueError(f"The update is for the session {params.session_id!r}, not {self.session_id!r}")
        if "update" in fields:
            return self.apply(params.update)
        call = tool_call_of(params)
        return () if call is None else self.apply(call)

    def _commit(self, steps: Iterator[Change]) -> tuple[Change, ...]:
        """Apply changes, then call the listeners."""
        changes = tuple(steps)
        if changes:
            self._snapshot = None
        for change in changes if self._listeners else ():
            for listener in tuple(self._listeners.values()):
                listener(change)
        return changes

    # Returns what makes the changes of an update, of whichever schema it is.
    def _changes_of(self, update: Any) -> Iterator[Change]:
        match tag := _usable_tag(update):
            case "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk":
                return self._messages.chunk(_ROLES[tag], _told(update, "message_id"), update.content)
            case "agent_message" | "agent_thought" | "user_message":
                return self._messages.whole(_ROLES[tag], update)
            case "tool_call" | "tool_call_update":
                return self._calls.apply(update)
            case "tool_call_content_chunk":
                return self._calls.append_content(update.tool_call_id, update.content)
            case "terminal_update":
                return self._terminals.apply(update)
            case "terminal_output_chunk":
                return self._terminals.append(update.terminal_id, update.data)
            case "compaction_update":
                return self._compactions.apply(update)
            case "compaction_summary_chunk":
                return self._compactions.append(update.compaction_id, update.content)
            case "plan":
                return self._plans.replace(None, update)
            case "plan_update":
                return self._plans.replace(plan_id_of(update.plan), update.plan)
            case "plan_removed":
                return self._plans.remove(update.plan_id)
            case "state_update":
                return self._activity(update)
            case "usage_update":
                return self._metadata.set_usage(update)
            case "session_info_update":
                return self._metadata.apply_info(update)
            case "available_commands_update":
                return self._metadata.set_commands(update.available_commands)
            case "current_mode_update":
                return self._metadata.set_mode(update.current_mode_id)
            case "config_option_update":
                return self._metadata.set_config(update.config_options)
            case "notice":
                return _notice(update)
            case _:
                return self._changes_beside(tag, update)

    # Returns what makes the changes of an update about other sessions, or about the prompts to come.
    def _changes_beside(self, tag: str, update: Any) -> Iterator[Change]:
        match tag:
            case "subagent_update":
                return self._subagents.apply(update)
            case "session_message":
                return self._session_messages.apply(update)
            case "session_message_chunk":
                return self._session_messages.append(update.message_id, update.content)
            case "cursor_update":
                return self._cursors.apply(update)
            case "prompt_suggestions_update":
                return self._metadata.set_suggestions(update.suggestions)
            case "replay_complete":
                return iter((ReplayCompleted(),))
            case _:
                return self._unknown(update)

    def _unknown(self, update: Any) -> Iterator[Change]:
        tag = update.tag if isinstance(update, UnknownVariant) else update.session_update
        index = self._timeline.add(_UnknownUpdate(UnknownView(turn=self._turns.number, tag=tag, update=update)))
        yield UnknownKept(index=index, tag=tag)

    def _prompt(self, blocks: list[Block]) -> Iterator[Change]:
        yield from self._messages.prompt(blocks)
        yield from self._turns.set_activity("running")

    def _activity(self, update: Any) -> Iterator[Change]:
        yield from self._idle(update) if update.state == "idle" else self._turns.set_activity(update.state)
        yield from self._turns.set_background(_told(update, "background"))

    def _idle(self, update: Any) -> Iterator[Change]:
        """End all turns, since an idle agent works on none. The stop reason is that of the latest one."""
        reason: str | None = _told(update, "stop_reason")
        for number in self._turns.left_open():
            yield from self._turns.end(number, None, None)
            if reason == "cancelled":
                yield from self._calls.stop(number)
        yield from self._end(reason, _told(update, "usage"))

    def _end(
        self, stop_reason: str | None, usage: Struct | None, *, turn: int | None = None, failed: bool = False
    ) -> Iterator[Change]:
        number = turn or self._turns.number
        if number == self._turns.number:
            self._messages.close()
            self._messages.forget_prompt()
        yield from self._turns.end(number, stop_reason, usage)
        if failed or stop_reason == "cancelled":
            yield from self._calls.stop(number)
        # A caller that does not number its turns has only one prompt pending at a time.
        if turn is None or not self._turns.is_on:
            yield from self._turns.set_activity("idle")


def _usable_tag(update: Any) -> str:
    """Return the tag of an update with all the attributes it needs; empty for one that is kept as unknown.

    Raises `TypeError` for objects that are not updates.
    """
    if isinstance(update, UnknownVariant) and update.tag_field == "sessionUpdate":
        return ""
    tag: object = getattr(update, "session_update", None)
    if not isinstance(tag, str):
        if isinstance(update, UnknownVariant) or not hasattr(update, "tool_call_id"):
            raise TypeError(f"{type(update).__name__} is not a session update")
        return "tool_call_update"  # the `ToolCallUpdate` of a permission request
    needed = _REQUIRED_ATTRIBUTES.get(tag)
    # A catch-all of a schema without the tag has its attributes in `extra`, as they came.
    if needed is None or (not isinstance(update, Struct) and tag != "state_update"):
        return ""
    return tag if all(hasattr(update, name) for name in needed) else ""


def _told(update: Any, name: str) -> Any:
    """Return a field that not every schema has, or None for one that the update leaves out."""
    found = getattr(update, name, None)
    return None if found is UNSET else found


def _notice(update: Any) -> Iterator[Change]:
    yield NoticeGiven(severity=update.severity, title=update.title, description=_told(update, "description"))
