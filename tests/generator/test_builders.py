"""Builders of a schema: what they make is found by methods and shapes; where a shape is missing, they are left out."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generator import api
from generator.builders import Builders, find_builders
from generator.errors import GeneratorError
from generator.manifest import update
from generator.overrides import Overrides
from generator.pipeline import generate_single, load_module
from generator.source import load_single
from tests.support import CASES, ROOT

pytestmark = pytest.mark.slow
LABELS = ("v1", "v1_unstable", "v2", "v2_unstable")
ALL = ["audio", "diff", "embedded", "file_block", "image", "link", "permission_options", "plan_entries", "text"]
Node = dict[str, Any]
RENAMED = {
    "PromptCapabilities": "WhatFits",
    "TextContent": "Words",
    "ImageContent": "Picture",
    "ResourceLink": "Pointer",
    "EmbeddedResource": "Enclosed",
    "TextResourceContents": "Written",
    "Diff": "Difference",
    "PlanEntry": "Step",
    "PlanEntryStatus": "Iterable",
    "PlanEntryPriority": "PathLike",
    "PermissionOption": "PromptFile",
    "PermissionOptionId": "Mapping",
    "PermissionOptionKind": "Literal",
}
"""Other names of definitions, some of them those that the emitted module imports."""
USE = """
import acp_msgspec as acp, sys
from acp_msgspec import case
names = sys.argv[1].split(",")
def there(name):
    assert (name in case.__all__) is (name in names) is hasattr(case, name), name
    return name in names
made = []
if there("text"): made.append(case.text("x"))
if there("image"): made.append(case.image(b"x", "image/png"))
if there("audio"): made.append(case.audio(b"x", "audio/wav"))
if there("link"): made.append(case.link("/a"))
if there("embedded"): made.append(case.embedded(sys.executable, max_bytes=10**9))
if there("file_block"): made.append(case.file_block(sys.executable))
if there("diff"): made.append(case.diff("/a", "x", "y"))
if there("plan_entries"): made += case.plan_entries(["a", "b"], current=1)
if there("permission_options"): made += case.permission_options()
for value in made:
    acp.validate(value)
    acp.encode(value)
"""


def _schema(folder: Path, label: str, change: Callable[[Node], None] = lambda _: None) -> Path:
    """Store a pinned schema with a change."""
    version, _, draft = label.partition("_")
    name = "schema.unstable.json" if draft else "schema.json"
    schema: Node = json.loads((ROOT / "schema" / version / name).read_text(encoding="utf-8"))
    change(schema["$defs"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    return folder / "schema.json"


REFUSED = "2025-08-04_a485ce70_schema.json"
"""The past schema that has a union of two branches without a name: the generator refuses it."""
READABLE = [path for path in sorted((CASES / "history").glob("*.json")) if path.name != REFUSED]


def _found(path: Path) -> Builders:
    return find_builders(load_module(load_single(path, "case", None)))


def _use(path: Path, folder: Path, names: list[str]) -> None:
    """Generate a schema, and call its builders in another process."""
    made = generate_single(path, "case", None, lambda _: None, folder)
    update(folder, made.output, check=False)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", USE, ",".join(names)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stderr[-3000:]


@pytest.mark.parametrize("label", LABELS)
def test_every_pinned_schema_has_all(label: str, tmp_path: Path) -> None:
    assert _found(_schema(tmp_path, label)).names == ALL


@pytest.mark.parametrize("label", ["v1", "v2"])
def test_the_names_of_definitions_do_not_matter(label: str, tmp_path: Path) -> None:
    path = _schema(tmp_path, label)
    text = path.read_text(encoding="utf-8")
    for old, new in RENAMED.items():
        text = text.replace(f'"#/$defs/{old}"', f'"#/$defs/{new}"').replace(f'"{old}": {{', f'"{new}": {{')
    path.write_text(text, encoding="utf-8")
    assert _found(path).names == ALL
    _use(path, tmp_path / "out", ALL)


def _needs_more(name: str) -> Callable[[Node], None]:
    def change(definitions: Node) -> None:
        definitions[name]["properties"]["more"] = {"type": "string"}
        definitions[name].setdefault("required", []).append("more")

    return change


def _takes_numbers(name: str, key: str) -> Callable[[Node], None]:
    def change(definitions: Node) -> None:
        definitions[name]["properties"][key] = {"type": "number"}

    return change


def _without_audio(definitions: Node) -> None:
    del definitions["PromptCapabilities"]["properties"]["audio"]


def _without_value(name: str, value: str) -> Callable[[Node], None]:
    def change(definitions: Node) -> None:
        for key in ("oneOf", "anyOf"):
            if key in definitions[name]:
                definitions[name][key] = [v for v in definitions[name][key] if v.get("const") != value]

    return change


@pytest.mark.parametrize(
    ("label", "change", "gone"),
    [
        ("v1", _needs_more("TextContent"), {"text", "file_block"}),
        ("v1", _needs_more("ImageContent"), {"image", "file_block"}),
        ("v1", _needs_more("BlobResourceContents"), {"embedded", "file_block"}),
        ("v1", _needs_more("Diff"), {"diff"}),
        ("v1", _needs_more("PlanEntry"), {"plan_entries"}),
        ("v1", _needs_more("PermissionOption"), {"permission_options"}),
        ("v1", _takes_numbers("ResourceLink", "name"), {"link", "file_block"}),
        ("v1", _takes_numbers("Diff", "newText"), {"diff"}),
        ("v2", _without_audio, {"file_block"}),
        ("v1", _without_value("PlanEntryStatus", "completed"), {"plan_entries"}),
        ("v2", _without_value("DiffPatchFormat", "git_patch"), {"diff"}),
        ("v2", _needs_more("DiffPatch"), {"diff"}),
    ],
)
def test_a_missing_shape_leaves_the_builder_out(
    label: str, change: Callable[[Node], None], gone: set[str], tmp_path: Path
) -> None:
    path = _schema(tmp_path, label, change)
    names = [name for name in ALL if name not in gone]
    assert _found(path).names == names
    _use(path, tmp_path / "out", names)


def test_a_missing_kind_is_not_offered(tmp_path: Path) -> None:
    path = _schema(tmp_path, "v1", _without_value("PermissionOptionKind", "reject_always"))
    options = _found(path).options
    assert options is not None
    assert options.kinds == ("allow_once", "allow_always", "reject_once")
    _use(path, tmp_path / "out", ALL)


@pytest.mark.parametrize("path", READABLE, ids=lambda p: p.name)
def test_early_schemas_have_those_that_they_can(path: Path, tmp_path: Path) -> None:
    _use(path, tmp_path, _found(path).names)


@pytest.mark.parametrize("name", ["build", *(name for name in ALL if name != "text")])
def test_a_definition_with_the_name_of_a_builder_is_refused(name: str, tmp_path: Path) -> None:
    def change(definitions: Node) -> None:
        definitions[name] = {"type": "object", "properties": {"a": {"type": "string"}}}

    with pytest.raises(GeneratorError, match=rf"#/\$defs/{name}: the name {name} is taken by the package itself"):
        generate_single(_schema(tmp_path, "v1", change), "case", None, lambda _: None, tmp_path)


def test_a_definition_that_gives_fields_another_name_leaves_builders_out(tmp_path: Path) -> None:
    """The field `text` would hide such a definition, so it is called `text_`; the builders do not look for that."""

    def change(definitions: Node) -> None:
        definitions["text"] = {"type": "object", "properties": {"a": {"type": "string"}}}

    path = _schema(tmp_path, "v1", change)
    names = [name for name in ALL if name not in ("text", "embedded", "file_block")]
    assert _found(path).names == names
    made = generate_single(path, "case", None, lambda _: None, tmp_path)
    assert "class text(AcpStruct)" in made.files["acp_msgspec/case/types.py"]


def test_a_definition_may_have_the_name_of_a_builder_that_is_left_out(tmp_path: Path) -> None:
    def change(definitions: Node) -> None:
        _needs_more("PlanEntry")(definitions)
        definitions["plan_entries"] = {"type": "object", "properties": {"a": {"type": "string"}}}

    made = generate_single(_schema(tmp_path, "v1", change), "case", None, lambda _: None, tmp_path)
    assert "class plan_entries(AcpStruct)" in made.files["acp_msgspec/case/types.py"]


def test_a_builder_that_vanishes_is_reported(tmp_path: Path) -> None:
    paths = _schema(tmp_path / "whole", "v1"), _schema(tmp_path / "lacking", "v1", _needs_more("Diff"))
    whole, lacking = (generate_single(path, "case", None, lambda _: None, tmp_path) for path in paths)
    module = load_module(load_single(paths[1], "case", None))
    before, now = (api.names_of_package(module, made.files) for made in (whole, lacking))
    (problem,) = api.name_problems("case", now, before, Overrides())
    assert "the name case.diff would vanish, which is not upstream's" in str(problem)
