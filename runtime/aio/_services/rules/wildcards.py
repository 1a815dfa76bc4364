"""Matching texts and sequences with wildcards, in time proportional to the product of both lengths at most."""

from collections.abc import Callable, Sequence
from typing import TypeVar

P = TypeVar("P")
I = TypeVar("I")  # noqa: E741 (an item)

ANY = "**"
"""Stands for any number of parts of a path, or of arguments, also none."""


def sequence_matches(
    pattern: Sequence[P], items: Sequence[I], is_star: Callable[[P], bool], fits: Callable[[P, I], bool]
) -> bool:
    """Match items one by one; a star takes any number of them."""
    at, item, star, resume = 0, 0, -1, 0
    while item < len(items):
        if at < len(pattern) and is_star(pattern[at]):
            star, resume, at = at, item, at + 1
        elif at < len(pattern) and fits(pattern[at], items[item]):
            at, item = at + 1, item + 1
        elif star >= 0:
            resume += 1
            at, item = star + 1, resume
        else:
            return False
    return all(is_star(part) for part in pattern[at:])


def text_matches(pattern: str, text: str) -> bool:
    """Match a text: `*` takes any number of characters, `?` takes one."""
    return sequence_matches(pattern, text, lambda c: c == "*", lambda c, char: c in ("?", char))


def has_wildcard(pattern: str) -> bool:
    """Return whether a pattern takes more than one text."""
    return "*" in pattern or "?" in pattern
