"""Public names stay as long as what they stand for, or live on under their old names with a warning."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from acp_msgspec.tools.vendor.exports import read_exports, written

from generator import api
from generator.docs import Docs
from generator.emit import emit_module, emit_package, runtime_files
from generator.errors import GeneratorError
from generator.lower import lower
from generator.overrides import Overrides
from generator.pipeline import generate_pinned
from generator.read import read_schema
from generator.source import Source
from generator.write import compare_or_write
from tests.support import ROOT

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TAG = {"type": "object", "properties": {"type": {"type": "string", "const": "text"}}, "required": ["type"]}
BLOCK = {"oneOf": [{**TAG, "allOf": [{"$ref": "#/$defs/Text"}]}]}
HOLDER = {"type": "object", "properties": {"text": {"allOf": [{"$ref": "#/$defs/Text"}]}}, "required": ["text"]}


def _source(definitions: dict[str, object]) -> Source:
    return Source("v1", "schema.json", "0" * 64, {"$defs": definitions}, None, "", commit=None, pinned=False)


def _entries(definitions: dict[str, object], overrides: Overrides | None = None) -> list[api.PublicName]:
    return api.entries_of(lower(read_schema(_source(definitions)), overrides or Overrides()), overrides or Overrides())


@pytest.mark.slow
def test_the_stored_list_is_that_of_the_package() -> None:
    made = generate_pinned(lambda _: None)
    text = (ROOT / "generated" / api.FILE).read_text(encoding="utf-8")
    assert made.files[api.FILE] == text
    assert api.from_text(text, "v1") != api.from_text(text, "v1_unstable")
    assert "v1.SessionUpdateToolCallUpdate\tvariant SessionUpdate/tool_call_update\n" in text
    assert "v1.TextContent\t#/$defs/TextContent\nv1.TextContent\tvariant ContentBlock/text\n" in text
    assert "v1.ToolKind.SWITCH_MODE\tToolKind = switch_mode\n" in text
    assert "v1.ToolCall.raw_input\tToolCall: rawInput\n" in text


def test_a_variant_that_would_change_its_name() -> None:
    shared = _entries({"Text": TEXT, "Block": BLOCK, "Holder": HOLDER})
    alone = _entries({"Text": TEXT, "Block": BLOCK})
    assert api.PublicName("BlockText", "variant Block/text") in shared
    assert api.PublicName("Text", "variant Block/text") in alone
    api.check_names("v1", shared, alone, Overrides())  # Text is still there
    with pytest.raises(GeneratorError, match=r"the name v1\.BlockText would become Text, but") as caught:
        api.check_names("v1", alone, shared, Overrides())
    assert '[v1.renamed] BlockText = "Text" in schema/overrides.toml' in str(caught.value)
    mapped = Overrides(renamed={"BlockText": "Text"})
    api.check_names("v1", _entries({"Text": TEXT, "Block": BLOCK}, mapped), shared, mapped)


def test_what_upstream_removes_may_go() -> None:
    before = _entries({"Text": TEXT, "Block": BLOCK, "Holder": HOLDER})
    api.check_names("v1", _entries({"Text": TEXT}), before, Overrides())
    gone = Overrides(renamed={"Holder": "Text"})  # and may live on as something else
    api.check_names("v1", _entries({"Text": TEXT}, gone), before, gone)


def test_a_field_that_would_change_its_name() -> None:
    now = _entries({"Text": TEXT})
    before = [api.PublicName("Text.words", "Text: text")]
    with pytest.raises(GeneratorError, match=r"the name v1\.Text\.words would become Text\.text"):
        api.check_names("v1", now, before, Overrides())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Text", "Block", "Text is still a separate name"),
        ("Old", "Nowhere", "there is no class Nowhere"),
        ("Old", "Text.text", "there is no class Text.text"),
        ("Old", "Older", "there is no class Older"),
    ],
)
def test_wrong_renamings(old: str, new: str, message: str) -> None:
    overrides = Overrides(renamed={old: new, "Older": "Text"})
    with pytest.raises(GeneratorError, match=message):
        api.check_names("v1", _entries({"Text": TEXT, "Block": BLOCK}, overrides), [], overrides)


def test_lists_that_are_none_are_left_aside() -> None:
    assert api.from_text("", "v1") == []
    assert api.from_text("v1.A\nnoise\n\nv1.B\tx\nv2.C\ty\n", "v1") == [api.PublicName("B", "x")]
    entries = {"v1": _entries({"Text": TEXT})}
    assert api.from_text(api.to_text(entries), "v1") == entries["v1"]


@pytest.mark.slow
def test_generate_reads_the_names_of_the_last_time(tmp_path: Path) -> None:
    text = (ROOT / "generated" / api.FILE).read_text(encoding="utf-8")
    (tmp_path / api.FILE).write_text(text.replace("v1.ToolCall.raw_input\t", "v1.ToolCall.raw_in\t"), encoding="utf-8")
    with pytest.raises(GeneratorError, match=r"the name v1\.ToolCall\.raw_in would become ToolCall\.raw_input"):
        generate_pinned(lambda _: None, out=tmp_path)


USE = """
import json, sys, warnings
warnings.simplefilter("always")
from acp_msgspec import v1
with warnings.catch_warnings(record=True) as caught:
    same = v1.BlockText is v1.Text
    from acp_msgspec.v1 import BlockText
try:
    v1.Nowhere
except AttributeError as why:
    print(json.dumps([same, [str(w.message) for w in caught], [w.category.__name__ for w in caught],
                      [w.filename for w in caught], str(why)]))
"""


def _write_package(folder: Path) -> None:
    source = _source({"Text": TEXT, "Block": BLOCK})
    files = emit_module(lower(read_schema(source), Overrides()), source, Docs(source, {}), {"BlockText": "Text"})
    compare_or_write(folder, {**runtime_files(), **emit_package(None, []), **files}, {}, check=False)


@pytest.mark.slow
def test_former_names_live_on_in_a_copy_of_the_types(tmp_path: Path) -> None:
    _write_package(tmp_path)
    vendor = [sys.executable, "-m", "acp_msgspec", "vendor", "copied", "--parts", "types"]
    subprocess.run(vendor, cwd=tmp_path, check=True, capture_output=True)
    use = [sys.executable, "-c", USE.replace("acp_msgspec", "copied")]
    run = subprocess.run(use, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    same, messages, categories, *_ = json.loads(run.stdout)
    assert same
    assert ({*messages}, {*categories}) == ({"BlockText is called Text now"}, {"DeprecationWarning"})
    # Written again without a loss, the `__init__` is the same.
    source = (tmp_path / "acp_msgspec" / "v1" / "__init__.py").read_bytes()
    assert ast.dump(ast.parse(written(read_exports("v1/__init__.py", source)))) == ast.dump(ast.parse(source))


@pytest.mark.slow
def test_former_names_live_on_with_a_warning(tmp_path: Path) -> None:
    _write_package(tmp_path)
    run = subprocess.run([sys.executable, "-c", USE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    same, messages, categories, files_of, error = json.loads(run.stdout)
    assert same
    assert set(messages) == {"BlockText is called Text now"}
    assert set(categories) == {"DeprecationWarning"}
    assert files_of[0] == "<string>"  # the place that uses the old name
    assert error == "module 'acp_msgspec.v1' has no attribute 'Nowhere'"
    user = tmp_path / "user.py"
    user.write_text(
        "from acp_msgspec import v1\nx: v1.BlockText = v1.Text(text='')\nprint(x, v1.Nowhere)\n", encoding="utf-8"
    )
    check = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "user.py"]
    shown = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert "BlockText" not in shown
    assert '"Nowhere" is not a known attribute' in shown
