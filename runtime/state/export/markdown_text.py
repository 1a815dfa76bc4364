"""Text of somebody else as Markdown, written so that every renderer only formats it.

Renderers differ: in what is code, in what a backslash escapes, in which extensions they know. So nothing here depends
on how one of them reads the text. Whatever could act is escaped (`<` and stray backticks as entities, brackets, braces
and dollars by a backslash), but for links to pages and for code. Code stays as it is where nothing in it would act as
prose either, and where every renderer sees the same code: between two backticks on a line, or in a fence at the start
of a line. Some renderers do not know fences within block quotes, so a code block that would act leaves the quote of its
message.
"""

import re
from collections.abc import Iterator

from ..._types.printable import printable, printable_lines

SCHEMES = r"(?:[Hh][Tt][Tt][Pp][Ss]?://|[Mm][Aa][Ii][Ll][Tt][Oo]:)"
"""How a link may begin: web and mail addresses. Written out, as ignoring case lets other letters in."""
_FIRST = re.compile(r"[-+=.:]")
_NUMBERED = re.compile(r"^(\d+)([.)])")
_TICKS = re.compile(r"`+")
_FENCE = re.compile(r"((?:[ ]*+(?:[-*+]|\d{1,9}[.)])(?=[ ]))?[ ]*+)(`{3,}+|~{3,}+)")
_INFO = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_+-]*)?")
"""The names of languages after which every renderer sees a fence."""

# All quantifiers are possessive, and each alternative ends where another could begin: the time is linear.
_ESCAPE = r"\\[!-/:-@\[-`{-~]"
_TARGET = rf"\]\((?:{SCHEMES}[\w./?&#=%+~:;,!*@-]*+|[\w./#-]*+)\)"
_ENTITIES = {"<": "&lt;", "`": "&#96;"}
"""Some renderers know no escape of the one, and take escaped ones of the other for code all the same."""
_PLAIN = str.maketrans({**{char: f"\\{char}" for char in "\\*_{}[]>#|~@$"}, **_ENTITIES, "&": "&amp;"})
_SPAN = r"`[\w ./:()#-]++`"
_ACTIVE = r"[<\[{$`]|\](?=[(\[:])|~{3,}+"
_TOKENS = re.compile(
    rf"{_ESCAPE}|(?P<link>\[(?:[^\[\]\\`<>|${{}}]|{_SPAN})++{_TARGET})|(?P<code>(?<!`)`[^`]++`(?!`))|(?P<active>{_ACTIVE})"
)
_TOKENS_WITHOUT_CODE = re.compile(rf"{_ESCAPE}|(?P<link>\[[^\[\]\\`<>|${{}}]++{_TARGET})|(?P<active>{_ACTIVE})")
_SPECIAL = re.compile(r"[\\<\[\]{$`~]|\.\.")
"""What is in every line that has something to disarm."""
_BOX = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}[.)])[ \t]++\[[ xX]\](?=[ \t])")
_DIRECTIVE = re.compile(r"((?:[ \t>*+-]|\d{1,9}[.)])*+)(?=\.\.[ \t])")
_ACTS = re.compile(r"`|~~~|<[A-Za-z/!?]|\]\s?[(:\[]|!\[|\[[\[^]|\{[^{}=\n]*+=|^[ \t]*+\.\.[ \t]", re.MULTILINE)
"""What would act, or end code, where a renderer takes code for prose."""


def plain(text: str) -> str:
    """Write text on one line, so that it stands for itself."""
    line = " ".join(printable(text).split()).translate(_PLAIN)
    return f"\\{line}" if _FIRST.match(line) else _NUMBERED.sub(r"\1\\\2", line)


def label(text: str) -> str:
    """Write text as the label of a link: in some renderers, an address in it ends at an escaped bracket, too."""
    return plain(text).replace("\\[", "&#91;").replace("\\]", "&#93;")


def fenced(text: str, info: str = "") -> str:
    """Write text as a code block that nothing in the text can end. It stands at the start of a line."""
    body = printable_lines(text).removesuffix("\n")
    ticks = "`" * max(3, 1 + max(map(len, _TICKS.findall(body)), default=0))
    return f"{ticks}{info}\n{body}\n{ticks}"


def quoted(text: str) -> str:
    """Write a block quote."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def quoted_code(text: str, info: str = "") -> str:
    """Write a code block of somebody else's words: within a block quote where that is safe in every renderer."""
    block = fenced(text, info)
    return block if _ACTS.search(text) else quoted(block)


def disarmed(text: str) -> Iterator[str]:
    """Write Markdown of somebody else: block quotes, and code blocks between them."""
    lines = printable_lines(text).split("\n")
    prose: list[str] = []
    follows_code = False
    at = 0
    while at < len(lines):
        fence = _fence(lines[at])
        if fence is None:
            prose.append(_disarmed(lines[at]))
            at += 1
            continue
        end = next((i for i in range(at + 1, len(lines)) if _closes(lines[i], fence)), len(lines))
        code = lines[at + 1 : end]
        body = "\n".join(code)
        if _ACTS.search(body):
            prose += [fence.lead.rstrip()] if fence.lead.strip() else []
            yield from _quote(prose, start=follows_code, end=True)
            yield fenced("\n".join(_dedented(line, len(fence.lead)) for line in code), fence.info)
            prose, follows_code = [], True
        else:
            block = [f"{fence.lead}{fence.ticks}{fence.info}", *code, f"{' ' * len(fence.lead)}{fence.ticks}"]
            # Blank lines keep a fence that a renderer does not know out of the paragraphs beside it.
            prose += [*([""] if prose and _is_text(prose[-1]) else []), *block]
            prose += [""] if end + 1 < len(lines) and _is_text(lines[end + 1]) else []
        at = end + 1
    yield from _quote(prose, start=follows_code, end=False)


class _Fence:
    """The first line of a code block: what stands before the fence, the fence, and the language after it."""

    __slots__ = ("info", "lead", "ticks")

    def __init__(self, lead: str, ticks: str, info: str) -> None:
        self.lead = lead
        self.ticks = ticks
        self.info = info


def _fence(line: str) -> _Fence | None:
    """Find out whether a line begins a code block, at any depth of a list."""
    found = _FENCE.match(line) if "```" in line or "~~~" in line else None
    if found is None:
        return None
    rest = line[found.end() :].strip(" \t")
    if "`" in rest:
        return None
    word = rest.replace("\t", " ").partition(" ")[0]
    return _Fence(found[1], found[2], word if _INFO.fullmatch(word) else "")


def _closes(line: str, fence: _Fence) -> bool:
    bare = line.strip(" \t")
    return len(bare) >= len(fence.ticks) and bare == fence.ticks[0] * len(bare)


def _is_text(line: str) -> bool:
    return bool(line.strip(" \t"))


def _dedented(line: str, depth: int) -> str:
    return line[min(depth, len(line) - len(line.lstrip(" "))) :]


def _quote(lines: list[str], *, start: bool, end: bool) -> Iterator[str]:
    """Quote lines, without the blank ones beside a code block that is not part of the quote."""
    first, last = 0, len(lines)
    while start and first < last and not _is_text(lines[first]):
        first += 1
    while end and first < last and not _is_text(lines[last - 1]):
        last -= 1
    if first < last:
        yield quoted("\n".join(lines[first:last]))


def _disarmed(line: str) -> str:
    """Disarm a line of prose."""
    if not _SPECIAL.search(line):
        return line
    if (found := _DIRECTIVE.match(line)) is not None:
        line = f"{found[0]}\\{line[found.end() :]}"
    box = _BOX.match(line)
    start = box.end() if box is not None else 0
    rest = _with_code(line[start:])
    if rest is None:
        rest = _TOKENS_WITHOUT_CODE.sub(_inert, line[start:])
    return line[:start] + rest


def _with_code(line: str) -> str | None:
    """Disarm a line and keep its code; None where it is not plain in every renderer what is code."""
    parts: list[str] = []
    end = 0
    splits_cells = "|" in line
    for token in _TOKENS.finditer(line):
        before = line[end : token.start()]
        if token[0] == "`" or ("`" in token[0] and token.lastgroup and not _follows_space(before, is_first=not end)):
            return None
        if token.lastgroup == "code" and not _is_whole(token[0], splits_cells=splits_cells):
            return None
        parts += (before, token[0] if token.lastgroup == "code" else _inert(token))
        end = token.end()
    return "".join((*parts, line[end:]))


def _follows_space(before: str, *, is_first: bool) -> bool:
    """Say whether code follows a space, or begins its line; elsewhere, it may be part of an address."""
    lead = before.rstrip("(*_\"'")
    return lead.endswith((" ", "\t")) or (is_first and not lead)


def _is_whole(code: str, *, splits_cells: bool) -> bool:
    """Say whether code ends where it seems to: its last backtick is not escaped, and no cell of a table ends before."""
    return not code.endswith("\\`") and not (splits_cells and _ACTS.search(code[1:-1]))


def _inert(token: re.Match[str]) -> str:
    """Write a token of prose so that it does not act."""
    text = token[0]
    match token.lastgroup:
        case "link":
            # After an exclamation mark, however that is written, it would be a picture.
            return f"\\{text}" if token.string[token.start() - 1 : token.start()] == "!" else text
        case "active":
            return _ENTITIES.get(text) or "".join(f"\\{char}" for char in text)
        case _:
            return _ENTITIES.get(text[1], text)
