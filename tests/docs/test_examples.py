"""The examples of the documentation run, against each other."""

import asyncio
import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from acp_msgspec import v1
from acp_msgspec.aio import Client, ClientConnection, Transport, connect_websocket, spawn

from tests.aio.support import run
from tests.support import ROOT

EXAMPLES = ROOT / "docs" / "examples"
ENV = {**os.environ, "PYTHONPATH": str(ROOT / "generated"), "COLUMNS": "100", "TERM": "dumb", "PYTHONUNBUFFERED": "1"}


def _command(name: str, *arguments: str) -> list[str]:
    return [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments]


class _Listener(Client):
    def __init__(self) -> None:
        self.text = ""

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        assert isinstance(params.update, v1.SessionUpdateAgentMessageChunk)
        assert isinstance(params.update.content, v1.TextContent)
        self.text += params.update.content.text


async def _echo(transport: Transport) -> None:
    listener = _Listener()
    async with ClientConnection(transport, listener) as agent:
        await agent.negotiate()
        session = (await agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[]))).session_id
        prompt = v1.PromptRequest(session_id=session, prompt=[v1.TextContent(text="to be or not to be")])
        assert (await agent.session_prompt(prompt)).stop_reason is v1.StopReason.END_TURN
        assert listener.text == "to be or not to be "
        turn = asyncio.create_task(agent.session_prompt(prompt))
        await asyncio.sleep(0.06)
        await agent.session_cancel(v1.CancelNotification(session_id=session))
        assert (await turn).stop_reason is v1.StopReason.CANCELLED


def test_echo() -> None:
    async def talk() -> None:
        await _echo(await spawn(_command("echo_agent"), env=ENV))

    run(talk())


@pytest.mark.slow
def test_bridge() -> None:
    bridge = subprocess.Popen(
        _command("bridge", "--port", "0", "--token", "t", *_command("echo_agent")),
        env=ENV,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert bridge.stdout is not None
    try:
        url = bridge.stdout.readline().strip()

        async def talk() -> None:
            with pytest.raises(ConnectionRefusedError, match="401"):
                await connect_websocket(url)
            first, second = await connect_websocket(url, token="t"), await connect_websocket(url, token="t")
            await asyncio.gather(_echo(first), _echo(second))

        run(talk())
    finally:
        bridge.send_signal(signal.SIGINT)
        assert bridge.wait(10) == 130
        bridge.stdout.close()


def _chat(target: list[str], said: str, folder: Path) -> str:
    """Run the chat with an agent, and say lines to it; gives what it shows."""
    chat = subprocess.run(
        _command("chat", *target),
        input=said,
        cwd=folder,
        env=ENV,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (chat.returncode, chat.stderr) == (0, "")
    return chat.stdout


@pytest.mark.slow
def test_the_chat_over_websocket(tmp_path: Path) -> None:
    bridge = subprocess.Popen(
        _command("bridge", "--port", "0", *_command("echo_agent")), env=ENV, stdout=subprocess.PIPE, text=True
    )
    assert bridge.stdout is not None
    try:
        shown = _chat([bridge.stdout.readline().strip()], "to be\nor not\n\n", tmp_path)
    finally:
        bridge.send_signal(signal.SIGINT)
        assert bridge.wait(10) == 130
        bridge.stdout.close()
    assert shown == "> to be \n(end_turn)\n> or not \n(end_turn)\n> "


@pytest.mark.parametrize(("answer", "text"), [("y", "bye world\n"), ("n", "hello world\n")])
@pytest.mark.slow
def test_the_chat_edits_a_file_with_leave(answer: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("hello world\n", encoding="utf-8")
    shown = _chat(_command("edit_agent"), f"replace hello by bye in {file}\n{answer}\n\n", tmp_path)
    assert file.read_text(encoding="utf-8") == text
    assert f"[pending] Edit {file}" in shown
    assert ("[completed]" if answer == "y" else "[failed]") in shown
    assert "(end_turn)" in shown


def _answering(agent: list[str], said: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the client of the terminal with an agent, and say lines to it."""
    command = _command("terminal_client", *agent)
    return subprocess.run(
        command, input=said, cwd=folder, env=ENV, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(("answer", "text"), [("y", "bye world\n"), ("n", "hello world\n")])
@pytest.mark.slow
def test_the_client_edits_a_file_with_leave(answer: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("hello world\n", encoding="utf-8")
    client = _answering(_command("edit_agent"), f"replace hello by bye in {file}\n{answer}\n\n", tmp_path)
    assert (client.returncode, client.stderr) == (0, "")
    assert file.read_text(encoding="utf-8") == text
    assert "-hello world" in client.stdout
    assert "+bye world" in client.stdout
    assert ("is edited" if answer == "y" else "stays as it is") in client.stdout


@pytest.mark.slow
def test_the_client_shows_what_it_asks_about(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one\n", encoding="utf-8")
    agent = tmp_path / "agent.py"  # one that uses its ids anew in each turn
    code = (EXAMPLES / "edit_agent.py").read_text(encoding="utf-8")
    agent.write_text(code.replace("token_hex(8)", '"same"'), encoding="utf-8")
    said = f"replace one by two in {file}\ny\nreplace two by three in {file}\ny\n\n"
    client = _answering([sys.executable, str(agent)], said, tmp_path)
    assert (client.returncode, client.stderr, file.read_text(encoding="utf-8")) == (0, "", "three\n")
    assert client.stdout.index("+three") < client.stdout.rindex("(y)es")


@pytest.mark.slow
def test_the_client_cancels_a_turn() -> None:
    ours, theirs = pty.openpty()  # rich draws in a terminal only
    client = subprocess.Popen(
        _command("terminal_client", *_command("echo_agent")),
        env={**ENV, "TERM": "xterm"},
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    assert client.stdin is not None
    assert client.stderr is not None
    client.stdin.write(b"first " + b"next " * 1000 + b"last\n")  # nearly a minute
    client.stdin.flush()
    shown = b""
    while b"Agent" not in shown:
        shown += os.read(ours, 65536)
    client.send_signal(signal.SIGINT)
    client.stdin.write(b"\n")
    client.stdin.close()
    with suppress(OSError):  # what a terminal gives at its end
        while more := os.read(ours, 65536):
            shown += more
    assert (client.wait(10), client.stderr.read()) == (0, b"")
    assert b"cancelled" in shown
    client.stderr.close()
    os.close(ours)


@pytest.mark.slow
def test_what_does_not_start_is_one_line() -> None:
    client = subprocess.run(
        _command("terminal_client", "/no/such/agent"), env=ENV, capture_output=True, text=True, timeout=60, check=False
    )
    assert (client.returncode, client.stdout) == (1, "")
    assert client.stderr.splitlines() == ["error: [Errno 2] No such file or directory: '/no/such/agent'"]


def test_examples_are_short() -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in EXAMPLES.glob("*.py")}
    assert len(lengths) == 5
    assert lengths["chat.py"] <= 40
    assert all(length < 80 for length in lengths.values()), lengths
