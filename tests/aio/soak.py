"""A long run against a peer process that is killed again and again: `python -m tests.aio.soak` (a million messages).

Each life of the peer is one connection with many sessions at work at once: notifications, prompts that stream chunks
and ask back, slow handlers, turns that are cancelled in three ways. Checked throughout:

- what an answer acknowledges has arrived: all chunks of the turn, in order, before the answer;
- a peer that lives on handles each notification once;
- when the peer dies, every pending call ends with `ConnectionClosed`;
- after each life the tasks and descriptors of this process are as many as after the first, and no memory grows.
"""

import argparse
import asyncio
import gc
import json
import os
import random
import signal
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from acp_msgspec import RequestCancelled, v1
from acp_msgspec.aio import Client, ClientConnection, ConnectionClosed, Problem, ProblemKind, spawn

from tests.aio.soak_agent import Wish
from tests.support import ROOT

WORKERS = 16
GROWTH = 8 * 2**20
"""So many bytes more or less are no growth, but what an allocator keeps."""
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Report:
    """What a run counted."""

    seed: int
    messages: int = 0
    lives: int = 0
    killed: int = 0
    turns: Counter[str] = field(default_factory=Counter[str])
    faults: list[str] = field(default_factory=list[str])
    memory: list[int] = field(default_factory=list[int])
    """The resident bytes of this process after each life."""
    peer_memory: list[int] = field(default_factory=list[int])
    """The resident bytes of the last peer, which lives long, now and then."""

    def fault(self, text: str) -> None:
        if len(self.faults) < 20:
            self.faults.append(text)


class SoakClient(Client):
    """Keeps the chunks of each session's current turn, in order of their handling."""

    def __init__(self, report: Report, dice: random.Random) -> None:
        self.report = report
        self.dice = dice
        self.chunks: dict[str, list[tuple[int, int]]] = defaultdict(list)

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        self.report.messages += 1
        if self.dice.random() < 0.001:
            await asyncio.sleep(self.dice.random() * 0.01)
        update = params.update
        assert isinstance(update, v1.SessionUpdateAgentMessageChunk)
        assert isinstance(update.content, v1.TextContent)
        turn, number, _ = update.content.text.split(":")
        self.chunks[params.session_id].append((int(turn), int(number)))

    async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        self.report.messages += 2
        if self.dice.random() < 0.05:
            await asyncio.sleep(self.dice.random() * 0.01)
        return v1.ReadTextFileResponse(content=params.path)


class Life:
    """One connection to one peer."""

    def __init__(self, report: Report, dice: random.Random, budget: int) -> None:
        self.report = report
        self.dice = dice
        self.end = report.messages + budget
        self.client = SoakClient(report, dice)

    async def run(self, *, kill: bool) -> None:
        command = [sys.executable, "-m", "tests.aio.soak_agent"]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'generated'}{os.pathsep}{ROOT}"}
        transport = await spawn(command, cwd=ROOT, env=environment)

        def problem(told: Problem) -> None:
            # A peer that is killed may leave half a line behind.
            if not (kill and told.kind is ProblemKind.UNREADABLE and "truncated" in told.detail):
                self.report.fault(str(told))

        async with ClientConnection(transport, self.client, on_problem=problem) as agent:
            workers = [asyncio.create_task(self.work(agent, f"s{n}")) for n in range(WORKERS)]
            killer = asyncio.create_task(self.kill(transport.pid)) if kill else None
            watcher = None if kill else asyncio.create_task(self.watch(transport.pid))
            done = await asyncio.gather(*workers, return_exceptions=True)
            for why in done:
                if not (why is None or (kill and isinstance(why, ConnectionClosed))):
                    self.report.fault(f"a worker ended with {why!r}")
            for task in (killer, watcher):
                if task is not None:
                    if task is watcher:
                        task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
            if kill:
                await agent.wait_closed()
                if transport.returncode != -signal.SIGKILL:
                    self.report.fault(f"the killed peer has the status {transport.returncode}")
        self.report.lives += 1

    async def kill(self, pid: int) -> None:
        """Kill the peer once a part of the budget is spent."""
        moment = self.end - self.dice.randrange(1, max(2, (self.end - self.report.messages) // 2))
        while self.report.messages < moment:
            await asyncio.sleep(0.001)
        os.kill(pid, signal.SIGKILL)
        self.report.killed += 1

    async def watch(self, pid: int) -> None:
        """Sample the memory of a peer that lives long."""
        while True:
            await asyncio.sleep(0.5)
            self.report.peer_memory.append(resident(pid))

    async def work(self, agent: ClientConnection, cwd: str) -> None:
        """Take turns in one session until the budget is spent, or the peer is gone."""
        report, dice = self.report, self.dice
        session = (await agent.session_new(v1.NewSessionRequest(cwd=cwd, mcp_servers=[]))).session_id
        notes = turn = 0
        while report.messages < self.end or turn == 0:
            for _ in range(dice.randrange(4)):
                slow = 0.002 if dice.random() < 0.02 else 0
                await agent.extension_notify("_soak/note", {"session": session, "slow": slow})
                notes += 1
                report.messages += 1
            turn += 1
            wish = Wish(
                turn,
                chunks=dice.choice([0, 1, 10, 100, 300]),
                asks=dice.choice([0, 0, 5, 40]),
                slow=0.001 if dice.random() < 0.05 else 0,
                padding=20_000 if dice.random() < 0.01 else dice.randrange(80),
            )
            report.turns[await self.turn(agent, session, wish)] += 1
        handled = -1
        async with asyncio.timeout(10):
            while handled != notes:
                handled = msgspec.json.decode(await agent.extension_call("_soak/notes", session), type=int)

    async def turn(self, agent: ClientConnection, session: v1.SessionId, wish: Wish) -> str:
        """Send one prompt, perhaps cancel it, and check what its answer acknowledges."""
        report, dice = self.report, self.dice
        self.client.chunks[session].clear()
        block = v1.TextContent(text=msgspec.json.encode(wish).decode())
        report.messages += 2
        way = dice.choice(["", "", "", "session/cancel", "task", "timeout"])
        timeout = dice.random() * 0.02 if way == "timeout" else None
        call = asyncio.create_task(
            agent.session_prompt(v1.PromptRequest(session_id=session, prompt=[block]), timeout=timeout)
        )
        if way in ("session/cancel", "task"):
            await asyncio.wait([call], timeout=dice.random() * 0.02)
            if way == "task":
                call.cancel()
            else:
                with suppress(ConnectionClosed):  # the call tells as much
                    await agent.session_cancel(v1.CancelNotification(session_id=session))
                report.messages += 1
        try:
            answer = await call
        except asyncio.CancelledError:
            return "given up"
        except TimeoutError:
            return "out of time"
        except RequestCancelled:
            report.fault("an answer came to a call that was given up")
            return "cancelled by the peer"
        meta: dict[str, Any] = answer.meta or {}
        seen = [chunk for chunk in self.client.chunks[session] if chunk[0] == wish.turn]
        sent = meta.get("sent", len(seen))  # a turn that was cancelled does not say how far it came
        if seen != [(wish.turn, number) for number in range(sent)]:
            report.fault(f"{session}, turn {wish.turn}: {sent} chunks acknowledged, {len(seen)} seen")
        return str(answer.stop_reason)


def resident(pid: int) -> int:
    """Give the resident bytes of a process, 0 where it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def descriptors() -> int:
    """Count the open descriptors of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def soak(messages: int, kills: int, seed: int) -> Report:
    """Run: half of the messages in lives that end by a kill, the rest in one long life."""
    report, dice = Report(seed), random.Random(seed)
    tasks: int | None = None
    fds: int | None = None
    for life in range(kills + 1):
        is_last = life == kills
        budget = messages - report.messages if is_last else messages // 2 // kills
        await Life(report, dice, budget).run(kill=not is_last)
        gc.collect()
        left = len(asyncio.all_tasks())
        open_now = descriptors()
        tasks, fds = tasks or left, fds or open_now
        if (left, open_now) != (tasks, fds):
            report.fault(f"after life {life}: {left} tasks instead of {tasks}, {open_now} descriptors instead of {fds}")
        report.memory.append(resident(os.getpid()))
    for name, samples in (("this process", report.memory), ("the peer", report.peer_memory)):
        if samples and samples[-1] - samples[len(samples) // 10] > GROWTH:
            report.fault(f"the memory of {name} grew by {samples[-1] - samples[len(samples) // 10]} bytes")
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description="Run two peers against each other for long, and kill one often.")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    report = asyncio.run(soak(asked.messages, asked.kills, asked.seed))
    shown = dict(vars(report))
    for name in ("memory", "peer_memory"):
        samples = shown.pop(name)
        places = {"first": 0, "middle": len(samples) // 2, "last": -1}
        shown[name] = {word: round(samples[place] / 2**20, 1) for word, place in places.items()} if samples else {}
    print(json.dumps(shown, indent=1))
    raise SystemExit(1 if report.faults else 0)


if __name__ == "__main__":
    main()
