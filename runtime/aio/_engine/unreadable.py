"""Messages that cannot be read: who hears of each, and how much a peer that sends nothing else may cost."""

import asyncio
import re
from typing import Any

from msgspec import UNSET

from ..._rpc.encoding import encode
from ..._rpc.errors import InvalidRequest, MessageError, ParseError, RequestError
from ..._rpc.frame import frame_of
from ..._rpc.salvage import Head, heads
from .._session.handshake import INITIALIZE, UnsupportedVersion, other_version
from .._transports.transport import MessageTooLong
from .calls import Call
from .lifecycle import Core
from .problems import Problem, ProblemKind
from .requests import BatchReply

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
QUOTED = 60
"""How many bytes of an unparseable message are quoted in the problem."""
SHORTEST = len('{"jsonrpc":"2.0","method":"_"}')
"""No message is shorter, in bytes."""
MOST = 100
"""How many problems, and how many refusals that name no request, there are in each period."""
PERIOD = 1.0
"""In seconds."""
MOST_IDS = 10_000
"""How many ids are looked for in the part of a batch that was not read."""
_UNREAD_ID = re.compile(rb'"id"\s*:\s*([0-9]{1,18})')


class Unreadable:
    """What a connection does about messages that it cannot read.

    A call under way that such a message answers fails with the reason; a request is refused under its own id; anything
    else is refused without one. Beyond `MOST` in one `PERIOD`, what names no request is only counted, and told and
    refused once at the end of the period.
    """

    def __init__(self, core: Core, versions: tuple[int, ...]) -> None:
        """Start a first period; `versions` are those of the protocol that this side speaks."""
        self._core = core
        self._versions = versions
        self.left = MOST
        """How many more are told in this period; further ones are only counted."""
        self._uncounted = 0
        self._unrefused = 0
        self.line = b""
        """The batch that is being read."""
        self._end: asyncio.TimerHandle | None = None

    def count(self) -> None:
        """Count one that is not even looked at."""
        self._uncounted += 1
        self._unrefused += 1

    def close(self) -> None:
        """End the period."""
        if self._end is not None:
            self._end.cancel()
            self._end_period()

    def failed(self, why: MessageError, batch: BatchReply | None, data: bytes) -> None:
        """Settle a message that could not be read; `data` is all of it, or its part of a batch."""
        if why.code == PARSE_ERROR:
            if not self._salvaged(why):
                self._refuse(why.reply, batch)
        elif why.reply is not None or why.id is None:
            if self._is_late(why, data):
                return
            if not self._answers_alike(why, data):
                self._refuse(why.reply, batch)
        elif not self._fails_call(why, data):  # only a response has an id and is not refused
            return
        if why.unread is not None:
            self._fail_unread(why)
        self._tell_of(why, data)

    def _fail_unread(self, why: MessageError) -> None:
        """Fail the calls whose ids stand in the part of a batch that was not read."""
        for number, found in enumerate(_UNREAD_ID.finditer(self.line, why.unread or 0)):
            if number >= MOST_IDS:
                break
            call = self._core.calls.pending.get(int(found[1]))
            if call is not None:
                self._fail(call, MessageError(why.message, id=call.id, method=call.method, code=why.code))

    def too_long(self, why: MessageTooLong) -> None:
        """Settle a message that was longer than the limit, as far as its beginning tells."""
        known = [head for head in heads(why.start) if head.id is not UNSET]
        for head in known:
            if not self._answered(head, str(why)) and head.is_request:
                self._refuse_request(head, InvalidRequest(data=str(why)))
        if not known:
            # It may be a notification, but whoever sent it should know, too.
            self._refuse_unnamed(self._core.writer.refusal(None, None, InvalidRequest(data=str(why))), None)
        request_id = known[0].request_id if known else None
        self.tell(Problem(kind=ProblemKind.UNREADABLE, detail=str(why), id=request_id, error=why))

    def answered_alike(self, request_id: Any) -> bool:
        """Fail the call whose id differs from that of a response only by its JSON type; say whether there is one."""
        call = self._core.calls.alike(request_id)
        if call is None:
            return False
        wrote = encode(request_id).decode()
        problem = f"The response has the id {wrote} where the call has {call.id}"
        self._fail(call, MessageError(problem, id=call.id, method=call.method, path="$.id"))
        return True

    def tell(self, problem: Problem) -> None:
        """Report a problem, unless there were too many in this period; then it is counted."""
        self._begin_period()
        if self.left > 0:
            self.left -= 1
            self._core.tell(problem)
        else:
            self._uncounted += 1

    def _fails_call(self, why: MessageError, data: bytes) -> bool:
        """Fail the call that a response answers; False for the late response to a call that was given up."""
        calls = self._core.calls
        call = calls.take(why.id)
        if call is not None:
            version = other_version(data, self._versions) if call.method == INITIALIZE else None
            calls.deliver(call, why if version is None else UnsupportedVersion(version, self._versions))
            return True
        return self.answered_alike(why.id) or not calls.was_abandoned(why.id)

    def _salvaged(self, why: MessageError) -> bool:
        """Find who waits for messages that are not JSON; say whether the refusal without an id is not wanted."""
        is_settled = False
        for head in why.heads:
            is_late = not head.has_usable_method and self._core.calls.was_abandoned(head.id)
            if is_late or self._answered(head, why.message):
                is_settled = True
            elif head.is_request and head.request_id is not None:
                self._refuse_request(head, ParseError(data=why.message))
                is_settled = True
            elif head.has_answer:
                is_settled = True  # a response is never refused
        return is_settled

    def _is_late(self, why: MessageError, data: bytes) -> bool:
        """Say whether a message without a usable method has the id of a call that was given up, and forget the call."""
        if not self._core.calls.is_abandoned(why.id):
            return False
        frame = frame_of(data)
        return frame is not None and not frame.has_usable_method and self._core.calls.was_abandoned(why.id)

    def _answers_alike(self, why: MessageError, data: bytes) -> bool:
        """Fail the call that a message without a usable id answers, where its id is that of a call but for the type."""
        if why.path != "$.id" and why.id is None:
            return False
        frame = frame_of(data)
        return frame is not None and not frame.has_usable_method and self.answered_alike(frame.id)

    def _answered(self, head: Head, problem: str) -> bool:
        """Fail the call that a broken message answers, if it does."""
        calls = self._core.calls
        if head.has_usable_method or head.id is UNSET:
            return False
        call = calls.pending.get(head.id) if head.request_id is not None else None
        if call is None:
            return self.answered_alike(head.id)
        self._fail(call, MessageError(problem, id=call.id, method=call.method, code=PARSE_ERROR))
        return True

    def _fail(self, call: Call, why: MessageError) -> None:
        self._core.calls.take(call.id)
        self._core.calls.deliver(call, why)

    def _refuse_request(self, head: Head, error: RequestError) -> None:
        method = head.method if isinstance(head.method, str) else None
        self._core.owe(self._core.writer.refusal(head.request_id, method, error), None)

    def _refuse(self, reply: Any, batch: BatchReply | None) -> None:
        if reply is None:
            return
        if reply.id is None:
            self._refuse_unnamed(encode(reply), batch)
        else:
            self._core.owe(encode(reply), batch)

    def _refuse_unnamed(self, data: bytes, batch: BatchReply | None) -> None:
        self._begin_period()
        if self.left > 0:
            self._core.owe(data, batch)
        else:
            self._unrefused += 1

    def _tell_of(self, why: MessageError, data: bytes) -> None:
        if self.left <= 0:
            self._uncounted += 1
            return
        kind = ProblemKind.UNREADABLE
        if why.code in (None, INVALID_PARAMS):
            kind = ProblemKind.UNFIT
        elif why.code == METHOD_NOT_FOUND:
            kind = ProblemKind.UNKNOWN_METHOD
        detail = str(why)
        if why.code == PARSE_ERROR and data:
            begin = data[:QUOTED].decode("utf-8", errors="replace")
            detail += f", in {begin!r}{'…' * (len(data) > QUOTED)}"
        self.tell(Problem(kind=kind, detail=detail, id=why.id, method=why.method, error=why))

    def _begin_period(self) -> None:
        if self._end is None:
            self._end = asyncio.get_running_loop().call_later(PERIOD, self._end_period)

    def _end_period(self) -> None:
        self._end, self.left = None, MOST
        uncounted, self._uncounted = self._uncounted, 0
        unrefused, self._unrefused = self._unrefused, 0
        if uncounted:
            detail = f"{uncounted} more messages were wrong"
            self._core.tell(Problem(kind=ProblemKind.UNREADABLE, detail=detail))
        if unrefused:
            error = InvalidRequest(data=f"{unrefused} more messages were not answered one by one")
            self._core.owe(self._core.writer.refusal(None, None, error), None)
