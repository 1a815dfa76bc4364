"""The state of one session, kept up to date by what the agent sends."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeAlias

from msgspec import Struct

from .._variants import CatchAll, UnknownVariant
from ._background import Compactions, Terminals
from ._blocks import Block
from ._calls import ToolCalls
from ._changes import Change, NoticeGiven, UnknownKept
from ._facts import Facts
from ._messages import Messages
from ._plan import Plans, plan_id_of
from ._timeline import Timeline, Turns
from ._views import Role, Snapshot, UnknownView

Update: TypeAlias = Struct | CatchAll | UnknownVariant
"""A variant of the union `SessionUpdate` of any schema, or the params of `session/update` that hold one."""
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

    Feed it every update in order with `apply`, what the client itself sends with `user_prompt`, and the end of each
    turn with `turn_ended`; look at `snapshot` when it is time to draw. An update costs the same however long the
    session is; a snapshot costs as much as has changed since the last one, and a pointer for each entry.

    With `session_id`, updates for another session are refused. The state is for one thread at a time.
    """

    def __init__(self, session_id: str | None = None) -> None:
        """Start with an empty session."""
        self.session_id = session_id
        self._timeline = Timeline()
        self._turns = Turns()
        self._messages = Messages(self._timeline, self._turns)
        self._calls = ToolCalls(self._timeline, self._turns)
        self._compactions = Compactions(self._timeline, self._turns)
        self._terminals = Terminals()
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

        `update` is a variant of `SessionUpdate` or the params of `session/update`, of any schema. A `ToolCallUpdate`
        as a permission request has it is taken, too.

        Raises `TypeError` for anything else and `ValueError` for params that name another session; never for what an
        agent says.
        """
        if isinstance(update, Struct) and "update" in update.__struct_fields__:
            return self._apply_params(update)
        tag: str | None = getattr(update, "session_update", None)
        if isinstance(update, UnknownVariant):
            take = SessionState._unknown if update.tag_field == "sessionUpdate" else None
        elif tag is not None:
            take = self._TAKES.get(tag, SessionState._unknown)
        else:
            take = SessionState._call_patch if hasattr(update, "tool_call_id") else None
        if take is None:
            raise TypeError(f"{type(update).__name__} is no session update")
        return self._made(take(self, update))

    def user_prompt(self, blocks: Iterable[Block], /) -> tuple[Change, ...]:
        """Begin a turn with what this client sends as `session/prompt`.

        Where the agent repeats the prompt as a message of the user, that one takes its place.
        """
        return self._made(self._prompt(list(blocks)))

    def turn_ended(self, stop_reason: str | None, usage: Struct | None = None) -> tuple[Change, ...]:
        """End the turn, as the response to `session/prompt` says; None is for a turn that failed.

        After a refusal, the turn is no longer part of `Snapshot.conversation`, as the agent leaves the prompt and all
        after it out of what follows. Agents of version 2 tell the end of a turn by an update: `apply` does.
        """
        return self._made(self._end(stop_reason, usage))

    def adopt(self, response: Struct, /) -> tuple[Change, ...]:
        """Take modes and options from the response to `session/new` and its kin, or to a change of an option."""
        return self._made(self._facts.adopt(response))

    def _apply_params(self, params: Any) -> tuple[Change, ...]:
        if self.session_id is not None and params.session_id != self.session_id:
            raise ValueError(f"The update is for the session {params.session_id!r}, not {self.session_id!r}")
        return self.apply(params.update)

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

    def _end(self, stop_reason: str | None, usage: Struct | None) -> Iterator[Change]:
        self._messages.close()
        self._messages.forget_prompt()
        yield from self._turns.end(stop_reason, usage)
        yield from self._turns.set_activity("idle")

    # Each takes the update of one tag, of whichever schema it is.

    def _user_chunk(self, update: Any) -> Iterator[Change]:
        return self._messages.chunk(Role.USER, update.message_id, update.content)

    def _agent_chunk(self, update: Any) -> Iterator[Change]:
        return self._messages.chunk(Role.AGENT, update.message_id, update.content)

    def _thought_chunk(self, update: Any) -> Iterator[Change]:
        return self._messages.chunk(Role.THOUGHT, update.message_id, update.content)

    def _user_message(self, update: Any) -> Iterator[Change]:
        return self._messages.whole(Role.USER, update.message_id, update.content, update.meta)

    def _agent_message(self, update: Any) -> Iterator[Change]:
        return self._messages.whole(Role.AGENT, update.message_id, update.content, update.meta)

    def _thought(self, update: Any) -> Iterator[Change]:
        return self._messages.whole(Role.THOUGHT, update.message_id, update.content, update.meta)

    def _activity(self, update: Any) -> Iterator[Change]:
        if update.state == "idle":
            return self._end(update.stop_reason, getattr(update, "usage", None))
        return self._turns.set_activity(update.state)

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

    _TAKES: ClassVar[dict[str, Callable[["SessionState", Any], Iterator[Change]]]] = {
        "user_message_chunk": _user_chunk,
        "agent_message_chunk": _agent_chunk,
        "agent_thought_chunk": _thought_chunk,
        "user_message": _user_message,
        "agent_message": _agent_message,
        "agent_thought": _thought,
        "state_update": _activity,
        "tool_call": _call,
        "tool_call_update": _call_patch,
        "tool_call_content_chunk": _call_content,
        "terminal_update": _terminal,
        "terminal_output_chunk": _terminal_output,
        "plan": _plan,
        "plan_update": _plan_update,
        "plan_removed": _plan_removed,
        "available_commands_update": _commands,
        "current_mode_update": _mode,
        "config_option_update": _config,
        "session_info_update": _info,
        "usage_update": _usage,
        "notice": _notice,
        "compaction_update": _compaction,
        "compaction_summary_chunk": _compaction_chunk,
    }
