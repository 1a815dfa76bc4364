"""Untrusted text as Markdown that every renderer only formats.

Renderers differ in what they treat as code, in what a backslash escapes, and in their extensions. So the result must
not depend on a particular renderer. Active text, such as HTML or a link, is escaped: `<` and stray backticks become
entities, brackets, braces and dollars get a backslash. Exceptions are links to web and mail addresses, and code. Code
stays as it is if it is not active when read as prose, and if every renderer recognizes it: between two backticks on one
line, or in a fence at the start of a line. Some renderers do not support fences within block quotes, so a code block
with active text is moved out of the quote of its message.
"""

import re
from collections.abc import Iterator

from ..._types.printable import printable, printable_lines

SCHEMES = r"(?:[Hh][Tt][Tt][Pp][Ss]?://|[Mm][Aa][Ii][Ll][Tt][Oo]:)"
"""The start of an allowed link. Written out, because ignoring case would match non-ASCII letters, too."""
_FIRST = re.compile(r"[-+=.:]")
_NUMBERED = re.compile(r"^(\d+)([.)])")
_TICKS = re.compile(r"`+")
_FENCE = re.compile(r"((?:[ ]*+(?:[-*+]|\d{1,9}[.)])(?=[ ]))?[ ]*+)(`{3,}+|~{3,}+)")
_INFO = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_+-]*)?")
"""The language names with which every renderer recognizes a fence."""

# All quantifiers are possessive, and no alternative runs past the start of another: the time is linear.
_ESCAPE = r"\\[!-/:-@\[-`{-~]"
_TARGET = rf"\]\((?:{SCHEMES}[\w./?&#=%+~:;,!*@-]*+|[\w./#-]*+)\)"
_ENTITIES = {"<": "&lt;", "`": "&#96;"}
"""Some renderers do not support `\\<`, and treat an escaped backtick as code nevertheless."""
_PLAIN = str.maketrans({**{char: f"\\{char}" for char in "\\*_{}[]>#|~@$"}, **_ENTITIES, "&": "&amp;"})
_SPAN = r"`[\w ./:()#-]++`"
_ACTIVE = r"[<\[{$`]|\](?=[(\[:])|~{3,}+"
_TOKENS = re.compile(
    rf"{_ESCAPE}|(?P<link>\[(?:[^\[\]\\`<>|${{}}]|{_SPAN})++{_TARGET})|(?P<code>(?<!`)`[^`]++`(?!`))|(?P<active>{_ACTIVE})"
)
_TOKENS_WITHOUT_CODE = re.compile(rf"{_ESCAPE}|(?P<link>\[[^\[\]\\`<>|${{}}]++{_TARGET})|(?P<active>{_ACTIVE})")
_SPECIAL = re.compile(r"[\\<\[\]{$`~]|\.\.")
"""Every line with active text contains one of these."""
_BOX = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}[.)])[ \t]++\[[ xX]\](?=[ \t])")
_DIRECTIVE = re.compile(r"((?:[ \t>*+-]|\d{1,9}[.)])*+)(?=\.\.[ \t])")
_ACTIVE_AS_PROSE = re.compile(
    r"`|~~~|<[A-Za-z/!?]|\]\s?[(:\[]|!\[|\[[\[^]|\{[^{}=\n]*+=|^[ \t]*+\.\.[ \t]", re.MULTILINE
)
"""Text in code that would be active, or end the code, in a renderer that reads it as prose."""


def plain(text: str) -> str:
    """Return text on one line, with all Markdown syntax escaped."""
    line = " ".join(printable(text).split()).translate(_PLAIN)
    return f"\\{line}" if _FIRST.match(line) else _NUMBERED.sub(r"\1\\\2", line)


def label(text: str) -> str:
    """Return text as the label of a link. In some renderers, an address in it would end at an escaped bracket."""
    return plain(text).replace("\\[", "&#91;").replace("\\]", "&#93;")


def fenced(text: str, info: str = "") -> str:
    """Return text as a code block that its content cannot end; put it at the start of a line."""
    body = printable_lines(text).removesuffix("\n")
    ticks = "`" * max(3, 1 + max(map(len, _TICKS.findall(body)), default=0))
    return f"{ticks}{info}\n{body}\n{ticks}"


def quoted(text: str) -> str:
    """Return text as a block quote."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def quoted_code(text: str, info: str = "") -> str:
    """Return untrusted text as a code block, within a block quote if that is safe in every renderer."""
    block = fenced(text, info)
    return block if _ACTIVE_AS_PROSE.search(text) else quoted(block)


def sanitized(text: str) -> Iterator[str]:
    """Yield untrusted Markdown as block quotes, and code blocks between them."""
    lines = printable_lines(text).split("\n")
    prose: list[str] = []
    follows_code = False
    at = 0
    while at < len(lines):
        fence = _fence(lines[at])
        if fence is None:
            prose.append(_sanitized_line(lines[at]))
            at += 1
            continue
        end = next((i for i in range(at + 1, len(lines)) if _closes(lines[i], fence)), len(lines))
        code = lines[at + 1 : end]
        body = "\n".join(code)
        if _ACTIVE_AS_PROSE.search(body):
            prose += [fence.lead.rstrip()] if fence.lead.strip() else []
            yield from _quote(prose, start=follows_code, end=True)
            yield fenced("\n".join(_dedented(line, len(fence.lead)) for line in code), fence.info)
            prose, follows_code = [], True
        else:
            block = [f"{fence.lead}{fence.ticks}{fence.info}", *code, f"{' ' * len(fence.lead)}{fence.ticks}"]
            # Blank lines separate the block from the paragraphs beside it in renderers without fences.
            prose += [*([""] if prose and _is_text(prose[-1]) else []), *block]
            prose += [""] if end + 1 < len(lines) and _is_text(lines[end + 1]) else []
        at = end + 1
    yield from _quote(prose, start=follows_code, end=False)


class _Fence:
    """The first line of a code block: the text before the fence, the fence, and the language after it."""

    __slots__ = ("info", "lead", "ticks")

    def __init__(self, lead: str, ticks: str, info: str) -> None:
        self.lead = lead
        self.ticks = ticks
        self.info = info


def _fence(line: str) -> _Fence | None:
    """Return the fence if a line begins a code block, at any depth of a list."""
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
    """Quote lines, without blank ones at the start or the end, where a code block follows or precedes the quote."""
    first, last = 0, len(lines)
    while start and first < last and not _is_text(lines[first]):
        first += 1
    while end and first < last and not _is_text(lines[last - 1]):
        last -= 1
    if first < last:
        yield quoted("\n".join(lines[first:last]))


def _sanitized_line(line: str) -> str:
    """Escape the active text in a line of prose."""
    if not _SPECIAL.search(line):
        return line
    if (found := _DIRECTIVE.match(line)) is not None:
        line = f"{found[0]}\\{line[found.end() :]}"
    box = _BOX.match(line)
    start = box.end() if box is not None else 0
    rest = _with_code(line[start:])
    if rest is None:
        rest = _TOKENS_WITHOUT_CODE.sub(_escaped_token, line[start:])
    return line[:start] + rest


def _with_code(line: str) -> str | None:
    """Escape a line except for its code; None if renderers may disagree about what is code."""
    parts: list[str] = []
    end = 0
    splits_cells = "|" in line
    for token in _TOKENS.finditer(line):
        before = line[end : token.start()]
        if token[0] == "`" or ("`" in token[0] and token.lastgroup and not _follows_space(before, is_first=not end)):
            return None
        if token.lastgroup == "code" and not _is_whole(token[0], splits_cells=splits_cells):
            return None
        parts += (before, token[0] if token.lastgroup == "code" else _escaped_token(token))
        end = token.end()
    return "".join((*parts, line[end:]))


def _follows_space(before: str, *, is_first: bool) -> bool:
    """Return whether code follows a space or begins its line; otherwise it may be part of an address."""
    lead = before.rstrip("(*_\"'")
    return lead.endswith((" ", "\t")) or (is_first and not lead)


def _is_whole(code: str, *, splits_cells: bool) -> bool:
    """Return whether all renderers agree where code ends: not at an escaped backtick, nor at the cell of a table."""
    return not code.endswith("\\`") and not (splits_cells and _ACTIVE_AS_PROSE.search(code[1:-1]))


def _escaped_token(token: re.Match[str]) -> str:
    """Return a token of prose, escaped unless it is an allowed link."""
    text = token[0]
    match token.lastgroup:
        case "link":
            # After an exclamation mark, even an escaped one, it would be an image.
            return f"\\{text}" if token.string[token.start() - 1 : token.start()] == "!" else text
        case "active":
            return _ENTITIES.get(text) or "".join(f"\\{char}" for char in text)
        case _:
            return _ENTITIES.get(text[1], text)
