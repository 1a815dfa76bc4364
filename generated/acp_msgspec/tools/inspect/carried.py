"""Messages that carry another one: those that a component between the client and the agent gets, such as a proxy.

A schema says which they are by its sides: neither the client nor the agent handles their method, and their params have
a method and params of their own.
"""

from typing import Any

import msgspec
from msgspec import UNSET

from ..._types.variants import enc_hook
from .log_message import LogMessage
from .schemas import Schema


def carried_method(message: LogMessage, used: Schema) -> str | None:
    """Return the method of the message that another one carries; None if it carries none."""
    if message.decoded is None or message.method not in used.between:
        return None
    method = getattr(_params(message), "method", None)
    return method if isinstance(method, str) and hasattr(_params(message), "params") else None


def carried_message(message: LogMessage, method: str) -> LogMessage:
    """Return the carried message, not yet decoded, as if it stood on the line alone."""
    plain: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if message.kind == "request":
        plain["id"] = 0
    params = _params(message).params
    if params is not None:
        plain["params"] = params
    raw = msgspec.json.encode(plain, enc_hook=enc_hook)
    made_id: Any = 0 if message.kind == "request" else UNSET
    return LogMessage(message.line, None, len(raw), raw, message.kind, id=made_id, method=method)


def adopt_findings(message: LogMessage, carried: LogMessage) -> None:
    """Report what is wrong with the carried message as part of the message around it."""
    message.repairs = [
        *message.repairs,
        *(msgspec.structs.replace(each, path=_outer(each.path)) for each in carried.repairs),
    ]
    message.unknown = [*message.unknown, *((_outer(path), what) for path, what in carried.unknown)]
    message.undeclared = [*message.undeclared, *((_outer(path), key) for path, key in carried.undeclared)]
    if carried.problem is not None:
        what = f"In the carried message: {carried.problem.message}"
        message.problem = msgspec.structs.replace(carried.problem, message=what, path=_outer(carried.problem.path))


def _outer(path: str) -> str:
    """Return a path in the carried message as one in the message around it."""
    return f"$.params{path[1:]}"


def _params(message: LogMessage) -> Any:
    return getattr(message.decoded, "params", None)
