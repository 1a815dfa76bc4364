"""One message of a log, with everything that the inspector finds out about it."""

from typing import Any, Literal

from msgspec import UNSET, Struct

from ..._decode.context import Skipped
from ...state._tool_call import ToolCallFields
from .clock import Moment
from .direction import Side
from .pending import PendingRequest

MessageKind = Literal["request", "notification", "response", "error", "invalid", "broken"]
"""`error` is an error response, `invalid` is JSON that is not a message, and `broken` is not JSON."""


class Problem(Struct, frozen=True):
    """Why a message could not be decoded: a JSON path, and the JSON-RPC error code."""

    message: str
    path: str = "$"
    code: int | None = None


class LogMessage(Struct, gc=False):
    """One message of a log, or a line without one."""

    line: int
    part: int | None
    """The index in a batch, from 0; None outside of batches."""
    size: int
    raw: bytes
    kind: MessageKind = "broken"
    sender: Side | None = None
    moment: Moment | None = None
    id: Any = UNSET
    method: str | None = None
    """The method; of a response, that of its request."""
    session: str | None = None
    connection: int = 1
    """The number of the connection, from 1; each `initialize` begins one."""
    tool_call: ToolCallFields | None = None
    """The tool call that the message is about, merged from all messages up to this one."""
    label: str = ""
    """The schema that the message was decoded with."""
    request: PendingRequest | None = None
    """The request that a response answers."""
    latency: float | None = None
    """Seconds between the request and its response."""
    carried: "LogMessage | None" = None
    """The message that this one carries for a component between the ends, such as a proxy."""
    decoded: Any = None
    repairs: list[Skipped] = []
    unknown: list[tuple[str, str]] = []
    """Paths of values that the schema does not know, and what is unknown."""
    undeclared: list[tuple[str, str]] = []
    """Paths of keys that the schema does not declare, and the keys."""
    problem: Problem | None = None
    """Set for invalid and broken messages, and for those that do not match their schema."""

    @property
    def title(self) -> str | None:
        """The title of the tool call that the message is about."""
        return self.tool_call.title if self.tool_call is not None else None

    @property
    def session_name(self) -> str:
        """The session as shown. Sessions of a later connection are different ones, even with the same id."""
        later = f", connection {self.connection}" if self.connection > 1 else ""
        return f"{self.session or ''}{later}"

    @property
    def is_answer(self) -> bool:
        """Whether the message is a response."""
        return self.kind in ("response", "error")

    @property
    def is_unpaired(self) -> bool:
        """Whether the message is a response to a request that the log does not contain."""
        return self.is_answer and self.request is None

    @property
    def is_odd(self) -> bool:
        """Whether `--errors` shows it: it has a problem, a finding or no request, or is an error response."""
        found = self.repairs or self.unknown or self.undeclared
        return self.problem is not None or self.is_unpaired or self.kind == "error" or bool(found)
