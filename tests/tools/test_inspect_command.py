"""The inspector as a process: terminals, pipes, files that grow, memory, options, and a vendored copy."""

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import ROOT, shown_on
from tests.tools.inspect_support import (
    COMMAND,
    CONVERSATION,
    ENVIRONMENT,
    Inspect,
    Run,
    chunk,
    message,
    prompt,
    run,
    tool_call,
)

CANCEL = message(method="session/cancel", params={"sessionId": "s"})
TRIED = 200
"""How often something that must come is waited for, half a second each time."""


def _on_terminal(arguments: list[str], out: int | None = None, **environment: str) -> tuple[int, str]:
    """Run the command on a terminal of 100 columns; with `out`, its standard output goes there instead."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 100))
    settings = {**ENVIRONMENT, "TERM": "xterm", **environment}
    command = [*COMMAND, *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, env=settings, stdin=theirs, stdout=theirs if out is None else out, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = shown_on(ours)
        status = process.wait()
    return status, shown.decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_colour(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"{CANCEL}\n{chunk('x' * 500)}\nnoise\n", encoding="utf-8")
    status, shown = _on_terminal([str(log)])
    assert status == 1
    assert re.search(r"\x1b\[36m→\x1b\[0m \x1b\[36msession/cancel", shown)
    assert re.search(r"\x1b\[31m! No JSON object", shown)
    plain = re.sub(r"\x1b\[\d*m", "", shown)
    assert max(map(len, plain.splitlines())) <= 100
    piped = run(str(log))
    assert "\x1b" not in piped.out + piped.err
    assert [line[:60] for line in plain.splitlines()] == [line[:60] for line in piped.out.splitlines()]
    assert "\x1b" not in _on_terminal([str(log)], NO_COLOR="1")[1]
    assert "\x1b" not in _on_terminal([str(log)], TERM="dumb")[1]
    assert "\x1b[36m" in run(str(log), "--color", "always").out
    assert "\x1b" not in _on_terminal([str(log), "--color", "never"])[1]


@pytest.mark.slow
def test_progress(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"{chunk('x' * 1000)}\n" * 40_000, encoding="utf-8")
    with (tmp_path / "out").open("wb") as out:
        status, shown = _on_terminal([str(log)], out=out.fileno())
    assert status == 0
    assert re.search(r"\r\[#+ +\] +\d+%  [\d,]+ lines, \d+ MB/s", shown)
    assert shown.endswith("\r\x1b[K")  # it wipes itself away
    assert "[#" not in (tmp_path / "out").read_text(encoding="utf-8")
    assert run(str(log), "--errors").err == ""


@pytest.mark.slow
def test_standard_input() -> None:
    done = run("-", given=CONVERSATION.read_bytes())
    assert (done.status, done.err) == (1, "")
    assert done.out == run(str(CONVERSATION)).out
    assert done.out == run("-", "--follow", given=CONVERSATION.read_bytes()).out


@pytest.mark.slow
def test_streams_that_cannot_show_arrows() -> None:
    done = run(str(CONVERSATION), PYTHONIOENCODING="ascii")
    assert "  -> session/prompt #2 " in done.out
    assert "  <~ session/prompt #2 " in done.out
    assert done.out.isascii()


@pytest.mark.slow
def test_broken_pipe_and_full_disk(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"{CANCEL}\n" * 50_000, encoding="utf-8")
    for form in ("", "--json"):
        shell = f"{' '.join(COMMAND)} {log} {form} | head -n 1"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", shell], env=ENVIRONMENT, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*COMMAND, str(log)], env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (ended.returncode, ended.stderr) == (2, "error: stdout: no space left on device\n")


@pytest.mark.slow
def test_closed_streams() -> None:
    for closing, told in (
        (">&-", "error: there is no standard output\n"),
        ("<&-", "error: -: there is no standard input\n"),
    ):
        shell = f"{' '.join(COMMAND)} - {closing}"
        done = subprocess.run(["bash", "-c", shell], env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


@pytest.mark.slow
def test_interrupted(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    command = [*COMMAND, "-", "--html", str(page)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=ENVIRONMENT, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        process.stdin.write(CANCEL.encode() * 100_000)  # more than a pipe holds, so it has begun to read
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert (process.returncode, err) == (130, b"")
    assert list(tmp_path.iterdir()) == []


class _Follower:
    """The command following a file, and what it has written so far."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.out: bytes = b""

    def until(self, wanted: str) -> None:
        """Wait for a text in the output."""
        assert self.process.stdout is not None
        for _ in range(TRIED):
            if wanted in self.out.decode():
                return
            if select.select([self.process.stdout], [], [], 0.5)[0]:
                self.out += os.read(self.process.stdout.fileno(), 65536)
        raise AssertionError(f"{wanted!r} never came:\n{self.out.decode()}")

    def end(self) -> Run:
        """Interrupt it."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        return Run(self.process.returncode, (self.out + out).decode(), err.decode())


@contextmanager
def _following(*arguments: str) -> Generator[_Follower]:
    pipe = subprocess.PIPE
    with subprocess.Popen([*COMMAND, *arguments, "--follow"], env=ENVIRONMENT, stdout=pipe, stderr=pipe) as process:
        try:
            yield _Follower(process)
        finally:
            process.kill()


def _append(log: Path, text: str) -> None:
    with log.open("a", encoding="utf-8") as stream:
        stream.write(text)


@pytest.mark.slow
def test_follow(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"12:00:00 -> {prompt(1)}\n", encoding="utf-8")
    with _following(str(log)) as follower:
        follower.until("     1  12:00:00.000  → session/prompt #1")
        answer = f"12:00:01 <- {message(id=1, result={'stopReason': 'end_turn'})}\n"
        _append(log, answer[:40])
        _append(log, answer[40:] + f"-> {CANCEL}\n")
        follower.until("     3                → session/cancel")
        log.write_text(f"-> {prompt(2)}\n", encoding="utf-8")  # made shorter
        follower.until("     1                → session/prompt #2")
        log.rename(tmp_path / "log.1")
        log.write_text(f"-> {prompt(3)}\n", encoding="utf-8")  # replaced
        follower.until("     1                → session/prompt #3")
        _append(log, CANCEL[:20])
        follower.until("the file was replaced")
        ended = follower.end()
    assert (ended.status, ended.err) == (1 if "broken" in ended.out else 0, "")
    assert "(1.0 s) end_turn" in ended.out
    assert ended.out.count("# the file was truncated\n") == ended.out.count("# the file was replaced\n") == 1
    assert re.search(r"^\n\d messages in [56] lines", ended.out[ended.out.rindex("\n\n") + 1 :])
    assert "2 requests without an answer: line 1 session/prompt, line 1 session/prompt\n" in ended.out


@pytest.mark.slow
def test_a_pipe_is_followed_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with _following(str(pipe)) as follower:
        with pipe.open("w", encoding="utf-8") as stream:
            stream.write(f"{CANCEL}\n")
            stream.flush()
            follower.until("session/cancel")
            stream.write(f"{CANCEL}\n")
        out, err = follower.process.communicate(timeout=60)
    assert (follower.process.returncode, err) == (0, b"")
    assert b"2 messages in 2 lines" in out


@pytest.mark.slow
def test_follow_into_a_page(tmp_path: Path) -> None:
    log, page = tmp_path / "log", tmp_path / "page.html"
    log.write_text(f"{CANCEL}\n", encoding="utf-8")
    with _following(str(log), "--json", "--html", str(page)) as follower:
        follower.until("session/cancel")
        assert not page.exists()
        ended = follower.end()
    assert (ended.status, ended.err) == (0, "")
    assert ended.summary["messages"] == 1
    assert 'id="l1"' in page.read_text(encoding="utf-8")


MEASURE = """
import sys
from acp_msgspec.tools.cli import main
from tests.floods.measure import peak
status = main(["inspect", *sys.argv[1:]])
print(status, peak(), file=sys.stderr)
"""


def _peak(*arguments: str) -> int:
    """Run the command in a process and give the most memory it took, in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *arguments],
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    status, peak = done.stderr.split()
    assert status == "0"
    return int(peak)


@pytest.mark.parametrize("form", ["text", "json", "html", "unanswered", "methods", "keys", "titles", "last"])
@pytest.mark.endurance
def test_memory_is_bounded(form: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    options = {
        "json": ["--json"],
        "html": ["--html", str(tmp_path / "page.html"), "--limit", "100"],
        "last": ["--last", "900"],
    }.get(form, [])
    peaks: list[int] = []
    for number in (30_000, 120_000):
        with log.open("w", encoding="utf-8") as stream:
            for i in range(number):
                match form:
                    case "keys":
                        line = message(method="session/cancel", params={"sessionId": "s", f"{i:060}": i})
                    case "titles":
                        line = tool_call(f"{i:060}", title=f"{i:0150}")
                    case "last":
                        line = chunk(f"{i:0500}")
                    case "unanswered":
                        line = message(id=f"{i:0100}", method="session/list", params={})
                    case "methods":
                        line = message(method=f"_{i:060}", params={"sessionId": f"{i:060}"})
                    case _:
                        line = chunk("x" * 60)
                stream.write(line + "\n")
        peaks.append(_peak(str(log), *options))
    assert peaks[1] - peaks[0] < 4_000_000


def test_given_up_requests_are_told(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acp_msgspec.tools.inspect.pending.MAX_PENDING", 3)
    lines = [message(id=i, method="session/list", params={}) for i in range(5)]
    done = inspect.text(*lines, *(message(id=i, result={"sessions": []}) for i in range(5)))
    assert "2 requests without an answer: line 1 session/list, line 2 session/list\n" in done.out
    assert "2 requests given up, since too many waited at once\n" in done.out
    assert "2 responses without a request: lines 6, 7\n" in done.out


def test_many_places_are_cut(inspect: Inspect) -> None:
    out = inspect.text(*["noise"] * 30).out
    assert "30 broken lines: lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …\n" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{folder}/nowhere", "error: {folder}/nowhere: no such file or directory\n"),
        ("{folder}", "error: {folder}: is a directory\n"),
        ("{folder}/nowhere --follow", "error: {folder}/nowhere: no such file or directory\n"),
        ("{folder}/utf16", "error: {folder}/utf16: is text in UTF-16, not UTF-8 (hint: iconv -f UTF-16 -t UTF-8)\n"),
        ("{folder}/gzip", "error: {folder}/gzip: is compressed (hint: zcat, and - for FILE)\n"),
        ("{log} --html {folder}", "error: {folder}: is a directory\n"),
        ("{log} --html {folder}/no/page.html", "error: {folder}/no/page.html: no such directory: {folder}/no\n"),
        ("{log} --html {log}", "error: {log}: is the log itself\n"),
        ("{log} --html {folder}/link", "error: {folder}/link: is the log itself\n"),
        ("{log} --html -", "error: -: a page goes into a file\n"),
        ("{log} --html /dev/null", "error: /dev/null: is not a regular file\n"),
        ("{log} --html {folder}/" + "x" * 300, "error: {folder}/" + "x" * 300 + ": file name too long\n"),
    ],
)
def test_trouble(arguments: str, message: str, inspect: Inspect) -> None:
    folder = inspect.log.parent
    inspect.log.write_text(f"{CANCEL}\n", encoding="utf-8")
    (folder / "utf16").write_text(f"{CANCEL}\n", encoding="utf-16")
    (folder / "gzip").write_bytes(b"\x1f\x8b\x08\x00")
    (folder / "link").symlink_to(inspect.log)
    before = {p: p.read_bytes() for p in folder.iterdir()}
    names = {"folder": folder, "log": inspect.log}
    done = inspect(*arguments.format(**names).split())
    assert done == (2, "", message.format(**names))
    assert {p: p.read_bytes() for p in folder.iterdir()} == before


def test_a_file_that_may_not_be_read(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    inspect.log.touch()
    monkeypatch.setattr(Path, "open", refuse)
    assert inspect(str(inspect.log)) == (2, "", f"error: {inspect.log}: permission denied\n")


def test_a_read_that_fails(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(io.BytesIO):
        def readline(self, *_: object) -> bytes:
            raise OSError(5, "Input/output error")

    inspect.log.touch()

    def opened(*_: object) -> Failing:
        return Failing()

    monkeypatch.setattr(Path, "open", opened)
    assert inspect(str(inspect.log)) == (2, "", f"error: {inspect.log}: input/output error\n")


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "log more",
        "log --schema v9",
        "log --perspective both",
        "log --only",
        "log --html",
        "log --limit 5",
        "log --exclude",
        "log --last 0",
        "log --last x",
        "log --html x --limit 0",
        "log --html x --limit -1",
        "log --html x --limit many",
        "log --jso",
        "log --color blue",
    ],
)
def test_wrong_use(arguments: str, inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inspect.log.parent)
    done = inspect(*arguments.split())
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("usage: ")
    assert "_count" not in done.err
    assert list(Path().iterdir()) == []


def test_help(inspect: Inspect) -> None:
    done = inspect("--help")
    assert done.status == 0
    for option in (
        "schema",
        "perspective",
        "only",
        "exclude",
        "last",
        "errors",
        "follow",
        "json",
        "html",
        "limit",
        "color",
    ):
        assert f"--{option}" in done.out
    assert "Exit status: 0 if everything is valid" in done.out
    assert max(map(len, done.out.splitlines())) <= 120


def test_names_reach_the_terminal_as_escapes(inspect: Inspect) -> None:
    bad = "\x1b[31m\n\u202e\x9b"
    shown = "\\x1b[31m\\x0a\\u202e\\x9b"
    inspect.log.write_text(f"{CANCEL}\n", encoding="utf-8")
    folder = inspect.log.parent
    for arguments, told in (
        ([f"{folder}/{bad}"], f"error: {folder}/{shown}: no such file or directory\n"),
        (
            [str(inspect.log), "--html", f"{folder}/{bad}/x"],
            f"error: {folder}/{shown}/x: no such directory: {folder}/{shown}\n",
        ),
        ([str(inspect.log), bad], f"unrecognized arguments: {shown}\n"),
    ):
        done = inspect(*arguments)
        assert (done.status, done.out) == (2, "")
        assert done.err.endswith(told)
    strange = folder / f"{bad}.html"
    done = inspect(str(inspect.log), "--html", str(strange))
    assert (done.status, done.err) == (0, "")
    assert f"{shown}.html: 1 message" in done.out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.out)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.slow
def test_json_for_a_terminal(encoding: str, tmp_path: Path) -> None:
    strange = "\x1b\x7f\x9b\u2028\u202e\u00e9\u65e5\U0001f600"
    log = tmp_path / "log"
    log.write_text(message(id=strange, method=f"_{strange}", params={strange: 1}), encoding="utf-8")
    done = run(str(log), "--json", PYTHONIOENCODING=encoding)
    assert (done.messages[0]["id"], done.messages[0]["method"]) == (strange, f"_{strange}")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", done.out)
    assert done.out.isascii() is (encoding != "utf-8")


@pytest.mark.slow
def test_follow_the_last(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"{chunk(f'text {n}')}\n" for n in range(50)), encoding="utf-8")
    with _following(str(log), "--last", "2", "--only", "sesion/update", "--only", "session/*") as follower:
        follower.until("    50  ← session/update")
        _append(log, '{\n "jsonrpc": "2.0",\n "method": "session/cancel",\n')
        _append(log, ' "params": {"sessionId": "s"}\n}\n' + CANCEL[:30])
        follower.until("    51  → session/cancel")
        ended = follower.end()
    assert ended.err.startswith("warning: --only sesion/update: unknown method")
    assert [line.split()[0] for line in ended.out.splitlines()[:3]] == ["49", "50", "51"]
    assert (ended.status, ended.err.count("\n")) == (1 if "broken" in ended.out else 0, 1)


@pytest.mark.slow
def test_an_empty_log_is_followed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    with _following(str(log)) as follower:
        _append(log, f"{CANCEL}\n")
        follower.until("session/cancel")
        assert follower.end().status == 0


@pytest.mark.slow
def test_a_vendored_copy(tmp_path: Path) -> None:
    vendored = subprocess.run(
        [sys.executable, "-m", "acp_msgspec", "vendor", str(tmp_path / "copied"), "--only", "v1", "--parts", "tools"],
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
    )
    assert vendored.returncode == 0, vendored.stderr
    page = tmp_path / "page.html"
    command = [sys.executable, "-W", "error", "-m", "copied", "inspect", str(CONVERSATION)]
    environment = {**ENVIRONMENT, "PYTHONPATH": str(tmp_path)}
    for options in ([], ["--json"], ["--html", str(page)]):
        done = subprocess.run([*command, *options], env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, "")
    assert "read as v1 (negotiated protocol version 1)" in done.stdout
    assert "read as v1" in page.read_text(encoding="utf-8")
    refused = subprocess.run([*command, "--schema", "v2"], env=environment, capture_output=True, check=False)
    assert refused.returncode == 2
