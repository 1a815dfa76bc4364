"""The state of one session, kept up to date by what the agent sends."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeAlias

from msgspec import Struct

from .._types.variants import CatchAll, UnknownVariant
from ._blocks import Block
from ._changes import Change, NoticeGiven, UnknownKept
from ._compactions import Compactions
from ._messages import Messages
from ._metadata import Facts
from ._plans import Plans, plan_id_of
from ._terminals import Terminals, exit_of
from ._timeline import Timeline, Turns
from ._tool_calls import ToolCalls
from ._views import Role, Snapshot, UnknownView

Update: TypeAlias = Struct | CatchAll | UnknownVariant
"""A variant of the union `SessionUpdate` of any schema, or the params of `session/update` that hold one.

The params of `session/request_permission` and the `ToolCallUpdate` in them count as well.
"""
Listener: TypeAlias = Callable[[Change], object]


class _Unknown:
    """An entry that never changes."""

    __slots__ = ("_view",)

    def __init__(self, view: UnknownView) -> None:
        self._view = view

    def view(self) -> UnknownView:
        return self._view


class SessionState:
    """What a user interface shows of one session.

    Feed it every update and every permission request in order with `apply`, what the client itself sends with
    `user_prompt`, and the end of each turn with `turn_ended`; look at `snapshot` when it is time to draw. An update
    costs the same however long the session is; a snapshot costs as much as has changed since the last one, and a
    pointer for each entry.

    With `session_id`, updates for another session are refused. `output_limit` is how many bytes of output are kept of
    each terminal that this client runs. The state is for one thread at a time.

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
        self._calls = ToolCalls(self._timeline, self._turns)
        self._compactions = Compactions(self._timeline, self._turns)
        self._terminals = Terminals(output_limit)
        self._plans = Plans()
        self._facts = Facts()
        self._snapshot: Snapshot | None = None
        self._listeners: dict[object, Listener] = {}

    @property
    def snapshot(self) -> Snapshot:
        """The session as it is now; the same object until something changes."""
        if self._snapshot is None:
            facts = self._facts
            self._snapshot = Snapshot(
                session_id=self.session_id,
                timeline=self._timeline.views(),
                turns=self._turns.views(),
                activity=self._turns.activity,
                plans=self._plans.views(),
                terminals=self._terminals.views(),
                commands=facts.commands,
                mode=facts.mode,
                modes=facts.modes,
                config_options=facts.config_options,
                usage=facts.usage,
                title=facts.info.title,
                updated_at=facts.info.updated_at,
                meta=facts.info.meta,
            )
        return self._snapshot

    @property
    def turn(self) -> int:
        """The number of the last turn, 0 before the first."""
        return self._turns.number

    def subscribe(self, listener: Listener, /) -> Callable[[], None]:
        """Have `listener` called with each change, once it is made; call what this gives to end that.

        What a listener raises reaches the caller of the method that made the change, and the remaining calls are not
        made; the state is up to date all the same.
        """
        key = object()
        self._listeners[key] = listener
        return lambda: self._listeners.pop(key, None) and None

    def apply(self, update: Update, /) -> tuple[Change, ...]:
        """Take an update, and tell what it changed.

        `update` is a variant of `SessionUpdate` or the params of `session/update`, of any schema. The params of
        `session/request_permission` are taken, too, for the tool call that they are about, and so is the
        `ToolCallUpdate` in them.

        Raises `TypeError` for anything else and `ValueError` for params that name another session; never for what an
        agent says. An update of a known kind without what that kind has is kept like one of an unknown kind.
        """
        if isinstance(update, Struct) and "session_id" in update.__struct_fields__:
            return self._apply_params(update)
        take = self._handler(update)
        if take is None:
            raise TypeError(f"{type(update).__name__} is no session update")
        return self._made(take(self, update))

    def user_prompt(self, blocks: Iterable[Block], /) -> tuple[Change, ...]:
        """Begin a turn with what this client sends as `session/prompt`; `turn` is its number then.

        Where the agent repeats the prompt as a message of the user, that one takes its place.
        """
        return self._made(self._prompt(list(blocks)))

    def turn_ended(
        self, stop_reason: str | None, usage: Struct | None = None, *, turn: int | None = None
    ) -> tuple[Change, ...]:
        """End a turn, as the response to `session/prompt` says; a stop reason of None is for a turn that failed.

        `turn` is its number, as `turn` has it after `user_prompt`; give it where several prompts may wait for their
        responses at once: the session is idle once none waits any more. The last turn is ended otherwise.

        In a turn that was cancelled or has failed, open tool calls end as `cancelled`, or as `failed` where their
        schema does not have that status. After a refusal, the turn is no longer part of `Snapshot.conversation`, as the
        agent leaves the prompt and all after it out of what follows. Agents of version 2 tell the end of a turn by an
        update: `apply` does.

        Raises `ValueError` for a turn that has not begun.
        """
        if turn is not None and not 0 < turn <= self._turns.number:
            raise ValueError(f"There is no turn {turn}")
        return self._made(self._end(stop_reason, usage, turn=turn, failed=stop_reason is None))

    def adopt(self, response: Struct, /) -> tuple[Change, ...]:
        """Take modes and options from the response to `session/new` and its kin, or to a change of an option."""
        return self._made(self._facts.adopt(response))

    def mode_set(self, mode_id: str, /) -> tuple[Change, ...]:
        """Take the mode that this client has set, once the agent has answered `session/set_mode`."""
        return self._made(self._facts.set_mode(mode_id))

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
        """Take what is new of a terminal that this client runs, for which tool calls give no more than its id.

        `data` are the bytes that it has printed since the last time. `exit_code`, `signal` or, where neither is known,
        `exited` say that it has ended. Each terminal keeps the end of its output, `output_limit` bytes of it; all
        together keep 16 times as much.
        """
        facts = {name: value for name, value in (("command", command), ("cwd", cwd)) if value is not None}
        status = exit_of(exited=exited, exit_code=exit_code, signal=signal)
        return self._made(self._terminals.tell(terminal_id, facts, data, status))

    def _apply_params(self, params: Any) -> tuple[Change, ...]:
        fields = params.__struct_fields__
        if "update" not in fields and not ("options" in fields and ("tool_call" in fields or "subject" in fields)):
            raise TypeError(f"{type(params).__name__} is no session update")
        if self.session_id is not None and params.session_id != self.session_id:
            raise ValueError(f"The update is for the session {params.session_id!r}, not {self.session_id!r}")
        if "update" in fields:
            return self.apply(params.update)
        # In version 2, a permission request is about a subject, which may be a tool call.
        call = getattr(params if "tool_call" in fields else params.subject, "tool_call", None)
        return () if call is None else self.apply(call)

    def _handler(self, update: Any) -> Callable[["SessionState", Any], Iterator[Change]] | None:
        if isinstance(update, UnknownVariant):
            return SessionState._unknown if update.tag_field == "sessionUpdate" else None
        tag: object = getattr(update, "session_update", None)
        if not isinstance(tag, str):
            return SessionState._call_patch if hasattr(update, "tool_call_id") else None
        known = self._TAKES.get(tag)
        # The objects of a schema that does not know the tag have it all the same, and keep the rest as it came.
        if known is None or (not isinstance(update, Struct) and tag != "state_update"):
            return SessionState._unknown
        take, needs = known
        for name in needs:
            if not hasattr(update, name):
                return SessionState._unknown
        return take

    def _made(self, steps: Iterator[Change]) -> tuple[Change, ...]:
        changes = tuple(steps)
        if changes:
            self._snapshot = None
        for change in changes if self._listeners else ():
            for listener in tuple(self._listeners.values()):
                listener(change)
        return changes

    def _prompt(self, blocks: list[Block]) -> Iterator[Change]:
        yield from self._messages.prompt(blocks)
        yield from self._turns.set_activity("running")

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
        # Who ends the last turn without its number has no other prompt that waits.
        if turn is None or not self._turns.is_on:
            yield from self._turns.set_activity("idle")

    # Each takes the update of one tag, of whichever schema it is.

    def _user_chunk(self, update: Any) -> Iterator[Change]:
        return self._messages.chunk(Role.USER, getattr(update, "message_id", None), update.content)

    def _agent_chunk(self, update: Any) -> Iterator[Change]:
        return self._messages.chunk(Role.AGENT, getattr(update, "message_id", None), update.content)

    def _thought_chunk(self, update: Any) -> Iterator[Change]:
        return self._messages.chunk(Role.THOUGHT, getattr(update, "message_id", None), update.content)

    def _user_message(self, update: Any) -> Iterator[Change]:
        return self._messages.whole(Role.USER, update.message_id, update.content, update.meta)

    def _agent_message(self, update: Any) -> Iterator[Change]:
        return self._messages.whole(Role.AGENT, update.message_id, update.content, update.meta)

    def _thought(self, update: Any) -> Iterator[Change]:
        return self._messages.whole(Role.THOUGHT, update.message_id, update.content, update.meta)

    def _activity(self, update: Any) -> Iterator[Change]:
        return self._idle(update) if update.state == "idle" else self._turns.set_activity(update.state)

    def _idle(self, update: Any) -> Iterator[Change]:
        """End all turns, as nothing is worked on any more; how they ended is told of the last one."""
        reason: str | None = getattr(update, "stop_reason", None)
        for number in self._turns.left_open():
            yield from self._turns.end(number, None, None)
            if reason == "cancelled":
                yield from self._calls.stop(number)
        yield from self._end(reason, getattr(update, "usage", None))

    def _call(self, update: Any) -> Iterator[Change]:
        self._close_before_call(update.tool_call_id)
        return self._calls.announce(update)

    def _call_patch(self, update: Any) -> Iterator[Change]:
        self._close_before_call(update.tool_call_id)
        return self._calls.patch(update)

    def _call_content(self, update: Any) -> Iterator[Change]:
        self._close_before_call(update.tool_call_id)
        return self._calls.add_content(update.tool_call_id, update.content)

    def _close_before_call(self, tool_call_id: str) -> None:
        if not self._calls.knows(tool_call_id):
            self._messages.close()

    def _terminal(self, update: Any) -> Iterator[Change]:
        return self._terminals.patch(update)

    def _terminal_output(self, update: Any) -> Iterator[Change]:
        return self._terminals.append(update.terminal_id, update.data)

    def _plan(self, update: Any) -> Iterator[Change]:
        return self._plans.replace(None, update)

    def _plan_update(self, update: Any) -> Iterator[Change]:
        return self._plans.replace(plan_id_of(update.plan), update.plan)

    def _plan_removed(self, update: Any) -> Iterator[Change]:
        return self._plans.remove(update.plan_id)

    def _commands(self, update: Any) -> Iterator[Change]:
        return self._facts.set_commands(update.available_commands)

    def _mode(self, update: Any) -> Iterator[Change]:
        return self._facts.set_mode(update.current_mode_id)

    def _config(self, update: Any) -> Iterator[Change]:
        return self._facts.set_config(update.config_options)

    def _info(self, update: Any) -> Iterator[Change]:
        return self._facts.patch_info(update)

    def _usage(self, update: Any) -> Iterator[Change]:
        return self._facts.set_usage(update)

    def _notice(self, update: Any) -> Iterator[Change]:
        yield NoticeGiven(severity=update.severity, title=update.title, description=update.description)

    def _compaction(self, update: Any) -> Iterator[Change]:
        self._close_before_compaction(update.compaction_id)
        return self._compactions.patch(update)

    def _compaction_chunk(self, update: Any) -> Iterator[Change]:
        self._close_before_compaction(update.compaction_id)
        return self._compactions.append(update.compaction_id, update.content)

    def _close_before_compaction(self, compaction_id: str) -> None:
        if not self._compactions.knows(compaction_id):
            self._messages.close()

    def _unknown(self, update: Any) -> Iterator[Change]:
        tag = update.tag if isinstance(update, UnknownVariant) else update.session_update
        index = self._timeline.add(_Unknown(UnknownView(turn=self._turns.number, tag=tag, update=update)))
        yield UnknownKept(index=index, tag=tag)

    _TAKES: ClassVar[dict[str, tuple[Callable[["SessionState", Any], Iterator[Change]], tuple[str, ...]]]] = {
        "user_message_chunk": (_user_chunk, ("content",)),
        "agent_message_chunk": (_agent_chunk, ("content",)),
        "agent_thought_chunk": (_thought_chunk, ("content",)),
        "user_message": (_user_message, ("message_id", "content", "meta")),
        "agent_message": (_agent_message, ("message_id", "content", "meta")),
        "agent_thought": (_thought, ("message_id", "content", "meta")),
        "state_update": (_activity, ("state",)),
        "tool_call": (_call, ("tool_call_id",)),
        "tool_call_update": (_call_patch, ("tool_call_id",)),
        "tool_call_content_chunk": (_call_content, ("tool_call_id", "content")),
        "terminal_update": (_terminal, ("terminal_id", "output", "exit_status")),
        "terminal_output_chunk": (_terminal_output, ("terminal_id", "data")),
        "plan": (_plan, ("entries",)),
        "plan_update": (_plan_update, ("plan",)),
        "plan_removed": (_plan_removed, ("plan_id",)),
        "available_commands_update": (_commands, ("available_commands",)),
        "current_mode_update": (_mode, ("current_mode_id",)),
        "config_option_update": (_config, ("config_options",)),
        "session_info_update": (_info, ("title",)),
        "usage_update": (_usage, ("used", "size")),
        "notice": (_notice, ("severity", "title", "description")),
        "compaction_update": (_compaction, ("compaction_id", "status")),
        "compaction_summary_chunk": (_compaction_chunk, ("compaction_id", "content")),
    }
    """What takes the updates of a tag, and the attributes it needs: a schema may mean something else by the tag."""
