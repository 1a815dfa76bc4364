"""Reports for people: the head of ten lines, repeats shown once, and Markdown that fits GitHub's limit."""

import importlib
import json
import re
import shlex
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.diff import FORMATS, diff
from generator.diff.compare.change import Change
from generator.diff.compare.comparison import Comparison
from generator.diff.compare.groups import GROUPS
from generator.diff.compare.modules import in_order
from generator.diff.compare.rules import RULES, Effect, Version
from generator.diff.render.head import head
from generator.diff.render.markdown import LIMIT, PART, markdown_files, render_markdown
from generator.diff.render.text import render_text
from generator.jsonutil import is_array, is_object
from generator.source import LABELS
from tests.examples import examples
from tests.generator.command import generator
from tests.support import CASES, ROOT

PINNED = ROOT / "schema"
LARGE = (str(CASES / "pins/c0945895a632/v1/schema.json"), str(CASES / "pins/c0945895a632/v2/schema.json"))
"""Two states of upstream whose report needs several pages."""
GITHUB = 65_536
HOSTILE = st.text(alphabet=st.sampled_from("a_`|\\<&*[\n\x1b\u202e雪🙂"), max_size=80)
FREE = st.one_of(HOSTILE, st.text(max_size=20), HOSTILE.map(lambda text: text * 30))
CODE = st.just("") | HOSTILE | st.sampled_from(("雪" * 3000, "`" * 3000, "|" * 3000))
LONG = st.just("雪|`\n" * 300)
PLAIN = st.text(alphabet="ABC", min_size=1, max_size=2)


def _changes(words: st.SearchStrategy[str]) -> st.SearchStrategy[Change]:
    names = st.lists(words if words is PLAIN else PLAIN | LONG, max_size=8).map(tuple)
    pointers = st.none() | words
    return st.builds(
        Change,
        rule=st.sampled_from(list(RULES.values())),
        label=st.sampled_from(list(LABELS)),
        owner=words,
        name=words,
        old_pointer=pointers,
        new_pointer=pointers,
        before=words if words is PLAIN else CODE,
        after=words if words is PLAIN else CODE,
        sentence=words,
        used_in=names,
        methods=names,
        also=names,
        evidence=words,
        words=st.just((("old", "Former"),)),
    )


def _comparison(changes: list[Change], old: str = "old", new: str = "new") -> Comparison:
    every = [c for label in LABELS for c in in_order(c for c in changes if c.label == label)]
    return Comparison(old, new, tuple(LABELS), tuple(every))


def _of_each_rule(label: str = "v1") -> list[Change]:
    return [
        Change(r, label, kind, f"{kind}.x", "", "", "a: int", "b: int", f"{kind} changed.", words=(("old", "Former"),))
        for kind, r in RULES.items()
    ]


class _Blocks(HTMLParser):
    """The list items of a page before its first table, and the cells of each row of its tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.items: list[str] = []
        self.rows: list[list[str]] = []
        self._open = ""
        cmark: Any = importlib.import_module("cmarkgfm")
        self.feed(str(cmark.github_flavored_markdown_to_html(text)))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "li":
            self.items.append("")
        self._open = tag if tag in ("td", "th", "li") else self._open

    def handle_endtag(self, tag: str) -> None:
        self._open = "" if tag == self._open else self._open

    def handle_data(self, data: str) -> None:
        if self._open == "li":
            self.items[-1] += data
        elif self._open:
            self.rows[-1][-1] += data


def test_every_rule_is_in_one_group() -> None:
    kinds = Counter(kind for group in GROUPS for kind in group.kinds)
    assert kinds == Counter(RULES.keys())
    severe = [max(RULES[k].severity is Effect.BREAKING for k in group.kinds) for group in GROUPS]
    assert severe == sorted(severe, reverse=True)
    for group in GROUPS:
        releases = {RULES[kind].version is Version.MAJOR for kind in group.kinds}
        assert len(releases) == 1, f"{group.name} mixes changes that break with others"


def test_a_stricter_reader_asks_for_a_major_release_and_stands_in_the_head() -> None:
    stricter = [rule for rule in RULES.values() if rule.reader is Effect.TIGHTENED]
    assert {"lenient.dropped", "items.kept", "unknown.dropped"} <= {rule.kind for rule in stricter}
    for rule in stricter:
        comparison = _comparison([c for c in _of_each_rule() if c.rule is rule])
        assert (comparison.version, comparison.status) == (Version.MAJOR, 4)
        assert any(f"{rule.kind}.x" in line.text for line in head(comparison)), rule.kind
        if rule.severity is Effect.TIGHTENED:
            assert head(comparison)[0].text == "major - 1 change makes readers stricter (v1: 1)."


def test_the_head_is_the_same_ten_lines_in_every_format() -> None:
    comparison = _comparison([*_of_each_rule(), *_of_each_rule("v2_unstable")])
    lines = [(line.name, line.text) for line in head(comparison)]
    assert len(lines) == 10
    assert [name for name, _ in lines] == ["advice", "modules", *(g.name for g in GROUPS)]
    texts = {fmt: render(comparison) for fmt, render in FORMATS.items()}
    assert [line[:9].rstrip() for line in texts["text"].splitlines()[2:12]] == [name for name, _ in lines]
    assert [line[10:] for line in texts["text"].splitlines()[2:12]] == [text for _, text in lines]
    assert _Blocks(texts["markdown"]).items == [f"{name.capitalize()}: {text}" for name, text in lines]
    assert [tuple(line.values()) for line in json.loads(texts["json"])["head"]] == lines
    page = texts["html"].partition("</header>")[0]
    for name, text in lines[1:]:
        assert f"<dt>{name}</dt><dd>{text}</dd>" in page
    # Each group with changes says whom they affect, and what to do.
    for group in GROUPS:
        assert all(words in dict(lines)[group.name] for words in (group.affects, group.todo))


@pytest.mark.slow
@examples(60)
@given(st.lists(_changes(FREE), max_size=12))
def test_the_head_is_short_whatever_the_names(changes: list[Change]) -> None:
    lines = head(_comparison(changes))
    assert len(lines) <= 10
    for line in lines:
        assert len(line.text) <= 480
        assert line.text.isprintable()


def _reported(text: str) -> Counter[tuple[str, str]]:
    """Read a text report: each module with each sentence that it reports, at its own place or at another one."""
    found: Counter[tuple[str, str]] = Counter()
    label = sentence = ""
    for line in text.splitlines():
        if heading := re.match(r"(\w+): ", line):
            label = heading[1]
        elif said := re.match(r"    [a-z]\S+ +reader \w+ +writer \w+ +(.*)", line):
            sentence = said[1]
            found[label, sentence] += 1
        elif same := re.match(r"      same in +(.*)", line):
            found.update((other, sentence) for other in same[1].split(", "))
    return found


def _reported_in_pages(pages: dict[str, str]) -> Counter[tuple[str, str]]:
    """Read a Markdown report in the same way."""
    found: Counter[tuple[str, str]] = Counter()
    for text in pages.values():
        label = ""
        for line in text.splitlines():
            if heading := re.match(r"## (\w+)", line):
                label = heading[1]
            elif line.startswith("| ") and not line.startswith("| reader"):
                said = line.split(" | ")[2].replace("\\", "")
                sentence = re.split(r" The same in | Used in | Along with it: ", said)[0]
                found[label, sentence] += 1
                same = re.search(r" The same in (.*?)(?:, there used in .*?)?\.(?: |$)", said)
                found.update((other, sentence) for other in (same[1].split(", ") if same else ()))
    return found


@pytest.mark.slow
@examples(100)
@given(
    st.lists(_changes(PLAIN), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(list(LABELS)), st.lists(PLAIN, max_size=2)), max_size=10),
)
def test_no_change_is_lost_by_folding(few: list[Change], copies: list[tuple[int, str, list[str]]]) -> None:
    changes = [
        replace(few[number % len(few)], label=label, used_in=tuple(used), methods=tuple(used))
        for number, label, used in copies
    ]
    comparison = _comparison(changes)
    # Changes that are equal but for their uses, in one module, are one to a reader.
    wanted = {(c.label, c.sentence) for c in changes}
    assert _reported(render_text(comparison)).keys() == wanted
    assert _reported_in_pages(markdown_files(comparison, "report.md")).keys() == wanted
    folded = comparison.folded
    assert sum(1 + len(f.repeats) for f in folded) == len(changes)
    for one in folded:
        for repeat in one.repeats:
            assert repeat.label.endswith("_unstable")
            assert repeat.label != one.change.label
            assert (repeat.rule, repeat.name, repeat.before, repeat.after, repeat.sentence) == (
                *(one.change.rule, one.change.name, one.change.before, one.change.after, one.change.sentence),
            )
            used = {*one.change.used_in, *one.uses_elsewhere}
            assert used >= set(repeat.used_in)
            assert {*one.change.methods, *one.methods_elsewhere} >= set(repeat.methods)
    # An unstable module shows only what no module before it has.
    shown = [f.change for f in folded]
    for own in shown:
        if own.label.endswith("_unstable"):
            before = list(LABELS)[: list(LABELS).index(own.label)]
            assert not any(other.label in before and _alike(own) == _alike(other) for other in changes)


def _alike(change: Change) -> Change:
    """Return what a change has in common with its repeats."""
    return replace(change, label="", used_in=(), methods=())


def _without(key: str, definition: str, labels: tuple[str, ...], folder: Path) -> Path:
    """Copy the pinned schemas, and take a property out of some of them."""
    for label, (schema, _) in LABELS.items():
        raw = json.loads((PINNED / schema).read_text(encoding="utf-8"))
        if label in labels:
            found = raw["$defs"][definition]
            del found["properties"][key]
            if is_array(found.get("required")):
                found["required"] = [name for name in found["required"] if name != key]
        target = folder / schema
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(raw), encoding="utf-8")
    (folder / "overrides.toml").write_bytes((PINNED / "overrides.toml").read_bytes())
    return folder


def _shared_property() -> tuple[str, str]:
    """Find a definition with a free-form property that the schemas of both versions have."""
    raws = [json.loads((PINNED / schema).read_text(encoding="utf-8"))["$defs"] for schema, _ in LABELS.values()]
    found = (
        (name, key)
        for name, definition in raws[0].items()
        for key, node in definition.get("properties", {}).items()
        if node.keys() == {"type"} and "x-docs-ignore" not in definition and key in definition.get("required", ())
        if all(is_object(raw.get(name)) and raw[name].get("properties", {}).get(key) == node for raw in raws)
    )
    return next(found)


@pytest.mark.slow
def test_a_change_of_all_modules_is_shown_once_for_each_version(tmp_path: Path) -> None:
    definition, key = _shared_property()
    new = _without(key, definition, tuple(LABELS), tmp_path)
    text = diff(str(PINNED), str(new), "text").text
    assert text.count("field.removed") == 2
    assert "v1_unstable: 1 breaking; of these 1 the same as in v1, and shown there" in text
    assert _reported(text).keys() == {(label, f"{definition}.{_snake(key)} is removed.") for label in LABELS}
    document = json.loads(diff(str(PINNED), str(new), "json").text)
    assert document["version"] == "major"
    homes = {"v1": None, "v1_unstable": "v1", "v2": None, "v2_unstable": "v2"}
    assert {c["label"]: c["repeats"] for c in document["changes"]} == homes


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda m: f"_{m[1].lower()}", key)


@pytest.mark.slow
@examples(20)
@given(
    st.lists(_changes(FREE), max_size=5),
    st.sampled_from((1, 2, 15)),
    st.text(max_size=50) | HOSTILE.map(lambda t: t * 10),
    st.text(alphabet="ab 雪[]()%", min_size=1, max_size=40),
)
def test_every_page_is_below_the_limit_and_linked(changes: list[Change], times: int, old: str, stem: str) -> None:
    comparison = _comparison(changes * times, old, old[::-1])
    assert len(render_markdown(comparison)) < GITHUB == LIMIT
    pages = markdown_files(comparison, f"{stem}.md")
    assert all(len(text) < GITHUB for text in pages.values())
    rows = [row for text in pages.values() for row in _Blocks(text).rows if row[:2] != ["reader", "writer"]]
    assert [len(row) for row in rows] == [5] * len(comparison.folded)
    assert [text.startswith(PART) for text in pages.values()] == [False] + [True] * (len(pages) - 1)
    # From the first page, every other one can be reached.
    names = {_target(name): name for name in pages}
    seen, waiting = {f"{stem}.md"}, [f"{stem}.md"]
    while waiting:
        found = {names[t] for t in re.findall(r"\]\(([^)]+)\)", pages[waiting.pop()]) if t in names} - seen
        seen |= found
        waiting += found
    assert seen == pages.keys()


def _target(name: str) -> str:
    """Spell a file's name as a link does."""
    kept = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
    return "".join(chr(b) if b in kept else f"%{b:02X}" for b in name.encode("utf-8"))


@pytest.mark.slow
def test_a_report_of_very_many_pages_keeps_the_limit() -> None:
    long = "x" * 1900
    changes = [
        Change(RULES["field.removed"], "v1", f"A{n}", f"A{n}.b", "/a", None, long, "", f"A{n} {long}")
        for n in range(8000)
    ]
    pages = markdown_files(_comparison(changes), "r" * 200 + ".md")
    assert len(pages) > 300
    assert max(map(len, pages.values())) < GITHUB
    assert "each is linked from the one before" in next(iter(pages.values()))


def test_a_short_report_is_one_page_on_standard_output_too() -> None:
    comparison = _comparison(_of_each_rule())
    assert markdown_files(comparison, "report.md") == {"report.md": render_markdown(comparison)}


@pytest.mark.slow
def test_long_markdown_on_standard_output_says_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = diff(*LARGE, "markdown")
    command = shlex.split(report.text.splitlines()[-1])
    assert command[:3] == ["python", "-m", "generator"]
    assert f"the tables of all {len(report.comparison.changes)} changes" in report.text
    out = tmp_path / command[-1]
    made = generator(*command[3:-1], out)
    assert (made.returncode, made.stdout, made.stderr) == (report.status, "", "")
    files = sorted(p.name for p in tmp_path.iterdir())
    assert files == sorted(report.files("report.md"))
    assert len(files) > 1
    assert all(name in report.text for name in (files[0], files[-1]))
    reported = _reported_in_pages({p.name: p.read_text(encoding="utf-8") for p in sorted(tmp_path.iterdir())})
    assert reported.total() == len(report.comparison.changes)


@pytest.mark.slow
def test_parts_of_a_former_report_go_and_other_files_stay(tmp_path: Path) -> None:
    old, new = LARGE
    out = tmp_path / "report.md"
    parts = sorted(diff(old, new, "markdown").files("report.md"))
    assert len(parts) > 1

    def written(other: str) -> list[str]:
        assert generator("diff", old, other, "--format", "markdown", "--out", out).returncode in (0, 3, 4)
        return sorted(p.name for p in tmp_path.iterdir())

    assert written(new) == parts == written(new)
    (tmp_path / f"report-{len(parts) + 2}.md").write_text("mine", encoding="utf-8")
    assert written(old) == sorted(["report.md", f"report-{len(parts) + 2}.md"])
    (tmp_path / "report-2.md").write_text("mine", encoding="utf-8")
    before = out.read_bytes()
    refused = generator("diff", old, new, "--format", "markdown", "--out", out)
    assert refused.returncode == 1
    assert refused.stderr == (
        f"error: {tmp_path / 'report-2.md'}: is in the way of a part of the report (hint: give --out another name)\n"
    )
    assert out.read_bytes() == before
    assert (tmp_path / "report-2.md").read_text(encoding="utf-8") == "mine"


def test_cases_of_lost_leniency(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lenient_dropped", "items_kept", "unknown_dropped"):
        monkeypatch.chdir(CASES / "diff" / name)
        end = ".json" if Path("old.json").exists() else ""
        report = diff(f"old{end}", f"new{end}", "text")
        assert report.status == 4, name
        assert any(line.startswith("stricter") for line in report.text.splitlines()[:12]), name
