"""The parts of a vendored copy: each complete and usable alone, kept by updates, and small."""

import ast
import importlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.tools.parts_support import IMPORT_ALL, START, USES
from tests.tools.vendor_support import LABELS, PACKAGE, Command, Run, module, python, tree

VENDORING: Any = importlib.import_module("acp_msgspec.tools.vendor")
PARTS: tuple[str, ...] = VENDORING.PARTS
EXPORTS: Any = importlib.import_module("acp_msgspec.tools.vendor.exports")
PLACES: Any = importlib.import_module("acp_msgspec.tools.vendor.parts")
DEST = "copied"
THERE = "there are types, messages, state, aio, tools"


@pytest.fixture
def vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(capsys)


def _record() -> Any:
    return json.loads(Path(DEST, "VENDORED.json").read_text(encoding="utf-8"))


def _parts() -> list[str]:
    parts: list[str] = _record()["parts"]
    return parts


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_each_part_works_alone(vendor: Command, tmp_path: Path, part: str) -> None:
    vendor.done(DEST, "--only", "v1", "--parts", part)
    assert {"types", part} <= {*_parts()}
    python(START + USES[part] + IMPORT_ALL, tmp_path)
    if part == "tools":
        run = module(DEST, "inspect", "wire.log", cwd=tmp_path)
        assert (run.status, run.err) == (0, "")


@pytest.mark.parametrize(
    ("chosen", "parts"),
    [
        (("types",), ["types"]),
        (("messages",), ["types", "messages"]),
        (("types", "messages", "types"), ["types", "messages"]),
        (("state",), ["types", "state"]),
        (("tools", "state"), ["types", "messages", "state", "tools"]),
        (("all",), list(PARTS)),
        (("types", "all"), list(PARTS)),
    ],
)
@pytest.mark.slow
def test_a_copy_has_what_its_parts_need_and_no_more(vendor: Command, chosen: tuple[str, ...], parts: list[str]) -> None:
    vendor.done(DEST, "--only", "v1", "--parts", *chosen)
    assert _parts() == parts
    modules = [p.relative_to(DEST).as_posix() for p in Path(DEST).rglob("*.py")]
    assert Path(DEST, "v1", "messages.py").is_file() == ("messages" in parts)
    assert Path(DEST, "v1", "aio.py").is_file() == Path(DEST, "aio").is_dir() == ("aio" in parts)
    assert Path(DEST, "state").is_dir() == ("state" in parts)
    assert Path(DEST, "__main__.py").is_file() == Path(DEST, "tools").is_dir() == ("tools" in parts)
    for name in modules:
        for node in ast.walk(ast.parse(Path(DEST, name).read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.level:
                imported = Path(DEST, name).parents[node.level - 1].joinpath(*(node.module or "").split("."))
                assert imported.is_dir() or imported.with_suffix(".py").is_file(), (name, node.module)


def test_the_default_is_types_and_messages(vendor: Command) -> None:
    out = vendor.done(DEST, "--only", "v1")
    assert out[0].endswith(" (v1; types, messages)")
    assert out[-1] == f"update with: python -m acp_msgspec vendor {DEST} --only v1"
    assert _record()["update"] == "python -P -m acp_msgspec vendor . --only v1"
    for name in ("__init__.py", "v1/__init__.py"):  # nothing is left out of them
        assert Path(DEST, name).read_bytes().endswith((PACKAGE / name).read_bytes())


def test_the_size_is_shown(vendor: Command) -> None:
    size = vendor.done(DEST, "--only", "v1", "--parts", "state")[2]
    files = {name: data for name, data in tree(Path(DEST)).items() if isinstance(data, bytes)}
    kib = -(-sum(map(len, files.values())) // 1024)
    assert size.startswith(f"size: {len(files)} files, {kib} KiB: types ")
    numbers = {
        name: (int(count), int(part)) for name, count, part in re.findall(r"(\w+) (\d+) files?, (\d+) KiB", size)
    }
    assert set(numbers) == {"types", "messages", "state"}
    assert sum(count for count, _ in numbers.values()) == len(files)
    assert kib <= sum(part for _, part in numbers.values()) < kib + 3
    assert vendor.done(DEST, "--check")[1] == size


@pytest.mark.slow
def test_updates_and_checks_keep_the_parts(vendor: Command) -> None:
    vendor.done(DEST, "--only", "v1", "--parts", "types")
    small = tree(Path(DEST))
    assert vendor.done(DEST)[1] == "files written: 0, removed: 0"
    vendor.done(DEST, "--check")
    assert vendor.done(DEST, "--only", "v1", "v2")[0].endswith(" (v1, v2; types)")
    listed, error = vendor.refused(DEST, "--check", "--only", "v1", "--parts", "messages")
    assert {"missing: v1/messages.py", "outdated: v1/__init__.py", "stale: v2/types.py"} <= {*listed}
    assert error.endswith(f"(hint: python -m acp_msgspec vendor {DEST} --only v1)")
    assert vendor.done(DEST, "--parts", "all")[0].endswith(" (v1, v2; types, messages, state, aio, tools)")
    assert vendor.done(DEST, "--only", "v1")[0].endswith(" (v1; types, messages, state, aio, tools)")
    vendor.done(DEST, "--parts", "types")
    assert tree(Path(DEST)) == small  # no file and no empty folder is left


@pytest.mark.slow
def test_a_copy_from_before_there_were_parts_is_complete(vendor: Command) -> None:
    vendor.done(DEST, "--only", "v1", "--parts", "all")
    complete, record = tree(Path(DEST)), _record()
    del record["parts"]
    Path(DEST, "VENDORED.json").write_text(json.dumps(record), encoding="utf-8")
    assert vendor.refused(DEST, "--check")[0] == ["outdated: VENDORED.json"]
    vendor.done(DEST)
    assert tree(Path(DEST)) == complete


def test_what_cannot_be_chosen(vendor: Command) -> None:
    for parts in (("type",), ("types", "v1"), ("types,messages",), ("",), ("ALL",)):
        unknown = next(part for part in parts if part != "types")
        assert vendor.refused(DEST, "--parts", *parts)[1] == f"unknown part {unknown!r}; {THERE}"
    assert vendor.refused(DEST, "--only", "", "--parts", "types")[1].startswith("unknown label ''; there are v1, ")
    for usage in ((DEST, "--parts"), ("--parts", "types", DEST), (DEST, "--part", "types")):
        assert vendor(*usage).status == 2
        assert not Path(DEST).exists()
    function, error = VENDORING.vendor, VENDORING.VendorError
    with pytest.raises(error, match=f"no part is given; {THERE}"):
        function(DEST, None, [])
    with pytest.raises(error, match="no label is given; there are v1, "):
        function(DEST, [], None)
    vendor.done(DEST, "--only", "v1", "--parts", "types")
    text = Path(DEST, "VENDORED.json").read_text(encoding="utf-8")
    damaged: tuple[tuple[list[str], str], ...] = (
        ([], f"{DEST}/VENDORED.json: is not a valid record: Expected `array` of length >= 1 - at `$.parts` "),
        (["types", "more"], f"unknown part 'more'; {THERE}"),
    )
    for names, message in damaged:
        record = {**json.loads(text), "parts": names}
        Path(DEST, "VENDORED.json").write_text(json.dumps(record), encoding="utf-8")
        assert vendor.refused(DEST)[1].startswith(message)


@pytest.mark.slow
def test_a_copy_gives_the_parts_that_it_has(vendor: Command, tmp_path: Path) -> None:
    vendor.done(DEST, "--only", "v1", "--parts", "tools")
    refused = module(DEST, "vendor", "other", "--parts", "types", "aio", cwd=tmp_path)
    assert refused == Run(1, [], "error: part 'aio' is not in this copy; there are types, messages, state, tools\n")
    for parts in ("types", "messages", "state", "tools", "all"):
        run = module(DEST, "vendor", f"from_{parts}", "--parts", parts, cwd=tmp_path)
        assert (run.status, run.err) == (0, "")
        same = "tools" if parts == "all" else parts
        vendor.done(f"like_{parts}", "--only", "v1", "--parts", same)
        assert tree(Path(f"from_{parts}")) == tree(Path(f"like_{parts}"))
    run = module("like_types", "vendor", "x", cwd=tmp_path)
    assert run.status == 1
    assert "No module named like_types.__main__" in run.err


@pytest.mark.parametrize("name", ["__init__.py", *(f"{label}/__init__.py" for label in LABELS)])
def test_an_init_can_be_read_and_written(name: str) -> None:
    source = (PACKAGE / name).read_bytes()
    written = EXPORTS.written(EXPORTS.read_exports(name, source))
    assert ast.dump(ast.parse(written)) == ast.dump(ast.parse(source))


def test_every_file_has_one_part() -> None:
    places = {
        "_codec.py": "types",
        "state/messages.py": "state",
        "tools/inspect/messages.py": "tools",
        "tools/vendor/aio.py": "tools",
        "v1/enums.py": "types",
        "v1/aio.py": "aio",
        "LICENSE": "types",
    }
    assert {path: PLACES.part_of(path) for path in places} == places
    modules = [p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("*.py")]
    assert {PLACES.part_of(path) for path in modules} == {*PARTS}


@pytest.mark.slow
def test_a_damaged_package_gives_no_copy(vendor: Command, tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, "acp_msgspec")
    Path("acp_msgspec", "v1", "types.py").write_text("class\n", encoding="utf-8")
    run = module("acp_msgspec", "vendor", "new", "--parts", "types", cwd=tmp_path)
    assert (run.status, run.out) == (1, [])
    hint = "this file of the package is not valid Python (hint: install it again)"
    assert run.err == f"error: v1/types.py: {hint}\n"
    assert not Path("new").exists()


@pytest.mark.slow
def test_only_the_command_line_loads_the_tools() -> None:
    code = "import acp_msgspec, acp_msgspec.v1.aio, acp_msgspec.state, sys\n"
    code += "assert not [m for m in sys.modules if '.tools' in m], sys.modules"
    python(code, PACKAGE.parent)
