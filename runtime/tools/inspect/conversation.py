"""Follows the messages of a log: who sent each one, which request it answers, and what is wrong with it."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType

from ..._decode.context import Skipped
from ..._decode.paths import TOO_DEEP, cut
from ..._rpc.batch import decode_batch
from ..._rpc.codes import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from ..._rpc.errors import MessageError
from ..._rpc.frame import Frame, decode_frame, frame_by_parts
from .carried import adopt_findings, carried_message, carried_method
from .clock import Moment, between
from .direction import OTHER, Side
from .extraction import ExtractedMessage, NoMessage, extract_message, without_tail
from .lines import LIMIT, Line
from .log_message import LogMessage, Problem
from .pending import PendingRequest, PendingRequests
from .schemas import ENDS, LABELS, label_for, schema
from .tool_calls import ToolCallTracker
from .unknowns import UndeclaredKey, unknowns


class _Peek(Struct):
    """The fields that decide how the rest is read."""

    protocol_version: Any = msgspec.field(default=None, name="protocolVersion")
    request_id: Any = msgspec.field(default=None, name="requestId")
    session_id: Any = msgspec.field(default=None, name="sessionId")


_PEEK = msgspec.json.Decoder(_Peek)


class Conversation:
    """Follows a log. `home` is the side that wrote it, for labels such as "in" and "out"; `label` is a fixed schema."""

    def __init__(self, home: Side = "client", label: str | None = None) -> None:
        """Start before the first message."""
        self.pending = PendingRequests()
        self.connection = 1
        self._tool_calls = ToolCallTracker()
        self._begun = False
        self.negotiated: int | None = None
        """The protocol version in the response to `initialize`."""
        self.label = label or label_for(1)
        self._fixed = label is not None
        self._home: Side = home

    def read(self, line: Line) -> Iterable[LogMessage]:
        """Read the messages of a line: one, those of a batch, or a broken one with the reason."""
        if line.data is None:
            return (_broken(line, f"The line is longer than {LIMIT // 1024 // 1024} MB, and was not read"),)
        if not line.data or line.data.isspace():
            return ()
        try:
            extracted = extract_message(line.data)
        except NoMessage as why:
            return (_broken(line, str(why)),)
        sender = extracted.sender
        if sender is None and extracted.outward is not None:
            sender = self._home if extracted.outward else OTHER[self._home]
        if extracted.body.startswith(b"["):
            return self._batch(line, extracted, sender)
        try:
            return (self._one(line, extracted.body, None, sender, extracted.moment),)
        except NoMessage as why:
            return (_broken(line, str(why), extracted.moment),)

    def _batch(self, line: Line, extracted: ExtractedMessage, sender: Side | None) -> Iterator[LogMessage]:
        try:
            try:
                parts = decode_batch(extracted.body)
            except DecodeError:
                parts = decode_batch(without_tail(extracted.body) or extracted.body)
        except (DecodeError, NoMessage, RecursionError) as why:
            yield _broken(line, _invalid_json(why, line), extracted.moment)
            return
        if not parts:
            problem = Problem("An empty batch", code=INVALID_REQUEST)
            yield LogMessage(
                line.number,
                None,
                len(extracted.body),
                extracted.body,
                "invalid",
                sender,
                extracted.moment,
                problem=problem,
            )
        for index, part in enumerate(parts):
            yield self._one(line, bytes(part), index, sender, extracted.moment)

    def _one(self, line: Line, body: bytes, part: int | None, sender: Side | None, when: Moment | None) -> LogMessage:
        try:
            frame = decode_frame(body)
        except (DecodeError, RecursionError):
            body = body if part is not None else without_tail(body) or body
            frame = _frame(body)
        message = LogMessage(line.number, part, len(body), body, "invalid", sender, when, connection=self.connection)
        if frame.id is None or type(frame.id) in (int, str):
            message.id = frame.id
        if isinstance(frame.method, str):
            message.method = frame.method
            message.kind = "notification" if frame.id is UNSET else "request"
            self._call(message, frame)
        elif frame.error is not UNSET or frame.result is not UNSET:
            message.kind = "response" if frame.error is UNSET else "error"
            self._answer(message, frame)
        else:
            self._decode(message, None)
            self._look_inside(message, frame)
        if message.problem is not None and message.problem.code == PARSE_ERROR:
            message.kind, message.raw = "broken", body if part is not None else line.data or b""
            if not line.ended:
                message.problem = Problem(
                    f"{message.problem.message} (the last line, which has no end)", code=PARSE_ERROR
                )
        if message.kind != "broken":
            self._begun = True
            _add_unknowns(message, body)
            if message.carried is not None:
                _add_unknowns(message.carried, message.carried.raw)
                adopt_findings(message, message.carried)
        return message

    def _look_inside(self, message: LogMessage, frame: Frame) -> None:
        """Add a hint if an object that is not a message holds one where the inspector does not look for it."""
        problem = message.problem
        if frame.jsonrpc is UNSET and problem is not None and problem.code != PARSE_ERROR and b"jsonrpc" in message.raw:
            hint = "a message is nested deeper inside; write one per line, or under one of the keys in the guide"
            message.problem = Problem(f"{problem.message} (hint: {hint})", problem.path, problem.code)

    def _call(self, message: LogMessage, frame: Frame) -> None:
        peeked = _peek(frame.params)
        if message.method == "initialize":
            self._initialize(peeked.protocol_version, message.line)
            message.connection = self.connection
        elif schema(self.label).between.get(message.method or "") == "initialize":
            self._negotiate(peeked.protocol_version)
        if isinstance(peeked.session_id, str):
            message.session = cut(peeked.session_id)
        if message.sender is None:
            message.sender = self._sender_of(message, peeked.request_id)
        self._decode(message, None)
        self._unwrap(message)
        inner = message.carried or message
        if message.session is not None and inner.decoded is not None:
            message.tool_call = inner.tool_call = self._tool_calls.apply(inner.decoded, message.session)
        if message.problem is not None and message.problem.code == METHOD_NOT_FOUND:
            self._explain(message)
        if (
            message.kind == "request"
            and message.id is not UNSET
            and (message.problem is None or message.problem.code != PARSE_ERROR)
        ):
            request = PendingRequest(
                message.line,
                cut(message.method or ""),
                message.moment,
                message.session,
                message.sender,
                self._answered_as(message),
            )
            self.pending.add(message.id, request)

    def _answered_as(self, message: LogMessage) -> str:
        """Return the method that says what the result is: the carried one, or that of an end with the same params."""
        method = message.method or ""
        carried = message.carried.method if message.carried is not None else None
        return cut(carried or schema(self.label).between.get(method) or method)

    def _unwrap(self, message: LogMessage) -> None:
        """Decode the message that this one carries. The whole has its direction, unless a label says another."""
        method = carried_method(message, schema(self.label))
        if method is None:
            return
        carried = message.carried = carried_message(message, method)
        peeked = _peek(_frame(carried.raw).params)
        carried.sender = self._sender_of(carried, peeked.request_id)
        message.sender = message.sender or carried.sender
        if isinstance(peeked.session_id, str):
            message.session = carried.session = cut(peeked.session_id)
        self._decode(carried, None)
        if carried.problem is not None and carried.problem.code == METHOD_NOT_FOUND:
            self._explain(carried)

    def _initialize(self, version: Any, line: int) -> None:
        """Begin a new connection: the pending requests of the previous one can no longer get a response."""
        self.pending.restart(line)
        self._tool_calls.restart()
        self.connection += self._begun
        self.negotiated = None
        if not self._fixed and type(version) is int:
            self.label = label_for(version)

    def _sender_of(self, message: LogMessage, cancelled_id: Any) -> Side | None:
        handled_by = self._handled_by(message)
        if not handled_by:
            return None
        if len(handled_by) == 1:
            return "client" if "agent" in handled_by else "agent"
        request = self.pending.candidates(cancelled_id, None)
        return request[-1].sender if len(request) == 1 else None

    def _handled_by(self, message: LogMessage) -> frozenset[str]:
        """Return the sides that handle such a message; nobody handles a method that the schema lacks."""
        used, method = schema(self.label), message.method or ""
        known = used.methods.get(used.between.get(method) or method)
        if known is None:
            return frozenset()
        own = known.requests_handled_by if message.kind == "request" else known.notifications_handled_by
        return (own or known.handled_by) & ENDS

    def _answer(self, message: LogMessage, frame: Frame) -> None:
        found = self.pending.candidates(message.id, message.sender)
        if found:
            request = found[-1] if len(found) == 1 or message.kind == "error" else self._best_match(message, found)
            self.pending.remove(message.id, request)
            message.request, message.method, message.session = request, request.method, request.session
            message.latency = between(request.moment, message.moment)
            if message.sender is None and request.sender is not None:
                message.sender = OTHER[request.sender]
            if request.answered_as == "initialize" and message.kind == "response":
                self._negotiate(_peek(frame.result).protocol_version)
        self._decode(message, message.request.answered_as if message.request is not None else None)

    def _negotiate(self, version: Any) -> None:
        if type(version) is int:
            self.negotiated = version
            if not self._fixed:
                self.label = label_for(version)

    def _best_match(self, message: LogMessage, found: list[PendingRequest]) -> PendingRequest:
        """Choose among requests of both sides with the same id: the one whose result class matches best."""

        def mismatch(request: PendingRequest) -> tuple[bool, int]:
            trial = LogMessage(
                message.line, None, 0, message.raw, message.kind, request.sender and OTHER[request.sender]
            )
            self._decode(trial, request.answered_as)
            return trial.problem is not None, len(trial.repairs)

        return min(reversed(found), key=mismatch)

    def _decode(self, message: LogMessage, answers: str | None) -> None:
        used = schema(self.label)
        message.label = self.label
        is_between = not message.is_answer and message.method in used.between
        decode = used.decode_between if is_between else used.decoders[message.sender or "client"]
        known = used.methods.get(answers) if answers is not None else None
        is_typed = known is not None and known.response is not None
        of = answers if is_typed or (answers is not None and answers.startswith("_")) else None

        def method_of(_: Any) -> str | None:
            return of

        repairs: list[Skipped] = []
        try:
            asking = None if of is None else method_of
            message.decoded = decode(message.raw, method_of=asking, unknown="keep", on_skip=repairs.append)
        except MessageError as why:
            message.problem = Problem(why.message, why.path, why.code)
        message.repairs = repairs

    def _explain(self, message: LogMessage) -> None:
        """Improve the problem of an unknown method: it may be for the other side, or of another schema."""
        method = message.method or ""
        known = schema(self.label).methods.get(method)
        if known is not None and message.sender is not None and message.sender in self._handled_by(message):
            here = f"{cut(method)!r} is handled by the {message.sender}, but was sent by it"
            message.problem = Problem(f"{here} (are the labels those of the other side?)", "$.method", METHOD_NOT_FOUND)
        elif known is None:
            other = next((label for label in LABELS if method in schema(label).methods), None)
            hint = f" to {self.label} (--schema {other} knows it)" if other is not None else f" to {self.label}"
            message.problem = Problem(f"Unknown method {cut(method)!r}{hint}", "$.method", METHOD_NOT_FOUND)


def _add_unknowns(message: LogMessage, body: bytes) -> None:
    """Add what the schema does not know of a message."""
    found = unknowns(message.decoded, body, message.repairs)
    if found:
        message.unknown = [(path, what) for path, what in found if not isinstance(what, UndeclaredKey)]
        message.undeclared = [(path, str(what)) for path, what in found if isinstance(what, UndeclaredKey)]


def _frame(body: bytes) -> Frame:
    """Read as much of a frame as possible; decoding the message will report what is wrong."""
    try:
        return frame_by_parts(body)
    except (DecodeError, RecursionError):
        return Frame()


def _peek(raw: Raw | UnsetType) -> _Peek:
    try:
        return _PEEK.decode(raw) if isinstance(raw, Raw) else _Peek()
    except (DecodeError, RecursionError):
        return _Peek()


def _broken(line: Line, why: str, when: Moment | None = None) -> LogMessage:
    raw = line.data or b""
    return LogMessage(line.number, None, line.size, raw, moment=when, problem=Problem(why, code=PARSE_ERROR))


def _invalid_json(why: Exception, line: Line) -> str:
    what = TOO_DEEP if isinstance(why, RecursionError) else str(why)
    return what if line.ended else f"{what} (the last line, which has no end)"
