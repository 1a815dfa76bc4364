"""Times in logs: dates, times of day, seconds since an epoch or since the start of a program."""

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
"""A time within text, with or without brackets."""

_DAY = 86_400.0
_EPOCH = 100_000_000.0  # seconds; a smaller number counts from the start of a program
_YEAR_2000, _YEAR_2100 = 946_684_800.0, 4_102_444_800.0  # seconds since 1970
_RANKS = ("date", "clock", "count")
# The larger a number, the smaller its unit: nanoseconds, microseconds, milliseconds.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))


class Moment(Struct, frozen=True):
    """One point in time: seconds to calculate with, and a text to show.

    Only moments of the same scale can be compared: "date", "clock" (a time of day), or "count" (seconds since a start).
    """

    scale: Literal["date", "clock", "count"]
    seconds: float
    shown: str
    text: str
    """The time as the log has it."""


def found(match: re.Match[str]) -> Moment | None:
    """Read a match of `TIME`; None if it is not a valid time, such as 25:00."""
    scale = match.lastgroup
    text = match[scale or 0]
    if scale == "date":
        return _date(text)
    return _clock(text) if scale == "clock" else _count(float(text), text)


def moments(text: str) -> tuple[Moment | None, str]:
    """Find the time in the text around a message; return it, and the text without times.

    A date takes precedence over a time of day, and that over a number.
    """
    matches = [match for match in TIME.finditer(text) if match.lastgroup != "count" or _is_plausible(match["count"])]
    if not matches:
        return None, text
    if len(matches) == 1:  # the usual case
        (match,) = matches
        return found(match), f"{text[: match.start()]} {text[match.end() :]}"
    for match in reversed(matches):
        text = f"{text[: match.start()]} {text[match.end() :]}"
    ranked = sorted(matches, key=lambda match: _RANKS.index(match.lastgroup or ""))
    return next((when for match in ranked if (when := found(match)) is not None), None), text


def _is_plausible(number: str) -> bool:
    """Return whether a number may be a time. Other long numbers are ids of threads and requests."""
    seconds = _seconds(float(number))
    return seconds < _EPOCH if "." in number and len(number) < 10 else _YEAR_2000 <= seconds < _YEAR_2100


def moment(value: Any) -> Moment | None:
    """Read a time in JSON: a number, or a text in one of the formats."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _count(float(value), str(value)) if 0 <= value < 1e20 else None
    match = TIME.fullmatch(value) if isinstance(value, str) and len(value) <= 64 else None
    return found(match) if match is not None else None


def between(start: Moment | None, end: Moment | None) -> float | None:
    """Return the seconds from one moment to a later one; None if one is unknown or their scales differ."""
    if start is None or end is None or start.scale != end.scale:
        return None
    seconds = end.seconds - start.seconds
    if seconds < 0 and start.scale == "clock":  # past midnight
        seconds += _DAY
    return round(seconds, 6) if seconds >= 0 else None


def format_duration(seconds: float) -> str:
    """Format a duration in a suitable unit."""
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
    return Moment("date", seconds, _of_day(seconds % _DAY), text)  # in UTC, as the number is


def _of_day(seconds: float) -> str:
    thousandths = int(seconds * 1000 + 0.5)
    whole, part = divmod(thousandths, 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}.{part:03}"
