"""The documentation is true: its code runs, its links and commands exist, and the built site works in a browser."""

import html
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import acp_msgspec
import acp_msgspec.aio
import acp_msgspec.state
import pytest
from acp_msgspec import v1

from docs import build
from tests.docs import support
from tests.docs.support import PAGES
from tests.generator.command import generator
from tests.support import ROOT, made_once

PACKAGE_CLI: Any = importlib.import_module("acp_msgspec.tools.cli")
WITH_BLOCKS = [page for page in PAGES if support.blocks_of(page)]
WITH_DIAGRAMS = {page: n for page in PAGES if (n := support.text_of(page).count("```mermaid\n"))}
PROSE = {page: support.text_of(page) for page in PAGES}
PROSE["CONTRIBUTING.md"] = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LABELS = ("v1", "v1_unstable", "v2", "v2_unstable")


@pytest.mark.parametrize("page", WITH_BLOCKS)
@pytest.mark.slow
def test_python_blocks(page: str) -> None:
    blocks = support.blocks_of(page)
    assert len(blocks) == support.text_of(page).count("```python\n")
    outputs = support.run_blocks(page, blocks)
    if support.refreshes():
        support.store_outputs(page, outputs)
        blocks = support.blocks_of(page)
    for block, output in zip(blocks, outputs, strict=True):
        place = f"{page}, line {block.line}"
        assert block.output in (None, output), f"{place}: the output shown is another; ACP_REFRESH=1 stores this one"
        assert output or "assert " in block.code or "asyncio.run(" in block.code, f"{place} shows nothing"


@pytest.mark.slow
def test_python_blocks_are_typed(tmp_path: Path) -> None:
    assert support.write_blocks(tmp_path)
    pyright = [str(Path(sys.executable).with_name("pyright")), "--project", str(tmp_path)]
    run = subprocess.run(pyright, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("page", PROSE)
def test_links(page: str) -> None:
    base = ROOT if page == "CONTRIBUTING.md" else support.DOCS
    for link in support.links_of(PROSE[page]):
        if re.match(r"https?://", link):
            continue
        path, anchor = urldefrag(link)
        target = (base / page).parent / path if path else base / page
        assert target.is_file(), f"{page} links to {link}"
        if anchor:
            assert anchor in support.anchors_of(target.read_text(encoding="utf-8")), f"{page} links to {link}"


def test_every_page_is_in_the_navigation() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"(\S+\.md)$", nav, re.MULTILINE)
    assert sorted(listed) == PAGES


def test_commands_exist() -> None:
    text = "\n".join(PROSE.values())
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in sorted(set(re.findall(r"(?:`|\$ )(?:ACP_REFRESH=1 )?make ([a-z-]+)", text))):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"
    for command in sorted(set(re.findall(r"python -m generator ([a-z]+)", text))):
        assert generator(command, "--help").returncode == 0, f"python -m generator {command}"
    for command in sorted(set(re.findall(r"python -m acp_msgspec ([a-z]+)", text))):
        with pytest.raises(SystemExit) as end:
            PACKAGE_CLI.main([command, "--help"])
        assert end.value.code == 0, f"python -m acp_msgspec {command}"


def test_files_and_names_of_the_code_exist() -> None:
    for page, text in PROSE.items():
        prose = support.prose_of(text)
        for path in re.findall(r"`((?:generator|runtime|schema|templates|tests)/[\w/.*-]*\w)`", prose):
            assert list(ROOT.glob(path)), f"{page} names {path}"
        for module, name in re.findall(r"`(acp|v1|v2)\.(?!toml)([A-Za-z_]\w*)", prose):
            of = acp_msgspec if module == "acp" else importlib.import_module(f"acp_msgspec.{module}")
            assert hasattr(of, name), f"{page} names {module}.{name}"


def test_each_decision_lives_in_two_files_at_most() -> None:
    section = support.text_of("architecture.md").partition("## Where each decision lives\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    for row in rows:
        paths = re.findall(r"`((?:generator|runtime|schema|templates|tests)/[^`]*)`", row)
        assert 1 <= len(set(paths)) <= 2, row
    assert len(rows) > 30


class _Page(HTMLParser):
    """What a built page links to, loads, and can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value for key, value in attrs if value is not None}
        if "id" in given:
            self.ids.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if tag == "link" and "href" in given and given.get("rel") not in ("next", "prev", "canonical"):
            self.loads.add(given["href"])
        if "src" in given:
            self.loads.add(given["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not build.is_installed():
        support.missing("The pinned tools of the documentation are not installed (make docs)")
    return made_once(tmp_path_factory, "site", lambda folder: build.build(folder / "site")) / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def _local(pages: dict[Path, _Page], attribute: str) -> Iterator[tuple[Path, Path, str]]:
    """List the local targets of one kind: the page, the file, the anchor."""
    for path, page in pages.items():
        wanted: set[str] = getattr(page, attribute)
        for link in wanted if path.name != "404.html" else ():
            if not re.match(r"[a-z]+:", link):
                file, anchor = urldefrag(link)
                yield path, (path.parent / unquote(file)).resolve() if file else path, unquote(anchor)


FAULTS = re.compile(r"(<!-- faults -->\n).*?(<!-- end of faults -->\n)", re.DOTALL)


def _faults() -> str:
    """Make tables of what peers get for what they do wrong, and of how connections end, of the recorded facts."""
    rows = [
        json.loads(line) for line in (ROOT / "tests" / "aio" / "faults.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    lines = ["| what the peer sends | what it gets | what the owner hears | the call under way |", "|---|---|---|---|"]
    for row in (row for row in rows if "send" in row):
        replies: list[dict[str, Any]] = []
        for reply in row["reply"]:
            replies += reply if isinstance(reply, list) else [reply]
        codes = [str(reply["error"]["code"]) if "error" in reply else "a result" for reply in replies]
        heard = [problem.partition(":")[0] for problem in row["problems"]]
        assert row["alive"], "nothing that a peer sends ends the connection"
        error = row["call"].partition(":")[0] if ": " in row["call"] else ""
        call = "goes on" if row["call"] == "pending" else f"raises `{error}`" if error else "is answered"
        lines.append(f"| {row['what']} | {', '.join(codes) or 'nothing'} | {', '.join(heard)} | {call} |")
    lines += ["", "What ends it, and what a call under way raises then:", "", "| | `ConnectionClosed` |", "|---|---|"]
    for row in (row for row in rows if "how" in row):
        assert not row["alive"]
        lines.append(f"| {row['what']} | {row['call'].removeprefix('ConnectionClosed: ')} |")
    return "\n" + "\n".join(lines) + "\n\n"


def test_the_table_of_faults() -> None:
    path = support.DOCS / "concepts" / "connections.md"
    text = path.read_text(encoding="utf-8")
    wanted = FAULTS.sub(lambda m: m[1] + _faults() + m[2], text)
    if support.refreshes():
        path.write_text(wanted, encoding="utf-8")
    assert FAULTS.search(text)
    assert path.read_text(encoding="utf-8") == wanted


@pytest.mark.network
def test_site_has_no_dead_link(pages: dict[Path, _Page]) -> None:
    for path, target, anchor in _local(pages, "links"):
        page = pages.get(target / "index.html" if target.is_dir() else target)
        assert page is not None or target.is_file(), f"{path.name} links to {target}"
        assert not anchor or (page is not None and anchor in page.ids), f"{path.name} links to {target.name}#{anchor}"


@pytest.mark.network
def test_site_shows_the_examples(site: Path) -> None:
    page = (site / "examples" / "index.html").read_text(encoding="utf-8")
    for example in (support.DOCS / "examples").glob("*.py"):
        shown = html.escape(example.read_text(encoding="utf-8").splitlines()[0].strip('"'), quote=True)
        assert shown in page.replace("&#39;", "&#x27;"), f"{example.name} is not shown"


@pytest.mark.network
def test_site_needs_no_network(pages: dict[Path, _Page]) -> None:
    assert not {load for page in pages.values() for load in page.loads if re.match(r"(?:https?:)?//", load)}
    for path, target, _ in _local(pages, "loads"):
        assert target.is_file(), f"{path.name} loads {target}"


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.network
def test_reference_is_complete(label: str, site: Path, pages: dict[Path, _Page]) -> None:
    module: Any = importlib.import_module(f"acp_msgspec.{label}")
    found = {
        i
        for kind in ("types", "enums", "messages", "build")
        for i in pages[site / f"reference/{label}/{kind}.html"].ids
    }
    names = {i.removeprefix(f"acp_msgspec.{label}.").partition(".")[2] for i in found}
    assert set(module.__all__) - {"Method"} <= names
    package = pages[site / "reference" / "package.html"].ids
    assert {f"acp_msgspec.{name}" for name in acp_msgspec.__all__} <= package
    session = pages[site / "reference" / "state.html"].ids
    assert {f"acp_msgspec.state.{name}" for name in acp_msgspec.state.__all__} <= session
    ends = pages[site / f"reference/{label}/aio.html"].ids
    assert {f"acp_msgspec.{label}.aio.{end}Connection" for end in ("Agent", "Client")} <= ends
    connections = pages[site / "reference" / "aio.html"].ids | {i.replace(f".{label}.", ".") for i in ends}
    talks = pages[site / f"reference/{label}/conversation.html"].ids
    connections |= {i.replace(f".{label}.conversation.", ".aio.") for i in talks}
    # Version 2 has no files and no terminals for a client to serve.
    served = {"ServesFiles", "ServesTerminals"} if label.startswith("v2") else set[str]()
    assert {f"acp_msgspec.aio.{name}" for name in {*acp_msgspec.aio.__all__} - served} <= connections


@pytest.mark.network
@pytest.mark.browser
def test_browser_shows_diagrams_and_reference(site: Path, tmp_path: Path) -> None:
    browser = support.find_browser()
    if browser is None:
        support.missing("Chromium is not installed")
    places = {page: f"{page.removesuffix('.md')}.html" for page in (*WITH_DIAGRAMS, "reference/v1/types.md")}
    shown = support.open_pages(browser, site, list(places.values()), tmp_path / "profile")
    for page, count in WITH_DIAGRAMS.items():
        for place in (places[page], f"{places[page]}#dark"):
            figures = re.findall(r'<figure class="diagram"><svg[^>]*>(.*?)</svg></figure>', shown[place], re.DOTALL)
            assert len(figures) == count, f"{place}: {len(figures)} of {count} diagrams were drawn"
            assert all("<title" in figure and "<desc" in figure for figure in figures), f"{place} lacks a description"
        light, dark = (set(re.findall(r"fill:(#\w+)", shown[places[page] + end])) for end in ("", "#dark"))
        assert dark - light, f"{page}: the diagrams have the same colours in the dark"
    reference = shown[places["reference/v1/types.md"]]
    assert 'id="acp_msgspec.v1.types.ToolCall.tool_call_id"' in reference
    assert v1.ToolCall.__doc__ is not None
    assert v1.ToolCall.__doc__.split("\n")[0] in reference
    assert "Tool call id, chosen by the agent. Later updates reference it." in reference
