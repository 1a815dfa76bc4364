"""Sessions as Markdown in four renderers: ordinary Markdown stays what it is, and nothing loads or runs."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from acp_msgspec import v1
from acp_msgspec.state import SessionState, Snapshot, to_html, to_markdown, transcript_prompt
from hypothesis import example, given
from hypothesis import strategies as st

from tests.examples import examples
from tests.from_schema import by_tag
from tests.page_support import Page
from tests.state.renderers import RENDERERS, acts

TICKS, TILDES = "`" * 3, "~" * 3
PICTURE, SCRIPT = "![x](http://h.example/p.png)", "<script>alert(1)</script>"
FRAGMENTS = [
    *("\\", "\\\\", "![", "[", "](", ")", "]", "`", "``", TICKS, "`" * 4, f"\n{TICKS}\n", f"\n{TICKS}html\n"),
    *(TILDES, f"\n{TILDES}\n", SCRIPT, "<img src=http://h.example/p.png onerror=x>", "<b>", "</b>", "<", ">", "<!"),
    *("<!-- ", "-->", "<?", "http://a.example/x", "https://a.example/", "www.a.example/b", "a@b.example"),
    *("<http://a.example/b>", "<javascript:z>", "&#60;", "&lt;script&gt;", "javascript:z", "java&#115;cript:z"),
    *("[x]: javascript:q\n", "\n[x]: http://h.example\n", "[x]", "[x](javascript:z)", PICTURE, f"\\{PICTURE}"),
    *(
        "[a](https://x.example/)",
        "[`a`](https://x.example)",
        "[a b](./c.md)",
        "`<b>`",
        " `<script>`",
        "`a`",
        " `a[0]` ",
    ),
    *("\n", "\n\n", "\r", "\r\n", "\t", "    ", "  ", " ", "\xa0", "\x0b", "\x0c", "\x1b[2J", "\u2028", "\u202e"),
    *("|", "|-|-|\n", "\n|a|b|\n|-|-|\n", "- ", "\n- [x] ", "1. ", "> ", "# ", "\n---\n", "===\n", "[^1]", "[^1]: "),
    *("^[", "[[w]]", "[[", "$", "$$", "\n$$\n", "{: onclick=x }", "{", "}", "{#i onclick=x}", "{=html}", "=", "!"),
    *(
        "\n.. image:: http://h.example/p.png\n",
        "\n:::{image} http://h.example/p.png\n:::\n",
        "*[H]: x",
        "\n: d\n",
        "!!! n\n",
    ),
    *("*", "_", "**", "~~", "~", "(", '"', "a", "foo", "==", "++"),
]


def _shot(text: str) -> Snapshot:
    """Make a session in which a text stands everywhere."""
    state = SessionState()
    content = v1.TextContent(text=text)
    state.apply(v1.SessionInfoUpdate(title=text))
    state.user_prompt([content, v1.EmbeddedResource(resource=v1.TextResourceContents(text=text, uri=text))])
    state.apply(v1.SessionUpdateAgentMessageChunk(content=content))
    state.apply(v1.SessionUpdateAgentMessageChunk(content=v1.ResourceLink(name=text, uri=text)))
    state.apply(v1.SessionUpdateAgentMessageChunk(content=v1.ResourceLink(name=text, uri=f"https://a.example/{text}")))
    state.apply(v1.SessionUpdateAgentMessageChunk(content=v1.ResourceLink(name=text, uri="https://a.example/")))
    diff = v1.Diff(path=text, old_text=text, new_text=f"{text}\n{text}")
    shown: list[v1.ToolCallContent] = [v1.Content(content=content), diff, v1.Terminal(terminal_id=v1.TerminalId("own"))]
    place = v1.ToolCallLocation(path=text)
    call = v1.ToolCallId(text)
    state.apply(v1.ToolCall(tool_call_id=call, title=text, content=shown, locations=[place], raw_input={text: text}))
    state.apply(v1.ToolCall(tool_call_id=v1.ToolCallId("raw"), title=text, raw_input=text, raw_output=[text]))
    state.terminal_output("own", command=text, data=text.encode(errors="replace"))
    step = v1.PlanEntry(content=text, priority=v1.PlanEntryPriority.LOW, status=v1.PlanEntryStatus.COMPLETED)
    state.apply(v1.Plan(entries=[step]))
    state.apply(by_tag("plan_update", plan={"type": "markdown", "planId": text, "content": text}))
    state.turn_ended(text)
    return state.snapshot


def _said(text: str) -> str:
    """Export a session in which an agent says something, and give what it has become."""
    state = SessionState()
    state.apply(v1.SessionUpdateAgentMessageChunk(content=v1.TextContent(text=text)))
    return to_markdown(state.snapshot).partition("## Agent\n\n")[2].removesuffix("\n")


@pytest.mark.parametrize(
    "name", ["http://a.example/](javascript:z)", "https://a.example/[a](javascript:z) ![x](http://h)"]
)
@pytest.mark.parametrize("render", RENDERERS.values(), ids=RENDERERS)
def test_an_address_in_the_name_of_a_link(render: Callable[[str], str], name: str) -> None:
    state = SessionState()
    state.apply(v1.SessionUpdateAgentMessageChunk(content=v1.ResourceLink(name=name, uri="https://b.example/")))
    page = render(to_markdown(state.snapshot))
    assert acts(page) == []
    assert any(attributes.get("href") == "https://b.example/" for _, attributes in Page(page).elements)


@examples(100)
@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=18).map("".join))
@example(f"\\{PICTURE}")
@example(f"\\\\{PICTURE}")
@example(f"[x](a`b) {SCRIPT} `")
@example(f"[`a](https://x.example) {SCRIPT} `")
@example(f"https://x.example/`a {SCRIPT}`")
@example(f"http://x[`a b`](https://y.example) `{SCRIPT}`")
@example(f"x http://a.example/(`a {SCRIPT}`")
@example(f"$a `{SCRIPT}` $")
@example(f"`a | {SCRIPT}` |\n|-|-|")
@example(f"\\`\\`\\`\n`{SCRIPT}`")
@example(f"a {TICKS}\n`{SCRIPT}`")
@example(f"{TICKS}\na\n\nb\n{TICKS}\nc `{SCRIPT}`")
@example(f"{TICKS}python\n# a\n\n{SCRIPT}\n{TICKS}\n")
@example(f"{TICKS}\n[b\n{TICKS}\n](javascript:z)")
@example(f"1. a\n   {TICKS}html\n   {SCRIPT}\n   {TICKS}\n2. b")
@example(f"{TICKS}{{=html}}\n{SCRIPT}\n{TICKS}")
@example(f"{TICKS}.. \n{SCRIPT}\n{TICKS}")
@example(f"{TICKS}\n{SCRIPT}")
@example("**b**{: onclick=x }")
@example(".. image:: http://h.example/p.png")
@example("> - .. image:: http://h.example/p.png")
@example("[a](http\u017f://x.example)")
@example("a\n[x]: javascript:z\n[x]")
@pytest.mark.slow
def test_nothing_loads_and_nothing_runs(text: str) -> None:
    shot = _shot(text)
    for exported in (to_markdown(shot), *(block.text for block in transcript_prompt(shot, v1.TextContent))):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", exported)
        for name, render in RENDERERS.items():
            assert acts(render(exported)) == [], name


@pytest.mark.parametrize("name", RENDERERS)
def test_the_renderers_let_everything_act(name: str) -> None:
    for text in (PICTURE, SCRIPT, "[a](javascript:z)", "<b onclick=x>", "<img src=http://h.example/p.png>"):
        assert acts(RENDERERS[name](text)) != [], text


ORDINARY = f"""# Head

Some *words*, **bold** and `code`, `a[0]` and `<b>`: see [the docs](https://a.example/?b=1&c=2) or [a file](./a.md).

1. one
2. two
   - nested, with `x = {{}}`

- [ ] open
- [x] done

| a | b |
|---|---|
| 1 | `c` |

{TICKS}python
def f(x):
    return x[0] < 1
{TICKS}

> quoted

---
Windows: `C:\\temp`, 100 %, a & b, 1 + 2 = 3, snake_case, :-)
"""


def test_ordinary_markdown_stays_as_it_is() -> None:
    assert re.sub(r"^> ?", "", _said(ORDINARY), flags=re.MULTILINE) == ORDINARY.removesuffix("\n") + "\n"


def test_code_that_would_act_stays_code() -> None:
    code = f"{SCRIPT}\n\n# not a head\n![a](b)"
    text = f"Before:\n{TICKS}html\n{code}\n{TICKS}\nAfter."
    assert _said(text) == f"> Before:\n\n{TICKS}html\n{code}\n{TICKS}\n\n> After."
    listed = f"1. Do:\n\n   {TICKS}\n   {SCRIPT}\n     a\n   {TICKS}\n2. So"
    assert _said(listed) == f"> 1. Do:\n\n{TICKS}\n{SCRIPT}\n  a\n{TICKS}\n\n> 2. So"
    for render in RENDERERS.values():
        page = Page(render(_said(text)))
        assert SCRIPT in page.text
        assert "# not a head" in page.text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a < b", "a &lt; b"),
        (f"\\{PICTURE}", "\\!\\[x](http://h.example/p.png)"),
        ("[a][b]", "\\[a\\]\\[b]"),
        ("cost: $5 {a}", "cost: \\$5 \\{a}"),
        ("an open ` tick", "an open &#96; tick"),
        ("\\* \\_ \\[ \\<b> \\`", "\\* \\_ \\[ &lt;b> &#96;"),
        ("- [ ] a [ ]", "- [ ] a \\[ ]"),
        ("\x1b[2J\u202e\x07", "\\x1b\\[2J\\u202e\\x07"),
        ("a\r\nb\tc\rd", "a\n> b\tc\\x0dd"),
        (f"~~a~~ {TILDES}", "~~a~~ \\~\\~\\~"),
    ],
)
def test_what_could_act_is_escaped(text: str, wanted: str) -> None:
    assert _said(text) == f"> {wanted}"


def test_what_is_on_one_line_stays_there() -> None:
    state = SessionState()
    state.apply(v1.SessionInfoUpdate(title="a\n# b\u2028c\x1b[0m\u2066"))
    assert to_markdown(state.snapshot) == "# a\\\\x0a\\# b\\\\u2028c\\\\x1b\\[0m\\\\u2066\n"
    assert "<h1>a\\x0a# b\\u2028c\\x1b[0m\\u2066</h1>" in to_html(state.snapshot)


EXPORTS: list[Callable[[Snapshot], Any]] = [to_markdown, to_html, lambda shot: transcript_prompt(shot, v1.TextContent)]
UNITS = [
    *(" ", "\t", "`", "` ", "[", "](", "[a", "[`a", "[a](", "[a](http://", "\\", "\\`", "<", "~", "{", "{=", "$"),
    *(
        "\n",
        f"\n{TICKS}",
        f"\n{TICKS}a",
        f"\n{TILDES}",
        "\n- ",
        f"\n {TICKS}",
        "1",
        "\n1. ",
        ">",
        "`a` ",
        "(`a`",
        "..",
        "|",
    ),
    *("\x00", "\u202e", "\r", "{{", "\n- [x] ", "&", "a\n", "!["),
]
STARTS = ["", TICKS, "[a](http://"]


def _seconds(export: Callable[[Snapshot], object], shot: Snapshot) -> float:
    before = time.process_time()
    export(shot)
    return time.process_time() - before


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.slow
def test_exports_take_linear_time(start: str) -> None:
    few, many = 700, 7_000
    for unit in UNITS:
        shots = [_shot(start + unit * (count // len(unit))) for count in (few, many)]
        for export in EXPORTS:
            once = max(min(_seconds(export, shots[0]) for _ in range(2)), 0.001)
            # Linear work takes 10 times as long, quadratic work 100 times.
            assert _seconds(export, shots[1]) < 50 * once, (start, unit)


def test_a_fence_and_many_spaces() -> None:
    shot = _shot(TICKS + " " * 400_000 + "x y")
    for export in EXPORTS:
        assert _seconds(export, shot) < 2
