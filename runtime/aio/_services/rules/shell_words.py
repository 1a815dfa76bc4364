"""Words of a shell line: strictly, where one plain command alone is understood, and loosely, to find any command."""

import os
import re

from msgspec import Struct

MAX_LINE = 64 * 1024
"""The maximum length of a line that is looked through, in characters."""
_MEANING = frozenset("|&;<>()$`\\*?[]{}#!^\r\n")
"""Characters outside of quotes that make more of a line than one command with these arguments."""
_MEANING_IN_QUOTES = frozenset("$`\\!")
_MEANING_ON_WINDOWS = frozenset("'%\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f")
"""What shells of Windows read each in its own way; to PowerShell, typographic quotation marks are quotes."""
_FOLDERS = ("", "/bin/", "/usr/bin/")
"""Where a shell is that is known to be one."""
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish"))
_RUNNER_NAMES = (
    "sudo doas env nohup time nice ionice command exec builtin eval xargs setsid stdbuf timeout busybox"
    " then do else if while until"
)
_RUNNERS = frozenset(_RUNNER_NAMES.split())
"""Words before the program that runs."""
_ASSIGNMENT = re.compile(r"\w+\+?=")
_ENDINGS = re.compile(r"\.(exe|cmd|bat|com)$")
_TOKEN = re.compile(
    r"""(?P<space>[ \t]+)|(?P<end>[|&;<>()`\r\n{}]|\$\()|'(?P<single>[^']*)'?|"(?P<double>(?:[^"\\]|\\.)*)"?"""
    r"""|\\(?P<escaped>.?)|(?P<plain>[^\s|&;<>()`{}'"\\$]+|.)""",
    re.DOTALL,
)
_MAX_DEPTH = 4
"""How many shells in each other are looked into."""
_MAX_RUNNERS = 16
"""How many words in front of a program are passed over."""


class Line(Struct, frozen=True):
    """A command line as one plain command; without words, `problem` says why it is not one."""

    words: tuple[str, ...] | None
    problem: str = ""


def plain_words(line: str, *, windows: bool = os.name == "nt", wildcards: bool = False) -> Line:
    """Return the words of a line that is one command whose arguments every shell reads alike.

    That excludes operators, expansions, assignments and escapes. Quoted text is one word; on Windows, where shells
    differ, only between double quotes. `wildcards` accepts `*` and `?` as they are, for patterns.
    """
    if len(line) > MAX_LINE:
        return Line(None, "it is too long to look through")
    words: list[str] = []
    word: str | None = None
    quote = ""
    for char in line:
        problem = _problem(char, quote, word, windows=windows)
        if problem and not (wildcards and char in "*?"):
            return Line(None, problem)
        if char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote, word = char, word or ""
        elif quote or char not in " \t":
            word = (word or "") + char
        elif word is not None:
            words.append(word)
            word = None
    if quote:
        return Line(None, "a quotation mark is not closed")
    words += [] if word is None else [word]
    if not words or not words[0]:
        return Line(None, "it names no program")
    if "=" in words[0]:
        return Line(None, "it begins with an assignment")
    return Line(tuple(words))


def _problem(char: str, quote: str, word: str | None, *, windows: bool) -> str:
    """Return why a character makes a line more than a plain command; empty if it does not."""
    if char == "\0" or (windows and (char in _MEANING_ON_WINDOWS or (char < " " and char != "\t"))):
        return f"it has {char!r}"
    if quote == "'":
        return ""
    if quote == '"':
        return f"it has {char!r} between quotes" if char in _MEANING_IN_QUOTES else ""
    starts = word is None or word[-1:] in ("=", ":")
    if char in _MEANING or (char < " " and char != "\t") or (starts and char == "~") or (word is None and char == "="):
        return f"it has {char!r}, which the shell interprets"
    return ""


def unwrapped(words: tuple[str, ...], *, windows: bool = os.name == "nt") -> Line:
    """Return the words of a command, or of the plain line that it hands to a shell, as in `bash -lc 'git status'`."""
    for _ in range(_MAX_DEPTH):
        folder, slash, program = words[0].rpartition("/")
        is_shell = program in _SHELLS and folder + slash in _FOLDERS
        if not (is_shell and len(words) == 3 and words[1] in ("-c", "-lc")):
            return Line(words)
        inner = plain_words(words[2], windows=windows)
        if inner.words is None:
            return inner
        words = inner.words
    return Line(None, "it has too many shells in each other")


def all_commands(line: str, depth: int = 0) -> list[tuple[str, ...]]:
    """List the commands in a line, as far as they can be told: between operators, in substitutions, and in shells."""
    found: list[tuple[str, ...]] = []
    words: list[str] = []
    word: str | None = None
    for match in _TOKEN.finditer(line):
        kind, text = match.lastgroup or "single", match[match.lastgroup or 0]
        if kind in ("space", "end"):
            words += [] if word is None else [word]
            word = None
            if kind == "end":
                found += commands_in(tuple(words), depth)
                words = []
        else:
            word = (word or "") + text
            if kind == "double" and depth < _MAX_DEPTH and ("$(" in text or "`" in text):
                found += all_commands(text, depth + 1)
    return found + commands_in(tuple(words if word is None else [*words, word]), depth)


def commands_in(words: tuple[str, ...], depth: int = 0) -> list[tuple[str, ...]]:
    """List a command from each word on that may be its program, and the commands of a line that it hands to a shell."""
    found: list[tuple[str, ...]] = []
    start = 0
    while start < len(words) and len(found) < _MAX_RUNNERS:
        word, program = words[start], _program(words[start])
        is_assignment = _ASSIGNMENT.match(word) is not None
        if not is_assignment:
            found.append((program, *words[start + 1 :]))
        if (program in _SHELLS or program == "eval") and depth < _MAX_DEPTH:
            found += [command for inner in words[start + 1 :] for command in all_commands(inner, depth + 1)]
        if not (is_assignment or program in _RUNNERS):
            break
        start += 1
        while start < len(words) and (words[start].startswith("-") or words[start].isdecimal()):
            start += 1
    return found


def _program(word: str) -> str:
    """Return the name of a program without its folder and its ending, in small letters."""
    return _ENDINGS.sub("", re.split(r"[\\/]", word)[-1].casefold())
