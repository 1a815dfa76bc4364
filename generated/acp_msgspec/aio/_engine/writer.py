"""The text of messages, put together around params and results without an object for each envelope."""

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
"""The longest text, in characters, that is made of what a handler gave instead of a text, or of a peer's error."""
_encode = ENCODER.encode
_CODES = range(-(2**31), 2**31)


def notification_head(method: str) -> bytes:
    """Write what comes before the params of a notification."""
    return b'{"jsonrpc":"2.0","method":%b,"params":' % _method(method)


def request_tail(method: str) -> bytes:
    """Write what comes between the id of a request and its params."""
    return b',"method":%b,"params":' % _method(method)


def _method(method: Any) -> bytes:
    if not isinstance(method, str):
        raise TypeError(f"A method is text, not an object of the class {_name(method)}")
    if not method:
        raise ValueError("A method has a name, and this one is empty")
    return encode(method)


class Writer:
    """Writes messages, and tells of what could not go out as it was given.

    A lone surrogate, which no JSON text can hold, goes out as U+FFFD. Params that are not JSON raise as `encode` does;
    an answer to a request is always written.
    """

    __slots__ = ("_tell",)

    def __init__(self, tell: Callable[[Problem], None]) -> None:
        """Keep whom to tell."""
        self._tell = tell

    # Each of these puts its text together by itself: a call more for each message would be felt.

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
        """Write the answer to a request; a result that is not JSON raises as `encode` does."""
        if result.__class__ is Raw:
            _check_raw(result)
        try:
            body = _encode(result)
        except ValueError:
            body, replaced = encode_replacing(result)
            self._tell_handler(request_id, method, f"gave text with lone surrogates ({', '.join(replaced)})", None)
        data = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_encode(request_id), body)
        return one_line(data) if NEWLINE in data or RETURN in data else data

    def refusal(self, request_id: Any, method: str | None, error: RequestError) -> bytes:
        """Write the refusal of a request, whatever the error holds; what it should not hold is left out and told."""
        body, problem = _error_body(error)
        try:
            _check_raw(body.get("data"))
            text, replaced = encode_replacing(body)
            if replaced:
                problem = f"text with lone surrogates ({', '.join(replaced)})"
        except Exception:  # whatever it is, the request must be answered
            body.pop("data", None)
            text, problem = encode_replacing(body)[0], "data that is not JSON"
        if problem is not None:
            self._tell_handler(request_id, method, f"raised a {_name(error)} with {problem}", error)
        data = b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (_encode(request_id), text)
        return one_line(data) if NEWLINE in data or RETURN in data else data

    def _replaced(self, params: Any, method: str) -> bytes:
        body, replaced = encode_replacing(params)
        detail = f"Lone surrogates in the params of {method} were replaced by U+FFFD: {', '.join(replaced)}"
        self._tell(Problem(kind=ProblemKind.REPLACED, detail=detail, method=method))
        return body

    def _tell_handler(self, request_id: Any, method: str | None, what: str, error: BaseException | None) -> None:
        detail = f"The handler of {method} {what}"
        self._tell(Problem(kind=ProblemKind.HANDLER, detail=detail, id=request_id, method=method, error=error))


def _error_body(error: RequestError) -> tuple[dict[str, Any], str | None]:
    """Make the error object, and say what of the exception is not what an error object may hold."""
    code: Any = getattr(error, "code", None)
    message: Any = getattr(error, "message", None)
    data: Any = getattr(error, "data", None)
    problem: str | None = None
    if isinstance(message, str):
        message = str.__str__(message)  # msgspec does not write other subclasses than those of enumerations
    else:
        problem, message = f"a message that is a {_name(message)}, not text", _text_of(message)
    if not isinstance(code, int) or isinstance(code, bool) or int.__int__(code) not in _CODES:
        problem = f"a code that is not an int32 but {_text_of(code)!r}"
    body: dict[str, Any] = {"code": InternalError.code if problem else int.__int__(code), "message": message}
    if data is not None:
        body["data"] = data
    return body, problem


def _check_raw(value: Any) -> None:
    """Refuse a raw part that is not JSON: it would spoil the line, and with it a whole batch."""
    if isinstance(value, Raw):
        try:
            check_json(value)
        except DecodeError as why:
            raise ValueError(f"The raw part is not JSON: {why}") from None


def _text_of(value: Any) -> str:
    try:
        text = str(value)
    except Exception:
        text = ""
    return printable(text[:LONGEST]) or _name(value)


def _name(value: object) -> str:
    return type(value).__name__
