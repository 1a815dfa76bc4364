"""Decoders of whole messages: the fast path is one strict pass, the slow path reads frame and params separately.

The classes here know no schema. Each emitted module makes two decoders, one for what each side sends.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, NoReturn, TypeVar

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, ValidationError, field

from .._decode.context import Skipped
from .._decode.hook import dec_hook, engine, second_choices
from .._decode.malformed import check_json, kind_of_json, reason, without_byte_order_mark
from .._decode.paths import Mismatch, kind_of, pattern_of, shown
from .._decode.report import OnSkip, in_batch, record_limit, report
from .._types.inputs import Unknown
from .._types.numbers import Int64
from .answers import Answers
from .batch import REFUSALS, messages_of
from .codes import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from .errors import MessageError
from .expectations import Expectations
from .frame import Frame, NeverSent, decode_frame, frame_by_parts, is_anonymous
from .salvage import Head, heads_of
from .schema import MessageSchema, checked, field_type

M = TypeVar("M")
MethodOf = Callable[[Any], str | None]

_ID = msgspec.json.Decoder(Int64 | str)
_ID_AT = len(b'{"jsonrpc":"2.0","id":')
_FAILURES = (DecodeError, RecursionError, UnicodeEncodeError)
_NEAR = _ID_AT + 64
"""Where the search for what follows a short id ends."""


def _unbuilt(*_: Any) -> NoReturn:
    raise NotImplementedError


class MessageDecoder(Struct, Generic[M]):
    """Decodes the messages that one side sends; `envelopes` are its requests and notifications."""

    schema: MessageSchema
    envelopes: tuple[type[Any], ...]
    requests: dict[str, type[Any]] = field(default_factory=dict[str, type[Any]])
    notifications: dict[str, type[Any]] = field(default_factory=dict[str, type[Any]])
    answers: Any = None
    """The fast path of responses."""
    strict: Callable[[Any], M] = _unbuilt
    """The fast path: decodes a valid request or notification in one pass, or raises."""
    untyped: Callable[[Any], M] = _unbuilt
    """The fast path where no method of a request is known: `strict`, or after a response one that reads those."""
    with_id: Callable[[Any, MethodOf | None, Unknown, OnSkip | None], M] = _unbuilt
    """The fast path for messages that begin with version and id: decodes a valid response in one pass as well."""

    expected: dict[type[Any], Any] = field(default_factory=dict[type[Any], Any])
    """Envelopes that are read in their wide form at once, and the class of that form."""
    expectations: Expectations = field(default_factory=Expectations)

    def __post_init__(self) -> None:
        """Index the envelopes by method."""
        self.schema.envelopes.extend(e for e in self.envelopes if e not in self.schema.envelopes)
        for envelope in self.envelopes:
            table = self.requests if issubclass(envelope, self.schema.request) else self.notifications
            table[envelope.__struct_config__.tag] = envelope
        # Kept as plain functions, since looking up a method of a Struct takes longer.
        self.answers = Answers(self.schema)
        self.strict = self.untyped = self._first
        self.with_id = self._make_with_id()

    def _first(self, buf: Any) -> M:
        self.strict = self.untyped = self.expectations.decoder(frozenset(self.expected.values()), self._decoder)
        return self.strict(buf)

    def _response_first(self, buf: Any) -> M:
        """Read a response whose method is not known, as one came before; another message ends that."""
        read: Callable[[Any], M] | None = None
        if type(buf) is bytes:
            if buf.find(b',"result":', _ID_AT, _NEAR) > 0:
                read = self.answers.results.get(None) or self.answers.of_method(None)
            elif buf.find(b',"error":', _ID_AT, _NEAR) > 0:
                read = self.answers.failure
        if read is not None:
            return read(buf)
        self.untyped = self.strict
        return self.strict(buf)

    def _build(self) -> None:
        """Set the fast path to what is expected; its decoder is built at the first use."""
        self.strict = self.untyped = self.expectations.decoders.get(frozenset(self.expected.values()), self._first)

    def _decoder(self) -> Callable[[Any], M]:
        # A method that is both request and notification would be one tag with two classes: left to the slow path.
        single = [e for m, e in {**self.requests, **self.notifications}.items() if not self._is_both(m)]
        kind: Any = NeverSent
        for envelope in single:
            kind |= self.expected.get(envelope, envelope)
        return msgspec.json.Decoder(kind, dec_hook=dec_hook).decode

    def _expect(self, envelope: type[Any]) -> None:
        """Read second choices at once in messages of a class, until one has none."""
        self.expected[envelope] = self.expectations.wide(envelope, partial(self._forget, envelope))
        self._build()

    def _forget(self, envelope: type[Any]) -> None:
        self.expected.pop(envelope, None)
        self._build()

    def _is_both(self, method: Any) -> bool:
        return method in self.requests and method in self.notifications

    def decode(
        self,
        buf: Any,
        method_of: MethodOf | None,
        unknown: Unknown,
        on_skip: OnSkip | None,
        why: Exception | None = None,
    ) -> M:
        """Decode any message or raise `MessageError`. `why` is the error of the fast path, if it ran."""
        if unknown not in ("reject", "keep"):
            raise ValueError(f"unknown must be 'reject' or 'keep', not {unknown!r}")
        rest = None if isinstance(why, ValidationError) else without_byte_order_mark(buf)
        if rest is not None:
            return self._one(rest, method_of, unknown, on_skip)
        frame = self._frame(buf)
        limit = record_limit(on_skip)
        pattern = pattern_of(why) if isinstance(why, ValidationError) else ""
        failed, found = None, None
        try:
            if pattern.startswith((".params", ".result")):
                failed, found = why, self._second_pass(frame, buf, method_of, unknown, pattern, limit)
            message, skipped = found or self._message(frame, method_of, unknown, failed, limit)
        except MessageError:
            raise
        except DecodeError as why:  # a raw part of the frame is malformed
            self._malformed(why, buf, answered=frame.may_be_answered)
        if skipped:
            report(skipped, on_skip)
        if method_of is None and frame.is_response:
            self.untyped = self._response_first
        read: M = message
        return read

    def _second_pass(
        self, frame: Frame, buf: Any, method_of: MethodOf | None, unknown: Unknown, pattern: str, limit: int
    ) -> tuple[Any, list[Skipped]] | None:
        """Decode a message in one more pass: one with second choices, or with a lenient field to repair.

        `pattern` tells where the fast path failed. Returns None for any other message.
        """
        schema, called = self.schema, None
        kind: Any = None
        if frame.has_usable_method:
            kind = (self.requests if frame.id is not UNSET else self.notifications).get(frame.method)
        elif method_of is not None and frame.is_response:
            called = method_of(frame.id)
            if called is not None and schema.has_result(called):
                kind = schema.response[schema.result_kind(called)]
        if kind is None:
            return None
        wide = second_choices()
        found = wide.second_choice(kind, buf, pattern)
        if found is wide.NOTHING:
            keep = unknown == "keep"
            return engine().repair_in_one_pass(kind, buf, pattern, keep_unknown=keep, limit=limit)
        if called is not None:
            self.answers.expect(called)
        elif not self._is_both(frame.method):
            self._expect(kind)
        return found, []

    def _make_with_id(self) -> Callable[[Any, MethodOf | None, Unknown, OnSkip | None], M]:
        answers, read_id = self.answers, _ID.decode
        results, failure, of_method = answers.results, answers.failure, answers.of_method

        def with_id(buf: Any, method_of: MethodOf | None, unknown: Unknown, on_skip: OnSkip | None) -> M:
            # The id leads to the method, and the method to the type of the result: so the id is read first.
            if buf.__class__ is not bytes or (end := buf.find(b',"result":', _ID_AT, _NEAR)) < 0:
                is_failure = buf.__class__ is bytes and buf.find(b',"error":', _ID_AT, _NEAR) > 0
                try:
                    return failure(buf) if is_failure else self.strict(buf)
                except _FAILURES as why:
                    return self.decode(buf, method_of, unknown, on_skip, None if is_failure else why)
            try:
                request_id = read_id(buf[_ID_AT:end])
            except DecodeError:
                return self.decode(buf, method_of, unknown, on_skip)
            method = None if method_of is None else method_of(request_id)
            failed: Exception | None = None
            try:
                answer = (results.get(method) or of_method(method))(buf)
                if answer.id == request_id:
                    message: M = answer
                    return message
            except _FAILURES as why:
                failed = why
            return self.decode(buf, _remembered(request_id, method, method_of), unknown, on_skip, failed)

        return with_id

    def batch(self, buf: Any, method_of: MethodOf | None, unknown: Unknown, on_skip: OnSkip | None) -> list[M]:
        """Decode a batch. The first invalid message raises, with all others in `batch`."""
        try:
            parts, unread = messages_of(buf)
        except ValidationError:
            self.schema.fail(INVALID_REQUEST, "Expected a batch, an array of messages", answered=True)
        except (DecodeError, RecursionError, UnicodeEncodeError) as why:
            self._malformed(why, buf)
        if not parts:
            self.schema.fail(INVALID_REQUEST, "An empty batch", answered=True)
        out: list[Any] = []
        first: tuple[int, MessageError] | None = None
        refused = 0
        """Refused messages without an id."""
        for index, part in enumerate(parts):
            if refused > REFUSALS and is_anonymous(part):
                refused += 1
                continue
            try:
                out.append(self._one(part, method_of, unknown, in_batch(on_skip, index)))
            except MessageError as why:
                why.part = part
                refused += why.id is None and why.reply is not None
                if why.id is not None or why.reply is None or refused <= REFUSALS:
                    out.append(why)
                first = first or (index, why)
        if refused > REFUSALS or unread is not None:
            out.append(self.schema.refused_together(max(refused - REFUSALS, 0), unread))
        if first is not None:
            raise first[1].in_batch(first[0], out)
        if unread is not None:
            raise out[-1].in_batch(None, out)
        return out

    def _one(self, raw: Raw, method_of: MethodOf | None, unknown: Unknown, on_skip: OnSkip | None) -> M:
        """Decode one message of a batch."""
        try:
            return self.strict(raw)
        except (DecodeError, RecursionError, UnicodeEncodeError) as why:
            return self.decode(raw, method_of, unknown, on_skip, why)

    def _frame(self, buf: Any) -> Frame:
        try:
            return decode_frame(buf)
        except (DecodeError, RecursionError, UnicodeEncodeError) as why:
            if not isinstance(why, ValidationError):
                self._malformed(why, buf)
        # Not an object, or a number out of range. The rest may still be malformed.
        try:
            return frame_by_parts(buf)
        except ValidationError:
            pass
        except (DecodeError, RecursionError) as why:
            self._malformed(why, buf)
        try:
            check_json(buf)
        except DecodeError as why:
            self._malformed(why, buf)
        return self.schema.fail(INVALID_REQUEST, f"Expected `object`, got `{kind_of_json(buf)}`", answered=True)

    def _malformed(self, why: Exception, buf: Any, *, answered: bool = True) -> NoReturn:
        heads = heads_of(buf)
        head = heads[0] if heads else Head()
        request_id = head.request_id if head.is_request or head.has_answer else None
        method = head.method if isinstance(head.method, str) else None
        is_answered = answered and not head.has_answer
        try:
            self.schema.fail(PARSE_ERROR, reason(why, buf), id=request_id, method=method, answered=is_answered)
        except MessageError as error:
            error.heads = heads
            raise

    def _message(
        self, frame: Frame, method_of: MethodOf | None, unknown: Unknown, failed: Exception | None, limit: int
    ) -> tuple[Any, list[Skipped]]:
        schema = self.schema
        is_response = frame.is_response
        request_id = self._id(frame, is_response=is_response)
        method = frame.method if isinstance(frame.method, str) else None
        # A message without a usable method whose id is that of a pending call is the answer to that call.
        called = None if frame.has_usable_method or method_of is None else method_of(request_id)
        is_answered = frame.may_be_answered and called is None
        if frame.jsonrpc != "2.0":
            what = "no version" if frame.jsonrpc is UNSET else f"the version {shown(frame.jsonrpc)}"
            schema.fail(
                INVALID_REQUEST,
                f'Expected "2.0", got {what}',
                path=("jsonrpc",),
                id=request_id,
                method=called or method,
                answered=is_answered,
            )
        if is_response:
            return self._response(frame, request_id, called, unknown, failed, limit)
        if called is not None or method is None:
            self._no_method(frame, request_id, called, answered=is_answered)
        return self._call(frame, request_id, method, unknown, failed, limit)

    def _no_method(self, frame: Frame, request_id: Any, called: str | None, *, answered: bool) -> NoReturn:
        """Raise the error of a message without a usable method; `called` is the method of our call with its id."""
        path: tuple[str, ...] = ("method",)
        if frame.result is not UNSET or frame.error is not UNSET:
            problem = "A response that names a method"
        elif called is not None and frame.method is UNSET:
            problem, path = "A response without a result and an error", ()
        elif frame.method is UNSET:
            problem = "No method"
        elif isinstance(frame.method, str):
            problem = "The method is empty"
        else:
            problem = f"Expected `str`, got `{kind_of(frame.method)}`"
        self.schema.fail(INVALID_REQUEST, problem, path=path, id=request_id, method=called, answered=answered)

    def _id(self, frame: Frame, *, is_response: bool) -> Any:
        if frame.id is UNSET:
            if is_response:
                self.schema.fail(INVALID_REQUEST, "A response without an id", path=("id",))
            return None
        # The id of an error response is null if the request could not be read.
        if is_response and frame.error is not UNSET and frame.id is None:
            return None
        if type(frame.id) is str or (type(frame.id) is int and -(2**63) <= frame.id < 2**63):
            return frame.id
        try:
            return engine().repair_part(self.schema.request_id, frame.id, path=("id",))[0]
        except Mismatch as why:
            method = frame.method if isinstance(frame.method, str) else None
            self.schema.fail(INVALID_REQUEST, why.message, path=why.path, method=method, answered=frame.may_be_answered)

    def _call(
        self, frame: Frame, request_id: Any, method: str, unknown: Unknown, failed: Exception | None, limit: int
    ) -> tuple[Any, list[Skipped]]:
        schema = self.schema
        is_request = frame.id is not UNSET
        if method.startswith("_"):
            params = checked(frame.params) if isinstance(frame.params, Raw) else UNSET
            if is_request:
                return schema.extension_request(id=request_id, method=method, params=params), []
            return schema.extension_notification(method=method, params=params), []
        envelope = (self.requests if is_request else self.notifications).get(method)
        if envelope is None:
            if not is_request and method in self.requests:
                schema.fail(INVALID_REQUEST, f"A request for {method!r} without an id", path=("id",), method=method)
            schema.fail(
                METHOD_NOT_FOUND,
                f"Unknown method {shown(method)}",
                path=("method",),
                id=request_id,
                method=method,
                answered=is_request,
            )
        try:
            kind = field_type(envelope, "params")
            params, skipped = schema.part(kind, frame.params, "params", unknown, failed, limit=limit)
        except Mismatch as why:
            schema.fail(INVALID_PARAMS, why.message, path=why.path, id=request_id, method=method, answered=is_request)
        made = envelope(params=params, id=request_id) if is_request else envelope(params=params)
        return made, skipped

    def _response(
        self,
        frame: Frame,
        request_id: Any,
        method: str | None,
        unknown: Unknown,
        failed: Exception | None,
        limit: int,
    ) -> tuple[Any, list[Skipped]]:
        schema = self.schema
        if frame.result is not UNSET and frame.error is not UNSET:
            schema.fail(INVALID_REQUEST, "A response with both a result and an error", id=request_id, method=method)
        try:
            if isinstance(frame.error, Raw):
                error, skipped = schema.part(schema.error, frame.error, "error", unknown, limit=limit)
                return schema.error_response(id=request_id, error=error), skipped
            if isinstance(frame.result, Raw) and not schema.has_result(method):
                return schema.response(id=request_id, result=checked(frame.result)), []
            result, skipped = schema.result(method or "", frame.result, unknown, failed, limit=limit)
        except Mismatch as why:
            schema.fail(None, why.message, path=why.path, id=request_id, method=method)
        return schema.response(id=request_id, result=result), skipped


def _remembered(request_id: Any, method: str | None, method_of: MethodOf | None) -> MethodOf | None:
    """Look the method up only once for `request_id`: it may be forgotten after the first time."""
    if method_of is None:
        return None
    return lambda other: method if other == request_id else method_of(other)
