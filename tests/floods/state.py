"""Floods of the session state and its exports: each takes time in proportion to what the agent sends."""

import asyncio

import acp_msgspec as acp
from acp_msgspec import v1, v2, v2_unstable
from acp_msgspec.state import SessionState, Snapshot, replay_runs, to_html, to_markdown, transcript_prompt

from tests.floods.measure import flood

TICKS = "`" * 3
SIZE = 100_000


async def _export(shot: Snapshot) -> None:
    assert to_markdown(shot).startswith("# ")
    await _rest()
    assert to_html(shot).startswith("<!doctype")
    await _rest()
    assert transcript_prompt(shot, v1.TextContent)
    await _rest()


async def _all_said(*texts: str) -> None:
    for text in texts:
        state = SessionState()
        state.apply(v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=text)))
        await _export(state.snapshot)


async def _rest() -> None:
    """Let the loop go on: what is measured is each export."""
    await asyncio.sleep(0)


@flood()
async def state_spaces_after_a_fence() -> None:
    await _all_said(TICKS + " " * SIZE + "x y", TICKS + "\t " * (SIZE // 2), " " * SIZE + TICKS)


@flood()
async def state_fences_that_never_end() -> None:
    growing = "\n".join("`" * n + "a" for n in range(600, 3, -1))
    await _all_said(
        f"\n{TICKS}a" * (SIZE // 5), f"\n {TICKS}" * (SIZE // 5), growing, f"\n- {TICKS}x\n  a" * (SIZE // 12)
    )


@flood()
async def state_brackets_and_ticks() -> None:
    await _all_said(*(unit * (SIZE // len(unit)) for unit in ("[", "[`a", "[a](http://", "(`a` ", "\\`", "{=", "` ")))


@flood()
async def state_control_characters() -> None:
    await _all_said("\x1b" * SIZE, "\u202e" * SIZE, "\r" * SIZE, "\n" * SIZE)


@flood()
async def state_tiny_blocks() -> None:
    """Blocks that never join, each with an annotation of its own."""
    state = SessionState()
    for number in range(20_000):
        block = v1.TextContent(text="x", meta={"n": number})
        state.apply(v1.SessionUpdateAgentMessageChunk(content=block))
    assert len(state.snapshot.messages[0].blocks) == 20_000
    await _export(state.snapshot)


@flood()
async def state_plans_and_turns() -> None:
    state = SessionState()
    cancelled = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "cancelled"}
    for number in range(5_000):
        plan = {"type": "markdown", "planId": str(number), "content": "# a\n[b](c)"}
        state.apply(acp.convert({"sessionUpdate": "plan_update", "plan": plan}, type=v2_unstable.SessionUpdate))
        state.apply(v2.UserMessage(message_id=v2.MessageId(str(number)), content=[v2.TextContent(text="x")]))
        state.apply(v2.SessionUpdateToolCallUpdate(tool_call_id=v2.ToolCallId(str(number))))
        state.apply(acp.convert(cancelled, type=v2.SessionUpdate))
        if number % 100 == 0:
            await _rest()
    assert {call.status for call in state.snapshot.tool_calls} == {"cancelled"}
    await _rest()
    assert to_markdown(state.snapshot)


@flood()
async def state_terminals_mentioned_again_and_again() -> None:
    """One large output, which every tool call refers to."""
    state = SessionState()
    state.terminal_output("t", data=b"x" * 1_000_000)
    terminal = v1.Terminal(terminal_id=v1.TerminalId("t"))
    for number in range(200):
        content: list[v1.ToolCallContent] = [terminal] * 20
        state.apply(v1.ToolCall(tool_call_id=v1.ToolCallId(str(number)), title="x", content=content))
    await _rest()
    assert len(to_markdown(state.snapshot)) < 2_000_000
    await _rest()
    assert len(to_html(state.snapshot)) < 2_000_000


@flood()
async def state_output_of_many_terminals() -> None:
    """Commands that the agent has this client run, which print without end."""
    state = SessionState(output_limit=256 * 1024)
    for number in range(200):
        for _ in range(20):
            state.terminal_output(str(number), data=b"x" * 64 * 1024)
        await _rest()
    assert sum(len(terminal.output) for terminal in state.snapshot.terminals) <= 16 * 256 * 1024


@flood()
async def state_diffs_of_lines_that_repeat() -> None:
    lines = [f"{n * n % 151}\n" for n in range(4_000)], [f"{n * n * n % 151}\n" for n in range(4_000)]
    large = v1.Diff(path="f", old_text="".join(lines[0]), new_text="".join(lines[1]))
    small = v1.Diff(path="f", old_text="a\nb\n" * 40 + "c\n", new_text="b\na\n" * 40 + "d\n")
    for content in ([large], [small] * 300):
        state = SessionState()
        state.apply(v1.ToolCall(tool_call_id=v1.ToolCallId("t"), title="x", content=list(content)))
        assert to_markdown(state.snapshot)
        await _rest()


@flood()
async def state_transcript_of_batches() -> None:
    """Batches within batches, and sessions without end."""
    head = b'{"ts":"","dir":"client","message":'
    deep = head + b"[" * 900 + b'"' + b"x" * 500_000 + b'"' + b"]" * 900 + b"}"
    prompt = b'{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s%d","prompt":[]}}'
    many = [head + prompt % (number, number) + b"}" for number in range(3_000)]
    start = head + b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}'
    assert len(replay_runs([deep, *many], v1)[0]) == 3_000
    await _rest()
    resume = head + b'{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"gone","cwd":"/"}}}'
    assert len(replay_runs([start, resume] * 1_500, v1)) == 1
