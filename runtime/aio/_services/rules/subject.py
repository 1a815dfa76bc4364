"""What a permission request is about: kind, tool, files and command, from the fields that both versions have."""

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from .shell_words import MAX_LINE, Line, all_commands, commands_in, plain_words, unwrapped

MAX_PATHS = 1000
"""How many paths of a request are looked through."""
MAX_VALUES = 10_000
"""How many values of a tool's input are looked through."""
EXECUTE = "execute"
_PATH_KEYS = ("path", "paths", "file", "files", "filename", "dir", "directory", "folder", "cwd", "workdir")
"""The ends of keys in a tool's input that hold paths, without `_` and `-`."""
_LINE_KEYS = ("command", "cmd")
_ARGUMENTS = "args"
_ALTERING_KEYS = (
    "env environment environmentvariables stdin input script shell commands interpreter executable arguments"
)
_ALTERING = frozenset(_ALTERING_KEYS.split())
"""Keys beside a command that change what it does, unless their values are empty."""


class CommandSubject(Struct, frozen=True):
    """The command of a request: as one plain command if it is one, and every command that was found in it."""

    plain: Line
    found: tuple[tuple[str, ...], ...]
    is_whole: bool = True
    """Whether all of it was looked through."""


class Subject(Struct, frozen=True, kw_only=True):
    """What a permission request is about, as far as its fields say it."""

    kind: str | None = None
    tool: str | None = None
    locations: tuple[str, ...] = ()
    """The files that it names as its own, which must be absolute."""
    inner_paths: tuple[str, ...] = ()
    """Further paths in the tool's input and content, which may begin in the root."""
    command: CommandSubject | None = None
    problem: str = ""
    """Why not all paths were looked through."""


class _TooMuch(Exception):
    """There are more paths or values than are looked through."""


def subject_of(request: Any, call: Any = None) -> Subject:
    """Read a request of any schema; `call` is the whole tool call, where the request has only what changed."""
    inner = getattr(request, "subject", None)
    if call is None:
        call = getattr(request, "tool_call", None) or getattr(inner, "tool_call", None)
    if call is not None:
        return _of_call(call)
    line = getattr(inner, "command", None)
    if not isinstance(line, str):
        return Subject()
    cwd = _text(inner, "cwd")
    return Subject(kind=EXECUTE, locations=() if cwd is None else (cwd,), command=_of_line(line))


def _of_call(call: Any) -> Subject:
    kind, raw = _field(call, "kind"), _field(call, "raw_input")
    locations = tuple(p for item in _items(call, "locations") if isinstance(p := getattr(item, "path", None), str))
    problem = ""
    inner: list[str] = []
    try:
        _collect(inner, _paths_in(raw))
        _collect(inner, _paths_of_content(call))
    except _TooMuch:
        problem = "its input is too large to look through"
    if len(locations) > MAX_PATHS:
        problem = f"it has more than {MAX_PATHS} locations"
    return Subject(
        kind=None if kind is None else str(kind),
        tool=_text(call, "name"),
        locations=locations[:MAX_PATHS],
        inner_paths=tuple(inner),
        command=_command_in(raw),
        problem=problem,
    )


def _collect(found: list[str], paths: Iterator[str]) -> None:
    for path in paths:
        if len(found) >= MAX_PATHS:
            raise _TooMuch
        found.append(path)


def _paths_of_content(call: Any) -> Iterator[str]:
    """List the paths of the diffs among the content of a tool call."""
    for item in _items(call, "content"):
        for part in (item, *_items(item, "changes")):
            for name in ("path", "old_path"):
                path = getattr(part, name, None)
                if isinstance(path, str):
                    yield path


def _paths_in(raw: Any) -> Iterator[str]:
    """List the texts in a tool's input whose keys say that they are paths."""
    waiting, seen = [raw], 0
    while waiting:
        value = waiting.pop()
        seen += 1
        if seen + len(waiting) > MAX_VALUES:
            raise _TooMuch
        if isinstance(value, dict):
            for key, entry in _entries(value):
                if _plain_key(key).endswith(_PATH_KEYS):
                    yield from _texts(entry)
                waiting.append(entry)
        elif isinstance(value, list):
            waiting += _list(value)


def _command_in(raw: Any) -> CommandSubject | None:
    """Return the command in a tool's input: a line, or a list of arguments."""
    if isinstance(raw, str):
        return _of_line(raw)
    given = dict(_entries(raw)) if isinstance(raw, dict) else {}
    commands = [given[key] for key in _LINE_KEYS if given.get(key)]
    if not commands:
        return None
    arguments = given.get(_ARGUMENTS)
    words = _words(commands[0], arguments)
    made = _of_line(commands[0]) if isinstance(commands[0], str) and not arguments else _of_words(words)
    altering = sorted(key for key, value in given.items() if _plain_key(key) in _ALTERING and value)
    if len(commands) > 1 and commands[0] != commands[1]:
        return _with_problem(made, "there are two of them")
    return _with_problem(made, f"{altering[0]!r} beside it may change it") if altering else made


def _words(command: Any, arguments: Any) -> tuple[str, ...] | None:
    """Return a command and its arguments; None if they are no texts."""
    listed = [*(_list(command) if isinstance(command, list) else [command])]
    listed += _list(arguments) if isinstance(arguments, list) else [] if not arguments else [arguments]
    words = [word for word in listed if isinstance(word, str)]
    return tuple(words) if len(words) == len(listed) else None


def _of_words(words: tuple[str, ...] | None) -> CommandSubject:
    if words is None:
        return CommandSubject(Line(None, "its arguments are not texts"), (), is_whole=False)
    if not words or not words[0]:
        return CommandSubject(Line(None, "it names no program"), ())
    if sum(map(len, words)) > MAX_LINE:
        return CommandSubject(Line(None, "it is too long to look through"), (), is_whole=False)
    return CommandSubject(unwrapped(words), tuple(commands_in(words)))


def _of_line(line: str) -> CommandSubject:
    plain = plain_words(line)
    if len(line) > MAX_LINE:
        return CommandSubject(plain, (), is_whole=False)
    return CommandSubject(plain if plain.words is None else unwrapped(plain.words), tuple(all_commands(line)))


def _with_problem(made: CommandSubject, problem: str) -> CommandSubject:
    return CommandSubject(Line(None, problem), made.found, made.is_whole)


def _field(value: Any, name: str) -> Any:
    found = getattr(value, name, None)
    return None if found is UNSET else found


def _text(value: Any, name: str) -> str | None:
    found = _field(value, name)
    return found if isinstance(found, str) else None


def _items(value: Any, name: str) -> list[Any]:
    found = _field(value, name)
    return _list(found) if isinstance(found, list) else []


def _entries(value: Any) -> list[tuple[str, Any]]:
    return [(key, entry) for key, entry in value.items() if isinstance(key, str)]


def _list(value: Any) -> list[Any]:
    return list(value)


def _texts(value: Any) -> Iterator[str]:
    yield from (text for text in (_list(value) if isinstance(value, list) else [value]) if isinstance(text, str))


def _plain_key(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()
