"""Recognising shell command lines: agents send whole lines where the protocol expects the path of a program."""

import os
import shutil
from pathlib import Path

_SPECIAL = frozenset(" \t\r\n|&;<>()$`\\\"'*?[]#~={}!%^") - {os.sep}
"""Characters that a shell interprets."""
_POSIX_BUILTINS = (
    ". : [ alias bg cd command echo eval exec exit export false fc fg getopts hash jobs kill printf pwd read readonly"
    " return set shift test times trap true type ulimit umask unalias unset wait"
)
_WINDOWS_BUILTINS = (
    "assoc call cd chdir cls copy date del dir echo endlocal erase exit ftype md mkdir mklink move path pause popd"
    " prompt pushd rd rem ren rename rmdir set setlocal start time title type ver verify vol"
)
_BUILTINS = frozenset((_WINDOWS_BUILTINS if os.name == "nt" else _POSIX_BUILTINS).split())


def is_shell_line(command: str, cwd: str, path: str | None) -> bool:
    """Return whether a command without arguments is a line for the shell rather than the name or path of a program.

    If it names a file, relative to `cwd` or in a folder of `path`, it is a program, whatever characters it contains.
    """
    if not command.strip() or "\0" in command:
        return False
    if command not in _BUILTINS and _SPECIAL.isdisjoint(command):
        return False
    if os.path.split(command)[0]:
        return not _exists(Path(cwd, command))
    return shutil.which(command, path=os.defpath if path is None else path) is None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # the line may be longer than a file name can be
        return False
