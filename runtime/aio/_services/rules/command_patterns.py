"""Patterns of commands: of one plain command exactly, or of any command in a line."""

from collections.abc import Sequence

from .shell_words import plain_words
from .wildcards import ANY, has_wildcard, sequence_matches, text_matches


def command_pattern(text: str) -> tuple[str, ...]:
    """Read the pattern of a command: words as in a shell, quoted where they have spaces.

    Raises `ValueError` for a pattern that is more than one plain command.
    """
    line = plain_words(text, windows=False, wildcards=True)
    if line.words is None:
        raise ValueError(f"is not one plain command: {line.problem}")
    for word in line.words:
        if ANY in word and word != ANY:
            raise ValueError(f"has {word!r}: ** is a word of its own")
    return line.words


def fits(pattern: Sequence[str], words: Sequence[str]) -> bool:
    """Match the words of one plain command, its program exactly as it is written."""
    return sequence_matches(pattern, words, lambda part: part == ANY, _argument_fits)


def _argument_fits(pattern: str, word: str) -> bool:
    """Match one argument: `*` takes no option, and beside other characters it stays within a folder."""
    if not has_wildcard(pattern):
        return pattern == word
    if word.startswith("-") and not pattern.startswith("-"):
        return False
    if pattern == "*":
        return True
    own, parts = pattern.split("/"), word.replace("\\", "/").split("/")
    if len(own) != len(parts):
        return False
    return all(
        text_matches(p, part) and (part not in ("", ".", "..") or p == part) for p, part in zip(own, parts, strict=True)
    )


def fits_loosely(pattern: Sequence[str], words: Sequence[str]) -> bool:
    """Match any command regardless of case; wildcards take everything."""
    return sequence_matches(
        pattern, words, lambda part: part == ANY, lambda part, word: text_matches(part.casefold(), word.casefold())
    )
