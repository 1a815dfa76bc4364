"""What the tests of the documentation share: its pages and blocks, running them, and a browser."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from tests.support import REFRESH, ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
OUTPUT = '```text title="Output"\n'

_PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\n```text title=\"Output\"\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
_FENCED = re.compile(r"^(```+)[^\n]*\n.*?^\1$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^(#{1,6}) (.*?)(?: \{ *#([\w-]+) *\})?$", re.MULTILINE)

# Each block is a program of its own: what another one defined is not there.
_RUNNER = """
import contextlib, io, json, sys
outputs = []
for line, code in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\\n" * line + code, sys.argv[1], "exec"), {"__name__": "__main__"})
    outputs.append(out.getvalue())
json.dump(outputs, sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class Block:
    """A Python block of a page: the line above it, its code, and the output that the page shows, if any."""

    line: int
    code: str
    output: str | None


def text_of(page: str) -> str:
    """Read a page."""
    return (DOCS / page).read_text(encoding="utf-8")


def blocks_of(page: str) -> list[Block]:
    """List the Python blocks of a page."""
    text = text_of(page)
    return [Block(text.count("\n", 0, m.start(1)), m[1], m[2]) for m in _PYTHON.finditer(text)]


def run_blocks(page: str, blocks: list[Block]) -> list[str]:
    """Run the blocks of a page in one process, each on its own, and give what each prints."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", _RUNNER, page],
        cwd=ROOT,
        input=json.dumps([[b.line, b.code] for b in blocks]),
        env={**os.environ, "PYTHONPATH": str(ROOT / "generated")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    outputs: list[str] = json.loads(run.stdout)
    return outputs


def store_outputs(page: str, outputs: list[str]) -> None:
    """Write what the blocks of a page print into the page, where it shows an output."""
    wanted = iter(outputs)

    def stored(match: re.Match[str]) -> str:
        output = next(wanted)
        return match[0] if match[2] is None else f"```python\n{match[1]}```\n\n{OUTPUT}{output}```\n"

    (DOCS / page).write_text(_PYTHON.sub(stored, text_of(page)), encoding="utf-8")


def write_blocks(folder: Path) -> list[Path]:
    """Write every block into a file of its own, with the settings of a strict type checker beside them."""
    files: list[Path] = []
    for page in PAGES:
        for block in blocks_of(page):
            file = folder / f"{re.sub('[^a-z0-9]+', '_', page.removesuffix('.md'))}_{block.line}.py"
            file.write_text(block.code, encoding="utf-8")
            files.append(file)
    settings = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "extraPaths": [str(ROOT), str(ROOT / "generated")],
        "venvPath": str(ROOT),
        "venv": ".venv",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    return files


def refreshes() -> bool:
    """Say whether stored outputs are to be written anew."""
    return bool(os.environ.get(REFRESH))


def prose_of(text: str) -> str:
    """Give a page without its fenced blocks."""
    return _FENCED.sub("", text)


def links_of(text: str) -> list[str]:
    """List the targets of the links of a page."""
    prose = re.sub(r"`[^`\n]*`", "", prose_of(text))
    return re.findall(r"\]\(([^()\s]+)\)", prose)


def anchors_of(text: str) -> set[str]:
    """List the anchors of a page's headings, named as MkDocs does it."""
    found: set[str] = set()
    for _, title, given in _HEADING.findall(prose_of(text)):
        plain = re.sub(r"[^\w\s-]", "", title.replace("`", "")).strip().lower()
        found.add(given or re.sub(r"[-\s]+", "-", plain))
    return found


def missing(what: str) -> NoReturn:
    """Skip a test for which something is not installed; where CI runs, that is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} must be there where CI=true is set")
    pytest.skip(what)


def find_browser() -> str | None:
    """Find Chromium."""
    return next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )


_OPENER = """<!doctype html><meta charset="utf-8"><body><script>
const found = {};
const soon = () => new Promise((done) => setTimeout(done, 50));
async function until(holds) {
  for (let tries = 0; tries < 200 && !holds(); tries++) await soon();
}
async function open(page) {
  const frame = document.createElement("iframe");
  frame.width = 1400;
  frame.height = 1000;
  frame.src = page;
  const loaded = new Promise((done) => { frame.onload = done; });
  document.body.append(frame);
  await loaded;
  const opened = frame.contentDocument;
  const drawn = () => opened.querySelectorAll("figure.diagram > svg");
  await until(() => drawn().length === opened.querySelectorAll("figure.diagram").length);
  found[page] = opened.documentElement.outerHTML;
  if (drawn().length) {
    const first = drawn()[0];
    opened.body.dataset.mdColorScheme = "slate";
    await until(() => drawn()[0] !== first);
    found[`${page}#dark`] = opened.documentElement.outerHTML;
  }
  frame.remove();
}
(async () => {
  for (const page of PAGES) await open(page);
  const result = document.createElement("pre");
  result.textContent = JSON.stringify(found);
  document.body.replaceChildren(result);
})();
</script>"""


def open_pages(browser: str, site: Path, pages: list[str], profile: Path) -> dict[str, str]:
    """Open pages of the built site in a browser without a network, one after the other.

    Gives the document that each page's scripts made, and under `page#dark` the one after a change to dark colours where
    the page has diagrams.
    """
    opener = site / "opener.html"
    opener.write_text(_OPENER.replace("PAGES", json.dumps(pages)), encoding="utf-8")
    run = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--allow-file-access-from-files",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={profile}",
            "--virtual-time-budget=120000",
            "--dump-dom",
            opener.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    opener.unlink()
    made = re.search(r"<pre>(.*)</pre>", run.stdout, re.DOTALL)
    assert made is not None, f"the browser has shown nothing\n{run.stdout}\n{run.stderr}"
    found: dict[str, str] = json.loads(html.unescape(made[1]))
    return found
