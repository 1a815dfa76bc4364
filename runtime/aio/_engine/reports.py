"""Reports to the connection's owner: problems, and calls of the owner's hooks, which must not end the connection."""

import logging
import traceback
from collections.abc import Callable
from functools import partial

from msgspec import structs

from ..._decode.report import OnSkip
from ..._rpc.errors import InternalError
from ..._types.printable import printable
from .endpoint import Handler, Hook
from .inbox import LOOP_EXITS
from .options import Direction, Options
from .pending_request import PendingRequest
from .problems import ConnectionClosed, Problem, ProblemKind
from .result_check import ResultMismatch

_LOG = logging.getLogger(__name__.rsplit(".", 2)[0])


class Reports:
    """Reports problems to the owner of a connection, or logs them."""

    def __init__(self, options: Options, has_ended: Callable[[], bool]) -> None:
        """Store the owner's hooks; `has_ended` says whether the connection has ended."""
        self._options = options
        self._has_ended = has_ended

    def problem(self, problem: Problem) -> None:
        """Report a problem to the owner, or log it."""
        detail = printable(problem.detail)
        if detail != problem.detail:
            problem = structs.replace(problem, detail=detail)
        if self._options.on_problem is None:
            self._log(problem)
            return
        try:
            self._options.on_problem(problem)
        except LOOP_EXITS:
            raise
        except BaseException:
            _LOG.exception("on_problem raised")

    def _log(self, problem: Problem) -> None:
        # For a mistake of the peer, a traceback of this program shows nothing of use.
        is_local = problem.kind in (ProblemKind.HANDLER, ProblemKind.HOOK)
        # Many handlers may fail because the connection ended, which the owner knows.
        is_end = self._has_ended() and isinstance(problem.error, ConnectionClosed)
        level = logging.DEBUG if is_end else logging.WARNING
        error = problem.error if is_local and not is_end else None
        _LOG.log(level, "%s: %s", problem.kind.value, problem.detail, exc_info=error)

    def run_hook(self, name: str, hook: Callable[..., object], *arguments: object) -> None:
        """Call a hook of the owner; an exception is reported, and neither ends the connection nor loses a message."""
        try:
            hook(*arguments)
        except LOOP_EXITS:
            raise
        except BaseException as error:
            self.hook_failed(name, error)

    def hook_failed(self, name: str, error: BaseException) -> None:
        """Report that a hook raised."""
        self.problem(Problem(kind=ProblemKind.HOOK, detail=f"{name} raised {class_name(error)}", error=error))

    def trace(self, direction: Direction, data: bytes) -> None:
        """Pass a message to the owner's `on_message`."""
        if self._options.on_message is not None:
            self.run_hook("on_message", self._options.on_message, direction, data)

    def guarded_skip_hook(self) -> OnSkip | None:
        """Wrap the owner's `on_skip` so that no message is lost if it raises."""
        hook = self._options.on_skip
        return None if hook is None else partial(self.run_hook, "on_skip", hook)

    def notification_failed(self, handler: Handler | Hook | None, error: BaseException) -> None:
        """Report that the handler of a notification raised."""
        name = getattr(handler, "__name__", "of a notification")
        detail = f"The handler {name} raised {class_name(error)}"
        self.problem(Problem(kind=ProblemKind.HANDLER, detail=detail, error=error))

    def request_failed(self, request: PendingRequest, error: BaseException) -> InternalError:
        """Report that the handler of a request failed, and make the error that answers the request."""
        method, name = request.method, class_name(error)
        if isinstance(error, ResultMismatch):
            detail, data = f"The handler of {method} gave a wrong result: {error}", {"detail": "Wrong result"}
        else:
            detail, data = f"The handler of {method} raised {name}", {"detail": name}
        self.problem(Problem(kind=ProblemKind.HANDLER, detail=detail, id=request.id, method=method, error=error))
        if self._options.debug:
            data["traceback"] = "".join(traceback.format_exception(error))
        return InternalError(data=data)


def class_name(error: BaseException) -> str:
    """Name an exception without its message, which may be long or private."""
    return type(error).__name__
