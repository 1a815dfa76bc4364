"""Exceptions and docstrings are data, and no entry outlives its reason."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.docs import load_docs
from generator.emit import emit_module
from generator.errors import GeneratorError
from generator.lower import lower
from generator.model import CatchAll, Enumeration, Presence, Struct
from generator.overrides import FILE, load_overrides
from generator.pin import pin
from generator.read import read_schema
from generator.source import Source, load_pinned
from tests.support import CASES, ROOT

SOURCES = {s.label: s for s in load_pinned()[0]}
UNKNOWN = '[v1.unknown_member]\nToolKind = "other"'
TEXT = (ROOT / FILE).read_text(encoding="utf-8")


def _lower(source: Source, text: str, folder: Path) -> None:
    file = folder / "overrides.toml"
    file.write_text(text, encoding="utf-8")
    lower(read_schema(source), load_overrides(source, file))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "SessionInfoUpdate = [",
            "SessionInfoUpdated = [",
            r"stale entries patch.SessionInfoUpdated.title, \S+: ",
        ),
        ('["title", "updatedAt"]', '["title", "updated"]', "stale entry patch.SessionInfoUpdate.updated"),
        ("[v1.default]\n", '[v1.default]\nToolStatus = "pending"\n', "stale entry default.ToolStatus"),
        (
            'ToolCallStatus = "pending"',
            'ToolCallStatus = "waiting"',
            "names 'waiting', which ToolCallStatus",
        ),
        ('ToolCallStatus = "pending"\n', "", "an optional property that is not nullable has no default"),
        (
            '[v1.unknown_member]\nToolKind = "other"',
            '[v1.unknown_member]\nKind = "other"',
            "stale entry unknown_member.Kind",
        ),
        (
            '[v1.unknown_member]\nToolKind = "other"',
            '[v1.unknown_member]\nToolKind = "misc"',
            "unknown_member = 'misc'",
        ),
        ("[v1.patch]\n", '[v1.patch]\nToolCall = ["title"]\n', "a patch field must be optional"),
        (
            'SessionInfoUpdate = ["_meta"]\n',
            'SessionInfoUpdate = ["_meta", "title"]\n',
            "stale entry not_patch.SessionInfoUpdate.title: ",
        ),
        (
            "[v1.default]\n",
            '[v1.enforced]\nToolCallId = ["maxLength"]\n"ToolCall.title" = ["minLength"]\n\n[v1.default]\n',
            r"stale entries enforced\.ToolCall\.title\.minLength, enforced\.ToolCallId\.maxLength: ",
        ),
        (
            "[v1.default]\n",
            '[v1.forbids]\nToolCalled = ["title"]\n\n[v1.default]\n',
            "stale entry forbids.ToolCalled.title: ",
        ),
        (
            'tag_decides = ["AuthMethod"]\n',
            'tag_decides = ["AuthMethod", "ContentBlock"]\nverbatim = ["ToolCall"]\n',
            "stale entries tag_decides.ContentBlock, verbatim.ToolCall: ",
        ),
        ("[v1]\n", '[v1]\nmerged = ["_meta", "meta", "title"]\n', r"stale entries merged\.meta, merged\.title: "),
        ("[v1]\n", '[v1]\nverbatim = "ToolCall"\n', "has an unknown table 'verbatim'"),
        ("null_as_empty = true\n", "null_as_empty = 1\n", "has an unknown table 'null_as_empty'"),
        ("[v1.patch]\n", '[v1.patch]\nToolCall = ["content"]\n', "a patch field must be optional and nullable"),
        ("[v1.patch]\n", '[v1.patch]\nToolCall = "title"\n', r"\[v1.patch\] ToolCall has a value of the wrong type"),
        ("[v1.default]\n", "[v1.defaults]\n", r"\[v1\] has an unknown table 'defaults'"),
        ("[v1.patch]\n", "[v1.patch\n", "is not TOML"),
        ('"session/load" = "a', '"session/loaded" = "a', "stale entry capabilities.session/loaded: "),
        (
            '"session/load" = "agentCapabilities.loadSession"',
            '"session/load" = "agentCapabilities.loadSessions"',
            r"^schema/v1/schema.json#/\$defs/InitializeResponse: there is no agentCapabilities.loadSessions, which the "
            r"entry capabilities.session/load of \S+overrides.toml names \(hint: ",
        ),
        (
            '"terminal/kill" = "clientCapabilities',
            '"terminal/kill" = "agentCapabilities',
            r"InitializeRequest: there is no agentCapabilities.terminal,",
        ),
        (
            '"session/prompt#prompt=image"',
            '"session/prompt#prompt=picture"',
            r"PromptRequest: there is no prompt=picture, which",
        ),
        ('"session/prompt#prompt=image"', '"session/prompt#prompts=image"', "there is no prompts=image, which"),
        ('"elicitation/create#mode=url"', '"elicitation/create#mode=link"', "there is no mode=link, which"),
        (
            '"session/load" = "agentCapabilities.loadSession"',
            '"session/load" = true',
            r"\[v1.capabilities\] session/load has a value of the wrong type",
        ),
        (
            '"session/load" = "agentCapabilities.loadSession"',
            '"session/load" = { path = "agentCapabilities.loadSession" }',
            r"\[v1.capabilities\] session/load has a value of the wrong type",
        ),
    ],
)
def test_stale_or_wrong_entries_are_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in TEXT
    with pytest.raises(GeneratorError, match=message):
        _lower(SOURCES["v1"], TEXT.replace(old, new, 1), tmp_path)


def test_what_the_entries_do() -> None:
    for label, source in SOURCES.items():
        found = {d.name: d for d in lower(read_schema(source), load_overrides(source)).definitions}
        entries: dict[str, list[str]] = tomllib.loads(TEXT).get(label, {}).get("patch", {})
        assert entries or label != "v1"
        for name, wires in entries.items():
            update = found[name]
            assert isinstance(update, Struct | CatchAll)
            assert {f.wire for f in update.fields if f.presence is Presence.PATCH} >= set(wires), name
            for field in (f for f in update.fields if f.presence is Presence.PATCH):
                assert field.merged is (label.startswith("v2") and field.wire == "_meta"), (name, field.wire)
    kinds = {d.name: d for d in lower(read_schema(SOURCES["v1"]), load_overrides(SOURCES["v1"])).definitions}
    kind = kinds["ToolKind"]
    assert isinstance(kind, Enumeration)
    assert kind.unknown == "other"


@pytest.mark.slow
def test_other_schemas_take_what_fits() -> None:
    first = SOURCES["v1_unstable"]
    for source, wanted in ((first, "v1"), (SOURCES["v2_unstable"], "v2")):
        other = Source("some_label", "some.json", source.sha256, source.raw, None, "", commit=None, pinned=False)
        ours = lower(read_schema(source), load_overrides(source))
        theirs = lower(read_schema(other), load_overrides(other))
        assert theirs.definitions == ours.definitions, wanted
        assert theirs.needs == ours.needs != ()
        assert theirs.version == ours.version == int(wanted[1])


def _docs(tmp_path: Path, text: str, label: str = "v1") -> None:
    folder = tmp_path / "schema" / "docs"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{label}.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("node", [{"type": "string"}, {"$ref": "#/$defs/Kind"}])
def test_an_optional_property_without_a_default_is_a_decision(node: dict[str, Any], tmp_path: Path) -> None:
    part: dict[str, Any] = {"type": "object", "properties": {}}
    owner = {"type": "object", "properties": {"a": node, "part": {"$ref": "#/$defs/Part"}}}
    definitions: dict[str, Any] = {"Kind": {"type": "string", "enum": ["x", "y"]}, "Part": part, "Owner": owner}
    file = tmp_path / "overrides.toml"
    file.write_text("", encoding="utf-8")
    source = Source("v1", "schema.json", "", {"$defs": definitions}, None, "", None, pinned=True)
    with pytest.raises(GeneratorError) as caught:
        lower(read_schema(source), load_overrides(source, file))
    assert str(caught.value).startswith(
        "schema.json#/$defs/Owner/properties/a: an optional property that is not nullable has no default (hint: "
    )
    file.write_text('[v1.default]\nKind = "z"\n', encoding="utf-8")
    if "$ref" in node:
        with pytest.raises(GeneratorError, match="the override names 'z', which Kind lacks"):
            lower(read_schema(source), load_overrides(source, file))
    other = replace(source, pinned=False)
    made = {d.name: d for d in lower(read_schema(other), load_overrides(other, file)).definitions}["Owner"]
    assert isinstance(made, Struct)
    assert [f.presence for f in made.fields] == [Presence.ABSENT, Presence.ABSENT]


def test_docstrings(tmp_path: Path) -> None:
    _docs(
        tmp_path,
        '[Diff]\ndoc = "One file before and after."\n[Diff.fields]\noldText = "Null for a new file."\n'
        '[Role.members]\nuser = "The person."\n[SessionUpdatePlanned]\ndoc = "x"\n',
    )
    source = SOURCES["v1"]
    docs = load_docs(source, tmp_path)
    files = emit_module(lower(read_schema(source), load_overrides(source)), source, docs)
    assert '    """One file before and after. [#/$defs/Diff]"""\n' in files["acp_msgspec/v1/types.py"]
    assert '= None\n    """Null for a new file."""\n' in files["acp_msgspec/v1/types.py"]
    assert 'USER = "user"\n    """The person."""\n' in files["acp_msgspec/v1/enums.py"]
    assert docs.coverage[0] == 3
    assert "Diff.fields.newText" in docs.missing
    with pytest.raises(GeneratorError, match=r"^schema/docs/v1.toml: stale entry SessionUpdatePlanned: "):
        docs.check_used()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[Diff]\ntext = "x"\n', r"\[Diff\] has an unknown entry 'text'"),
        ("[Diff]\nfields = 3\n", r"\[Diff\] has an unknown entry 'fields'"),
        ("Diff = 3\n", r"\[Diff\] has an unknown entry ''"),
        ("[Diff\n", "is not TOML"),
    ],
)
def test_wrong_docs_are_refused(text: str, message: str, tmp_path: Path) -> None:
    _docs(tmp_path, text)
    with pytest.raises(GeneratorError, match=message):
        load_docs(SOURCES["v1"], tmp_path)


@pytest.mark.slow
def test_every_place_of_the_pinned_schemas_is_documented() -> None:
    for source in SOURCES.values():
        docs = load_docs(source)
        emit_module(lower(read_schema(source), load_overrides(source)), source, docs)
        docs.check_used()
        assert docs.missing == []
        assert docs.coverage[0] > 700


def _pinned(commit: str, label: str, folder: Path, text: str | None = None) -> None:
    """Lower one schema of a stored commit with its overrides, or with another text of them."""
    case = CASES / "pins" / commit
    pin(str(case), commit, None, root=folder)
    text = (case / "overrides.toml").read_text(encoding="utf-8") if text is None else text
    _lower(next(s for s in load_pinned(folder)[0] if s.label == label), text, folder)


def test_what_the_schema_says_needs_no_entry(tmp_path: Path) -> None:
    """The schema marks its updates since then, and an entry that repeats a mark is as stale as any other."""
    commit = "c0945895a632"
    text = (CASES / "pins" / commit / "overrides.toml").read_text(encoding="utf-8")
    _pinned(commit, "v2", tmp_path)
    repeated = text.replace("[v2.enforced]\n", '[v2.patch]\nToolCallUpdate = ["title"]\n\n[v2.enforced]\n')
    with pytest.raises(GeneratorError, match=r"stale entry patch.ToolCallUpdate.title: "):
        _pinned(commit, "v2", tmp_path, repeated)
    repeated = text.replace("[v2.enforced]\n", '[v2.forbids]\nTitledMultiSelectItems = ["type"]\n\n[v2.enforced]\n')
    with pytest.raises(GeneratorError, match=r"stale entry forbids.TitledMultiSelectItems.type: "):
        _pinned(commit, "v2", tmp_path, repeated)
