"""The inspector's page: what it shows in a browser, what it must never do, and how it is written."""

import errno
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.page_support import Page
from tests.tools.inspect_support import (
    CONVERSATION,
    DIFFS,
    Inspect,
    browse,
    browse_each,
    chunk,
    message,
    prompt,
    tool_call,
    update,
)

HOSTILE = "</script><script>document.title='run'</script><img src=x onerror=alert(1)>\"'`&lt;\u2028\u202e\x1b]]>--><b>"


def _made(inspect: Inspect, *options: str, log: Path | None = None) -> tuple[Path, str]:
    page = inspect.log.with_name("page.html")
    done = inspect(str(log or inspect.log), "--html", str(page), *options)
    assert (done.status in (0, 1), done.err) == (True, "")
    return page, page.read_text(encoding="utf-8")


LOOK = """
    const box = (selector, of = page) => of.querySelector(selector).getBoundingClientRect();
    const style = (selector, name) => view.getComputedStyle(page.querySelector(selector))[name];
    const lane = box("#l3 .lane");
    const arrows = ["l3", "l4"].map((id) => {
      const arrow = page.querySelector(`#${id} .arrow`);
      return { width: box(`#${id} .arrow`).width, line: view.getComputedStyle(arrow).borderTopStyle,
        head: view.getComputedStyle(arrow, "::after").right };
    });
    const bars = all(".call").map((call) => [call.dataset.call, [...call.querySelectorAll("rect")].map((rect) => {
      const { left, width } = rect.getBoundingClientRect();
      return [rect.getAttribute("class"), Math.round(left), width > 0];
    })]);
    const states = all(".call .states").map((element) => element.textContent.replace(/\\s+/g, " ").trim());
    all("#l23").forEach((row) => { row.open = true; });
    for (let i = 0; i < 50 && !page.querySelector("#l23 .json .key"); i++) await soon();
    return {
      rows: rows(), lane: lane.width, arrows, bars, states,
      actors: all(".actor").map((actor) => actor.textContent),
      runs: all(".run > summary .what").map((element) => element.textContent),
      diff: ["#l23 .diff .add", "#l23 .diff .del"].map((s) => [page.querySelector(s).textContent, style(s, "color")]),
      keys: all("#l23 .json .key").slice(0, 3).map((key) => key.textContent),
      flags: all(".row[data-flag]").filter((row) => row.dataset.flag).map((row) => [row.id, row.dataset.flag]),
      shown: page.getElementById("shown").textContent,
      numbers: all("button[data-group]").map((button) => button.textContent),
      wide: page.documentElement.scrollWidth <= view.innerWidth,
    };
"""


@pytest.mark.browser
def test_in_a_browser(inspect: Inspect) -> None:
    page, text = _made(inspect, log=CONVERSATION)
    assert not re.search(r"(src|href|url)\s*[=(]", text.partition("<body>")[0])
    seen: Any = browse(page, LOOK)
    assert "error" not in seen, seen
    assert seen["rows"] == [f"l{n}" for n in range(1, 52)]
    assert seen["shown"] == "51 of 51 shown"
    assert seen["actors"] == ["client Editor 0.9.1", "agent Agent 1.4.0"]
    # An arrow from lifeline to lifeline: a full line for a request, a broken one for its response.
    request, response = seen["arrows"]
    assert seen["lane"] > 500
    assert request["width"] == response["width"] == pytest.approx(seen["lane"] - 4, abs=1)
    assert (request["line"], response["line"]) == ("solid", "dashed")
    assert (request["head"], response["head"] != "0px") == ("0px", True)
    assert seen["runs"][0] == "The user says the port is ignored; I should read config.py first."
    # Tool calls, each a bar of its states in order.
    bars = {call: [css for css, _, _ in pieces] for call, pieces in seen["bars"]}
    assert bars == {
        "call_1": ["s-pending", "s-in_progress", "s-completed"],
        "call_2": ["s-pending", "s-permission", "s-pending", "s-in_progress", "s-completed"],
        "call_3": ["s-pending", "s-in_progress", "s-failed"],
        "call_4": ["s-in_progress open"],
    }
    assert all(visible for _, pieces in seen["bars"] for _, _, visible in pieces)
    lefts = [left for _, pieces in seen["bars"] for _, left, _ in pieces]
    assert lefts == sorted(lefts)
    assert seen["states"][2] == "pending 09:12:12.000 80 ms → in progress 4.9 s → failed"
    assert "permission 3.9 s → pending" in seen["states"][1]
    assert seen["states"][1].endswith("completed allow once")
    # Red and green.
    (added, green), (removed, red) = seen["diff"]
    assert (added, removed) == ("+PORT = 8000\n", "-    port = 8000\n")
    (r, g, _), (r2, g2, _) = (map(int, re.findall(r"\d+", colour)[:3]) for colour in (green, red))
    assert g > r
    assert r2 > g2
    assert seen["keys"] == ['"jsonrpc"', '"method"', '"params"']
    assert seen["flags"] == [["l45", "repair unknown"], ["l48", "problem"], ["l50", "problem"]]
    assert "error 1" in seen["numbers"]
    assert seen["wide"]


@pytest.mark.browser
def test_filters(inspect: Inspect) -> None:
    page, _ = _made(inspect, log=CONVERSATION)
    pressed = browse(
        page,
        """
        const press = (value) => page.querySelector(`button[data-value="${value}"]`).click();
        const type = (text) => { const box = page.getElementById("search"); box.value = text;
          box.dispatchEvent(new view.Event("input")); };
        const found = {};
        press("error"); found.error = rows();
        press("broken"); found.both = rows(); found.hash = view.location.hash;
        page.getElementById("clear").click(); found.cleared = rows().length;
        press("repair"); found.repair = rows();
        page.getElementById("clear").click();
        type("TERM_1 exit"); found.text = rows(); found.runs = all(".run:not([hidden])").length;
        type("nothing such"); found.none = rows(); found.told = !page.getElementById("nothing").hidden;
        type(""); page.getElementById("unfold").click(); found.open = all(".diagram .row[open]").length;
        page.getElementById("fold").click(); found.folded = all(".diagram .row[open]").length;
        return found;
        """,
    )
    assert pressed == {
        "error": ["l49"],
        "both": ["l49", "l50"],
        "hash": "#kind=error%2Cbroken",
        "cleared": 51,
        "repair": ["l45"],
        "text": ["l34"],
        "runs": 0,
        "none": [],
        "told": True,
        "open": 55,
        "folded": 0,
    }
    by_text, by_sender, opened = browse_each(
        page,
        ("return rows();", "#kind=error%2Cbroken&text=refuse"),
        ("return rows();", "#from=client&kind=notification"),
        ("return [rows().length, all('.row[open]').map((row) => row.id || row.className)];", "#l13"),
    )
    assert by_text == []
    assert by_sender == ["l46"]
    assert opened == [51, ["row run agent", "l13"]]


@pytest.mark.browser
def test_sessions_can_be_chosen(inspect: Inspect) -> None:
    inspect.log.write_text("\n".join((prompt(1, "a,b"), prompt(2, "c"), prompt(3, "a,b"))), encoding="utf-8")
    page, _ = _made(inspect)
    code = "page.querySelector('button[data-group=session]').click(); return [rows(), view.location.hash];"
    chosen, address = browse(page, code)
    assert chosen == ["l1", "l3"]
    assert browse(page, "return rows();", address) == chosen


@pytest.mark.browser
def test_nothing_in_a_log_runs(inspect: Inspect) -> None:
    folder = inspect.log.parent / "a<b>&'"
    folder.mkdir()
    inspect.log = folder / f"wire{HOSTILE.replace('/', '')[:60]}.log"
    info = {"name": HOSTILE, "version": HOSTILE}
    diff = {"type": "diff", "path": HOSTILE, "oldText": f"{HOSTILE}\nsame", "newText": f"same\n{HOSTILE}"}
    options = [{"optionId": HOSTILE, "name": HOSTILE, "kind": "allow_once"}]
    lines = (
        message(id=HOSTILE, method="initialize", params={"protocolVersion": 1, "clientInfo": info}),
        message(id=HOSTILE, result={"protocolVersion": 1, "agentInfo": info, "authMethods": [HOSTILE]}),
        prompt(1, HOSTILE),
        prompt(2, "s"),
        tool_call(HOSTILE, title=HOSTILE, kind=HOSTILE, status=HOSTILE, content=[diff, {"type": HOSTILE}]),
        message(
            id=5,
            method="session/request_permission",
            params={"sessionId": "s", "toolCall": {"toolCallId": HOSTILE, "content": [diff]}, "options": options},
        ),
        message(id=5, result={"outcome": {"outcome": "selected", "optionId": HOSTILE}}),
        chunk(HOSTILE),
        chunk(HOSTILE),
        update(sessionUpdate=HOSTILE),
        message(id=1, error={"code": 1, "message": HOSTILE, "data": HOSTILE}),
        message(id=HOSTILE, method=HOSTILE, params={HOSTILE: HOSTILE}),
        message(method=f"_{HOSTILE}", params=HOSTILE),
        HOSTILE.replace("\n", ""),
        f"{HOSTILE} {{}}",
        f'{{"ts": "{HOSTILE[:4]}", "dir": "in", "message": {prompt(3, HOSTILE)}}}',
    )
    inspect.text(*lines)
    _, text = _made(inspect)
    made = Page(text)
    assert len(made.of("script")) == len(made.of("style")) == 1
    assert not made.of("img")
    assert not [key for _, attributes in made.elements for key in attributes if key.startswith("on") or key == "style"]
    assert all(a["href"] is not None and re.fullmatch(r"#l\d+", a["href"]) for a in made.of("a"))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", text)
    assert text.count("</script>") == 1
    page = inspect.log.parent.parent / "page.html"
    page.write_text(text, encoding="utf-8")
    # Sessions and the search put texts of the log into the page, too.
    seen = browse(
        page,
        """
        all("button[data-group=session]").forEach((button) => button.click());
        page.getElementById("clear").click();
        all("details").forEach((row) => { row.open = true; });
        for (let i = 0; i < 20; i++) await soon();
        return [all("script").length, all("img").length, page.title.startsWith("Conversation: wire"), rows().length];
        """,
        "#text=%3Cimg%20src=x%3E",
    )
    assert seen == [1, 0, True, 16]


def test_limit(inspect: Inspect) -> None:
    inspect.log.write_text(f"{prompt()}\n" * 30 + "noise\n", encoding="utf-8")
    page, text = _made(inspect, "--limit", "10")
    assert text.count('data-kind="') == 10
    assert "This page holds the first 10 of 31 messages; 21 messages after them were left out." in text
    assert "1 broken line: line 31" in text
    assert text.count('data-kind="') < _made(inspect)[1].count('data-kind="') == 31
    assert (
        f"{page}: the first 10 of 31 messages\n" in inspect(str(inspect.log), "--html", str(page), "--limit", "10").out
    )
    assert 'data-kind="broken"' in _made(inspect, "--limit", "10", "--errors")[1]


def test_long_messages_are_cut(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    inspect.log.write_text(f"{chunk('x' * 100_000)}\n{tool_call()}\n", encoding="utf-8")
    _, text = _made(inspect)
    assert len(text) < 60_000
    assert re.search(r"… and 80,\d\d\d more characters", text)
    monkeypatch.setattr("acp_msgspec.tools.inspect.page._BUDGET", 100)
    _, text = _made(inspect)
    assert text.count("The JSON was left out to keep the page usable.") == 1
    assert "To keep the page usable, the JSON of later messages was left out." in text


def test_a_page_is_written_as_a_whole(inspect: Inspect, monkeypatch: pytest.MonkeyPatch) -> None:
    inspect.log.write_text(f"{prompt()}\n", encoding="utf-8")
    page = inspect.log.with_name("page.html")
    page.write_text("before", encoding="utf-8")
    real = Path.write_text

    def full(self: Path, text: str, **options: Any) -> int:
        real(self, text[:100], **options)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        done = inspect(str(inspect.log), "--html", str(page))
    assert (done.status, done.err) == (2, f"error: {page}: no space left on device\n")
    assert page.read_text(encoding="utf-8") == "before"
    assert sorted(p.name for p in page.parent.iterdir()) == ["page.html", "wire.log"]
    link = page.with_name("link.html")
    link.symlink_to(page)
    assert inspect(str(inspect.log), "--html", str(link)).status == 0
    assert link.is_symlink()
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_same_bytes(inspect: Inspect) -> None:
    assert _made(inspect, log=CONVERSATION)[1] == _made(inspect, log=CONVERSATION)[1]


def _told(diff: Any) -> list[str]:
    return [mark + text for mark, text in diff.lines]


def test_diffs() -> None:
    old = "".join(f"{n}\n" for n in range(1, 31))
    diff = DIFFS.file_diff("/a", old, old.replace("\n15\n", "\n15\nnew\n").replace("\n29\n", "\n"))
    assert _told(diff) == [
        *("@@@ -13,6 +13,7 @@", " 13", " 14", " 15", "+new", " 16", " 17", " 18"),
        *("@@@ -26,5 +27,4 @@", " 26", " 27", " 28", "-29", " 30"),
    ]
    assert (diff.added, diff.removed, diff.left_out) == (1, 1, 0)
    assert _told(DIFFS.file_diff("/a", "", "x\ny\n")) == ["@@@ -0,0 +1,2 @@", "+x", "+y"]
    assert _told(DIFFS.file_diff("/a", "x\n", "x\n")) == []
    big = DIFFS.file_diff("/a", "a\n" * 3000, "b\n" * 3000)
    assert (big.added, big.removed, len(big.lines), big.left_out) == (3000, 3000, 400, 5601)


def test_diffs_of_single_lines() -> None:
    assert _told(DIFFS.file_diff("/a", "x\n", "y")) == ["@@@ -1 +1 @@", "-x", "+y"]
    assert _told(DIFFS.file_diff("/a", "-- x\n", "++ x\n")) == ["@@@ -1 +1 @@", "--- x", "+++ x"]


def test_patches_with_lines_like_headers() -> None:
    lines = [
        "--- a",
        "+++ a",
        "@@ -1,2 +1,2 @@ f()",
        "--- x",
        " y",
        "+++ z",
        "--- b",
        "+++ b",
        "@@ -9 +9,0 @@",
        "-gone",
    ]
    types = [kind for kind, _ in DIFFS._parsed("\n".join(lines))]
    assert "".join(types) == "@@@- +@@@-"


def test_patches_of_version_2(inspect: Inspect) -> None:
    patch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old <b>\n+new\n same\n"
    content = [
        {
            "type": "diff",
            "changes": [{"operation": "modify", "path": "/a"}],
            "patch": {"format": "git_patch", "text": patch},
        }
    ]
    inspect.log.write_text(update(sessionUpdate="tool_call_update", toolCallId="t", content=content), encoding="utf-8")
    _, text = _made(inspect, "--schema", "v2")
    assert '<span class="del">-old &lt;b&gt;\n</span><span class="add">+new\n</span>' in text
    assert "<code>/a</code> <ins>+1</ins> <del>\u22121</del>" in text


def test_calls_without_times(inspect: Inspect) -> None:
    inspect.log.write_text(
        "\n".join((tool_call("t"), chunk("a"), tool_call("u", status="completed"))), encoding="utf-8"
    )
    _, text = _made(inspect)
    assert "<small>2, along the lines of the log</small>" in text
    assert re.findall(r'<rect class="([^"]*)" x="([\d.]*)"', text) == [
        ("s-pending open", "0.0"),
        ("s-completed", "994.0"),
    ]


def test_the_chart_shows_the_answer_to_a_permission_request(inspect: Inspect) -> None:
    call = {"toolCallId": "t", "title": "Edit"}
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_always"}]
    lines = (
        message(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": "tool_call", **call}}),
        message(
            id=5, method="session/request_permission", params={"sessionId": "s", "toolCall": call, "options": options}
        ),
        message(id=5, result={"outcome": {"outcome": "selected", "optionId": "yes"}}),
    )
    page = inspect.log.with_name("page.html")
    inspect.text(*lines, options=["--html", str(page)])
    assert '<span class="decision">allow always</span>' in page.read_text(encoding="utf-8")
