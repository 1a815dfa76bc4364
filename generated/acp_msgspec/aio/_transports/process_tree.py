"""A process together with all processes that it has started: a process group, or a job on Windows."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from . import platforms

CTRL_BREAK_EVENT = 1
CREATE_NEW_PROCESS_GROUP = 0x200
PROCESS_TERMINATE, PROCESS_SET_QUOTA = 0x1, 0x100
JOB_BASIC_ACCOUNTING, ACCOUNTING_SIZE, ACTIVE = 1, 48, slice(40, 44)
"""The query for the number of running processes of a job, the size of its result, and where the number is in it."""
TASKKILL_TIMEOUT = 5.0
"""How many seconds `taskkill` may take."""


def new_group_options() -> dict[str, Any]:
    """Return the options with which a process starts as the leader of a new group."""
    return {"creationflags": CREATE_NEW_PROCESS_GROUP} if platforms.is_windows() else {"start_new_session": True}


class ProcessTree(Protocol):
    """A process and all processes that it has started."""

    @property
    def is_alive(self) -> bool:
        """Whether any of the processes runs."""
        ...

    def terminate(self) -> None:
        """Ask all processes to end."""
        ...

    def kill(self) -> None:
        """End all processes."""
        ...

    def leader_exited(self) -> None:
        """Note that the first process has just ended and been waited for."""
        ...


def tree_of(pid: int) -> ProcessTree:
    """Return the tree of a process that has just been started with `new_group_options`."""
    return _WindowsJob(pid) if platforms.is_windows() else _ProcessGroup(pid)


class _ProcessGroup:
    """A process group, identified by the process id of its leader."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._is_empty = False

    @property
    def is_alive(self) -> bool:
        return self._signal(0)

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def leader_exited(self) -> None:
        # The system cannot have reused the id yet. Later it may belong to a group that is not ours.
        self._is_empty = not self.is_alive

    def _signal(self, number: int) -> bool:
        if self._is_empty:
            return False
        try:
            os.killpg(self._pid, number)
        except OSError:
            return False
        return True


class _WindowsJob:
    """A job of Windows, which includes all processes that its first one starts; `taskkill` if no job can be made."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._has_exited = False
        import ctypes  # slow to load, and only used on Windows

        self._c: Any = ctypes
        self._kernel: Any = self._c.WinDLL("kernel32", use_last_error=True)
        for name in ("CreateJobObjectW", "OpenProcess"):
            getattr(self._kernel, name).restype = self._c.c_void_p
        self._job = self._create_job()

    def _create_job(self) -> Any:
        """Create a job with the process in it; return None if that fails."""
        kernel, handle = self._kernel, self._c.c_void_p
        process = kernel.OpenProcess(PROCESS_TERMINATE | PROCESS_SET_QUOTA, False, self._pid)
        if not process:
            return None
        job = kernel.CreateJobObjectW(None, None)
        is_assigned = bool(job) and kernel.AssignProcessToJobObject(handle(job), handle(process))
        kernel.CloseHandle(handle(process))
        if is_assigned:
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
        result = self._c.create_string_buffer(ACCOUNTING_SIZE)
        self._kernel.QueryInformationJobObject(self._job, JOB_BASIC_ACCOUNTING, result, ACCOUNTING_SIZE, None)
        return any(result.raw[ACTIVE])

    def terminate(self) -> None:
        # Reaches only the processes of the group that share this program's console.
        with suppress(OSError, SystemError):
            os.kill(self._pid, CTRL_BREAK_EVENT)

    def kill(self) -> None:
        if self._job is not None:
            self._kernel.TerminateJobObject(self._job, 1)
            return
        if self._has_exited:
            return  # the id may have been reused, and the remaining processes are unknown
        program = Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "taskkill.exe")
        command = [str(program), "/PID", str(self._pid), "/T", "/F"]
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TASKKILL_TIMEOUT, check=False
            )

    def leader_exited(self) -> None:
        self._has_exited = True
