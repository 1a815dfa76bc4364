"""Messages that cannot be read: who learns of each, and how much a peer that sends nothing else may cost."""

import asyncio
import re
from typing import Any

from msgspec import UNSET

from ..._rpc.codes import INVALID_PARAMS, METHOD_NOT_FOUND, PARSE_ERROR
from ..._rpc.encoding import encode
from ..._rpc.errors import InvalidRequest, MessageError, ParseError, RequestError
from ..._rpc.frame import frame_of
from ..._rpc.salvage import Head, heads
from .._transports.transport import MessageTooLong
from .batch_reply import BatchReply, send_from_reader
from .lifecycle import Lifecycle
from .problems import Problem, ProblemKind
from .protocol_version import INITIALIZE, UnsupportedVersion, other_version

QUOTED = 60
"""Number of bytes of an unparseable message quoted in the problem."""
SHORTEST = len('{"jsonrpc":"2.0","method":"_"}')
"""The length of the shortest message, in bytes."""
MAX_REPORTS = 100
"""How many problems are reported, and how many refusals without an id are sent, in each period."""
PERIOD = 1.0
"""In seconds."""
MAX_IDS = 10_000
"""How many ids are looked for in the part of a batch that was not read."""
_UNREAD_ID = re.compile(rb'"id"\s*:\s*([0-9]{1,18})')


class Unreadable:
    """What a connection does about messages that it cannot read.

    A pending call that such a message answers fails with the reason; a request is refused under its own id; anything
    else is refused without one. Beyond `MAX_REPORTS` in one `PERIOD`, messages that name no request are only counted;
    one report and one refusal at the end of the period give their number.
    """

    def __init__(self, lifecycle: Lifecycle, versions: tuple[int, ...]) -> None:
        """Start a first period; `versions` are the protocol versions that this side supports."""
        self._lifecycle = lifecycle
        self._calls = lifecycle.calls
        self._versions = versions
        self.reports_left = MAX_REPORTS
        """How many more problems are reported in this period; further ones are only counted."""
        self._not_reported = 0
        self._not_refused = 0
        self._end: asyncio.TimerHandle | None = None

    def count(self) -> None:
        """Count a message that is not even decoded."""
        self._not_reported += 1
        self._not_refused += 1

    def close(self) -> None:
        """End the period."""
        if self._end is not None:
            self._end.cancel()
            self._end_period()

    def failed(self, error: MessageError, batch: BatchReply | None, data: bytes, line: bytes = b"") -> None:
        """Handle a message that could not be read: `data`, and the batch `line` that contains it, if any."""
        if error.code == PARSE_ERROR:
            if not self._answer_salvaged(error):
                self._send_reply(error.reply, batch)
        elif error.reply is not None or error.id is None:
            if self._drop_late(error, data):
                return
            if not self._fail_similar_call(error, data):
                self._send_reply(error.reply, batch)
        elif not self._fail_answered_call(error, data):  # only a response has an id and is not refused
            return
        if error.unread is not None:
            self._fail_unread_calls(error, line)
        self._report_message(error, data)

    def too_long(self, error: MessageTooLong) -> None:
        """Handle a message that was longer than the limit, as far as its beginning shows what it is."""
        known = [head for head in heads(error.start) if head.id is not UNSET]
        for head in known:
            if not self._fail_call_of(head, str(error)) and head.is_request:
                self._refuse(head, InvalidRequest(data=str(error)))
        if not known:
            # It may be a notification, but the sender of one should know, too.
            refusal = self._lifecycle.writer.refusal(None, None, InvalidRequest(data=str(error)))
            self._refuse_without_id(refusal, None)
        request_id = known[0].request_id if known else None
        self.report(Problem(kind=ProblemKind.UNREADABLE, detail=str(error), id=request_id, error=error))

    def fail_similar_call(self, request_id: Any) -> bool:
        """Fail the call whose id differs from that of a response only by its JSON type; return whether there is one."""
        call = self._calls.find_similar(request_id)
        if call is None:
            return False
        written = encode(request_id).decode()
        problem = f"The response has the id {written} where the call has {call.id}"
        self._calls.fail(call, MessageError(problem, id=call.id, method=call.method, path="$.id"))
        return True

    def report(self, problem: Problem) -> None:
        """Report a problem, or count it if there were too many in this period."""
        self._begin_period()
        if self.reports_left > 0:
            self.reports_left -= 1
            self._lifecycle.reports.problem(problem)
        else:
            self._not_reported += 1

    def _fail_answered_call(self, error: MessageError, data: bytes) -> bool:
        """Fail the call that a response answers; False for the late response to an abandoned call."""
        calls = self._calls
        call = calls.get(error.id)
        if call is not None:
            version = other_version(data, self._versions) if call.method == INITIALIZE else None
            calls.fail(call, error if version is None else UnsupportedVersion(version, self._versions))
            return True
        return self.fail_similar_call(error.id) or not calls.drop_late(error.id)

    def _fail_unread_calls(self, error: MessageError, line: bytes) -> None:
        """Fail the calls whose ids stand in the part of a batch that was not read."""
        for number, found in enumerate(_UNREAD_ID.finditer(line, error.unread or 0)):
            if number >= MAX_IDS:
                break
            call = self._calls.get(int(found[1]))
            if call is not None:
                self._calls.fail(call, MessageError(error.message, id=call.id, method=call.method, code=error.code))

    def _answer_salvaged(self, error: MessageError) -> bool:
        """Answer the messages that a line of invalid JSON seems to hold; False if the line is refused without an id."""
        is_answered = False
        for head in error.heads:
            is_late = not head.has_usable_method and self._calls.drop_late(head.id)
            if is_late or self._fail_call_of(head, error.message):
                is_answered = True
            elif head.is_request and head.request_id is not None:
                self._refuse(head, ParseError(data=error.message))
                is_answered = True
            elif head.has_answer:
                is_answered = True  # a response is never refused
        return is_answered

    def _drop_late(self, error: MessageError, data: bytes) -> bool:
        """Return whether a message without a usable method has the id of an abandoned call, which is then forgotten."""
        if not self._calls.is_abandoned(error.id):
            return False
        frame = frame_of(data)
        return frame is not None and not frame.has_usable_method and self._calls.drop_late(error.id)

    def _fail_similar_call(self, error: MessageError, data: bytes) -> bool:
        """Fail the call whose id differs from that of a message without a usable method only by its JSON type."""
        if error.path != "$.id" and error.id is None:
            return False
        frame = frame_of(data)
        return frame is not None and not frame.has_usable_method and self.fail_similar_call(frame.id)

    def _fail_call_of(self, head: Head, problem: str) -> bool:
        """Fail the call that a broken message answers; return whether there is one."""
        if head.has_usable_method or head.id is UNSET:
            return False
        call = self._calls.get(head.id) if head.request_id is not None else None
        if call is None:
            return self.fail_similar_call(head.id)
        self._calls.fail(call, MessageError(problem, id=call.id, method=call.method, code=PARSE_ERROR))
        return True

    def _refuse(self, head: Head, error: RequestError) -> None:
        method = head.method if isinstance(head.method, str) else None
        refusal = self._lifecycle.writer.refusal(head.request_id, method, error)
        send_from_reader(self._lifecycle.outbox, refusal, None)

    def _send_reply(self, reply: Any, batch: BatchReply | None) -> None:
        if reply is None:
            return
        if reply.id is None:
            self._refuse_without_id(encode(reply), batch)
        else:
            send_from_reader(self._lifecycle.outbox, encode(reply), batch)

    def _refuse_without_id(self, refusal: bytes, batch: BatchReply | None) -> None:
        self._begin_period()
        if self.reports_left > 0:
            send_from_reader(self._lifecycle.outbox, refusal, batch)
        else:
            self._not_refused += 1

    def _report_message(self, error: MessageError, data: bytes) -> None:
        if self.reports_left <= 0:
            self._not_reported += 1
            return
        kind = ProblemKind.UNREADABLE
        if error.code in (None, INVALID_PARAMS):
            kind = ProblemKind.MISMATCH
        elif error.code == METHOD_NOT_FOUND:
            kind = ProblemKind.UNKNOWN_METHOD
        detail = str(error)
        if error.code == PARSE_ERROR and data:
            start = data[:QUOTED].decode("utf-8", errors="replace")
            detail += f", in {start!r}{'…' * (len(data) > QUOTED)}"
        self.report(Problem(kind=kind, detail=detail, id=error.id, method=error.method, error=error))

    def _begin_period(self) -> None:
        if self._end is None:
            self._end = asyncio.get_running_loop().call_later(PERIOD, self._end_period)

    def _end_period(self) -> None:
        self._end, self.reports_left = None, MAX_REPORTS
        not_reported, self._not_reported = self._not_reported, 0
        not_refused, self._not_refused = self._not_refused, 0
        if not_reported:
            detail = f"{not_reported} more messages were wrong"
            self._lifecycle.reports.problem(Problem(kind=ProblemKind.UNREADABLE, detail=detail))
        if not_refused:
            error = InvalidRequest(data=f"{not_refused} more messages were not answered one by one")
            send_from_reader(self._lifecycle.outbox, self._lifecycle.writer.refusal(None, None, error), None)
