"""The command line of the package: `python -m acp_msgspec …`.

Each command has a module of its own, which does not know about arguments; they are declared and read here. Foreseeable
failures are one line on stderr with exit status 1, wrong usage has exit status 2. For `inspect`, 1 means a problem in
the log, and 2 that it could not read the log or write its output.
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

_PERSPECTIVE = "the side that wrote the log, for labels such as out and in; by default client"
_INSPECT = """\
Show a wire log, one line for each message: line and time, sender, method and id, size, and a summary. An arrow to the
right is from the client, one to the left from the agent; a broken arrow is a response. Below a message follows what is
wrong (!), was repaired (~), or is unknown or undeclared (?). The last lines summarize the log.

Each line of FILE holds a JSON-RPC message or a batch: alone, after a label (12:00:01 ->, [time] agent:, C->A), in an
object ({"ts": 1.5, "dir": "in", "message": {...}}), or in pairs (dir=in msg="{...}"). The label next to the message
determines the sender; text before that label is ignored, and any text may follow the message. Without a label, the
method determines the sender, and for a response its request. A message may span several lines, as formatted JSON does.

Each message is decoded with the schema of the protocol version that initialize negotiated; before that, and without
initialize, with version 1. The unstable schema of a version is preferred if it is available, since it contains the
stable one; --schema chooses another.

Exit status: 0 if everything is valid, 1 if a message does not match its schema or a line is broken, 2 if the log is
missing or empty, or the output cannot be written.
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
        lines: Sequence[str] = vendor(asked.dest, asked.only, asked.parts, force=asked.force, check=asked.check)
    except VendorError as why:
        lines, errors = why.details, [f"error: {why}"]
    try:
        for line in lines:
            _say(line, sys.stdout)
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
    parser.add_argument(
        "--version", action="version", version=_version(), help="show the versions of the package and its schemas"
    )
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
    parser.add_argument("dest", metavar="DEST", help="the package folder to create or update: src/myproject/_acp")
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
    parser.add_argument("file", metavar="FILE", help="the log, one message per line; - for standard input")
    parser.add_argument(
        "--schema", metavar="LABEL", choices=LABELS, help=f"the schema to decode with: {', '.join(LABELS)}"
    )
    parser.add_argument("--perspective", choices=("client", "agent"), default="client", help=_PERSPECTIVE)
    parser.add_argument(
        "--only", metavar="METHOD", action="append", default=[], help="show only these methods: session/*; repeatable"
    )
    parser.add_argument(
        "--exclude", metavar="METHOD", action="append", default=[], help="do not show these methods; repeatable"
    )
    parser.add_argument("--last", metavar="N", type=_count, help="show only the last N of the chosen messages")
    parser.add_argument("--errors", action="store_true", help="show only messages with a problem or a finding")
    parser.add_argument("--follow", action="store_true", help="wait for more, as tail -F does, until Ctrl-C")
    parser.add_argument("--json", action="store_true", help="write JSON, an object for each message and a summary")
    parser.add_argument("--html", metavar="OUT", help="write a page with a sequence diagram of the conversation")
    parser.add_argument(
        "--limit", metavar="N", type=_count, help="maximum number of messages in the page; by default 2000"
    )
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="use colours; by default on a terminal"
    )
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
        return 0  # the reader of the output has closed it
    except KeyboardInterrupt:
        _give_up_output()
        return INTERRUPTED
    except OSError as why:
        _give_up_output()
        _say(f"error: stdout: {(why.strerror or str(why)).lower()}", sys.stderr)
    return TROUBLE


def _give_up_output() -> None:
    # Python would try to write the rest again at exit, and print an error.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of messages, 1 or more, got {text!r}")
    return int(text)


def _version() -> str:
    lines = [f"{NAME} {VERSION}", f"upstream commit {UPSTREAM_COMMIT or 'unknown'}"]
    return "\n".join((*lines, *(f"schema {label}: {release}" for label, release in RELEASES.items())))


def _say(line: str, stream: TextIO | None) -> None:
    if stream is not None:  # as it is where the process was started without one
        # A path may hold what the stream cannot write, or what a terminal obeys: it is shown as escapes.
        encoding = stream.encoding or "utf-8"
        line = printable(line)
        print(line.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
