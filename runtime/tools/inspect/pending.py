"""The requests that wait for their answers, of both sides, in bounded memory."""

from hashlib import sha256
from typing import Any

from msgspec import Struct

from .clock import Moment
from .extraction import OTHER, Side

MOST = 10_000
"""How many requests of one side are remembered."""
_LONG = 200  # characters; longer ids are remembered by their digest
LISTED = 10
"""How many places a closing summary names."""


class Asked(Struct, frozen=True):
    """A request: where it stands and what it asks for."""

    line: int
    method: str
    moment: Moment | None
    session: str | None
    sender: Side | None


class Lost(Struct):
    """Requests that were never answered: how many, and the first of them."""

    number: int = 0
    first: list[Asked] = []

    def add(self, asked: Asked) -> None:
        """Count one more."""
        self.number += 1
        if len(self.first) < LISTED:
            self.first.append(asked)


class Pending:
    """Requests by sender and id; each side numbers its own.

    A request whose sender is not known may be answered by either. The oldest is given up where there are more than
    `MOST`; `given_up` counts those.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._asked: dict[Side | None, dict[Any, Asked]] = {"client": {}, "agent": {}, None: {}}
        self.given_up = 0
        self.lost = Lost()
        """Those that can have no answer any more."""

    def add(self, request_id: Any, asked: Asked) -> None:
        """Remember a request."""
        table, key = self._asked[asked.sender], _key(request_id)
        before = table.pop(key, None)
        if before is not None:  # an id that is used anew
            self.lost.add(before)
        elif len(table) >= MOST:
            self.lost.add(table.pop(next(iter(table))))
            self.given_up += 1
        table[key] = asked

    def candidates(self, request_id: Any, answered_by: Side | None) -> list[Asked]:
        """List the requests that an answer with this id may belong to, the latest last."""
        key = _key(request_id)
        sides: tuple[Side | None, ...] = (
            ("client", "agent", None) if answered_by is None else (OTHER[answered_by], None)
        )
        return sorted((a for s in sides if (a := self._asked[s].get(key)) is not None), key=lambda a: a.line)

    def remove(self, request_id: Any, asked: Asked) -> None:
        """Forget a request that was answered."""
        self._asked[asked.sender].pop(_key(request_id), None)

    def restart(self, line: int) -> None:
        """Begin a new connection: nothing of the last one will be answered."""
        for asked in self.waiting():
            if asked.line < line:
                self.lost.add(asked)
        for table in self._asked.values():
            table.clear()

    def waiting(self) -> list[Asked]:
        """List the requests that wait, in the order of their lines."""
        return sorted((a for table in self._asked.values() for a in table.values()), key=lambda a: a.line)


def _key(request_id: Any) -> Any:
    if isinstance(request_id, str) and len(request_id) > _LONG:
        return sha256(request_id.encode()).digest()
    return request_id if isinstance(request_id, str | int) else None  # no other is an id
