"""The options of a connection."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from ..._decode.report import OnSkip
from ..._types.inputs import Unknown
from .problems import OnProblem

Direction = Literal["in", "out"]
OnMessage = Callable[[Direction, bytes], object]


class Options(Struct, frozen=True):
    """The options of a connection; `Connection` documents each of them."""

    max_requests: int
    max_notifications: int
    unknown: Unknown
    on_skip: OnSkip | None
    on_problem: OnProblem | None
    on_message: OnMessage | None
    grace: float
    debug: bool
    validate: bool
