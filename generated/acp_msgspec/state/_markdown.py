"""A session as Markdown.

What an agent says is Markdown and stays so, but nobody may trust it: it stands in block quotes, which nothing inside
can leave, and what could act in a viewer is disarmed: HTML, pictures from elsewhere, links to anything but pages.
"""

import re
from collections.abc import Iterable, Iterator

from ._pieces import Piece, json_of, piece_of, with_ends
from ._views import CompactionView, Entry, MessageView, PlanView, Role, Snapshot, ToolCallView

ROLES = {Role.USER: "User", Role.AGENT: "Agent", Role.THOUGHT: "Thought"}
_PUNCTUATION = re.compile(r"[\\`*_{}\[\]<>#|~&@$]|^[-+=]")
_NUMBERED = re.compile(r"^(\d+)([.)])")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*[\w+#.-]*[ \t]*$")
_TICKS = re.compile(r"`+")
_TARGET = re.compile(r"\]\((?!(?:https?://|mailto:)[\w./?&#=%+~:;,!*@-]*[ )]|[\w./#-]*\))", re.IGNORECASE)
"""The start of a link, but for those that lead to a page, an address or a file beside."""
_CONTROLS = {code: "\ufffd" for code in range(32) if chr(code) not in "\t\n"}


def to_markdown(snapshot: Snapshot, /) -> str:
    """Write a session as Markdown.

    The content is of an agent that nobody needs to trust: what stands in it changes nothing around it, runs nothing
    and loads nothing.
    """
    parts = [f"# {plain(snapshot.title or 'Session')}"]
    parts += [part for plan in snapshot.plans for part in _plan(plan)]
    parts += entries_to_markdown(snapshot, snapshot.timeline)
    return "\n\n".join(parts) + "\n"


def entries_to_markdown(snapshot: Snapshot, entries: Iterable[Entry]) -> Iterator[str]:
    """Write some entries of a session, and after each turn how it ended unless that was as it should be."""
    for entry in with_ends(snapshot, entries):
        if isinstance(entry, str):
            yield f"*{plain(entry)}*"
        else:
            yield from _entry(entry, snapshot)


def plain(text: str) -> str:
    """Write text on one line, so that it stands for itself."""
    line = " ".join(text.translate(_CONTROLS).split())
    return _NUMBERED.sub(r"\1\\\2", _PUNCTUATION.sub(r"\\\g<0>", line))


def fenced(text: str, info: str = "") -> str:
    """Write text as a code block that nothing in the text can end."""
    ticks = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    body = _lines(text).removesuffix("\n")
    return f"{ticks}{info}\n{body}\n{ticks}"


def disarmed(text: str) -> str:
    """Write Markdown of somebody else, so that a viewer only formats it.

    Code stays as it is where every viewer agrees that it is code; all else is taken for prose.
    """
    lines = _lines(text).split("\n")
    parts = _parts(lines)
    if parts is None:
        return "\n".join(_prose(lines, plainly=True))
    return "\n".join(line for code, part in parts for line in (part if code else _prose(part)))


def _parts(lines: list[str]) -> list[tuple[bool, list[str]]] | None:
    """Split lines into code blocks, blank lines with them, and prose; None where it is not plain which is which.

    Only a fence at the start of a line counts, as an indented one may belong to a list and end with it; and wherever
    there is another sign of a fence, viewers may see code begin and end elsewhere.
    """
    parts: list[tuple[bool, list[str]]] = []
    fence = ""
    for line in lines:
        opens = _FENCE.match(line)
        is_code = bool(fence) or opens is not None or not line.strip(" \t")
        if fence and line.lstrip().startswith(fence):
            if not re.fullmatch(rf" {{0,3}}{re.escape(fence[0])}+[ ]*", line):
                return None
            fence = ""
        elif opens and not fence:
            fence = opens[1]
        elif not fence and ("```" in line or "~~~" in line):
            return None
        if not parts or parts[-1][0] is not is_code:
            parts.append((is_code, []))
        parts[-1][1].append(line)
    return parts


def quoted(text: str) -> str:
    """Write a block quote."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)


def _prose(lines: list[str], *, plainly: bool = False) -> list[str]:
    """Disarm lines that have no blank one between them, and between backticks where it is plain what these enclose."""
    spans = [None if plainly else _spans(line) for line in lines]
    # Where one line leaves that open, it may concern the others.
    whole = [[line] if None in spans else found or [line] for line, found in zip(lines, spans, strict=True)]
    text = "\n".join("\x01".join(parts[::2]) for parts in whole)
    code = iter([part for parts in whole for part in parts[1::2]])
    # An entity in the place of each mark that opens HTML; links that are defined elsewhere lose their definitions.
    text = text.replace("<", "&lt;").replace("![", "\\![").replace("]:", "]\\:")
    text = _TARGET.sub(r"]\\(", text)
    return re.sub("\x01", lambda _: next(code), text).split("\n")


def _spans(line: str) -> list[str] | None:
    """Split a line into text and code in turns; None where that is not plain."""
    if "`" not in line:
        return [line]
    if "\\`" in line or "|" in line:
        return None
    parts: list[str] = []
    end = 0
    opener: re.Match[str] | None = None
    for run in _TICKS.finditer(line):
        if opener is None:
            opener = run
        elif len(run[0]) == len(opener[0]):
            parts += [line[end : opener.start()], line[opener.start() : run.end()]]
            opener, end = None, run.end()
    if opener is not None:
        return None
    return [*parts, line[end:]]


def _entry(entry: Entry, snapshot: Snapshot) -> Iterator[str]:
    note = " (dropped)" if snapshot.is_dropped(entry) else ""
    match entry:
        case MessageView():
            yield f"{'###' if entry.role is Role.THOUGHT else '##'} {ROLES[entry.role]}{note}"
            for block in entry.blocks:
                piece = piece_of(block, snapshot)
                yield quoted(disarmed(piece.text) if piece.kind == "text" else _piece(piece))
        case ToolCallView():
            yield f"### Tool call: {plain(entry.title or entry.name or entry.tool_call_id)}{note}"
            places = ", ".join(plain(str(getattr(place, "path", ""))) for place in entry.locations)
            yield f"{plain(entry.kind)}, {plain(entry.status)}" + (f": {places}" if places else "")
            yield from (_piece(piece_of(content, snapshot)) for content in entry.content)
            if entry.raw_input is not None and not entry.content:
                yield fenced(json_of(entry.raw_input), "json")
        case CompactionView():
            yield f"### Summary of the context: {plain(entry.status)}{note}"
            yield from (quoted(_piece(piece_of(block, snapshot))) for block in entry.summary)
            yield from [plain(entry.error)] if entry.error else []
        case _:
            yield f"### Unknown update: {plain(entry.tag)}{note}"
            yield fenced(json_of(entry.update), "json")


def _piece(piece: Piece) -> str:
    match piece.kind:
        case "text" | "code":
            title = f"{plain(piece.title)}\n\n" if piece.title else ""
            return title + fenced(piece.text)
        case "diff":
            return fenced(piece.text, "diff") if piece.text else f"{plain(piece.title)}: unchanged"
        case "image":
            return f"![{piece.text}]({piece.uri})"
        case "link":
            return f"[{plain(piece.text)}](<{piece.uri}>)" if piece.uri else plain(f"{piece.text} ({piece.title})")
        case "note":
            return f"*{plain(piece.text)}*"


def _plan(plan: PlanView) -> Iterator[str]:
    yield "## Plan"
    if plan.items:
        boxes = ((("x" if item.status == "completed" else " "), item) for item in plan.items)
        notes = {"pending": "", "completed": ""}
        yield "\n".join(
            f"- [{box}] {plain(item.content)}" + notes.get(item.status, f" ({plain(item.status)})")
            for box, item in boxes
        )
    if plan.uri is not None:
        yield plain(plan.uri)
    if plan.markdown is not None:
        yield quoted(disarmed(plan.markdown))
    if plan.other is not None:
        yield fenced(json_of(plan.other), "json")
