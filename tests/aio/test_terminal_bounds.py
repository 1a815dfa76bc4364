"""How many terminals there may be, how much of their output is kept, and for how long."""

import asyncio
import os
import shutil
import signal
from typing import Any

import acp_msgspec as acp
import pytest
from acp_msgspec import aio

from tests.aio.support import run
from tests.aio.terminals import DONE, KILLED, SESSION, gone, ran, shell, until

fcntl: Any = pytest.importorskip("fcntl", reason="the commands are those of a POSIX shell")
pytestmark = pytest.mark.usefixtures("nothing_is_left")


def test_terminals_have_a_number() -> None:
    async def turn() -> None:
        terminals = aio.Terminals(max_open=3)
        made = [await terminals.create(SESSION, "true") for _ in range(3)]
        for number in made:  # what has ended counts, as its output is kept
            await terminals.wait(SESSION, number)
        with pytest.raises(acp.InvalidParams) as caught:
            await terminals.create("another", "true")
        assert caught.value.data == {
            "command": "true",
            "detail": "there are 3 terminals open already; release some of them",
        }
        await terminals.release(SESSION, made[0])
        made = [await terminals.create(SESSION, "true")]
        await terminals.close()
        results = await asyncio.gather(*(terminals.create(SESSION, "true") for _ in range(9)), return_exceptions=True)
        assert [isinstance(result, str) for result in results].count(True) == 3
        with pytest.raises(acp.InvalidParams):
            await terminals.create(SESSION, "true")
        await terminals.close()
        for _ in range(5):  # a start that fails takes no place
            with pytest.raises(acp.InvalidParams):
                await terminals.create(SESSION, "no-such-command")
        assert await terminals.wait(SESSION, await terminals.create(SESSION, "true")) == DONE
        await terminals.close()

    run(turn())


def test_a_place_is_taken_while_the_policy_thinks() -> None:
    go = asyncio.Event()

    async def allow(_: aio.Command) -> bool:
        return await go.wait()

    async def turn() -> None:
        terminals = aio.Terminals(max_open=2, allow=allow)
        first = [asyncio.create_task(terminals.create(SESSION, "true")) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(acp.InvalidParams):
            await terminals.create(SESSION, "true")
        first[0].cancel()
        await asyncio.wait(first[:1])
        go.set()
        await terminals.create(SESSION, "true")
        await first[1]
        await terminals.close()

    run(turn())


def test_output_stays_visible_after_release() -> None:
    async def turn() -> None:
        terminals = aio.Terminals()
        first = await shell(terminals, "echo one; exit 3")
        other = await terminals.create("other", "sleep", ["1000"])
        await terminals.wait(SESSION, first)
        views = terminals.snapshot()
        assert [(v.terminal_id, v.session, v.released) for v in views] == [
            (first, SESSION, False),
            (other, "other", False),
        ]
        assert (views[0].output, views[0].status) == ("one\n", aio.ExitStatus(exit_code=3, signal=None))
        assert (views[1].command, views[1].status) == ("sleep 1000", None)
        await terminals.release(SESSION, first)
        assert [v.terminal_id for v in terminals.snapshot("other")] == [other]
        (view,) = terminals.snapshot(SESSION)
        assert (view.output, view.truncated, view.released) == ("one\n", False, True)
        await terminals.close()
        assert [(v.terminal_id, v.released, v.output) for v in terminals.snapshot()] == [
            (first, True, "one\n"),
            (other, True, ""),
        ]
        assert terminals.snapshot("other")[0].status == KILLED
        with pytest.raises(acp.ResourceNotFound):
            terminals.output(SESSION, first)
        for _ in range(70):
            await ran(terminals, "true")
        assert len(terminals.snapshot()) == 64

    run(turn())


def test_a_listener_hears_all_and_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    events: list[aio.TerminalEvent] = []

    def listen(event: aio.TerminalEvent) -> None:
        events.append(event)
        raise ZeroDivisionError

    async def turn() -> None:
        terminals = aio.Terminals("/", on_output=listen)
        number = await shell(terminals, "seq 100000; exit 4", limit=10)
        assert (events[0].terminal_id, events[0].session, events[0].cwd) == (number, SESSION, "/")
        assert events[0].command == "/bin/sh -c 'seq 100000; exit 4'"
        await terminals.wait(SESSION, number)
        assert terminals.output(SESSION, number)[0] == "99\n100000\n"
        await terminals.release(SESSION, number)
        whole = b"".join(event.data for event in events)
        assert whole == b"".join(b"%d\n" % n for n in range(1, 100001))
        assert [(e.exit_code, e.signal) for e in events if e.exited] == [(4, None)]
        assert events[-1].exited
        events.clear()
        quiet = await shell(terminals, "exec sleep 1000")
        assert [event.data for event in events] == [b""]
        await terminals.kill(SESSION, quiet)
        assert [(e.exit_code, e.signal) for e in events if e.exited] == [(None, "SIGKILL")]
        await terminals.close()

    run(turn())
    assert [r.message for r in caplog.records if r.exc_info] == ["on_output raised"] * 2


def test_all_output_together_has_a_bound() -> None:
    async def turn() -> None:
        terminals = aio.Terminals(max_bytes=100_000, max_total=150_000)
        small = await shell(terminals, "printf small")
        gone = await shell(terminals, "head -c 60000 /dev/zero | tr '\\0' r")
        for number in (small, gone):
            await terminals.wait(SESSION, number)
        await terminals.release(SESSION, gone)
        assert len(terminals.snapshot()) == 2
        great = [await shell(terminals, f"head -c 1000000 /dev/zero | tr '\\0' {n}") for n in range(5)]
        for number in great:
            await terminals.wait(SESSION, number)
        views = {view.terminal_id: view for view in terminals.snapshot()}
        assert gone not in views  # released ones go first
        assert (views[small].output, views[small].truncated) == ("small", False)
        assert sum(len(view.output) for view in views.values()) <= 150_000
        assert all(views[number].truncated and len(views[number].output) > 5_000 for number in great)
        await terminals.close()

    run(turn())


@pytest.mark.skipif(shutil.which("setsid") is None, reason="nothing leaves its group here")
def test_a_release_that_is_cancelled_closes_the_terminal_all_the_same() -> None:
    async def turn() -> None:
        terminals = aio.Terminals()
        number = await shell(terminals, "setsid sh -c 'echo $$; exec sleep 1000' & exec sleep 1000")
        await until(terminals, number, "\n")
        child = int(terminals.output(SESSION, number)[0])
        releasing = asyncio.create_task(terminals.release(SESSION, number))
        await asyncio.sleep(0)
        releasing.cancel()
        await asyncio.wait([releasing])
        await asyncio.sleep(0.1)
        os.killpg(child, signal.SIGKILL)
        await gone(child)
        assert terminals.snapshot()[0].status == KILLED

    run(turn())


def test_what_is_kept_of_a_command_has_a_bound() -> None:
    """A command may have two megabytes of arguments, and a session's id may be as long as a message."""
    events: list[aio.TerminalEvent] = []

    async def turn() -> None:
        terminals = aio.Terminals(on_output=events.append)
        number = await terminals.create(SESSION, "true", ["ab"] * 100_000)
        await terminals.wait(SESSION, number)
        await terminals.close()
        assert [len(view.command) for view in terminals.snapshot()] == [16384]
        assert {len(event.command) for event in events} == {16384}
        with pytest.raises(acp.InvalidParams):
            await terminals.create("s" * 65_537, "true")

    run(turn())
