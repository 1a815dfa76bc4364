"""A log as one self-contained HTML page, written as a whole at the end.

The content of a log is untrusted: all of it is escaped, and the content security policy of the page allows only the one
style sheet and the one script with known digests.
"""

import os
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from .call_history import CallHistories
from .chart import chart
from .closing import closing_summary
from .formatting import count_of, escape_line, shorten
from .log_message import LogMessage
from .rows import ChunkGroup, chunk_key, chunk_text, row
from .statistics import Statistics
from .summaries import implementation_info

_BUDGET = 24_000_000  # characters of messages in one page; more would make a browser slow
_TITLE = "Conversation"
_TONES = {"yellow": "warn", "magenta": "odd", "red": "bad"}


class PageError(Exception):
    """Why a page cannot be written, in one line."""


class PageView:
    """Collects at most `limit` messages, and writes the page to the file `out`."""

    def __init__(self, out: str, source: str, limit: int) -> None:
        """Raise `PageError` if the page could not be written."""
        self._out = _target(out, source)
        self._shown = out
        self._source = "standard input" if source == "-" else source
        self._limit = limit
        self._rows: list[str] = []
        self._chunks: ChunkGroup | None = None
        self._calls = CallHistories()
        self._size = self._number = self._left_out = 0
        self._sessions: dict[str, int] = {}
        self._names = {"client": "", "agent": ""}

    @property
    def embedded(self) -> str:
        """The number of messages in the page, as text."""
        of = f"the first {self._number:,} of " if self._left_out else ""
        return f"{of}{count_of(self._number + self._left_out, 'message')}"

    def show(self, message: LogMessage) -> None:
        """Add a message to the page."""
        if self._number >= self._limit:
            self._left_out += 1
            return
        self._number += 1
        self._introduce(message)
        if message.session is not None and len(self._sessions) < 100:
            self._sessions[message.session_name] = self._sessions.get(message.session_name, 0) + 1
        call = self._calls.add(message)
        made = row(message, call, whole=self._size < _BUDGET)
        self._size += len(made)
        key = chunk_key(message)
        if self._chunks is not None and self._chunks.key != key:
            self._end_chunks()
        if key is None:
            self._rows.append(made)
            return
        if self._chunks is None:
            self._chunks = ChunkGroup(key, message)
        self._chunks.add(made, chunk_text(message))

    def note(self, what: str) -> None:
        """Add a remark about the log itself to the page."""
        self._end_chunks()
        self._rows.append(f'<p class="remark">{escape_line(what)}</p>\n')

    def close(self, statistics: Statistics) -> None:
        """Write the page. If that fails, an earlier page stays unchanged, and `PageError` is raised."""
        self._end_chunks()
        text = self._page(statistics)
        temporary = self._out.with_name(f".{self._out.name[:100]}.{os.getpid()}.tmp")
        try:
            try:
                temporary.write_text(text, encoding="utf-8", newline="\n")
                temporary.replace(self._out)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as why:
            raise PageError(f"{self._shown}: {(why.strerror or str(why)).lower()}") from None

    def _end_chunks(self) -> None:
        if self._chunks is not None:
            self._rows.append(self._chunks.html())
            self._chunks = None

    def _introduce(self, message: LogMessage) -> None:
        """Remember the names of both sides from `initialize`."""
        if message.method != "initialize" or message.sender is None:
            return
        part = getattr(message.decoded, "params", None) or getattr(message.decoded, "result", None)
        if (info := implementation_info(part)) is not None:
            self._names[message.sender] = shorten(f"{info.title or info.name} {info.version}", 40)

    def _page(self, statistics: Statistics) -> str:
        style, script = _resource("page.css"), _resource("page.js")
        name, source = escape_line(Path(self._source).name), escape_line(self._source)
        policy = (
            f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
            "base-uri 'none'; form-action 'none'"
        )
        first, *details = [(line.strip(), _TONES.get(colour, "")) for line, colour in closing_summary(statistics)]
        items = "".join(f'<li class="{tone}">{escape_line(line)}</li>' for line, tone in details)
        is_fine = str(statistics.is_fine).lower()
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{_TITLE}: {name}</title>\n<style>{style}</style>\n</head>\n<body>\n"
            f'<header>\n<h1>{_TITLE}</h1>\n<p class="source"><code>{source}</code></p>\n'
            f'<div class="facts" data-fine="{is_fine}"><strong>{escape_line(first[0])}</strong>\n'
            f"<ul>{items}</ul></div>\n"
            f"{self._limits()}</header>\n<main>\n{chart(self._calls)}{self._filter(statistics)}"
            f'<section class="diagram">\n{self._actors()}{"".join(self._rows)}</section>\n'
            '<p class="nothing" id="nothing" hidden>No message matches the filter.</p>\n'
            f"</main>\n{_LEGEND}<script>{script}</script>\n</body>\n</html>\n"
        )

    def _limits(self) -> str:
        notes: list[str] = []
        if self._left_out:
            notes.append(
                f"This page holds {self.embedded}; {count_of(self._left_out, 'message')} after them were left out. "
                "More with --limit, others with --only or --errors."
            )
        if self._size >= _BUDGET:
            notes.append("To keep the page usable, the JSON of later messages was left out.")
        return "".join(f'<p class="limits">{escape_line(note)}</p>\n' for note in notes)

    def _actors(self) -> str:
        boxes = (f"<b>{side}</b> <span>{escape_line(self._names[side])}</span>" for side in ("client", "agent"))
        client, agent = (f'<div class="actor">{box}</div>' for box in boxes)
        return f'<div class="actors" aria-hidden="true"><div class="lane">{client}{agent}</div></div>\n'

    def _filter(self, statistics: Statistics) -> str:
        groups = {
            "kind": ["request", "notification", "response", "error", "broken"],
            "from": ["client", "agent"],
            "flag": ["problem", "repair", "unknown"],
        }
        fields = "".join(
            f"<fieldset><legend>{name}</legend>{''.join(_toggle(name, value) for value in values)}</fieldset>\n"
            for name, values in groups.items()
        )
        if len(self._sessions) > 1:
            chosen = sorted(self._sessions, key=lambda s: -self._sessions[s])[:8]
            fields += f"<fieldset><legend>session</legend>{''.join(_toggle('session', s) for s in chosen)}</fieldset>\n"
        return (
            f'<div class="filter" id="filter" hidden>\n{fields}<div class="tools">'
            '<input id="search" type="search" placeholder="Filter by any text" aria-label="Filter by any text">'
            '<span class="shown" id="shown" role="status"></span>'
            '<button type="button" id="clear">clear</button><button type="button" id="unfold">unfold all</button>'
            '<button type="button" id="fold">fold all</button></div>\n</div>\n'
        )


_LEGEND = (
    "<footer><p>A solid line is a request or a notification, a dashed one a response. Messages unfold; chunks of one "
    "text are joined. Colours of tool calls: "
    + " ".join(
        f'<span class="tag s-{s}">{s.replace("_", " ")}</span>'
        for s in ("pending", "permission", "in_progress", "completed", "failed")
    )
    + "</p></footer>\n"
)


def _toggle(group: str, value: str) -> str:
    attributes = f'data-group="{group}" data-value="{escape_line(value)}" aria-pressed="false"'
    return f'<button type="button" {attributes}>{escape_line(shorten(value, 24))} <b></b></button>'


def _resource(name: str) -> str:
    return files(__package__ or "").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _target(out: str, source: str) -> Path:
    """Check that the page can be written before the log is read, which may take long."""
    try:
        path = Path(out).resolve()
        if out == "-":
            raise PageError("-: a page goes into a file")
        if path.is_dir():
            raise PageError(f"{out}: is a directory")
        if path.exists() and not path.is_file():
            raise PageError(f"{out}: is not a regular file")
        if not path.parent.is_dir():
            raise PageError(f"{out}: no such directory: {path.parent}")
        if not os.access(path.parent, os.W_OK):
            raise PageError(f"{out}: permission denied")
        if source != "-" and path.exists() and path.samefile(source):
            raise PageError(f"{out}: is the log itself")
    except (OSError, ValueError) as why:
        raise PageError(f"{out}: {(getattr(why, 'strerror', None) or str(why)).lower()}") from None
    return path
