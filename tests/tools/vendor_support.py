"""What the tests of vendoring share: running the command, reading a folder, a program that uses a copy."""

import ast
import errno
import importlib
import json
import os
import subprocess
import sys
import venv
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import structs

from tests.support import ROOT

CLI: Any = importlib.import_module("acp_msgspec.tools.cli")
VENDOR: Any = importlib.import_module("acp_msgspec.tools.vendor.command")
WRITE: Any = importlib.import_module("acp_msgspec.tools.vendor.write")
PACKAGE: Path = VENDOR.ORIGIN.folder
ABOUT: Any = importlib.import_module("acp_msgspec._about")
LABELS = list(ABOUT.SCHEMA_VERSIONS)

PROMPT = '{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}'
CALL = '{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","status":"soon","content":[{"type":"hologram"}]}'
OTHER = '{"type":"_hologram","rays":3}'
# Each line goes through another part of the package: messages, repair, hooks, encoding, enumerations, errors.
USE = f"""
import copied as acp
from copied import v1, v2

message = v1.decode_client_message({PROMPT!r})
assert isinstance(message, v1.Request) and isinstance(message.params, v1.PromptRequest)
assert message.params.session_id == "s"

skipped: list[acp.Skipped] = []
call = acp.decode({CALL!r}, type=v1.SessionUpdate, on_skip=skipped.append)
assert isinstance(call, v1.ToolCall)
assert (call.status, call.content) == (v1.ToolCallStatus.PENDING, [])
assert [s.path for s in skipped] == ["$.status", "$.content[0]"]

block = acp.decode({OTHER!r}, type=v2.ContentBlock)
assert isinstance(block, v2.ContentBlockOther) and isinstance(block, acp.CatchAll)
assert block.extra == {{"rays": 3}}
assert acp.encode(block) == b{OTHER!r}
assert acp.encode([v1.TextContent(text="hi")]) == b'[{{"type":"text","text":"hi"}}]'

try:
    v1.decode_client_message(b'{{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{{}}}}')
except acp.MessageError as why:
    assert isinstance(why.reply, v1.ErrorResponse) and why.id == 1
else:
    raise AssertionError
"""
# Appended where only the copy may have been loaded.
ALONE = """
import sys
from pathlib import Path

home = Path(acp.__file__).parent
ours = [m for n, m in sys.modules.items() if n == acp.__name__ or n.startswith(acp.__name__ + ".")]
assert len(ours) > 20 and all(home in Path(str(m.__file__)).parents for m in ours)
assert not [n for n in sys.modules if n.partition(".")[0] == "acp_msgspec"]
"""


class Run(NamedTuple):
    """How one command ended."""

    status: int
    out: list[str]
    err: str


class Command:
    """The command `vendor` in this process, in a folder of the test's own."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Run:
        try:
            status: int = CLI.main(["vendor", *arguments])
        except SystemExit as end:
            status = int(str(end.code))
        shown = self._capsys.readouterr()
        assert "Traceback" not in shown.err
        return Run(status, shown.out.splitlines(), shown.err)

    def done(self, *arguments: str) -> list[str]:
        """Run it and demand success."""
        run = self(*arguments)
        assert (run.status, run.err) == (0, "")
        return run.out

    def refused(self, *arguments: str) -> tuple[list[str], str]:
        """Run it, demand one line of error, and that no byte below the working folder has changed."""
        before = tree(Path())
        run = self(*arguments)
        assert (run.status, run.err.count("\n")) == (1, 1)
        assert run.err.startswith("error: ")
        assert tree(Path()) == before
        return run.out, run.err.removeprefix("error: ").rstrip("\n")


def tree(folder: Path) -> dict[str, bytes | str | None]:
    """Read all files of a folder; a link is its target, a folder nothing."""
    found = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if "__pycache__" not in p.parts}
    return {
        n: str(p.readlink()) if p.is_symlink() else p.read_bytes() if p.is_file() else None for n, p in found.items()
    }


def header_of(copied: bytes | str | None, data: bytes) -> str:
    """Return what a copied module has above its source; check that it is still a module and imports msgspec alone."""
    assert isinstance(copied, bytes)
    assert copied.endswith(data)
    module = ast.parse(copied)
    assert ast.get_docstring(module)
    for node in ast.walk(module):
        absolute = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else absolute
        # Type checkers bring `typing_extensions` along; nothing imports it when the copy runs. `annotationlib` is part
        # of Python 3.14, and imported there alone.
        allowed = (*sys.stdlib_module_names, "annotationlib", "msgspec", "typing_extensions")
        assert all(str(n).partition(".")[0] in allowed for n in names)
    return copied.removesuffix(data).decode()


def python(code: str, *path: Path) -> None:
    """Run code in a process of its own that finds packages in `path`, warnings being errors."""
    run = _start(["-W", "error", "-c", code], os.pathsep.join(map(str, path)), path[0])
    assert (run.status, run.err) == (0, "")


def module(name: str, *arguments: str, cwd: Path, executable: str = sys.executable) -> Run:
    """Run `python -m name`, which finds packages in `cwd`."""
    return _start(["-m", name, *arguments], "", cwd, executable)


def _start(arguments: list[str], path: str, cwd: Path, executable: str = sys.executable) -> Run:
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    return Run(run.returncode, run.stdout.splitlines(), run.stderr)


@contextmanager
def older_version() -> Generator[None]:
    """Make the command that of an earlier release, whose headers all differ."""
    with origin(version="0.0.9"):
        yield


@contextmanager
def origin(**changes: Any) -> Generator[None]:
    """Have copies made from another package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(VENDOR, "ORIGIN", structs.replace(VENDOR.ORIGIN, **changes))
        yield


@contextmanager
def no_space_left(method: str, call: int) -> Generator[None]:
    """Make a method of Path fail at one call."""
    real, left = getattr(Path, method), call

    def failing(self: Path, *arguments: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(self, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, method, failing)
        yield


def installed_wheel(folder: Path) -> str:
    """Make an environment with the wheel and its dependencies, and return its interpreter."""
    dist, clean = folder / "dist", folder / "clean"
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(dist), str(ROOT)]
    venv.create(clean, with_pip=False)
    python = str(clean / "bin" / "python")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run(build, check=True, capture_output=True)
    subprocess.run([*install, *map(str, dist.glob("*.whl"))], check=True, capture_output=True)
    return python


def type_errors(*files: str) -> dict[str, list[str]]:
    """Return the errors that type checkers find in these files of the working folder and in what they import of it."""
    config = {"typeCheckingMode": "strict", "include": files}
    Path("pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    checks = {"pyright": ["--pythonpath", sys.executable, "--project", "."], "mypy": ["--strict", *files]}
    commands = {name: [sys.executable, "-m", name, *options] for name, options in checks.items()}
    # Side by side, since each takes seconds.
    running = {n: subprocess.Popen(c, stdout=subprocess.PIPE, text=True) for n, c in commands.items()}
    return {n: [x for x in r.communicate()[0].splitlines() if " error: " in x] for n, r in running.items()}
