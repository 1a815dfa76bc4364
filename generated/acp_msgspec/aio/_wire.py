"""The text of messages, put together around params and results without an object for each frame."""

from typing import Any

from msgspec import UNSET

from .._codec import NEWLINE, RETURN, encode, one_line
from .._errors import RequestError


def notification_head(method: str) -> bytes:
    """Write what comes before the params of a notification."""
    return b'{"jsonrpc":"2.0","method":%b,"params":' % encode(method)


def notification(head: bytes, params: Any) -> bytes:
    """Write a notification; what is no JSON raises as `encode` does."""
    return _line(b"%b%b}" % (head, encode(params)))


def extension_notification(method: str, params: Any) -> bytes:
    """Write a notification outside the protocol; UNSET params are left out."""
    if params is UNSET:
        return b'{"jsonrpc":"2.0","method":%b}' % encode(method)
    return notification(notification_head(method), params)


def request_tail(method: str) -> bytes:
    """Write what comes between the id of a request and its params."""
    return b',"method":%b,"params":' % encode(method)


def request(request_id: int, tail: bytes, params: Any) -> bytes:
    """Write a request, without params where they are UNSET; what is no JSON raises as `encode` does."""
    if params is UNSET:
        return b'{"jsonrpc":"2.0","id":%d%b}' % (request_id, tail.removesuffix(b',"params":'))
    return _line(b'{"jsonrpc":"2.0","id":%d%b%b}' % (request_id, tail, encode(params)))


def response(request_id: Any, result: Any) -> bytes:
    """Write the answer to a request; what is no JSON raises as `encode` does."""
    return _line(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(request_id), encode(result)))


def refusal(request_id: Any, error: RequestError) -> bytes:
    """Write the refusal of a request; data that is no JSON is left out."""
    body = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    try:
        text = encode(body)
    except Exception:  # whatever it is, the request must be answered
        text = encode({"code": error.code, "message": error.message})
    return _line(b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (encode(request_id), text))


def _line(data: bytes) -> bytes:
    return one_line(data) if NEWLINE in data or RETURN in data else data
