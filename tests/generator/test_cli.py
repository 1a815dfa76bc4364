"""The command line: what it prints to a terminal and to a pipe, and how it fails."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.generator.command import generator, generator_process
from tests.support import CASES, ROOT, meta_of, shown_on


@pytest.mark.slow
def test_summary_in_a_pipe(tmp_path: Path) -> None:
    run = generator_process("generate", "--out", tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "\x1b" not in run.stdout
    lines = run.stdout.splitlines()
    pattern = r"\w+: \d+ definitions, \d+ structs, \d+ unions, \d+ enums, \d+ % documented"
    assert [bool(re.fullmatch(pattern, line)) for line in lines[:4]] == [True] * 4
    timed = re.fullmatch(r"\d+ files in (\d+\.\d\d) s", lines[4])
    assert timed is not None
    assert lines[5:] == [f"wrote {len([p for p in tmp_path.rglob('*') if p.is_file()])} changes"]


@pytest.mark.slow
def test_summary_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command: list[str | Path] = [sys.executable, "-m", "generator", "generate", "--out", tmp_path]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = shown_on(ours)
        assert process.wait() == 0
    text = shown.decode()
    assert re.search(r"(verify|read|lower|emit) \w+", text)  # progress, step by step
    assert re.search(r"┃.*definitions.*┃", text)  # the summary as a table
    assert "wrote" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--label", "x"], "error: --label and --meta need --schema\n"),
        (["--schema", "schema/v1/schema.json"], "error: --schema needs a --label that is a module name, not None"),
        (["--schema", "schema/v1/schema.json", "--label", "../x"], "error: --schema needs a --label"),
        (["--schema", "schema/v1/schema.json", "--label", "class"], "error: --schema needs a --label"),
        (
            ["--schema", "schema/v1/schema.json", "--label", "aio"],
            "error: --label aio is the name of",
        ),
        (["--schema", "schema/v1/schema.json", "--label", "state"], "error: --label state is the name of a part of"),
        (["--schema", "schema/v1/schema.json", "--label", "validate"], "error: --label validate is the name of a"),
        (["--schema", "nowhere.json", "--label", "x"], "error: nowhere.json: cannot be read: no such file"),
        (["--schema", "schema", "--label", "x"], "error: schema: cannot be read: is a directory\n"),
        pytest.param(
            ["--out", "README.md/x"],
            "error: README.md/x/acp_msgspec: cannot be written: not a directory",
            marks=pytest.mark.slow,  # only found out when all is generated
        ),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    out = [] if "--out" in arguments else ["--out", str(tmp_path / "out")]
    run = generator("generate", *arguments, *out)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith(message)
    assert run.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_unknown_options_are_usage_errors() -> None:
    run = generator("generate", "--chekc")
    assert run.returncode == 2
    assert "--chekc" in run.stderr
    assert "Traceback" not in run.stderr
    assert generator().returncode == 2
    assert generator("--help").returncode == 0


@pytest.mark.parametrize(
    ("tables", "message", "problems"),
    [
        ({"agentMethods": {"a_b": "a/b"}}, "meta.json#/agentMethods/a_b: the method 'a/b' has no definition in ", 1),
        ({"clientMethods": {}}, "meta.json: '$/cancel' is handled by protocol in ", 6),
        ({"agentMethods": []}, "meta.json#/agentMethods: is not an object", 1),
    ],
)
def test_a_meta_file_that_does_not_fit(tables: dict[str, Any], message: str, problems: int, tmp_path: Path) -> None:
    meta = tmp_path / "meta.json"
    meta.write_text(json.dumps(tables), encoding="utf-8")
    schema = CASES / "shapes" / "messages" / "schema.json"
    run = generator("generate", "--schema", schema, "--label", "second", "--meta", meta, "--out", tmp_path / "out")
    assert run.returncode == 1
    assert message in run.stderr
    assert run.stderr.count("error: ") == problems
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_meta_files_fit(tmp_path: Path) -> None:
    schema, meta = CASES / "shapes" / "messages" / "schema.json", tmp_path / "meta.json"
    meta.write_text(json.dumps(meta_of(json.loads(schema.read_text(encoding="utf-8")))), encoding="utf-8")
    run = generator("generate", "--schema", schema, "--label", "second", "--meta", meta, "--out", tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert (tmp_path / "acp_msgspec" / "second" / "types.py").is_file()


def test_explain() -> None:
    run = generator("explain", "ToolCallUpdate", "--label", "v2")
    assert (run.returncode, run.stderr) == (0, "")
    assert "\x1b" not in run.stdout
    lines = run.stdout.splitlines()
    assert lines[0] == "v2.ToolCallUpdate"
    assert "place:      schema/v2/schema.json#/$defs/ToolCallUpdate" in lines
    assert "used by:    SessionUpdateToolCallUpdate, ToolCallPermissionSubject" in lines
    assert "raw_input (rawInput): OrDefault[Any | UnsetType]" in lines
    assert (
        "    patch: absent is UNSET, null is None; an invalid value is replaced by the default; "
        "as the schema says: an update"
    ) in lines
    emitted = (ROOT / "generated" / "acp_msgspec" / "v2" / "types.py").read_text(encoding="utf-8")
    code = run.stdout[run.stdout.index("class ToolCallUpdate(AcpStruct):") :]
    assert code.strip() in emitted


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("TextContent", ["object with the tag type = 'text'", "variant of: ContentBlock (text)"]),
        ("ContentBlock", ["union with the tag 'type'", ", Content, "]),
        ("McpServer", ["union with the tag 'type', then untagged fallbacks"]),
        ("EmbeddedResourceResource", ["union without a tag, tried in order"]),
        ("ToolKind", ["enumeration of 10 values, reads unknown values as 'other'"]),
        ("ErrorCode", ["enumeration of 8 values, keeps unknown values"]),
        ("SessionId", ["text of a named type"]),
        ("ProtocolVersion", ["another name for a type"]),
        ("CreateElicitationResponseOther", ["catch-all for a action other than accept, decline, cancel"]),
        ("SessionUpdateUserMessageChunk", ["inherits:   the fields of ContentChunk"]),
        ("PromptRequest", ["method:     session/prompt, handled by: agent", "used by:    PromptRequestMessage"]),
        ("ToolCall", ["override default.ToolKind in schema/overrides.toml"]),
    ],
)
@pytest.mark.slow
def test_explain_every_shape(name: str, facts: list[str]) -> None:
    run = generator("explain", name)
    assert (run.returncode, run.stderr) == (0, "")
    for fact in facts:
        assert fact in run.stdout


@pytest.mark.slow
def test_explain_suggests() -> None:
    run = generator("explain", "ToolCalUpdate")
    assert (run.returncode, run.stdout) == (1, "")
    assert "there is no type 'ToolCalUpdate' in v1" in run.stderr
    assert "did you mean ToolCallUpdate or" in run.stderr
    assert "there is no module 'v9'" in generator("explain", "ToolCall", "--label", "v9").stderr
