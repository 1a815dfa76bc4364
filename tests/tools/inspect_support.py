"""What the tests of the inspector share: logs, running the command in this process and in others, a browser."""

import html
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.docs import support as docs_support
from tests.support import CASES, ROOT

CLI: Any = importlib.import_module("acp_msgspec.tools.cli")
EXTRACTION: Any = importlib.import_module("acp_msgspec.tools.inspect.extraction")
LINES: Any = importlib.import_module("acp_msgspec.tools.inspect.lines")
DIRECTION: Any = importlib.import_module("acp_msgspec.tools.inspect.direction")
DIFFS: Any = importlib.import_module("acp_msgspec.tools.inspect.diffs")
JSON_VIEW: Any = importlib.import_module("acp_msgspec.tools.inspect.json_view")
SUMMARIES: Any = importlib.import_module("acp_msgspec.tools.inspect.summaries")
STATISTICS: Any = importlib.import_module("acp_msgspec.tools.inspect.statistics")
CONVERSATION = CASES / "inspect" / "conversation.log"
COMMAND = [sys.executable, "-m", "acp_msgspec", "inspect"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "generated"), "PYTHONDONTWRITEBYTECODE": "1"}
ENVIRONMENT.pop("NO_COLOR", None)


class Run(NamedTuple):
    """How one command ended."""

    status: int
    out: str
    err: str

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What `--json` wrote of each message."""
        found = [json.loads(line) for line in self.out.splitlines()]
        return [m for m in found if m["type"] == "message"]

    @property
    def summary(self) -> dict[str, Any]:
        """What `--json` wrote last."""
        last: dict[str, Any] = json.loads(self.out.splitlines()[-1])
        assert last.pop("type") == "summary"
        return last


class Inspect:
    """The command in this process."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.log = folder / "wire.log"

    def __call__(self, *arguments: str) -> Run:
        try:
            status: int = CLI.main(["inspect", *arguments])
        except SystemExit as end:
            status = int(str(end.code))
        shown = self._capsys.readouterr()
        assert "Traceback" not in shown.err
        return Run(status, shown.out, shown.err)

    def text(self, *lines: str | bytes, options: Sequence[str] = ()) -> Run:
        """Show a log of these lines."""
        self.log.write_bytes(b"".join((x.encode() if isinstance(x, str) else x) + b"\n" for x in lines))
        return self(str(self.log), *options)

    def json(self, *lines: str | bytes, options: Sequence[str] = ()) -> Run:
        """Show a log of these lines as JSON."""
        return self.text(*lines, options=["--json", *options])


def message(**parts: Any) -> str:
    """Write a message."""
    return json.dumps({"jsonrpc": "2.0", **parts}, separators=(",", ":"))


def prompt(request_id: int = 1, session: str = "s") -> str:
    """Write a prompt."""
    params = {"sessionId": session, "prompt": [{"type": "text", "text": "Hello"}]}
    return message(id=request_id, method="session/prompt", params=params)


def update(session: str = "s", **parts: Any) -> str:
    """Write an update of a session."""
    return message(method="session/update", params={"sessionId": session, "update": parts})


def tool_call(call: str = "t", **parts: Any) -> str:
    """Write the beginning of a tool call."""
    return update(sessionUpdate="tool_call", toolCallId=call, **{"title": "Look", **parts})


def chunk(text: str) -> str:
    """Write a piece of what an agent says."""
    return update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def run(*arguments: str, given: bytes = b"", **environment: str) -> Run:
    """Run the command in a process of its own, with `given` as its standard input."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env={**ENVIRONMENT, **environment},
        input=given,
        capture_output=True,
        check=False,
        timeout=120,
    )
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


_OPENER = """<!doctype html><meta charset="utf-8"><body><script>
const soon = () => new Promise((done) => setTimeout(done, 30));
async function visit(address, look) {
  const frame = document.createElement("iframe");
  frame.width = 1300;
  frame.height = 1000;
  frame.src = address;
  const loaded = new Promise((done) => { frame.onload = done; });
  document.body.append(frame);
  await loaded;
  const page = frame.contentDocument, view = frame.contentWindow;
  const all = (selector) => [...page.querySelectorAll(selector)];
  const rows = () => all(".row[data-kind]").filter((row) => !row.hidden).map((row) => row.id);
  try { return await look(page, view, all, rows); } catch (error) { return { error: String(error) }; }
  finally { frame.remove(); }
}
(async () => {
  const found = [];
  for (const [address, look] of [VISITS]) found.push(await visit(address, look));
  const result = document.createElement("pre");
  result.textContent = JSON.stringify(found);
  document.body.replaceChildren(result);
})();
</script>"""


def browse(page: Path, code: str, fragment: str = "") -> Any:
    """Open a page in a browser without a network, run JavaScript against it, and give what that returns."""
    (found,) = browse_each(page, (code, fragment))
    return found


def browse_each(page: Path, *visits: tuple[str, str]) -> list[Any]:
    """Do the same for several pieces of code, each with a fragment of the address, in one start of the browser.

    The code sees `page` (its document), `view` (its window), `all(selector)`, `rows()` (the visible ones) and `soon()`.
    """
    browser = docs_support.find_browser()
    if browser is None:
        docs_support.missing("Chromium is not installed")
    opener = page.with_name("opener.html")
    looks = (
        f"[{json.dumps(page.as_uri() + fragment)}, async (page, view, all, rows) => {{ {code} }}]"
        for code, fragment in visits
    )
    opener.write_text(_OPENER.replace("VISITS", ",\n".join(looks), 1), encoding="utf-8")
    command = [
        *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
        *("--disable-background-networking", "--disable-component-update", "--allow-file-access-from-files"),
        *("--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={page.with_name('profile')}"),
        *("--virtual-time-budget=20000", "--dump-dom", opener.as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    made = re.search(r"<pre>(.*)</pre>", done.stdout, re.DOTALL)
    assert made is not None, f"the browser has shown nothing\n{done.stdout}\n{done.stderr}"
    found: list[Any] = json.loads(html.unescape(made[1]))
    return found
