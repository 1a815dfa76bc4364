"""The pending requests of both sides, in bounded memory."""

from hashlib import sha256
from typing import Any

from msgspec import Struct

from .clock import Moment
from .direction import OTHER, Side

MAX_PENDING = 10_000
"""How many requests of one side are remembered."""
_MAX_LENGTH = 200  # characters; longer ids are remembered by their digest
LISTED = 10
"""How many lines of one kind the closing summary lists."""


class PendingRequest(Struct, frozen=True):
    """A request: its line, its method, and what its response inherits."""

    line: int
    method: str
    moment: Moment | None
    session: str | None
    sender: Side | None
    answered_as: str = ""
    """The method that says what the result is."""


class UnansweredRequests(Struct):
    """Requests that can no longer get a response: their number, and the first ones."""

    number: int = 0
    first: list[PendingRequest] = []

    def add(self, request: PendingRequest) -> None:
        """Count a request."""
        self.number += 1
        if len(self.first) < LISTED:
            self.first.append(request)


class PendingRequests:
    """Pending requests by sender and id; each side numbers its own.

    A request with an unknown sender may be answered by either side. Beyond `MAX_PENDING` requests, the oldest is given
    up; `given_up` counts those.
    """

    def __init__(self) -> None:
        """Start with no requests."""
        self._by_sender: dict[Side | None, dict[Any, PendingRequest]] = {"client": {}, "agent": {}, None: {}}
        self.given_up = 0
        self.unanswered = UnansweredRequests()

    def add(self, request_id: Any, request: PendingRequest) -> None:
        """Remember a request."""
        table, key = self._by_sender[request.sender], _key(request_id)
        before = table.pop(key, None)
        if before is not None:  # the id is used again
            self.unanswered.add(before)
        elif len(table) >= MAX_PENDING:
            self.unanswered.add(table.pop(next(iter(table))))
            self.given_up += 1
        table[key] = request

    def candidates(self, request_id: Any, answered_by: Side | None) -> list[PendingRequest]:
        """List the requests that a response with this id may answer, the latest last."""
        key = _key(request_id)
        senders: tuple[Side | None, ...] = (
            ("client", "agent", None) if answered_by is None else (OTHER[answered_by], None)
        )
        found = (request for s in senders if (request := self._by_sender[s].get(key)) is not None)
        return sorted(found, key=lambda request: request.line)

    def remove(self, request_id: Any, request: PendingRequest) -> None:
        """Forget a request that was answered."""
        self._by_sender[request.sender].pop(_key(request_id), None)

    def restart(self, line: int) -> None:
        """Begin a new connection: the requests of the previous one can no longer get a response."""
        for request in self.waiting():
            if request.line < line:
                self.unanswered.add(request)
        for table in self._by_sender.values():
            table.clear()

    def waiting(self) -> list[PendingRequest]:
        """List the pending requests in the order of their lines."""
        found = (request for table in self._by_sender.values() for request in table.values())
        return sorted(found, key=lambda request: request.line)


def _key(request_id: Any) -> Any:
    if isinstance(request_id, str) and len(request_id) > _MAX_LENGTH:
        return sha256(request_id.encode()).digest()
    return request_id if isinstance(request_id, str | int) else None  # other values are not ids
