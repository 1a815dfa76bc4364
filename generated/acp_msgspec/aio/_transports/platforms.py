"""What differs on Windows: finding programs, running batch files, and ending a process with all that it has started.

None of this was ever run there. Everything asks `is_windows`, so that tests can pretend.
"""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

CTRL_BREAK_EVENT = 1
CREATE_NEW_PROCESS_GROUP = 0x200
PROCESS_TERMINATE, PROCESS_SET_QUOTA = 0x1, 0x100
JOB_BASIC_ACCOUNTING, ACCOUNTING_SIZE, ACTIVE = 1, 48, slice(40, 44)
"""The question how many processes of a job run, the size of the answer, and where the number is in it."""
TASKKILL = 5.0
"""How many seconds `taskkill` may take."""
RUNNABLE = (".com", ".exe", ".bat", ".cmd")
"""What Windows starts; the other extensions of PATHEXT are documents that a shell opens."""
BATCH = (".bat", ".cmd")
UNSAFE = '"%\r\n\0'
"""What no quoting keeps from the command processor, which runs batch files."""


def is_windows() -> bool:
    """Say whether this is Windows."""
    return sys.platform == "win32"


def group_options() -> dict[str, Any]:
    """Give the options with which a process starts as the leader of a group of its own."""
    return {"creationflags": CREATE_NEW_PROCESS_GROUP} if is_windows() else {"start_new_session": True}


class Tree(Protocol):
    """A process and all that it has started."""

    @property
    def is_alive(self) -> bool:
        """Whether any of them runs."""
        ...

    def ask(self) -> None:
        """Ask all of them to end."""
        ...

    def kill(self) -> None:
        """End all of them."""
        ...

    def leader_exited(self) -> None:
        """Take note that the process itself has just ended and been waited for."""
        ...


def tree_of(pid: int) -> Tree:
    """Give the tree of a process that has just been started with `group_options`."""
    return _Job(pid) if is_windows() else _Group(pid)


class _Group:
    """A process group, by the number of its leader."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._is_empty = False

    @property
    def is_alive(self) -> bool:
        return self._signal(0)

    def ask(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def leader_exited(self) -> None:
        # Nobody else can have the number yet. Later it may belong to a group that is none of ours.
        self._is_empty = not self.is_alive

    def _signal(self, number: int) -> bool:
        if self._is_empty:
            return False
        try:
            os.killpg(self._pid, number)
        except OSError:
            return False
        return True


class _Job:
    """A job of Windows, to which all belong that the process starts; `taskkill` where the system allows no job."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._has_exited = False
        import ctypes  # slow to load, and used on Windows alone

        self._c: Any = ctypes
        self._kernel: Any = self._c.WinDLL("kernel32", use_last_error=True)
        for name in ("CreateJobObjectW", "OpenProcess"):
            getattr(self._kernel, name).restype = self._c.c_void_p
        self._job = self._joined()

    def _joined(self) -> Any:
        """Make a job for the process; None where that fails."""
        kernel, handle = self._kernel, self._c.c_void_p
        process = kernel.OpenProcess(PROCESS_TERMINATE | PROCESS_SET_QUOTA, False, self._pid)
        if not process:
            return None
        job = kernel.CreateJobObjectW(None, None)
        is_in = bool(job) and kernel.AssignProcessToJobObject(handle(job), handle(process))
        kernel.CloseHandle(handle(process))
        if is_in:
            return handle(job)
        if job:
            kernel.CloseHandle(handle(job))
        return None

    def __del__(self) -> None:
        if getattr(self, "_job", None) is not None:
            self._kernel.CloseHandle(self._job)

    @property
    def is_alive(self) -> bool:
        if self._job is None:
            return not self._has_exited
        facts = self._c.create_string_buffer(ACCOUNTING_SIZE)
        self._kernel.QueryInformationJobObject(self._job, JOB_BASIC_ACCOUNTING, facts, ACCOUNTING_SIZE, None)
        return any(facts.raw[ACTIVE])

    def ask(self) -> None:
        # Reaches the group alone, and those of it that share this program's console.
        with suppress(OSError, SystemError):
            os.kill(self._pid, CTRL_BREAK_EVENT)

    def kill(self) -> None:
        if self._job is not None:
            self._kernel.TerminateJobObject(self._job, 1)
            return
        if self._has_exited:
            return  # the number may be another's, and those who remain are nowhere listed
        program = Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "taskkill.exe")
        command = [str(program), "/PID", str(self._pid), "/T", "/F"]
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TASKKILL, check=False)

    def leader_exited(self) -> None:
        self._has_exited = True


def find_program(name: str, *, env: Mapping[str, str] | None = None, cwd: str | os.PathLike[str] | None = None) -> str:
    """Find a program as Windows' shell does, `.cmd` and `.bat` included, which Windows itself does not.

    A bare name is looked up on the PATH of `env` (of this program where that has none), with the extensions of its
    PATHEXT, and never in the current folder. A name with a folder is relative to `cwd`, as elsewhere.

    Raises `FileNotFoundError`.
    """
    wanted = [e for e in _value("PATHEXT", env).lower().split(";") if e in RUNNABLE] or RUNNABLE
    if os.path.dirname(name):  # noqa: PTH120 - `./x` has a folder, which a Path drops
        folders = [os.fspath(cwd or "")]
    else:
        folders = [f.strip('"') for f in _value("PATH", env).split(os.pathsep) if f.strip('"')]
    has_extension = Path(name).suffix.lower() in wanted
    endings = ["", *wanted] if has_extension else [*wanted, ""]
    for folder in folders:
        for ending in endings:
            path = Path(folder, name + ending)
            # The file without an extension that npm puts beside a shim is a script for another system.
            if path.is_file() and (ending or has_extension or Path(name).suffix):
                return os.path.abspath(path)  # noqa: PTH100 - links stay what they are
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)


def _value(name: str, env: Mapping[str, str] | None) -> str:
    """Give a variable of `env`, or else of this program; their names are the same in any case on Windows."""
    for variables in (env or {}, os.environ):
        for key, value in variables.items():
            if key.upper() == name:
                return value
    return ""


def is_batch(program: str) -> bool:
    """Say whether a program is a batch file, which the command processor runs."""
    return program.lower().endswith(BATCH)


def batch_line(program: str, arguments: Sequence[str]) -> str:
    """Give the line with which the command processor runs a batch file and hands it these arguments as they are.

    Raises `ValueError` where an argument has what it would take for its own: `"`, `%` or a line break.
    """
    for part in (program, *arguments):
        if any(character in UNSAFE for character in part):
            problem = "A batch file cannot be given an argument with quotes, percent signs or line breaks"
            raise ValueError(f"{problem}: {part!r}. Start the program that it runs instead")
    # Within quotes all else is text. Backslashes before the last quote are for the program behind, which would take
    # the quote for its own.
    return " ".join(f'"{part}{chr(92) * (len(part) - len(part.rstrip(chr(92))))}"' for part in (program, *arguments))
