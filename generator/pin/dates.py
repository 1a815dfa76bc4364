"""Dates of the lock."""

import re
from datetime import UTC, date, datetime

from generator.errors import GeneratorError


def day_of(moment: object) -> str | None:
    """Return the day of a moment as a registry writes it, in UTC; None if it is not one."""
    if not isinstance(moment, str):
        return None
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return (found.astimezone(UTC) if found.tzinfo else found).date().isoformat()


def checked_day(text: str) -> str:
    """Return a day that a person named, or refuse it."""
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise GeneratorError(f"--date {text!r} is not a day", hint="YYYY-MM-DD")
