"""Text files in chunks: decoding UTF-8 and selecting lines."""

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

from .errors import FileRefused


def decode_text(chunks: Iterable[bytes]) -> Iterator[str]:
    """Decode UTF-8 and drop a byte order mark. Raises `FileRefused` for a binary file and for invalid UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    is_first = True
    for chunk in chain(chunks, (b"",)):
        if b"\0" in chunk:
            raise FileRefused("it is a binary file")
        pending = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as why:
            raise FileRefused(f"it is not valid UTF-8 from byte {offset - pending + why.start} on") from None
        offset += len(chunk)
        yield text.removeprefix("\ufeff") if is_first else text
        is_first = is_first and not text


def select_lines(chunks: Iterable[str], line: int, limit: int | None) -> Iterator[str]:
    """Select at most `limit` lines from line number `line` on. All chunks are read, as each may turn out invalid."""
    for chunk in chunks:
        if line == 1 and limit is None:
            yield chunk
            continue
        ends = chunk.count("\n")
        if line - 1 <= ends and limit != 0:
            yield slice_lines(chunk, line, limit)
        skipped = min(line - 1, ends)
        line -= skipped
        limit = None if limit is None else max(0, limit - (ends - skipped))


def slice_lines(text: str, line: int, limit: int | None) -> str:
    """Return at most `limit` lines of a text from line number `line` on."""
    start = _after_line_ends(text, 0, line - 1)
    return text[start:] if limit is None else text[start : _after_line_ends(text, start, limit)]


def _after_line_ends(text: str, start: int, count: int) -> int:
    """Return the index after the next `count` line ends, or the end of the text. A binary search: there may be many."""
    stop = len(text)
    if text.count("\n", start) < count:
        return stop
    while count and stop - start > 1:
        middle = (start + stop) // 2
        found = text.count("\n", start, middle)
        if found >= count:
            stop = middle
        else:
            count -= found
            start = middle
    return stop if count else start
