"""How Windows finds a program and runs a batch file."""

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

EXECUTABLE = (".com", ".exe", ".bat", ".cmd")
"""Extensions that Windows can start; the other extensions of PATHEXT belong to documents that a shell opens."""
BATCH = (".bat", ".cmd")
UNSAFE = '"%\r\n\0'
"""Characters that the command processor, which runs batch files, interprets even within quotes."""


def find_program(name: str, *, env: Mapping[str, str] | None = None, cwd: str | os.PathLike[str] | None = None) -> str:
    """Find a program as the shell of Windows does. Unlike Windows itself, this finds `.cmd` and `.bat` files too.

    A bare name is looked up on the PATH of `env` (or of this program if `env` has none) with the extensions of its
    PATHEXT, never in the current folder. A name with a folder is relative to `cwd`.

    Raises `FileNotFoundError`.
    """
    extensions = [e for e in _variable("PATHEXT", env).lower().split(";") if e in EXECUTABLE] or EXECUTABLE
    if os.path.dirname(name):  # noqa: PTH120 - `./x` has a folder, which a Path drops
        folders = [os.fspath(cwd or "")]
    else:
        folders = [f.strip('"') for f in _variable("PATH", env).split(os.pathsep) if f.strip('"')]
    has_extension = Path(name).suffix.lower() in extensions
    endings = ["", *extensions] if has_extension else [*extensions, ""]
    for folder in folders:
        for ending in endings:
            path = Path(folder, name + ending)
            # The file without an extension that npm puts beside a `.cmd` file is a script for another system.
            if path.is_file() and (ending or has_extension or Path(name).suffix):
                return os.path.abspath(path)  # noqa: PTH100 - keep links as they are
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)


def _variable(name: str, env: Mapping[str, str] | None) -> str:
    """Return a variable of `env`, or else of this program; Windows ignores the case of their names."""
    for variables in (env or {}, os.environ):
        for key, value in variables.items():
            if key.upper() == name:
                return value
    return ""


def is_batch_file(program: str) -> bool:
    """Return whether a program is a batch file, which the command processor runs."""
    return program.lower().endswith(BATCH)


def batch_command_line(program: str, arguments: Sequence[str]) -> str:
    """Return the command line that runs a batch file and passes the arguments to it unchanged.

    Raises `ValueError` for characters that the command processor interprets: `"`, `%` and line breaks.
    """
    for part in (program, *arguments):
        if any(character in UNSAFE for character in part):
            problem = "A batch file cannot be given an argument with quotes, percent signs or line breaks"
            raise ValueError(f"{problem}: {part!r}. Start the program that it runs instead")
    return " ".join(_quoted(part) for part in (program, *arguments))


def _quoted(part: str) -> str:
    # Within quotes the command processor takes the remaining characters as they are. The program that is run splits the
    # line again and reads a backslash before a quote as an escape, so backslashes at the end are doubled.
    backslashes = len(part) - len(part.rstrip("\\"))
    return f'"{part}{chr(92) * backslashes}"'
