"""The first step of a handler runs in the very call that brings its request, and behaves as in any task."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import msgspec
import pytest
from acp_msgspec import aio
from msgspec import Raw

from tests.aio.support import run
from tests.aio.wire import Wire

VARIABLE: ContextVar[str] = ContextVar("variable", default="none")
Step = Callable[[Any], Awaitable[Any]]


class Handler(aio.Agent):
    """Runs the step that a test gives it."""

    step: Step

    def __init__(self, conn: aio.AgentConnection) -> None:
        self.conn = conn
        self.log: list[Any] = []

    async def extension_request(self, method: str, params: Raw, /) -> Any:
        return await self.step(self)


def request(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "_x/step"}


def cancel(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": number}}


@pytest.fixture(params=["callback", "task"])
def how(request: pytest.FixtureRequest) -> str:
    """Whether messages come from a callback of the loop, where no task runs, or from another task."""
    return str(request.param)


def with_handler(step: Step, work: Callable[[Wire, Handler], Awaitable[None]], **options: Any) -> None:
    async def turn() -> None:
        wire = Wire()
        async with aio.AgentConnection(wire, Handler, **options) as conn:
            await asyncio.sleep(0)
            assert isinstance(conn.handler, Handler)
            conn.handler.step = step
            await work(wire, conn.handler)

    run(turn())


async def immediate(_: Handler) -> str:
    return "done"


def test_a_handler_that_does_not_wait_is_answered_at_once(how: str) -> None:
    async def work(wire: Wire, handler: Handler) -> None:
        for number in range(3):
            assert await wire.come(how, request(number)) == [{"jsonrpc": "2.0", "id": number, "result": "done"}]

    with_handler(immediate, work)


def test_the_current_task_is_that_of_the_request_throughout(how: str) -> None:
    async def step(handler: Handler) -> str:
        first = asyncio.current_task()
        assert first is not None
        handler.log.append(first)
        await asyncio.sleep(0)
        assert asyncio.current_task() is first
        await asyncio.sleep(0.001)
        assert asyncio.current_task() is first
        assert first in asyncio.all_tasks()
        return first.get_name()

    async def work(wire: Wire, handler: Handler) -> None:
        own = asyncio.current_task()
        assert await wire.come(how, request(1)) == []
        assert asyncio.current_task() is own
        assert await wire.answer(1) == "acp_msgspec: answering a request"
        assert handler.log[0] is not own

    with_handler(step, work)


def test_each_request_has_a_task_of_its_own(how: str) -> None:
    async def step(handler: Handler) -> str:
        handler.log.append(asyncio.current_task())
        return "done"

    async def work(wire: Wire, handler: Handler) -> None:
        await wire.come(how, request(1))
        await wire.come(how, request(2))
        assert len(set(map(id, handler.log))) == 2

    with_handler(step, work)


@pytest.mark.parametrize("seconds", [0, -1, 0.01])
def test_a_timeout_in_the_first_step(how: str, seconds: float) -> None:
    async def step(handler: Handler) -> str:
        try:
            async with asyncio.timeout(seconds):
                await asyncio.sleep(60)
        except TimeoutError:
            task = asyncio.current_task()
            assert task is not None
            assert not task.cancelling()
            await asyncio.sleep(0.001)
            return "timed out"
        return "not"

    async def work(wire: Wire, handler: Handler) -> None:
        await wire.come(how, request(1))
        assert await wire.answer(1) == "timed out"

    with_handler(step, work)


def test_a_task_group_in_the_first_step(how: str) -> None:
    async def step(handler: Handler) -> str:
        async def child(name: str) -> None:
            await asyncio.sleep(0.001)
            handler.log.append(name)

        async with asyncio.TaskGroup() as group:
            for name in "ab":
                group.create_task(child(name))
        return "".join(handler.log)

    async def work(wire: Wire, handler: Handler) -> None:
        await wire.come(how, request(1))
        assert await wire.answer(1) == "ab"

    with_handler(step, work)


def test_an_exception_group_of_the_first_step_is_an_error(how: str) -> None:
    problems: list[aio.Problem] = []

    async def step(handler: Handler) -> None:
        async def child() -> None:
            raise ValueError("no")

        async with asyncio.TaskGroup() as group:
            group.create_task(child())
            await asyncio.sleep(60)

    async def work(wire: Wire, handler: Handler) -> None:
        await wire.come(how, request(1))
        assert (await wire.answer(1))["data"] == {"detail": "ExceptionGroup"}
        (problem,) = problems
        assert isinstance(problem.error, ExceptionGroup)

    with_handler(step, work, on_problem=problems.append)


def test_an_exception_of_the_first_step_is_an_error_at_once(how: str) -> None:
    problems: list[aio.Problem] = []

    async def step(handler: Handler) -> None:
        raise ValueError("no")

    async def work(wire: Wire, handler: Handler) -> None:
        (answer,) = await wire.come(how, request(1))
        assert answer["error"]["code"] == -32603
        assert len(problems) == 1

    with_handler(step, work, on_problem=problems.append)


@pytest.mark.parametrize("waits", ["sleep", "loop", "task", "shield", "lock"])
@pytest.mark.parametrize("turns", [0, 1, 5])
def test_a_cancellation_reaches_what_the_first_step_waits_for(how: str, waits: str, turns: int) -> None:
    async def endless() -> None:
        while True:
            await asyncio.sleep(0)

    async def step(handler: Handler) -> str:
        inner: Any = {
            "sleep": lambda: asyncio.sleep(60),
            "loop": endless,
            "task": lambda: asyncio.ensure_future(asyncio.sleep(60)),
            "shield": lambda: asyncio.shield(asyncio.sleep(0.05)),
            "lock": asyncio.Event().wait,
        }[waits]()
        handler.log.append("begun")
        try:
            await inner
        except asyncio.CancelledError:
            handler.log.append("cancelled")
            if isinstance(inner, asyncio.Task):
                handler.log.append(inner.cancelled())
            await asyncio.sleep(0.001)  # a handler may tidy up
            handler.log.append("tidied")
            raise
        return "not"

    async def work(wire: Wire, handler: Handler) -> None:
        await wire.come(how, request(1))
        assert handler.log == ["begun"]
        for _ in range(turns):
            await asyncio.sleep(0)
        await wire.come(how, cancel(1))
        assert (await wire.answer(1))["code"] == -32800
        inner = [True] if waits == "task" else []
        assert handler.log == ["begun", "cancelled", *inner, "tidied"]
        await asyncio.sleep(0.06 if waits == "shield" else 0)

    with_handler(step, work)


def test_a_handler_may_refuse_its_cancellation(how: str) -> None:
    async def step(handler: Handler) -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return "all the same"

    async def work(wire: Wire, handler: Handler) -> None:
        await wire.come(how, request(1))
        await wire.come(how, cancel(1))
        assert await wire.answer(1) == "all the same"

    with_handler(step, work)


def test_a_handler_cancels_itself_in_its_first_step(how: str) -> None:
    async def step(handler: Handler) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        assert task.cancelling() == 1
        await asyncio.sleep(60)
        return "not"

    async def work(wire: Wire, handler: Handler) -> None:
        await wire.come(how, request(1))
        assert (await wire.answer(1))["code"] == -32800

    with_handler(step, work)


def test_a_future_that_is_done_before_the_task_continues(how: str) -> None:
    async def step(handler: Handler) -> Any:
        future = asyncio.get_running_loop().create_future()
        handler.log.append(future)
        return await future

    async def work(wire: Wire, handler: Handler) -> None:
        await wire.come(how, request(1))
        handler.log[0].set_result("early")
        assert await wire.answer(1) == "early"

    with_handler(step, work)


def test_context_variables_are_those_of_the_start_and_do_not_leak(how: str) -> None:
    async def step(handler: Handler) -> str:
        before = VARIABLE.get()
        VARIABLE.set("of a handler")
        await asyncio.sleep(0)
        assert VARIABLE.get() == "of a handler"
        return before

    async def turn() -> None:
        VARIABLE.set("at the start")
        wire = Wire()
        async with aio.AgentConnection(wire, Handler) as conn:
            await asyncio.sleep(0)
            assert isinstance(conn.handler, Handler)
            conn.handler.step = step
            VARIABLE.set("later")
            for number in range(2):
                await wire.come(how, request(number))
                assert await wire.answer(number) == "at the start"
            assert VARIABLE.get() == "later"

    run(turn())


def test_a_handler_closes_the_connection_in_its_first_step(how: str) -> None:
    async def step(handler: Handler) -> None:
        await handler.conn.close()
        handler.log.append("closed")
        await asyncio.sleep(60)

    async def work(wire: Wire, handler: Handler) -> None:
        await wire.come(how, request(1))
        async with asyncio.timeout(2):
            await handler.conn.wait_closed()
        assert handler.log == ["closed"]
        assert wire.sent == []

    with_handler(step, work)


def test_the_close_cancels_a_handler_that_waits_in_its_first_step(how: str) -> None:
    async def step(handler: Handler) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            handler.log.append("ended")

    async def work(wire: Wire, handler: Handler) -> None:
        await wire.come(how, request(1))
        await handler.conn.close()
        assert handler.log == ["ended"]

    with_handler(step, work)


def test_what_ends_the_loop_ends_it_from_the_first_step(how: str) -> None:
    async def step(handler: Handler) -> None:
        raise KeyboardInterrupt

    async def work(wire: Wire, handler: Handler) -> None:
        await wire.come(how, request(1))

    with pytest.raises(KeyboardInterrupt):
        with_handler(step, work)


def test_a_handler_calls_the_peer_in_its_first_step(how: str) -> None:
    async def step(handler: Handler) -> Any:
        return await handler.conn.extension_call("_x/back")

    async def work(wire: Wire, handler: Handler) -> None:
        (call,) = await wire.come(how, request(1))
        assert call["method"] == "_x/back"
        await wire.come(how, {"jsonrpc": "2.0", "id": call["id"], "result": "back"})
        assert await wire.answer(1) == "back"

    with_handler(step, work)


def test_all_that_a_first_step_sends_is_written_together(how: str) -> None:
    async def step(handler: Handler) -> str:
        for _ in range(3):
            await handler.conn.extension_notify("_x/note")
        return "done"

    async def work(wire: Wire, handler: Handler) -> None:
        sent = await wire.come(how, request(1))
        assert [m.get("method") for m in sent] == ["_x/note"] * 3 + [None]
        assert wire.writes == 1

    with_handler(step, work)


def test_a_flood_does_not_starve_the_loop() -> None:
    number = 5000

    class Flood(Wire):
        """A transport whose `receive` never waits."""

        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        async def receive(self) -> Sequence[bytes]:
            self.count += 1
            if self.count > number:
                return await super().receive()
            return [msgspec.json.encode(request(self.count))]

    async def turn() -> None:
        flood, turns = Flood(), 0
        async with aio.AgentConnection(flood, Handler) as conn:
            assert isinstance(conn.handler, Handler)
            conn.handler.step = immediate
            while len(flood.sent) < number:
                await asyncio.sleep(0)
                turns += 1
        assert turns >= number // 200

    run(turn())


def test_a_request_behind_an_answer_waits_until_the_caller_has_seen_it(how: str) -> None:
    async def work(wire: Wire, handler: Handler) -> None:
        order: list[str] = []
        call = asyncio.ensure_future(handler.conn.extension_call("_x/out"))
        call.add_done_callback(lambda _: order.append("answered"))

        async def step(_: Handler) -> None:
            order.append("begun")

        handler.step = step
        await asyncio.sleep(0)
        answer = {"jsonrpc": "2.0", "id": wire.sent[0]["id"], "result": None}
        assert await wire.come(how, answer, request(1)) == []
        await wire.answer(1)
        assert order == ["answered", "begun"]
        # Once nothing has come for a while, a request starts at once again.
        await asyncio.sleep(0.3)
        assert len(await wire.come(how, request(2))) == 1

    with_handler(immediate, work)
