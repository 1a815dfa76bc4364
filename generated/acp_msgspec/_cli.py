"""The command line of the package: `python -m acp_msgspec …`.

Each command has a module of its own, which knows nothing of arguments; here they are declared and read. Whatever a
command can foresee going wrong is one line on stderr and exit status 1; wrong usage has exit status 2.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from ._vendor import ORIGIN, RELEASES, UPSTREAM_COMMIT, VERSION, VendorError, vendor


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status; `arguments` are by default those of the process."""
    asked = _parser().parse_args(arguments)
    errors: list[str] = []
    try:
        facts: Sequence[str] = asked.run(asked)
    except VendorError as why:
        facts, errors = why.facts, [f"error: {why}"]
    try:
        for fact in facts:
            _say(fact, sys.stdout)
    except OSError as why:
        # What could not be written would be tried again when Python ends, and make it complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        errors.append(f"error: stdout: {(why.strerror or str(why)).lower()}")
    for error in errors:
        _say(error, sys.stderr)
    return 1 if errors else 0


def _parser() -> argparse.ArgumentParser:
    program = f"python -m {__package__}"
    parser = argparse.ArgumentParser(
        prog=program,
        description="Tools of the package acp_msgspec.",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,  # the lines of --version stay lines
    )
    parser.add_argument("--version", action="version", version=_version(), help="show what the package was made of")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_vendor(
        commands.add_parser(
            "vendor",
            help="copy the package into a project, or check such a copy",
            description="Copy the package into a project, as a package of the project's own that needs msgspec alone.",
            # argparse would show DEST last, where `--only` takes it for one label more.
            usage=f"{program} vendor DEST [--only LABEL ...] [--force | --check]",
            allow_abbrev=False,
        )
    )
    return parser


def _add_vendor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dest", metavar="DEST", help="the package folder to make or update: src/myproject/_acp")
    parser.add_argument(
        "--only",
        metavar="LABEL",
        action="extend",
        nargs="+",
        help="the modules to copy, such as v1; by default all, for --check those that the copy was made with",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--force", action="store_true", help="overwrite files that were edited or are in the way")
    mode.add_argument("--check", action="store_true", help="write nothing; exit 1 where the copy differs")
    parser.set_defaults(run=_vendor)


def _vendor(asked: argparse.Namespace) -> list[str]:
    return vendor(asked.dest, asked.only, force=asked.force, check=asked.check)


def _version() -> str:
    facts = [f"{ORIGIN} {VERSION}", f"upstream commit {UPSTREAM_COMMIT or 'unknown'}"]
    return "\n".join((*facts, *(f"schema {label}: {release}" for label, release in RELEASES.items())))


def _say(line: str, stream: TextIO | None) -> None:
    if stream is not None:  # as it is where the process was started without one
        # A path may hold what the stream cannot write; a message with escapes is better than a traceback.
        encoding = stream.encoding or "utf-8"
        print(line.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
