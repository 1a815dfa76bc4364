"""Commands that only a shell understands: agents send whole lines where the protocol has a program."""

import os
import shutil
from pathlib import Path

_SPECIAL = frozenset(" \t\r\n|&;<>()$`\\\"'*?[]#~={}!%^") - {os.sep}
"""What means something to a shell."""
_POSIX = (
    ". : [ alias bg cd command echo eval exec exit export false fc fg getopts hash jobs kill printf pwd read readonly"
    " return set shift test times trap true type ulimit umask unalias unset wait"
)
_WINDOWS = (
    "assoc call cd chdir cls copy date del dir echo endlocal erase exit ftype md mkdir mklink move path pause popd"
    " prompt pushd rd rem ren rename rmdir set setlocal start time title type ver verify vol"
)
_OWN = frozenset((_WINDOWS if os.name == "nt" else _POSIX).split())
"""Commands of the shell itself."""


def is_line(command: str, cwd: str, path: str | None) -> bool:
    """Say whether a command without arguments is a line for the shell, and not a program's name or path.

    What is there as a file, below `cwd` or in one of the folders of `path`, is a program, whatever is in its name.
    """
    if not command.strip() or "\0" in command:
        return False
    if command not in _OWN and _SPECIAL.isdisjoint(command):
        return False
    if os.path.split(command)[0]:
        return not _is_there(Path(cwd, command))
    return shutil.which(command, path=os.defpath if path is None else path) is None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a line may be too long for a name
        return False
