"""Terminals: commands that really run, what they wrote, and nothing of them that is left behind."""

import asyncio
import os
import shutil
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1
from hypothesis import given
from hypothesis import strategies as st

from tests.aio.support import run
from tests.aio.terminals import DONE, KILLED, SESSION, gone, is_alive, shell, until

fcntl: Any = pytest.importorskip("fcntl", reason="the commands are those of a POSIX shell")
pytestmark = pytest.mark.usefixtures("nothing_is_left")
OUTPUT: Any = __import__("acp_msgspec.aio._services.output", fromlist=["x"])


async def output_of(line: str, **choices: Any) -> tuple[str, bool]:
    terminals = aio.Terminals()
    number = await shell(terminals, line, **choices)
    await terminals.wait(SESSION, number)
    text, is_cut, _ = terminals.output(SESSION, number)
    await terminals.close()
    return text, is_cut


def test_output_and_exit() -> None:
    async def turn() -> None:
        terminals = aio.Terminals()
        number = await shell(terminals, "echo out; echo err >&2; printf out; cat; exit 3")
        status = await terminals.wait(SESSION, number)
        assert status == aio.ExitStatus(exit_code=3, signal=None)
        assert terminals.output(SESSION, number) == ("out\nerr\nout", False, status)
        assert await terminals.wait(SESSION, number) == status
        await terminals.kill(SESSION, number)  # nothing is left to kill
        assert terminals.output(SESSION, number) == ("out\nerr\nout", False, status)
        await terminals.release(SESSION, number)

    run(turn())


def test_output_while_it_runs() -> None:
    async def turn() -> None:
        terminals = aio.Terminals()
        number = await shell(terminals, "printf 'a\\303'; sleep 1000")
        await until(terminals, number, "a")
        assert terminals.output(SESSION, number) == ("a", False, None)  # the character is not whole yet
        waiting = asyncio.ensure_future(terminals.wait(SESSION, number))
        await terminals.kill(SESSION, number)
        assert await waiting == KILLED
        assert terminals.output(SESSION, number) == ("a\ufffd", False, KILLED)
        await terminals.close()

    run(turn())


def test_a_great_deal_of_output_keeps_its_end() -> None:
    async def turn() -> None:
        count = 300_000
        text, is_cut = await output_of(f"i=0; seq {count}", limit=1000)
        assert is_cut
        whole = "".join(f"{n}\n" for n in range(1, count + 1))
        assert text == whole[-1000:]
        assert await output_of("printf 12345", limit=5) == ("12345", False)
        assert await output_of("printf 123456", limit=5) == ("23456", True)
        assert await output_of("printf 1", limit=0) == ("", True)
        assert await output_of("true", limit=0) == ("", False)
        assert await output_of("printf 'ä€😀'", limit=8) == ("€😀", True)
        assert await output_of("printf 'ä€😀'", limit=6) == ("😀", True)
        assert await output_of("printf 'ä€😀'", limit=3) == ("", True)
        assert await output_of("printf '\\377\\377\\377'", limit=7) == ("\ufffd\ufffd", True)
        terminals = aio.Terminals(max_bytes=10)
        number = await shell(terminals, "seq 100", limit=2**64 - 1)
        await terminals.wait(SESSION, number)
        assert terminals.output(SESSION, number)[:2] == ("98\n99\n100\n", True)
        await terminals.close()

    run(turn())


@given(st.text("aé€😀\n"), st.lists(st.integers(0, 40)), st.integers(0, 30))
def test_the_end_of_a_text_in_pieces(text: str, cuts: list[int], limit: int) -> None:
    data = text.encode()
    tail = OUTPUT.Tail(limit)
    places = sorted({min(c, len(data)) for c in cuts} | {0, len(data)})
    for start, end in pairwise(places):
        tail.add(data[start:end])
        shown, _ = tail.text(is_whole=False)
        assert "\ufffd" not in shown
        assert len(shown.encode()) <= limit
    shown, is_cut = tail.text(is_whole=True)
    assert text.endswith(shown)
    assert is_cut is (shown != text)
    assert len(data) - len(shown.encode()) == 0 or len(shown.encode()) > limit - 4
    assert len(shown.encode()) <= limit


@given(st.binary(max_size=60), st.integers(0, 30))
def test_the_end_of_any_bytes(data: bytes, limit: int) -> None:
    tail = OUTPUT.Tail(limit)
    tail.add(data)
    shown, is_cut = tail.text(is_whole=True)
    assert len(shown.encode()) <= limit
    assert is_cut or shown == data.decode(errors="replace")


def test_kill_takes_the_whole_group() -> None:
    async def turn() -> None:
        terminals = aio.Terminals()
        number = await shell(terminals, "sleep 1000 & echo $!; sleep 1000")
        await until(terminals, number, "\n")
        child = int(terminals.output(SESSION, number)[0])
        assert is_alive(child)
        await terminals.kill(SESSION, number)
        assert await terminals.wait(SESSION, number) == KILLED
        await gone(child)
        assert terminals.output(SESSION, number)[0] == f"{child}\n"
        await terminals.close()

    run(turn())


@pytest.mark.parametrize("rest", ["sleep 1000 &", "sleep 1000 >/dev/null 2>&1 &"])
def test_what_a_command_leaves_running_does_not_hold_up_its_end(rest: str) -> None:
    async def turn() -> None:
        terminals = aio.Terminals()
        number = await shell(terminals, f"{rest} echo $!")
        assert await terminals.wait(SESSION, number) == DONE
        child = int(terminals.output(SESSION, number)[0])
        assert is_alive(child)
        await terminals.release(SESSION, number)
        await gone(child)

    run(turn())


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="pipes have one size here")
def test_the_output_is_whole_once_a_command_has_ended() -> None:
    code = "import fcntl, os; fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20); os.write(1, b'x' * (1 << 20))"

    async def turn() -> None:
        terminals = aio.Terminals(max_bytes=2 << 20)
        number = await terminals.create(SESSION, sys.executable, ["-S", "-c", code])
        time.sleep(0.3)  # the loop comes to it when all is in the pipe already, and takes several turns to read it
        assert await terminals.wait(SESSION, number) == DONE
        assert len(terminals.output(SESSION, number)[0]) == 1 << 20
        await terminals.close()

    run(turn())


@pytest.mark.skipif(shutil.which("setsid") is None, reason="nothing leaves its group here")
def test_what_leaves_the_group_does_not_keep_a_terminal_open() -> None:
    async def turn() -> None:
        files = len(list(Path("/proc/self/fd").iterdir()))
        terminals = aio.Terminals()
        number = await shell(terminals, "setsid sh -c 'echo $$; sleep 1000' &")
        await terminals.wait(SESSION, number)
        await until(terminals, number, "\n")  # now it has a group of its own
        child = int(terminals.output(SESSION, number)[0])
        await terminals.release(SESSION, number)
        try:
            assert len(list(Path("/proc/self/fd").iterdir())) == files
        finally:
            os.killpg(child, signal.SIGKILL)
        await gone(child)

    run(turn())


def test_a_signal_is_named() -> None:
    async def turn() -> None:
        terminals = aio.Terminals()
        for name in ("TERM", "INT", "SEGV"):
            number = await shell(terminals, f"kill -{name} $$; sleep 10")
            assert await terminals.wait(SESSION, number) == aio.ExitStatus(exit_code=None, signal=f"SIG{name}")
        await terminals.close()

    run(turn())


def test_a_released_terminal_is_unknown() -> None:
    async def turn() -> None:
        terminals = aio.Terminals()
        number = await shell(terminals, "sleep 1000")
        waiting = asyncio.ensure_future(terminals.wait(SESSION, number))
        await asyncio.sleep(0)
        with pytest.raises(acp.ResourceNotFound):
            terminals.output("another session", number)
        await terminals.release(SESSION, number)
        assert await waiting == KILLED
        for work in (terminals.wait, terminals.kill, terminals.release):
            with pytest.raises(acp.ResourceNotFound) as caught:
                await work(SESSION, number)
            assert caught.value.data == {"terminalId": number}
        with pytest.raises(acp.ResourceNotFound):
            terminals.output(SESSION, number)

    run(turn())


def test_many_at_once_and_all_are_closed() -> None:
    async def turn() -> None:
        terminals = aio.Terminals()
        numbers = await asyncio.gather(*(shell(terminals, f"echo {n}; sleep 1000") for n in range(20)))
        assert len(set(numbers)) == 20
        for count, number in enumerate(numbers):
            await until(terminals, number, f"{count}\n")
        await terminals.close()
        await terminals.close()
        number = await shell(terminals, "true")  # it can be used again
        assert await terminals.wait(SESSION, number) == DONE
        await terminals.close()

    run(turn())


def test_folder_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "root" / "sub"
    inside.mkdir(parents=True)
    (tmp_path / "root" / "out").symlink_to(tmp_path)
    root = tmp_path / "root"
    monkeypatch.setenv("OURS", "1")

    async def turn() -> None:
        terminals = aio.Terminals(root)
        for cwd, expected in ((None, root), (str(inside), inside), (str(root), root)):
            number = await shell(terminals, "pwd; echo $OURS $THEIRS", cwd=cwd, env={"THEIRS": "2"})
            await terminals.wait(SESSION, number)
            assert terminals.output(SESSION, number)[0] == f"{expected.resolve()}\n1 2\n"
        wrong = {
            str(tmp_path): "the folder is outside of the root folder",
            str(root / "out"): "the folder is outside of the root folder",
            f"{root}/..": "the folder is outside of the root folder",
            str(root / "missing"): "there is no such folder",
            "sub": "the folder is no absolute path",
            "/\0": "the folder is no absolute path",
        }
        for cwd, detail in wrong.items():
            with pytest.raises(acp.InvalidParams) as caught:
                await shell(terminals, "pwd", cwd=cwd)
            assert caught.value.data == {"command": "/bin/sh", "cwd": cwd, "detail": detail}
        await terminals.close()
        clean = aio.Terminals(env={"PATH": os.environ["PATH"]})
        number = await shell(clean, "echo [$OURS]")
        await clean.wait(SESSION, number)
        assert clean.output(SESSION, number)[0] == "[]\n"
        await clean.close()

    run(turn())


def test_commands_that_cannot_run(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x", encoding="utf-8")

    async def turn() -> None:
        terminals = aio.Terminals()
        for command in ("/missing/command", "no-such-command", str(tmp_path / "data"), str(tmp_path), "a\0b", ""):
            with pytest.raises(acp.InvalidParams) as caught:
                await terminals.create(SESSION, command)
            assert str(caught.value.data["detail"]).startswith("it cannot be started: ")
        with pytest.raises(acp.InvalidParams):
            await terminals.create(SESSION, "echo", ["a\0b"])
        with pytest.raises(acp.InvalidParams):
            await terminals.create(SESSION, "echo", env={"A=B": "1\0"})
        with pytest.raises(acp.InvalidParams):
            await aio.Terminals(shell=False).create(SESSION, "echo one; echo two")
        lines = aio.Terminals(shell=True)
        number = await lines.create(SESSION, "echo one; echo two")
        await lines.wait(SESSION, number)
        assert lines.output(SESSION, number)[0] == "one\ntwo\n"
        number = await lines.create(SESSION, "printf", ["%s", "a; b"])
        await lines.wait(SESSION, number)
        assert lines.output(SESSION, number)[0] == "a; b"
        await lines.close()

    run(turn())


def test_a_policy_allows_and_refuses() -> None:
    seen: list[aio.Command] = []

    def allow(command: aio.Command) -> bool:
        seen.append(command)
        return command.command == "true"

    async def later(command: aio.Command) -> bool:
        return allow(command)

    async def turn() -> None:
        for policy in (allow, later):
            terminals = aio.Terminals("/", allow=policy)
            await terminals.create(SESSION, "true", ["x"], env={"A": "1"})
            assert seen[-1] == aio.Command(session=SESSION, command="true", args=("x",), env={"A": "1"}, cwd="/")
            with pytest.raises(acp.InvalidParams) as caught:
                await terminals.create(SESSION, "false")
            assert caught.value.data == {"command": "false", "detail": "the command is not allowed here"}
            await terminals.close()

    run(turn())


def test_a_flood_does_not_stop_the_others() -> None:
    async def turn() -> None:
        terminals = aio.Terminals(max_bytes=1000)
        flood = await terminals.create(SESSION, "yes")
        for _ in range(5):
            number = await shell(terminals, "echo x")
            assert await terminals.wait(SESSION, number) == DONE
            assert terminals.output(SESSION, number)[0] == "x\n"
        while not terminals.output(SESSION, flood)[1]:  # a busy machine may not have started it yet
            await asyncio.sleep(0.005)
        text, is_cut, status = terminals.output(SESSION, flood)
        assert (len(text), is_cut, status) == (1000, True, None)
        await terminals.close()

    run(turn())


class Client(aio.ServesTerminals):
    def __init__(self) -> None:
        self.terminals = aio.Terminals()


@pytest.mark.parametrize("who", ["client", "agent"])
def test_a_client_serves_terminals_until_the_connection_ends(who: str) -> None:
    async def turn() -> None:
        session = v1.SessionId(SESSION)
        here, there = aio.memory_pair()
        async with (
            aio.AgentConnection(there, aio.Agent()) as agent,
            aio.ClientConnection(here, Client()) as client,
        ):
            answer = await client.negotiate()
            assert answer.protocol_version == 1
            made = await agent.terminal_create(
                v1.CreateTerminalRequest(
                    session_id=session,
                    command="/bin/sh",
                    args=["-c", "echo $A; exit 2"],
                    env=[v1.EnvVariable(name="A", value="b")],
                    output_byte_limit=1,
                )
            )
            number = made.terminal_id
            ended = await agent.terminal_wait_for_exit(
                v1.WaitForTerminalExitRequest(session_id=session, terminal_id=number)
            )
            assert (ended.exit_code, ended.signal) == (2, None)
            output = await agent.terminal_output(v1.TerminalOutputRequest(session_id=session, terminal_id=number))
            assert (output.output, output.truncated) == ("\n", True)
            assert output.exit_status == v1.TerminalExitStatus(exit_code=2)
            await agent.terminal_release(v1.ReleaseTerminalRequest(session_id=session, terminal_id=number))
            with pytest.raises(acp.ResourceNotFound):
                await agent.terminal_kill(v1.KillTerminalRequest(session_id=session, terminal_id=number))

            run_on = v1.CreateTerminalRequest(
                session_id=session, command="/bin/sh", args=["-c", "sleep 1000 & echo $!; sleep 1000"]
            )
            made = await agent.terminal_create(run_on)
            asked = v1.TerminalOutputRequest(session_id=session, terminal_id=made.terminal_id)
            while not (text := (await agent.terminal_output(asked)).output).endswith("\n"):
                await asyncio.sleep(0.005)
            assert is_alive(int(text))
            await (client if who == "client" else agent).close()
            await client.wait_closed()
            await gone(int(text))

    run(turn())


def test_a_client_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    async def turn() -> None:
        here, there = aio.memory_pair()
        pid = tmp_path / "pid"
        line = f"echo $$ > {pid}; exec {sys.executable} -c 'import time; time.sleep(1000)'"
        request = v1.CreateTerminalRequest(session_id=v1.SessionId(SESSION), command="/bin/sh", args=["-c", line])

        async def serving() -> None:
            async with aio.ClientConnection(here, Client()) as client:
                await client.wait_closed()

        async with aio.AgentConnection(there) as agent:
            task = asyncio.ensure_future(serving())
            await agent.terminal_create(request)
            while not pid.exists() or not pid.read_text(encoding="ascii"):
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await gone(int(pid.read_text(encoding="ascii")))

    run(turn())


def test_a_process_that_ends_as_it_is_killed() -> None:
    async def turn() -> None:
        terminals = aio.Terminals()
        for number in range(30):
            terminal = await shell(terminals, "exit 0")
            await asyncio.sleep(number / 10_000)
            await terminals.kill(SESSION, terminal)
            assert await terminals.wait(SESSION, terminal) in (DONE, KILLED)
            await terminals.release(SESSION, terminal)

    run(turn())


def test_a_command_whose_start_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    async def turn() -> None:
        terminals = aio.Terminals(tmp_path, shell=True)
        for wait in (0, 0.0005, 0.001, 0.002, 0.003, 0.005):
            creating = asyncio.create_task(terminals.create("s", "sleep 3599 & echo $! >> pids; wait"))
            await asyncio.sleep(wait)
            creating.cancel()
            await asyncio.wait([creating])
        await terminals.close()
        await asyncio.sleep(0.2)  # for what should not be there
        pids = tmp_path / "pids"
        for pid in pids.read_text(encoding="utf-8").split() if pids.exists() else ():
            await gone(int(pid))

    run(turn())
