"""Points in time as logs write them: dates, times of day, seconds since an epoch or since a start."""

import re
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct

_DATE = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,]\d+)?"
_COUNT = r"\d{9,19}(?:\.\d+)?|\d+\.\d+"
TIME = re.compile(
    rf"[\[(]?\s*(?<![\w.:-])(?:(?P<date>{_DATE})|(?P<clock>{_CLOCK})|(?P<count>{_COUNT})s?)(?![\w:]|\.\d)\s*[\])]?"
)
"""A time within text, in brackets or without."""

_DAY = 86_400.0
_EPOCH = 100_000_000.0  # seconds; a lesser number counts from the start of a program
_YEAR_2000, _YEAR_2100 = 946_684_800.0, 4_102_444_800.0  # seconds since 1970
_RANKS = ("date", "clock", "count")
# A greater number counts smaller parts of a second.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))


class Moment(Struct, frozen=True):
    """One point in time: seconds that can be subtracted, and what to show.

    Only moments of one kind can be compared: a "date", a "clock" (a time of day), or a "count" (of seconds).
    """

    kind: Literal["date", "clock", "count"]
    seconds: float
    shown: str
    text: str
    """The time as the log has it."""


def found(match: re.Match[str]) -> Moment | None:
    """Read what `TIME` has matched; None where it is no time after all, such as the 25th hour."""
    kind = match.lastgroup
    text = match[kind or 0]
    if kind == "date":
        return _date(text)
    return _clock(text) if kind == "clock" else _count(float(text), text)


def moments(text: str) -> tuple[Moment | None, str]:
    """Find the time in what stands around a message, and give the text without the times.

    A date counts before a time of day, and that before a number.
    """
    matches = [match for match in TIME.finditer(text) if match.lastgroup != "count" or _is_plausible(match["count"])]
    if not matches:
        return None, text
    if len(matches) == 1:  # as in nearly all
        (match,) = matches
        return found(match), f"{text[: match.start()]} {text[match.end() :]}"
    for match in reversed(matches):
        text = f"{text[: match.start()]} {text[match.end() :]}"
    ranked = sorted(matches, key=lambda match: _RANKS.index(match.lastgroup or ""))
    return next((when for match in ranked if (when := found(match)) is not None), None), text


def _is_plausible(number: str) -> bool:
    """Say whether a number may be a time: other long ones are those of threads and requests."""
    seconds = _seconds(float(number))
    return seconds < _EPOCH if "." in number and len(number) < 10 else _YEAR_2000 <= seconds < _YEAR_2100


def moment(value: Any) -> Moment | None:
    """Read a time that stands in JSON: a text of any of the forms, or a number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _count(float(value), str(value)) if 0 <= value < 1e20 else None
    match = TIME.fullmatch(value) if isinstance(value, str) and len(value) <= 64 else None
    return found(match) if match is not None else None


def between(start: Moment | None, end: Moment | None) -> float | None:
    """Give the seconds from one moment to a later one, if both are known and of one kind."""
    if start is None or end is None or start.kind != end.kind:
        return None
    seconds = end.seconds - start.seconds
    if seconds < 0 and start.kind == "clock":  # past midnight
        seconds += _DAY
    return round(seconds, 6) if seconds >= 0 else None


def lasting(seconds: float) -> str:
    """Show a duration in the unit that fits it."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.3g} ms" if seconds < 0.001 else f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _date(text: str) -> Moment | None:
    try:
        read = datetime.fromisoformat(text.removesuffix("UTC").rstrip().replace(" +", "+").replace(" -", "-"))
    except ValueError:
        return None
    aware = read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    return Moment("date", aware.timestamp(), read.strftime("%H:%M:%S.") + f"{read.microsecond // 1000:03}", text)


def _clock(text: str) -> Moment | None:
    hours, minutes, seconds = text.replace(",", ".").split(":")
    whole = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    return Moment("clock", whole, _of_day(whole), text) if whole < _DAY + 1 else None


def _seconds(number: float) -> float:
    return next((number / unit for least, unit in _UNITS if number >= least), number)


def _count(number: float, text: str) -> Moment:
    seconds = _seconds(number)
    if seconds < _EPOCH:
        return Moment("count", seconds, f"{seconds:.3f}", text)
    return Moment("date", seconds, _of_day(seconds % _DAY), text)  # in UTC, which the number counts in


def _of_day(seconds: float) -> str:
    thousandths = int(seconds * 1000 + 0.5)
    whole, part = divmod(thousandths, 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}.{part:03}"
