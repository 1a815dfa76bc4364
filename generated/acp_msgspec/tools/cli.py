"""The command line of the package: `python -m acp_msgspec …`.

Each command has a module of its own, which does not know about arguments; they are declared and read here. Foreseeable
failures are one line on stderr with exit status 1, wrong usage has exit status 2. For `inspect`, 1 means a problem in
the log, and 2 that it could not do its work.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn, TextIO

from .._types.printable import printable
from .inspect import INTERRUPTED, LABELS, TROUBLE, InspectError, Options, inspect
from .package import NAME, RELEASES, UPSTREAM_COMMIT, VERSION
from .vendor import DEFAULT_PARTS, PARTS, VendorError, vendor

_PERSPECTIVE = "the side that kept the log, whose out and in its marks are; by default client"
_INSPECT = """\
Show a wire log, one line for each message: where and when, who sent it, method and id, size, what it says. An arrow to
the right is from the client, one to the left from the agent, a broken one is a response. Below a message stands what
is wrong (!), was repaired (~), or is unknown or undeclared (?). A summary comes last.

Each line of FILE holds a JSON-RPC message or a batch: as it is, after a mark (12:00:01 ->, [time] agent:, C->A), in an
object ({"ts": 1.5, "dir": "in", "message": {...}}), or in pairs (dir=in msg="{...}"). The mark next to the message
decides who sent it; text before that mark is ignored, and any text may follow the message. Without a mark, the method
decides, and for a response its request. A message may go over several lines, as pretty-printed JSON does.

Each message is read with the schema of the protocol version that initialize negotiated, version 1 until then or if
there is no initialize. If the unstable schema of a version is here, it is used, since it is a superset of the stable
one; --schema chooses another.

Exit status: 0 if all was read, 1 if a message does not match its schema or a line is broken, 2 if there is
nothing to read (or the log is empty) or nowhere to write.
"""
_VENDOR = f"""\
Copy the package into a project, as a package of the project that needs only msgspec.

  types     the types of each label, decode, encode, convert, validate, apply_patch
  messages  JSON-RPC messages: decode_client_message, METHODS, builders, errors
  state     what a user interface shows of a session
  aio       agents and clients on asyncio, and their transports
  tools     python -m ... inspect and vendor
  all       every part that is here

Each part comes with what it needs. The default is {" and ".join(DEFAULT_PARTS)}. An update or a check without --only or
--parts keeps the labels or parts of the copy.
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors show unprintable input as escapes: file names may hold anything."""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit."""
        super().error(printable(message))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; `arguments` are by default those of the process."""
    asked = _parser().parse_args(arguments)
    status: int = asked.run(asked)
    return status


def _vendor(asked: argparse.Namespace) -> int:
    errors: list[str] = []
    try:
        facts: Sequence[str] = vendor(asked.dest, asked.only, asked.parts, force=asked.force, check=asked.check)
    except VendorError as why:
        facts, errors = why.facts, [f"error: {why}"]
    try:
        for fact in facts:
            _say(fact, sys.stdout)
    except OSError as why:
        _give_up_output()
        errors.append(f"error: stdout: {(why.strerror or str(why)).lower()}")
    for error in errors:
        _say(error, sys.stderr)
    return 1 if errors else 0


def _parser() -> argparse.ArgumentParser:
    program = f"python -m {__name__.removesuffix('.tools.cli')}"
    parser = _Parser(
        prog=program,
        description="Tools of the package acp_msgspec.",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,  # keeps the line breaks of --version
    )
    parser.add_argument("--version", action="version", version=_version(), help="show what the package was made of")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_vendor(
        commands.add_parser(
            "vendor",
            help="copy the package into a project, or check such a copy",
            description=_VENDOR,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            # argparse would show DEST last, where `--only` takes it for another label.
            usage=f"{program} vendor DEST [--only LABEL ...] [--parts PART ...] [--force | --check]",
            allow_abbrev=False,
        )
    )
    _add_inspect(
        commands.add_parser(
            "inspect",
            help="show a wire log: each message, what was repaired, what is wrong",
            description=_INSPECT,
            formatter_class=argparse.RawDescriptionHelpFormatter,
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
        help="the labels to copy, such as v1; all by default",
    )
    parser.add_argument(
        "--parts",
        metavar="PART",
        action="extend",
        nargs="+",
        help=f"the parts to copy: {', '.join(PARTS)}, or all",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--force", action="store_true", help="overwrite edited files and files in the way")
    mode.add_argument("--check", action="store_true", help="write nothing; exit 1 if the copy differs")
    parser.set_defaults(run=_vendor)


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the log, one message a line; - for the standard input")
    parser.add_argument("--schema", metavar="LABEL", choices=LABELS, help=f"what to read it with: {', '.join(LABELS)}")
    parser.add_argument("--perspective", choices=("client", "agent"), default="client", help=_PERSPECTIVE)
    parser.add_argument(
        "--only", metavar="METHOD", action="append", default=[], help="show these methods alone: session/*; repeatable"
    )
    parser.add_argument(
        "--exclude", metavar="METHOD", action="append", default=[], help="do not show these methods; repeatable"
    )
    parser.add_argument("--last", metavar="N", type=_count, help="show only the last N of the chosen messages")
    parser.add_argument("--errors", action="store_true", help="show only messages with something odd about them")
    parser.add_argument("--follow", action="store_true", help="wait for more, as tail -F does, until Ctrl-C")
    parser.add_argument("--json", action="store_true", help="write JSON, an object for each message and a summary")
    parser.add_argument("--html", metavar="OUT", help="write a page with a sequence diagram of the conversation")
    parser.add_argument(
        "--limit", metavar="N", type=_count, help="the most messages that the page holds; by default 2000"
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="by default on a terminal")
    parser.set_defaults(run=_inspect, parser=parser)


def _inspect(asked: argparse.Namespace) -> int:
    if asked.limit is not None and asked.html is None:
        asked.parser.error("--limit goes with --html")
    options = Options(
        file=asked.file,
        schema=asked.schema,
        perspective=asked.perspective,
        json=asked.json,
        html=asked.html,
        limit=2000 if asked.limit is None else asked.limit,
        only=asked.only,
        exclude=asked.exclude,
        last=asked.last,
        errors=asked.errors,
        follow=asked.follow,
        colour=asked.color,
    )
    try:
        return inspect(options)
    except InspectError as why:
        _say(f"error: {why}", sys.stderr)
    except BrokenPipeError:
        _give_up_output()
        return 0  # whoever read it has seen enough
    except KeyboardInterrupt:
        _give_up_output()
        return INTERRUPTED
    except OSError as why:
        _give_up_output()
        _say(f"error: stdout: {(why.strerror or str(why)).lower()}", sys.stderr)
    return TROUBLE


def _give_up_output() -> None:
    # What could not be written would be tried again when Python ends, and make it complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of messages, 1 or more, got {text!r}")
    return int(text)


def _version() -> str:
    facts = [f"{NAME} {VERSION}", f"upstream commit {UPSTREAM_COMMIT or 'unknown'}"]
    return "\n".join((*facts, *(f"schema {label}: {release}" for label, release in RELEASES.items())))


def _say(line: str, stream: TextIO | None) -> None:
    if stream is not None:  # as it is where the process was started without one
        # A path may hold what the stream cannot write, or what a terminal obeys: it is shown as escapes.
        encoding = stream.encoding or "utf-8"
        line = printable(line)
        print(line.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
