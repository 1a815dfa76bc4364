"""The tests of the package on other versions: `make minimum` and `make pythons`.

`minimum` takes the oldest msgspec that `pyproject.toml` allows, `pythons` each Python that is installed. Each pair of
versions gets an environment of its own, made once. The exit status is 1 where a test fails, and where a version that
the classifiers of `pyproject.toml` promise is wanted with `--all` and missing.
"""

import argparse
import functools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("datamodel-code-generator", "hypothesis", "jinja2", "pytest", "pytest-xdist", "rich", "ruff", "trustme",
          "typer", "websockets")  # fmt: skip
"""What the tests above import beside msgspec; the versions are those of requirements-dev.txt."""
TESTS = {
    "aio": ("cancel", "handler_objects", "handlers", "handshake", "order", "plain", "turns"),
    "codec": ("codec", "framing", "lazy_annotations", "observe", "patch", "pickling", "union_calls", "validate"),
    "generator": ("shapes",),
    "messages": ("messages",),
    "oracle": ("vectors",),
}
"""The tests of each area that exercise what depends on these versions, in seconds."""
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = dict(
    line.partition(" ")[0].split("==")
    for line in (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line
)


@dataclass(frozen=True, order=True)
class Interpreter:
    """A Python that is installed here."""

    minor: int
    path: str

    @property
    def shown(self) -> str:
        """Its version, as in "3.11"."""
        return f"3.{self.minor}"


def chosen_files() -> list[str]:
    """List the files of the tests above, relative to the root."""
    return [f"tests/{area}/test_{name}.py" for area, names in TESTS.items() for name in names]


def minimum_msgspec() -> str:
    """Give the oldest msgspec that the package allows."""
    (only,) = CONFIG["dependencies"]
    found = re.fullmatch(r"msgspec>=([0-9.]+)", only)
    if found is None:
        raise SystemExit(f"error: pyproject.toml depends on {only!r}, which names no minimum")
    return ".".join([*found[1].split("."), "0", "0"][:3])


def promised_minors() -> list[int]:
    """List the minor versions of Python that the classifiers name."""
    found = (re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", c) for c in CONFIG["classifiers"])
    return [int(m[1]) for m in found if m]


@functools.cache
def interpreters() -> list[Interpreter]:
    """Find one Python of each minor version: this one, those on the path, and those of pyenv."""
    oldest = int(CONFIG["requires-python"].removeprefix(">=3."))
    found = {sys.version_info.minor: Interpreter(sys.version_info.minor, sys.executable)}
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for minor in range(oldest, 40):
        names = [shutil.which(f"python3.{minor}"), *(str(p) for p in sorted(pyenv.glob(f"3.{minor}.*/bin/python")))]
        usable = (n for n in names if n is not None and _is_usable(n, minor))
        if minor not in found and (path := next(usable, None)) is not None:
            found[minor] = Interpreter(minor, path)
    return sorted(found.values())


def _is_usable(path: str, minor: int) -> bool:
    """Whether a command is that Python, and can make environments; the shims of pyenv may lead nowhere."""
    code = f"import sys, ensurepip, venv; sys.exit(sys.version_info[:2] != (3, {minor}))"
    return subprocess.run([path, "-c", code], capture_output=True, check=False).returncode == 0


def environment(python: Interpreter, msgspec: str, folder: Path) -> Path:
    """Make an environment with one version of each, or take the one made before; give its Python."""
    wanted = "".join(f"{name}=={PINNED[name]}\n" for name in NEEDED) + f"msgspec=={msgspec}\n"
    place = folder / f"{python.shown}-msgspec-{msgspec}"
    inside, stamp = place / "bin" / "python", place / "installed.txt"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([python.path, "-m", "venv", place], check=True)
        pip: list[str | Path] = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *wanted.split()], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return inside


def run(python: Interpreter, msgspec: str, folder: Path) -> bool:
    """Run the tests on one pair of versions; False where one fails."""
    print(f"Python {python.shown}, msgspec {msgspec}:", flush=True)
    inside = environment(python, msgspec, folder)
    options = ("-p", "no:cacheprovider", "--numprocesses=auto", "--dist=worksteal", "--tb=short")
    command: list[str | Path] = [inside, "-m", "pytest", *options, *chosen_files()]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "PYTHONPATH"))}
    done = subprocess.run(command, cwd=ROOT, env=clean, check=False)
    return done.returncode == 0


def pairs(*, minimum: bool, pythons: bool) -> list[tuple[Interpreter, str]]:
    """List the versions to try, each pair once."""
    found = interpreters()
    made: list[tuple[Interpreter, str]] = []
    if minimum:
        oldest = minimum_msgspec()
        made += [(p, oldest) for p in ({found[0], found[-1]} if pythons else {found[0]})]
    if pythons:
        made += [(p, PINNED["msgspec"]) for p in found]
    return sorted(set(made))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.versions", description=__doc__)
    parser.add_argument("--minimum", action="store_true", help="the oldest msgspec, on the oldest Python here")
    parser.add_argument("--pythons", action="store_true", help="each Python here")
    parser.add_argument("--all", action="store_true", help="fail where a Python of the classifiers is missing")
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv" / "versions", help="where environments go")
    chosen = parser.parse_args(arguments)
    wanted = pairs(minimum=chosen.minimum, pythons=chosen.pythons)
    failed = [f"Python {p.shown}, msgspec {m}" for p, m in wanted if not run(p, m, chosen.folder)]
    missing = sorted(set(promised_minors()) - {p.minor for p in interpreters()}) if chosen.pythons else []
    if missing:
        print(f"not installed here, and not tried: {', '.join(f'Python 3.{m}' for m in missing)}")
    for name in failed:
        print(f"failed: {name}")
    return int(bool(failed) or (chosen.all and bool(missing)))


if __name__ == "__main__":
    raise SystemExit(main())
