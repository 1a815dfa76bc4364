"""A log as a page: one file that needs nothing else, written in one piece at the end.

Whatever stands in a log may have been written to do harm: all of it is escaped, and the page's own policy forbids every
style and script but the two that are known by their digests.
"""

import os
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from .call_history import Calls
from .chart import chart
from .conversation import Seen
from .formatting import brief, many, markup
from .rows import Run, row, run_key, run_text
from .statistics import Totals
from .text_view import closing

_BUDGET = 24_000_000  # characters of messages in one page; more makes a browser slow
_TITLE = "Conversation"
_TONES = {"yellow": "warn", "magenta": "odd", "red": "bad"}


class PageError(Exception):
    """Why a page cannot be written: one line."""


class PageView:
    """Gathers the messages of a page, at most `limit`, and writes it to the file `out`."""

    def __init__(self, out: str, source: str, limit: int) -> None:
        """Raise `PageError` where the page could not be written."""
        self._out = _target(out, source)
        self._shown = out
        self._source = "standard input" if source == "-" else source
        self._limit = limit
        self._rows: list[str] = []
        self._run: Run | None = None
        self._calls = Calls()
        self._size = self._number = self._left_out = 0
        self._sessions: dict[str, int] = {}
        self._names = {"client": "", "agent": ""}

    @property
    def embedded(self) -> str:
        """How many messages the page holds."""
        of = f"the first {self._number:,} of " if self._left_out else ""
        return f"{of}{many(self._number + self._left_out, 'message')}"

    def show(self, seen: Seen) -> None:
        """Take one message into the page."""
        if self._number >= self._limit:
            self._left_out += 1
            return
        self._number += 1
        self._introduce(seen)
        if seen.session is not None and len(self._sessions) < 100:
            self._sessions[seen.session_name] = self._sessions.get(seen.session_name, 0) + 1
        call = self._calls.add(seen)
        made = row(seen, call, whole=self._size < _BUDGET)
        self._size += len(made)
        key = run_key(seen)
        if self._run is not None and self._run.key != key:
            self._end_run()
        if key is None:
            self._rows.append(made)
            return
        if self._run is None:
            self._run = Run(key, seen)
        self._run.add(made, run_text(seen))

    def note(self, what: str) -> None:
        """Take a remark on the log itself into the page."""
        self._end_run()
        self._rows.append(f'<p class="remark">{markup(what)}</p>\n')

    def close(self, totals: Totals) -> None:
        """Write the page; raise `PageError` where that fails, with what was there before still in its place."""
        self._end_run()
        text = self._page(totals)
        temporary = self._out.with_name(f".{self._out.name[:100]}.{os.getpid()}.tmp")
        try:
            try:
                temporary.write_text(text, encoding="utf-8", newline="\n")
                temporary.replace(self._out)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as why:
            raise PageError(f"{self._shown}: {(why.strerror or str(why)).lower()}") from None

    def _end_run(self) -> None:
        if self._run is not None:
            self._rows.append(self._run.markup())
            self._run = None

    def _introduce(self, seen: Seen) -> None:
        """Learn what both sides call themselves."""
        if seen.method != "initialize" or seen.sender is None:
            return
        said = getattr(seen.message, "params", None) or getattr(seen.message, "result", None)
        who = next(
            (w for n in ("client_info", "agent_info", "info") if (w := getattr(said, n, None)) is not None), None
        )
        if who is not None:
            self._names[seen.sender] = brief(f"{who.title or who.name} {who.version}", 40)

    def _page(self, totals: Totals) -> str:
        style, script = _resource("page.css"), _resource("page.js")
        policy = (
            f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
            "base-uri 'none'; form-action 'none'"
        )
        first, *facts = [(line.strip(), _TONES.get(colour, "")) for line, colour in closing(totals)]
        told = "".join(f'<li class="{tone}">{markup(fact)}</li>' for fact, tone in facts)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{_TITLE}: {markup(Path(self._source).name)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
            f'<header>\n<h1>{_TITLE}</h1>\n<p class="source"><code>{markup(self._source)}</code></p>\n'
            f'<div class="facts" data-fine="{str(totals.is_fine).lower()}"><strong>{markup(first[0])}</strong>\n'
            f"<ul>{told}</ul></div>\n"
            f"{self._limits()}</header>\n<main>\n{chart(self._calls)}{self._filter(totals)}"
            f'<section class="diagram">\n{self._actors()}{"".join(self._rows)}</section>\n'
            '<p class="nothing" id="nothing" hidden>No message fits the filter.</p>\n'
            f"</main>\n{_LEGEND}<script>{script}</script>\n</body>\n</html>\n"
        )

    def _limits(self) -> str:
        notes: list[str] = []
        if self._left_out:
            notes.append(
                f"This page holds {self.embedded}; {many(self._left_out, 'message')} after them were left out. "
                "More with --limit, others with --only or --errors."
            )
        if self._size >= _BUDGET:
            notes.append("To keep the page usable, the JSON of later messages was left out.")
        return "".join(f'<p class="limits">{markup(note)}</p>\n' for note in notes)

    def _actors(self) -> str:
        boxes = (f"<b>{side}</b> <span>{markup(self._names[side])}</span>" for side in ("client", "agent"))
        client, agent = (f'<div class="actor">{box}</div>' for box in boxes)
        return f'<div class="actors" aria-hidden="true"><div class="lane">{client}{agent}</div></div>\n'

    def _filter(self, totals: Totals) -> str:
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
    "<footer><p>A full line is a request or a notification, a broken one a response. Messages unfold; pieces of one "
    "text are put together. Colours of tool calls: "
    + " ".join(
        f'<span class="tag s-{s}">{s.replace("_", " ")}</span>'
        for s in ("pending", "permission", "in_progress", "completed", "failed")
    )
    + "</p></footer>\n"
)


def _toggle(group: str, value: str) -> str:
    attributes = f'data-group="{group}" data-value="{markup(value)}" aria-pressed="false"'
    return f'<button type="button" {attributes}>{markup(brief(value, 24))} <b></b></button>'


def _resource(name: str) -> str:
    return files(__package__ or "").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _target(out: str, source: str) -> Path:
    """Check that a page can be written, before a long log is read for nothing."""
    try:
        path = Path(out).resolve()
        if out == "-":
            raise PageError("-: a page goes into a file")
        if path.is_dir():
            raise PageError(f"{out}: is a directory")
        if path.exists() and not path.is_file():
            raise PageError(f"{out}: is no plain file")
        if not path.parent.is_dir():
            raise PageError(f"{out}: no such directory: {path.parent}")
        if not os.access(path.parent, os.W_OK):
            raise PageError(f"{out}: permission denied")
        if source != "-" and path.exists() and path.samefile(source):
            raise PageError(f"{out}: is the log itself")
    except (OSError, ValueError) as why:
        raise PageError(f"{out}: {(getattr(why, 'strerror', None) or str(why)).lower()}") from None
    return path
