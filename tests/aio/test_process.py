"""Peers that are processes: this program's own stdio, and children with their groups."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio, v1

from tests.aio.support import run
from tests.support import ROOT

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "tests.aio.child"]
ENV = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'generated'}"}
SESSION = v1.SessionId("s")
INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"_x/echo","params":[1]}\n'


class Screen(aio.Client):
    def __init__(self) -> None:
        self.text: list[str] = []

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        assert isinstance(params.update, v1.SessionUpdateAgentMessageChunk)
        assert isinstance(params.update.content, v1.TextContent)
        self.text.append(params.update.content.text)


async def child(**options: Any) -> aio.ProcessTransport:
    return await aio.spawn(COMMAND, cwd=ROOT, env=ENV, **options)


def prompt(text: str) -> v1.PromptRequest:
    return v1.PromptRequest(session_id=SESSION, prompt=[v1.TextContent(text=text)])


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def gone(pid: int) -> bool:
    for _ in range(500):
        if not is_alive(pid):
            return True
        await asyncio.sleep(0.01)
    return False


def test_a_turn_with_a_child() -> None:
    async def turn() -> None:
        screen, transport = Screen(), await child()
        async with aio.ClientConnection(transport, screen) as conn:
            await conn.session_prompt(prompt("say 3000"))
            assert screen.text == [str(n) for n in range(3000)]
            assert transport.returncode is None
            assert transport.reason is None
        assert transport.returncode == 0
        assert conn.closed is not None
        assert conn.closed.returncode == 0
        with pytest.raises(aio.ConnectionClosed, match="this side closed the connection"):
            await conn.session_prompt(prompt("say 1"))
        await transport.close()

    run(turn())


def test_prints_do_not_meet_the_messages() -> None:
    async def turn() -> None:
        transport = await child()
        async with aio.ClientConnection(transport) as conn:
            await conn.session_prompt(prompt("print"))
        # Flushed at the end; what the agent prints after the connection comes out on its real standard output.
        assert sorted(transport.stderr.split("\n")) == ["", "grandchild ", "printed", "written"]

    run(turn())


def test_standard_error_is_drained() -> None:
    async def turn() -> None:
        heard: list[bytes] = []
        transport = await child(on_stderr=heard.append)
        async with aio.ClientConnection(transport) as conn:
            await conn.session_prompt(prompt("stderr 1000000"))
        assert len(transport.stderr) == 65536
        assert transport.stderr.endswith("xend")
        assert b"".join(heard) == b"x" * 1_000_000 + b"end"

    run(turn())


def test_a_callback_for_standard_error_that_raises(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_: bytes) -> None:
        raise ValueError

    async def turn() -> None:
        transport = await child(on_stderr=refuse)
        async with aio.ClientConnection(transport) as conn:
            await conn.session_prompt(prompt("stderr 10"))
            await conn.extension_call("_x/y")
        assert transport.stderr == "x" * 10 + "end"

    run(turn())
    assert "on_stderr raised" in caplog.text


def test_a_child_that_exits() -> None:
    async def turn() -> None:
        transport = await child()
        async with aio.ClientConnection(transport) as conn:
            hanging = asyncio.ensure_future(conn.session_prompt(prompt("hang")))
            for call in (conn.session_prompt(prompt("exit 3")), hanging):
                with pytest.raises(aio.ConnectionClosed) as caught:
                    await call
                assert caught.value.reason == "the process exited with status 3: leaving"
                assert caught.value.returncode == 3
            await conn.wait_closed()
        assert transport.stderr == "leaving"

    run(turn())


def test_a_child_that_is_killed() -> None:
    async def turn() -> None:
        transport = await child()
        async with aio.ClientConnection(transport) as conn:
            hanging = asyncio.ensure_future(conn.session_prompt(prompt("hang")))
            await conn.extension_call("_x/y")
            os.kill(transport.pid, signal.SIGKILL)
            with pytest.raises(aio.ConnectionClosed) as caught:
                await hanging
            assert (caught.value.reason, caught.value.returncode) == ("the process was killed by SIGKILL", -9)
            with pytest.raises(aio.ConnectionClosed):
                await conn.session_cancel(v1.CancelNotification(session_id=SESSION))

    run(turn())


@pytest.mark.parametrize("how", ["close", "exit", "kill"])
def test_the_group_ends_with_the_child(how: str) -> None:
    async def turn() -> None:
        transport = await child(grace=0.5)
        async with aio.ClientConnection(transport) as conn:
            answer = await conn.session_prompt(prompt("family"))
            assert answer.meta is not None
            grandchild = int(answer.meta["pid"])
            assert is_alive(grandchild)
            if how == "exit":
                with pytest.raises(aio.ConnectionClosed):
                    await conn.session_prompt(prompt("exit 0"))
            elif how == "kill":
                os.kill(transport.pid, signal.SIGKILL)
                await conn.wait_closed()
        assert await gone(grandchild)
        assert not is_alive(transport.pid)

    run(turn())


def test_a_child_that_does_not_listen_is_ended() -> None:
    async def turn() -> None:
        transport = await child(grace=0.2)
        async with aio.ClientConnection(transport, grace=0.2) as conn:
            await conn.extension_call("_x/echo")  # it has started
            blocking = asyncio.ensure_future(conn.session_prompt(prompt("block")))
            while "blocking" not in transport.stderr:
                await asyncio.sleep(0.01)
        with pytest.raises(aio.ConnectionClosed):
            await blocking
        assert transport.returncode == -signal.SIGTERM
        ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
        code = f"import signal, time; {ignore}; print('{{}}', flush=True); time.sleep(99)"
        transport = await aio.spawn([sys.executable, "-c", code], grace=0.2)
        assert await transport.receive() == [b"{}"]  # it does not hear the signal from now on
        await transport.close()
        assert transport.returncode == -signal.SIGKILL

    run(turn())


def test_the_output_of_a_child_that_has_gone_is_not_lost() -> None:
    # As much as is read before anybody takes it; then, when nothing more is read, what fits into a pipe.
    code = """
import sys, time
sys.stdout.write(("x" * 99 + "\\n") * 10_500)
sys.stdout.flush()
time.sleep(0.5)
sys.stdout.write(("x" * 99 + "\\n") * 500)
"""

    async def turn() -> None:
        transport = await aio.spawn([sys.executable, "-c", code])
        while transport.returncode is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(1.5)
        received = 0
        while lines := await transport.receive():
            received += len(lines)
        assert received == 11_000
        await transport.close()

    run(turn())


def test_output_that_somebody_else_holds_open_ends_with_the_child() -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '99']); print('{}')"

    async def turn() -> None:
        transport = await aio.spawn([sys.executable, "-c", code], grace=0.1)
        async with aio.ClientConnection(transport, on_problem=lambda _: None) as client:
            await client.wait_closed()
            assert client.closed is not None
            assert client.closed.reason == "the process exited with status 0"

    run(turn())


def test_commands_that_cannot_be_started() -> None:
    async def start() -> None:
        with pytest.raises(FileNotFoundError):
            await aio.spawn(["/no/such/program"])
        wrongs: tuple[list[str] | str, ...] = ([], "agent --acp")
        for wrong in wrongs:
            with pytest.raises(ValueError, match="must be a list"):
                await aio.spawn(wrong)

    run(start())


def test_long_messages_and_a_limit() -> None:
    async def turn() -> None:
        size = 32 * 1024 * 1024
        problems: list[aio.Problem] = []
        transport = await child(limit=size)
        async with aio.ClientConnection(transport, on_problem=problems.append) as conn:
            text = "x" * (size - 100)
            assert len(bytes(await conn.extension_call("_x/echo", text))) == len(text) + 2
            with pytest.raises(acp.MessageError, match=f"longer than {size} bytes"):
                await conn.extension_call("_x/echo", "x" * size)
            assert bytes(await conn.extension_call("_x/echo", 1)) == b"1"
        assert [p.kind for p in problems] == [aio.ProblemKind.UNREADABLE]
        assert problems[0].detail == f"A message is longer than {size} bytes"

    run(turn(), 60)


def test_descriptors_are_given_back() -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    async def turns() -> None:
        await one()
        before = descriptors()
        for _ in range(3):
            await one()
        assert descriptors() <= before

    async def one() -> None:
        async with aio.ClientConnection(await child()) as conn:
            await conn.extension_call("_x/echo")
            with pytest.raises(aio.ConnectionClosed):
                await conn.session_prompt(prompt("exit 1"))

    run(turns())


def test_input_and_output_may_be_files(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(INITIALIZE + INITIALIZE.replace(b'"id":1', b'"id":2'))
    with source.open("rb") as reading, target.open("wb") as writing:
        ran = subprocess.run(
            COMMAND, cwd=ROOT, env=ENV, stdin=reading, stdout=writing, stderr=subprocess.PIPE, check=True, timeout=30
        )
    answers = [b'{"jsonrpc":"2.0","id":%d,"result":[1]}\n' % n for n in (1, 2)]
    assert (ran.stderr, target.read_bytes()) == (b"", b"".join(answers) + b"after the end\n")


def test_the_streams_come_back_at_the_end() -> None:
    ran = subprocess.run(COMMAND, cwd=ROOT, env=ENV, input=INITIALIZE, capture_output=True, check=True, timeout=30)
    assert ran.stdout == b'{"jsonrpc":"2.0","id":1,"result":[1]}\nafter the end\n'
    assert ran.stderr == b""
    empty = subprocess.run(COMMAND, cwd=ROOT, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert (empty.stdout, empty.stderr) == (b"after the end\n", b"")


def test_an_unfinished_last_line_counts() -> None:
    ran = subprocess.run(
        COMMAND, cwd=ROOT, env=ENV, input=b"\r\n" + INITIALIZE.strip(), capture_output=True, check=True, timeout=30
    )
    assert ran.stdout.startswith(b'{"jsonrpc":"2.0","id":1,"result":[1]}\n')
    assert acp.LineSplitter().feed(ran.stdout)[-1] == b"after the end"


def test_a_start_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    async def turn() -> None:
        pids = tmp_path / "pids"
        line = f"sleep 3598 & echo $! >> {pids}; wait"

        async def cancelled_after(seconds: float) -> None:
            starting = asyncio.create_task(aio.spawn(["/bin/sh", "-c", line]))
            await asyncio.sleep(seconds)
            starting.cancel()
            await asyncio.wait([starting])
            if not starting.cancelled():
                await starting.result().close()

        await asyncio.gather(*map(cancelled_after, (0, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02)))
        await asyncio.sleep(0.2)  # for what should not be there
        for pid in pids.read_text(encoding="utf-8").split() if pids.exists() else ():
            assert await gone(int(pid))

    run(turn())


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_a_program_without_standard_input_or_output_is_told(closed: str) -> None:
    """Their numbers belong to something else then, such as the loop."""
    command = f"exec {sys.executable} -m tests.aio.child {closed}"
    ran = subprocess.run(["/bin/sh", "-c", command], cwd=ROOT, env=ENV, stderr=subprocess.PIPE, timeout=30, check=False)
    assert ran.returncode == 1
    assert ran.stderr.decode().splitlines()[-1].endswith("There is no standard input or no standard output")
