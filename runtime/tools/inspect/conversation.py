"""Messages one after the other: who sent each, what it answers, and what is wrong with it."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType

from ..._decode.context import Skipped
from ..._decode.paths import cut
from ..._rpc.errors import MessageError
from ..._rpc.frame import Frame, frame_by_parts
from .clock import Moment, between
from .extraction import OTHER, Entry, NoEntry, Side, read_entry, without_tail
from .lines import LIMIT, Line
from .pending import Asked, Pending
from .schemas import LABELS, label_for, schema
from .tool_calls import Titles
from .unknowns import Key, unknowns

Kind = Literal["request", "notification", "response", "error", "invalid", "broken"]
PARSE_ERROR, METHOD_NOT_FOUND = -32700, -32601

_FRAME = msgspec.json.Decoder(Frame)
_BATCH = msgspec.json.Decoder(list[Raw])


class _Peek(Struct):
    """What decides how the rest is read."""

    protocol_version: Any = msgspec.field(default=None, name="protocolVersion")
    request_id: Any = msgspec.field(default=None, name="requestId")
    session_id: Any = msgspec.field(default=None, name="sessionId")


_PEEK = msgspec.json.Decoder(_Peek)


class Problem(Struct, frozen=True):
    """Why a message could not be read; `path` is a JSON path, `code` that of JSON-RPC."""

    message: str
    path: str = "$"
    code: int | None = None


class Seen(Struct, gc=False):
    """One message of a log, or a line that holds none.

    `part` is the place in a batch, from 0. `kind` is "invalid" for JSON that is no message, "broken" for what is no
    JSON; both have a `problem`, and so has a message whose content does not fit. `asked` is the request that a response
    answers, `latency` the seconds between them. `message` is what was decoded. `connection` counts the connections of
    the log, from 1: each `initialize` begins one. `title` is that of the tool call which a message is about, as far as
    an earlier one has told it and this one does not.
    """

    line: int
    part: int | None
    size: int
    raw: bytes
    kind: Kind = "broken"
    sender: Side | None = None
    moment: Moment | None = None
    id: Any = UNSET
    method: str | None = None
    session: str | None = None
    connection: int = 1
    title: str | None = None
    label: str = ""
    asked: Asked | None = None
    latency: float | None = None
    message: Any = None
    repairs: list[Skipped] = []
    unknown: list[tuple[str, str]] = []
    undeclared: list[tuple[str, str]] = []
    """Paths of keys that the schema does not declare, and the keys."""
    problem: Problem | None = None

    @property
    def session_name(self) -> str:
        """The session as it is shown: those of a later connection are others, even under the same id."""
        later = f", connection {self.connection}" if self.connection > 1 else ""
        return f"{self.session or ''}{later}"

    @property
    def is_answer(self) -> bool:
        """Whether it answers a request."""
        return self.kind in ("response", "error")

    @property
    def is_odd(self) -> bool:
        """Whether there is something to look at: a problem, a repair, an unknown part or key, a refusal, no request."""
        unpaired = self.is_answer and self.asked is None
        found = self.repairs or self.unknown or self.undeclared
        return self.problem is not None or unpaired or self.kind == "error" or bool(found)


class Conversation:
    """Follows a log. `home` is the side that keeps it, from which in and out are seen; `label` a fixed schema."""

    def __init__(self, home: Side = "client", label: str | None = None) -> None:
        """Start where nothing has been said yet."""
        self.pending = Pending()
        self.connection = 1
        self._titles = Titles()
        self._begun = False
        self.negotiated: int | None = None
        """The protocol version that an `initialize` has settled."""
        self.label = label or label_for(1)
        self._fixed = label is not None
        self._home: Side = home

    def read(self, line: Line) -> Iterable[Seen]:
        """Read the messages of a line: one, those of a batch, or none and why."""
        if line.data is None:
            return (_broken(line, f"The line is longer than {LIMIT // 1024 // 1024} MB, and was not read"),)
        if not line.data or line.data.isspace():
            return ()
        try:
            entry = read_entry(line.data)
        except NoEntry as why:
            return (_broken(line, str(why)),)
        sender = entry.sender
        if sender is None and entry.outward is not None:
            sender = self._home if entry.outward else OTHER[self._home]
        if entry.body.startswith(b"["):
            return self._batch(line, entry, sender)
        try:
            return (self._one(line, entry.body, None, sender, entry.moment),)
        except NoEntry as why:
            return (_broken(line, str(why), entry.moment),)

    def _batch(self, line: Line, entry: Entry, sender: Side | None) -> Iterator[Seen]:
        try:
            try:
                parts = _BATCH.decode(entry.body)
            except DecodeError:
                parts = _BATCH.decode(without_tail(entry.body) or entry.body)
        except (DecodeError, NoEntry, RecursionError) as why:
            yield _broken(line, _no_json(why, line), entry.moment)
            return
        if not parts:
            problem = Problem("An empty batch", code=-32600)
            yield Seen(line.number, None, len(entry.body), entry.body, "invalid", sender, entry.moment, problem=problem)
        for index, part in enumerate(parts):
            yield self._one(line, bytes(part), index, sender, entry.moment)

    def _one(self, line: Line, body: bytes, part: int | None, sender: Side | None, when: Moment | None) -> Seen:
        try:
            frame = _FRAME.decode(body)
        except (DecodeError, RecursionError):
            body = body if part is not None else without_tail(body) or body
            frame = _frame(body)
        seen = Seen(line.number, part, len(body), body, "invalid", sender, when, connection=self.connection)
        if frame.id is None or type(frame.id) in (int, str):
            seen.id = frame.id
        if isinstance(frame.method, str):
            seen.method = frame.method
            seen.kind = "notification" if frame.id is UNSET else "request"
            self._call(seen, frame)
        elif frame.error is not UNSET or frame.result is not UNSET:
            seen.kind = "response" if frame.error is UNSET else "error"
            self._answer(seen, frame)
        else:
            self._decode(seen, None)
            self._look_inside(seen, frame)
        if seen.problem is not None and seen.problem.code == PARSE_ERROR:
            seen.kind, seen.raw = "broken", body if part is not None else line.data or b""
            if not line.ended:
                seen.problem = Problem(f"{seen.problem.message} (the last line, which has no end)", code=PARSE_ERROR)
        if seen.kind != "broken":
            self._begun = True
            found = unknowns(seen.message, body, seen.repairs)
            if found:
                seen.unknown = [(path, what) for path, what in found if not isinstance(what, Key)]
                seen.undeclared = [(path, str(what)) for path, what in found if isinstance(what, Key)]
        return seen

    def _look_inside(self, seen: Seen, frame: Frame) -> None:
        """Say that an object without a message of its own holds one where nobody looks for it."""
        problem = seen.problem
        if frame.jsonrpc is UNSET and problem is not None and problem.code != PARSE_ERROR and b"jsonrpc" in seen.raw:
            hint = "a message stands deeper inside; each has to be on a line of its own, or under a key of the guide"
            seen.problem = Problem(f"{problem.message} (hint: {hint})", problem.path, problem.code)

    def _call(self, seen: Seen, frame: Frame) -> None:
        peeked = _peek(frame.params)
        if seen.method == "initialize":
            self._greeting(peeked.protocol_version, seen.line)
            seen.connection = self.connection
        if isinstance(peeked.session_id, str):
            seen.session = cut(peeked.session_id)
        if seen.sender is None:
            seen.sender = self._who_sends(seen.method or "", peeked.request_id)
        self._decode(seen, None)
        if seen.session is not None and seen.message is not None:
            seen.title = self._titles.learn(seen.message, seen.session)
        if seen.problem is not None and seen.problem.code == METHOD_NOT_FOUND:
            self._explain(seen)
        if (
            seen.kind == "request"
            and seen.id is not UNSET
            and (seen.problem is None or seen.problem.code != PARSE_ERROR)
        ):
            asked = Asked(seen.line, cut(seen.method or ""), seen.moment, seen.session, seen.sender)
            self.pending.add(seen.id, asked)

    def _greeting(self, version: Any, line: int) -> None:
        """A new connection begins: what was asked in the last one will not be answered any more."""
        self.pending.restart(line)
        self._titles.restart()
        self.connection += self._begun
        self.negotiated = None
        if not self._fixed and type(version) is int:
            self.label = label_for(version)

    def _who_sends(self, method: str, cancelled: Any) -> Side | None:
        known = schema(self.label).methods.get(method)
        if known is None:
            return None
        if len(known.handled_by) == 1:
            return "client" if "agent" in known.handled_by else "agent"
        asked = self.pending.candidates(cancelled, None)
        return asked[-1].sender if len(asked) == 1 else None

    def _answer(self, seen: Seen, frame: Frame) -> None:
        found = self.pending.candidates(seen.id, seen.sender)
        if found:
            asked = found[-1] if len(found) == 1 or seen.kind == "error" else self._fitting(seen, found)
            self.pending.remove(seen.id, asked)
            seen.asked, seen.method, seen.session = asked, asked.method, asked.session
            seen.latency = between(asked.moment, seen.moment)
            if seen.sender is None and asked.sender is not None:
                seen.sender = OTHER[asked.sender]
            if asked.method == "initialize" and seen.kind == "response":
                self._settled(_peek(frame.result).protocol_version)
        self._decode(seen, seen.method)

    def _settled(self, version: Any) -> None:
        if type(version) is int:
            self.negotiated = version
            if not self._fixed:
                self.label = label_for(version)

    def _fitting(self, seen: Seen, found: list[Asked]) -> Asked:
        """Choose among requests of both sides that bear the same id: the one whose result it looks like."""

        def misfit(asked: Asked) -> tuple[bool, int]:
            trial = Seen(seen.line, None, 0, seen.raw, seen.kind, asked.sender and OTHER[asked.sender])
            self._decode(trial, asked.method)
            return trial.problem is not None, len(trial.repairs)

        return min(reversed(found), key=misfit)

    def _decode(self, seen: Seen, answers: str | None) -> None:
        used = schema(self.label)
        seen.label = self.label
        read = used.readers[seen.sender or "client"]
        known = used.methods.get(answers) if answers is not None else None
        is_typed = known is not None and known.response is not None
        of = answers if is_typed or (answers is not None and answers.startswith("_")) else None

        def method_of(_: Any) -> str | None:
            return of

        repairs: list[Skipped] = []
        try:
            asking = None if of is None else method_of
            seen.message = read(seen.raw, method_of=asking, unknown="keep", on_skip=repairs.append)
        except MessageError as why:
            seen.problem = Problem(why.message, why.path, why.code)
        seen.repairs = repairs

    def _explain(self, seen: Seen) -> None:
        """Say what an unknown method may be: one of the other side's, or one of another schema."""
        method = seen.method or ""
        known = schema(self.label).methods.get(method)
        if known is not None and seen.sender is not None and seen.sender in known.handled_by:
            here = f"{cut(method)!r} is for the {seen.sender} to handle, and yet was sent by it"
            seen.problem = Problem(f"{here} (are the marks those of the other side?)", "$.method", METHOD_NOT_FOUND)
        elif known is None:
            other = next((label for label in LABELS if method in schema(label).methods), None)
            hint = f" to {self.label} (--schema {other} knows it)" if other is not None else f" to {self.label}"
            seen.problem = Problem(f"Unknown method {cut(method)!r}{hint}", "$.method", METHOD_NOT_FOUND)


def _frame(body: bytes) -> Frame:
    """Read what can be read of a frame; the reader will say what is wrong."""
    try:
        return frame_by_parts(body)
    except (DecodeError, RecursionError):
        return Frame()


def _peek(raw: Raw | UnsetType) -> _Peek:
    try:
        return _PEEK.decode(raw) if isinstance(raw, Raw) else _Peek()
    except (DecodeError, RecursionError):
        return _Peek()


def _broken(line: Line, why: str, when: Moment | None = None) -> Seen:
    raw = line.data or b""
    return Seen(line.number, None, line.size, raw, moment=when, problem=Problem(why, code=PARSE_ERROR))


def _no_json(why: Exception, line: Line) -> str:
    what = "The JSON is nested too deeply" if isinstance(why, RecursionError) else str(why)
    return what if line.ended else f"{what} (the last line, which has no end)"
