"""Writes messages as JSON text around encoded params and results, without an object for each envelope."""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, DecodeError, Raw

from ..._decode.malformed import check_json
from ..._decode.outgoing import encode_replacing
from ..._rpc.encoding import ENCODER, NEWLINE, RETURN, encode, one_line
from ..._rpc.errors import InternalError, RequestError
from ..._types.printable import printable
from .problems import Problem, ProblemKind

LONGEST = 300
"""The maximum number of characters quoted from a peer's error, or from a value that a handler gave instead of text."""
_encode = ENCODER.encode
_CODES = range(-(2**31), 2**31)


def notification_head(method: str) -> bytes:
    """Write the part of a notification before its params."""
    return b'{"jsonrpc":"2.0","method":%b,"params":' % _method(method)


def request_tail(method: str) -> bytes:
    """Write the part of a request between its id and its params."""
    return b',"method":%b,"params":' % _method(method)


def _method(method: Any) -> bytes:
    if not isinstance(method, str):
        raise TypeError(f"A method is text, not an object of the class {_class_name(method)}")
    if not method:
        raise ValueError("A method has a name, and this one is empty")
    return encode(method)


class Writer:
    """Writes messages, and reports values that it could not write unchanged.

    A lone surrogate, which JSON text cannot contain, is written as U+FFFD. Params that cannot be encoded raise what
    `encode` raises; an answer to a request is always written.
    """

    __slots__ = ("_report",)

    def __init__(self, report: Callable[[Problem], None]) -> None:
        """Store the function that reports problems."""
        self._report = report

    # Each of these methods builds its text itself: one more call for each message would be measurable.

    def notification(self, head: bytes, method: str, params: Any) -> bytes:
        """Write a notification; UNSET params are left out."""
        if params is UNSET:
            return head.removesuffix(b',"params":') + b"}"
        if params.__class__ is Raw:
            _check_raw(params)
        try:
            body = _encode(params)
        except ValueError:
            body = self._replaced(params, method)
        data = b"%b%b}" % (head, body)
        return one_line(data) if NEWLINE in data or RETURN in data else data

    def request(self, request_id: int, tail: bytes, method: str, params: Any) -> bytes:
        """Write a request; UNSET params are left out."""
        if params is UNSET:
            return b'{"jsonrpc":"2.0","id":%d%b}' % (request_id, tail.removesuffix(b',"params":'))
        if params.__class__ is Raw:
            _check_raw(params)
        try:
            body = _encode(params)
        except ValueError:
            body = self._replaced(params, method)
        data = b'{"jsonrpc":"2.0","id":%d%b%b}' % (request_id, tail, body)
        return one_line(data) if NEWLINE in data or RETURN in data else data

    def response(self, request_id: Any, method: str, result: Any) -> bytes:
        """Write the answer to a request; a result that cannot be encoded raises what `encode` raises."""
        if result.__class__ is Raw:
            _check_raw(result)
        try:
            body = _encode(result)
        except ValueError:
            body, replaced = encode_replacing(result)
            self._report_handler(request_id, method, f"gave text with lone surrogates ({', '.join(replaced)})", None)
        data = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_encode(request_id), body)
        return one_line(data) if NEWLINE in data or RETURN in data else data

    def refusal(self, request_id: Any, method: str | None, error: RequestError) -> bytes:
        """Write the refusal of a request; parts of the error that cannot be sent are replaced and reported."""
        body, problem = _error_body(error)
        try:
            _check_raw(body.get("data"))
            text, replaced = encode_replacing(body)
            if replaced:
                problem = f"text with lone surrogates ({', '.join(replaced)})"
        except Exception:  # whatever the data is, the request must be answered
            body.pop("data", None)
            text, problem = encode_replacing(body)[0], "data that is not JSON"
        if problem is not None:
            self._report_handler(request_id, method, f"raised a {_class_name(error)} with {problem}", error)
        data = b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (_encode(request_id), text)
        return one_line(data) if NEWLINE in data or RETURN in data else data

    def _replaced(self, params: Any, method: str) -> bytes:
        body, replaced = encode_replacing(params)
        detail = f"Lone surrogates in the params of {method} were replaced by U+FFFD: {', '.join(replaced)}"
        self._report(Problem(kind=ProblemKind.REPLACED, detail=detail, method=method))
        return body

    def _report_handler(self, request_id: Any, method: str | None, what: str, error: BaseException | None) -> None:
        detail = f"The handler of {method} {what}"
        self._report(Problem(kind=ProblemKind.HANDLER, detail=detail, id=request_id, method=method, error=error))


def _error_body(error: RequestError) -> tuple[dict[str, Any], str | None]:
    """Return the error object, and which part of the exception an error object cannot contain."""
    code: Any = getattr(error, "code", None)
    message: Any = getattr(error, "message", None)
    data: Any = getattr(error, "data", None)
    problem: str | None = None
    if isinstance(message, str):
        message = str.__str__(message)  # msgspec encodes no subclasses of str except enumerations
    else:
        problem, message = f"a message that is a {_class_name(message)}, not text", _text_of(message)
    if not isinstance(code, int) or isinstance(code, bool) or int.__int__(code) not in _CODES:
        problem = f"a code that is not an int32 but {_text_of(code)!r}"
    body: dict[str, Any] = {"code": InternalError.code if problem else int.__int__(code), "message": message}
    if data is not None:
        body["data"] = data
    return body, problem


def _check_raw(value: Any) -> None:
    """Refuse a raw part that is not valid JSON: it would break the whole line, and with it a whole batch."""
    if isinstance(value, Raw):
        try:
            check_json(value)
        except DecodeError as error:
            raise ValueError(f"The raw part is not JSON: {error}") from None


def _text_of(value: Any) -> str:
    try:
        text = str(value)
    except Exception:
        text = ""
    return printable(text[:LONGEST]) or _class_name(value)


def _class_name(value: object) -> str:
    return type(value).__name__
