"""What differs on Windows, by pretending: nothing of this has run there."""

import asyncio
import ctypes
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from acp_msgspec import aio

from tests.aio.support import run
from tests.aio.test_process import ENV, INITIALIZE, gone, is_alive
from tests.support import ROOT

pytestmark = pytest.mark.slow

platform: Any = import_module("acp_msgspec.aio._transports.platforms")
PRETEND = "import asyncio, os, sys, time\nfrom acp_msgspec import aio\nfrom tests.aio.child import Child\n"
"""Begins a program; the platform changes once the loop runs, which was made for this one."""


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "is_windows", lambda: True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as npm leaves it: a script for other systems, and shims."""
    for name in ("npx", "npx.cmd", "npx.ps1", "agent.exe", "old.bat", "data.txt", "tool.v2.exe"):
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "folder.exe").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("npx", "npx.cmd"),
        ("npx.cmd", "npx.cmd"),
        ("agent", "agent.exe"),
        ("agent.exe", "agent.exe"),
        ("old", "old.bat"),
        ("tool.v2", "tool.v2.exe"),
        ("data.txt", "data.txt"),  # Windows says that it is no program
    ],
)
def test_programs_are_found_by_their_extensions(folder: Path, name: str, found: str) -> None:
    (folder / "empty").mkdir()
    env = {"Path": f"{folder / 'empty'}{os.pathsep}{folder}", "PATHEXT": ".COM;.EXE;.BAT;.CMD;.VBS;.PS1"}
    assert platform.find_program(name, env=env) == str(folder / found)
    assert platform.find_program(f".{os.sep}{name}", env={}, cwd=folder) == str(folder / found)
    assert platform.find_program(str(folder / name), env={}) == str(folder / found)


@pytest.mark.parametrize("name", ["", "nothing", "folder", "folder.exe", "npx.vbs", "./nothing", "/no/such/program"])
def test_programs_that_are_not_there(folder: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        platform.find_program(name, env={"PATH": str(folder)})
    assert caught.value.filename == name


def test_where_programs_are_looked_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FileNotFoundError):
        platform.find_program("npx", env={})  # not in the current folder, into which anybody may have put it
    monkeypatch.setenv("PATH", f'"{folder}"')
    assert platform.find_program("npx") == str(folder / "npx.cmd")
    assert platform.find_program("npx", env={"OTHER": "1"}) == str(folder / "npx.cmd")
    with pytest.raises(FileNotFoundError):
        platform.find_program("npx", env={"path": "/nowhere"})
    with pytest.raises(FileNotFoundError):
        platform.find_program("npx", env={"PATHEXT": ".EXE"})
    (folder / "both.exe").touch()
    (folder / "both.cmd").touch()
    assert platform.find_program("both") == str(folder / "both.exe")
    assert platform.find_program("both", env={"PATHEXT": ".CMD;.EXE"}) == str(folder / "both.cmd")


def test_the_line_of_a_batch_file() -> None:
    program = r"C:\Program Files\nodejs\npx.cmd"
    arguments = ["-y", "@scope/agent@^1", "", "two words", "a&calc|b>c<d(e)!f", "C:\\dir\\", "x\\\\", "\\a;b,c=d"]
    assert platform.batch_line(program, arguments) == (
        r'"C:\Program Files\nodejs\npx.cmd" "-y" "@scope/agent@^1" "" "two words" "a&calc|b>c<d(e)!f" "C:\dir\\"'
        r' "x\\\\" "\a;b,c=d"'
    )
    for wrong in ('say "hi"', "%PATH%", "100%", "two\nlines", "two\rlines", "nul\0", '" & calc'):
        with pytest.raises(ValueError, match="A batch file cannot be given an argument"):
            platform.batch_line(program, ["fine", wrong])
    with pytest.raises(ValueError, match="A batch file"):
        platform.batch_line(r"C:\100%\npx.cmd", [])


@pytest.fixture
def python(tmp_path: Path) -> str:
    """A program whose name ends as there."""
    path = tmp_path / "python.exe"
    path.symlink_to(sys.executable)
    return str(path)


class Function:
    """Stands for a function of a library, whose type may be set."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.restype: Any = ctypes.c_int

    def __call__(self, *arguments: Any) -> Any:
        result = self.function(*arguments)
        return ctypes.c_int(result or 0).value if self.restype is ctypes.c_int else result


class Kernel:
    """Stands for kernel32: a job is the group of a process here."""

    def __init__(self) -> None:
        self.refuses = False
        self.handles: dict[int, str] = {}
        self.pid = 0
        self.calls: list[str] = []
        self.OpenProcess = Function(self._open_process)
        self.CreateJobObjectW = Function(self._create)
        self.AssignProcessToJobObject = Function(self._assign)
        self.TerminateJobObject = Function(self._terminate)
        self.QueryInformationJobObject = Function(self._query)
        self.CloseHandle = Function(self._close)

    def _create(self, attributes: None, name: None) -> int:
        return self._handle("job")

    def _assign(self, job: ctypes.c_void_p, process: ctypes.c_void_p) -> bool:
        assert [self.handles[h.value or 0] for h in (job, process)] == ["job", "process"]
        return not self.refuses

    def _close(self, handle: ctypes.c_void_p) -> None:
        del self.handles[handle.value or 0]

    def _handle(self, what: str) -> int:
        number = 2**40 + len(self.calls)  # beyond what an int of C holds
        self.calls.append(what)
        self.handles[number] = what
        return number

    def _open_process(self, access: int, inherit: bool, pid: int) -> int:
        assert access == 0x101
        self.pid = pid
        return self._handle("process")

    def _terminate(self, job: ctypes.c_void_p, status: int) -> bool:
        assert self.handles[job.value or 0] == "job"
        self.calls.append("terminate")
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def _query(self, job: ctypes.c_void_p, kind: int, facts: Any, size: int, _: None) -> bool:
        assert (self.handles[job.value or 0], kind, size) == ("job", 1, 48)
        command = ["pgrep", "-g", str(self.pid), "-r", "R,S,D"]
        active = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0
        facts[40:44] = int(active).to_bytes(4, "little")  # as in JOBOBJECT_BASIC_ACCOUNTING_INFORMATION
        return True


@pytest.fixture
def kernel(windows: None, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """Pretend to be on Windows, with a kernel that ends groups; a break is a signal that programs may handle."""
    made = Kernel()

    def library(name: str, *, use_last_error: bool) -> Kernel:
        assert (name, use_last_error) == ("kernel32", True)
        return made

    monkeypatch.setattr(ctypes, "WinDLL", library, raising=False)
    kill = os.kill

    def fake(pid: int, number: int) -> None:
        assert number == 1, "CTRL_BREAK_EVENT"
        made.calls.append("break")
        kill(pid, signal.SIGTERM)

    monkeypatch.setattr(os, "kill", fake)
    started = asyncio.BaseEventLoop.subprocess_exec

    async def start(self: Any, factory: Any, *command: Any, creationflags: int, **options: Any) -> Any:
        assert creationflags == 0x200
        return await started(self, factory, *command, **options, start_new_session=True)

    monkeypatch.setattr(asyncio.BaseEventLoop, "subprocess_exec", start)
    return made


FAMILY = """
import subprocess, sys, time
code = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(99)"
child = subprocess.Popen([sys.executable, "-c", code])
print(child.pid, flush=True)
"""


@pytest.mark.parametrize(
    "end", ["", "time.sleep(99)", "import signal; signal.signal(15, signal.SIG_IGN); time.sleep(99)"]
)
def test_a_process_ends_with_all_that_it_has_started(kernel: Kernel, python: str, end: str) -> None:
    async def turn() -> None:
        transport = await aio.spawn([python, "-c", FAMILY + end], grace=0.3)
        (line,) = await transport.receive()
        assert is_alive(int(line))
        await transport.close()
        assert await gone(int(line))
        assert await gone(transport.pid)
        assert kernel.calls[-1] == "terminate"
        assert ("break" in kernel.calls) is True

    run(turn())


def test_handles_are_closed(kernel: Kernel, python: str) -> None:
    async def turn() -> None:
        transport = await aio.spawn([python, "-c", "pass"], grace=0.2)
        assert await transport.receive() == ()
        assert list(kernel.handles.values()) == ["job"]
        await transport.close()

    run(turn())
    gc.collect()
    assert kernel.handles == {}


def test_taskkill_where_the_system_allows_no_job(kernel: Kernel, python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel.refuses = True
    told: list[list[str]] = []
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(99)"

    def fake(command: list[str], **_: Any) -> None:
        told.append(command)
        os.killpg(int(command[2]), signal.SIGKILL)
        raise FileNotFoundError

    async def turn() -> None:
        transport = await aio.spawn([python, "-c", code], grace=0.2)
        assert await transport.receive() == [b"1"]
        monkeypatch.setattr(subprocess, "run", fake)
        await transport.close()
        ((program, *arguments),) = told
        assert program.endswith("taskkill.exe")
        assert arguments == ["/PID", str(transport.pid), "/T", "/F"]
        assert transport.returncode == -signal.SIGKILL

    run(turn())
    assert kernel.handles == {}


def test_terminals_end_with_all_that_they_have_started(kernel: Kernel, python: str) -> None:
    async def turn() -> None:
        terminals = aio.Terminals()
        number = await terminals.create("s", python, ["-c", FAMILY + "time.sleep(99)"])
        while not (text := terminals.output("s", number)[0]).endswith("\n"):
            await asyncio.sleep(0.01)
        await terminals.kill("s", number)
        assert await gone(int(text))
        await terminals.close()
        assert kernel.calls[-1] == "terminate"

    run(turn())


@pytest.mark.parametrize("program", ["npx", "agent"])
def test_how_a_program_is_started(windows: None, folder: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    told: list[Any] = []

    def start(kind: str) -> Any:
        async def fake(self: Any, factory: Any, *command: str, **options: Any) -> Any:
            told.append((kind, command, options))
            raise PermissionError

        return fake

    monkeypatch.setattr(asyncio.BaseEventLoop, "subprocess_exec", start("exec"))
    monkeypatch.setattr(asyncio.BaseEventLoop, "subprocess_shell", start("shell"))
    env = {"PATH": str(folder)}
    options = {"env": env, "cwd": folder, "creationflags": 0x200}
    with pytest.raises(PermissionError):
        run(aio.spawn([program, "a b", Path("c")], env=env, cwd=folder))
    if program == "npx":
        assert told == [("shell", (f'"{folder / "npx.cmd"}" "a b" "c"',), options)]
        with pytest.raises(ValueError, match="A batch file"):
            run(aio.spawn([program, '"&calc'], env=env))
    else:
        assert told == [("exec", (str(folder / "agent.exe"), "a b", "c"), options)]
    with pytest.raises(FileNotFoundError):
        run(aio.spawn(["nothing"], env=env))
    assert len(told) == 1


def test_a_loop_that_starts_no_processes(windows: None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fake(*_: Any, **__: Any) -> Any:
        raise NotImplementedError

    monkeypatch.setattr(asyncio.BaseEventLoop, "subprocess_exec", fake)
    with pytest.raises(OSError, match="ProactorEventLoop"):
        run(aio.spawn(["agent"], env={"PATH": str(folder)}))


def pretending(body: str) -> list[str]:
    """Give the command of a program whose standard streams are served as on Windows."""
    code = (
        f"{PRETEND}async def main():\n    sys.platform = 'win32'\n{body}\nasyncio.run(main())\nprint('after the end')"
    )
    return [sys.executable, "-c", code]


SERVE = "    await aio.AgentConnection(await aio.stdio(), Child).serve()"


def test_a_program_on_pipes_that_cannot_be_polled() -> None:
    ran = subprocess.run(
        pretending(SERVE), input=INITIALIZE, capture_output=True, env=ENV, cwd=ROOT, timeout=30, check=True
    )
    assert ran.stdout == b'{"jsonrpc":"2.0","id":1,"result":[1]}\nafter the end\n'
    assert ran.stderr == b""


def test_a_program_ends_with_its_connection_though_a_read_is_under_way() -> None:
    body = """
    transport = await aio.stdio()
    async with aio.AgentConnection(transport, aio.Agent()):
        await asyncio.sleep(0.3)
    await transport.close()
"""
    with subprocess.Popen(pretending(body), stdin=-1, stdout=-1, stderr=-1, env=ENV, cwd=ROOT) as ran:
        assert ran.wait(timeout=20) == 0
        assert ran.stdout is not None
        assert ran.stderr is not None
        assert (ran.stdout.read(), ran.stderr.read()) == (b"after the end\n", b"")


def test_a_reader_that_is_slow_holds_up_writers_and_not_the_loop() -> None:
    body = """
    transport = await aio.stdio()
    longest, sent = 0, 0

    async def tick():
        nonlocal longest
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - before)

    async def send():
        nonlocal sent
        for _ in range(200):
            await transport.send([b'x' * 99_999])
            sent += 1

    ticking, sending = asyncio.create_task(tick()), asyncio.create_task(send())
    await asyncio.sleep(1)
    print(sent < 20, longest < 0.9, file=sys.stderr, flush=True)
    await sending
    ticking.cancel()
    await transport.close()
"""

    async def turn() -> None:
        ran = await asyncio.create_subprocess_exec(*pretending(body), stdin=-1, stdout=-1, stderr=-1, env=ENV, cwd=ROOT)
        assert ran.stderr is not None
        assert await ran.stderr.readline() == b"True True\n"
        out, _ = await ran.communicate()
        assert out == (b"x" * 99_999 + b"\n") * 200 + b"after the end\n"

    run(turn())


def test_a_writer_that_is_fast_is_held_up(tmp_path: Path) -> None:
    body = """
    transport = await aio.stdio()
    while not os.path.exists(sys.argv[1]):
        await asyncio.sleep(0.01)
    count = 0
    while lines := await transport.receive():
        count += len(lines)
    print(count, file=sys.stderr)
    await transport.close()
"""

    async def turn() -> None:
        path = tmp_path / "go"
        ran = await asyncio.create_subprocess_exec(
            *pretending(body), str(path), stdin=-1, stdout=-1, stderr=-1, env=ENV, cwd=ROOT
        )
        assert ran.stdin is not None
        ran.stdin.write(b"x" * 999 + b"\n")
        ran.stdin.write((b"x" * 999 + b"\n") * 9_999)
        await asyncio.sleep(1.5)
        assert ran.stdin.transport.get_write_buffer_size() > 5_000_000
        path.touch()
        ran.stdin.write_eof()
        _, told = await ran.communicate()
        assert told == b"10000\n"

    run(turn())


def test_streams_that_fail(tmp_path: Path) -> None:
    body = """
    transport = await aio.stdio()
    try:
        await transport.receive()
    except OSError as why:
        print(type(why).__name__, file=sys.stderr)
    try:
        for _ in range(100):
            await transport.send([b"x"])
            await asyncio.sleep(0.01)
    except OSError as why:
        print(why.strerror, file=sys.stderr)
    print(transport.is_gone, file=sys.stderr)
    await transport.close()
    os._exit(0)
"""
    command = pretending(body.replace("    transport = ", "    sys.platform = 'linux'\n    transport = ", 1))
    with Path("/dev/full").open("wb") as full, (tmp_path / "file").open("wb") as file:
        ran = subprocess.run(command, stdin=file, stdout=full, stderr=-1, env=ENV, cwd=ROOT, timeout=30, check=True)
    assert ran.stderr.decode().splitlines() == ["OSError", "No space left on device", "True"]
