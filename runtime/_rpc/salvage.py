"""What the beginning of a broken message still tells: its id, its method, and whether it is a response.

A message that is not clean JSON is never read. But the peer that sent it waits for an answer, or a call waits for it,
and both should hear of it under the right id. So this scan accepts more than JSON does: text before the object, raw
control characters in strings, trailing commas, single quotes, words such as NaN, numbers such as 01, any depth. It
looks at the keys of outermost objects only, of which one line may hold several: a batch, two messages without a line
break between them, or a message behind a part of another one.
"""

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

MOST_TOKENS = 20_000
"""How many tokens of a message are looked at: a broken message must not cost much more than a good one."""
MOST_HEADS = 100
"""How many messages of one line are told apart."""

# A string that has no end takes the rest of the text, so that no character is looked at twice.
_TOKEN = rb'(?s:"(?:[^"\\]++|\\.)*+"?|[{}\[\],:]|[^\s"{}\[\],:]++)'
_OBJECT, _COMMA, _COLON = b"{,:"
_OPENING, _CLOSING = frozenset(b"{["), frozenset(b"}]")
_NUMBER = rb"[+-]?[0-9]+(?P<rest>\.[0-9]*)?(?P<power>[eE][+-]?[0-9]+)?"
_NOTED, _ANSWERS = frozenset({"id", "method"}), frozenset({"result", "error"})
_BEGIN = b'{"jsonrpc"'
_BEFORE_VALUES = b":[,'\\"
"""What stands before a message that is a value of another one, and before one within a text."""
LOOK_BACK = 20
LONGEST_KEY = 20
LONGEST_NUMBER = 40


class Head(Struct):
    """What is known of one message; `id` is UNSET where it has none that can be read."""

    id: Any = UNSET
    method: str | UnsetType | None = UNSET
    """The method, None where its value is not text, UNSET where the key is missing."""
    has_answer: bool = False
    """Whether there is a result or an error."""

    @property
    def request_id(self) -> int | str | None:
        """The id where it is one that JSON-RPC allows, else None."""
        value = self.id
        is_id = type(value) is str or (type(value) is int and -(2**63) <= value < 2**63)
        return value if is_id else None

    @property
    def has_usable_method(self) -> bool:
        """Whether the message can be taken for a request or a notification and for nothing else."""
        return isinstance(self.method, str) and self.method != "" and not self.has_answer

    @property
    def is_request(self) -> bool:
        """Whether it asks for an answer: it has an id and the key of a method, and is not a response."""
        return self.id is not UNSET and self.method is not UNSET and not self.has_answer


def heads_of(buf: Any) -> list[Head]:
    """List the outermost objects of any kind of buffer, as `heads` does."""
    return heads(buf.encode("utf-8", "replace") if isinstance(buf, str) else bytes(buf))


def heads(data: bytes) -> list[Head]:
    """List the outermost objects of a broken message, in order; those that tell nothing at all are left out."""
    found: list[Head] = []
    left = MOST_TOKENS
    for start, end in pairwise([*islice(_beginnings(data), MOST_HEADS), len(data)]):
        left -= _read(islice(re.compile(_TOKEN).finditer(data, start, end), left), end, found)
        if left <= 0 or len(found) >= MOST_HEADS:
            break
    return found


def _beginnings(data: bytes) -> Iterator[int]:
    """Find where the first object begins, and each whole message that stands behind a part of another one."""
    at = max(data.find(b"{"), 0)
    yield at
    for _ in range(MOST_TOKENS):
        at = data.find(_BEGIN, at + 1)
        if at < 0:
            return
        before = data[max(at - LOOK_BACK, 0) : at].rstrip()[-1:]
        if before and before not in _BEFORE_VALUES:
            yield at


def _read(tokens: Iterator[re.Match[bytes]], end: int, found: list[Head]) -> int:
    """Add what the tokens tell to `found`, and say how many were looked at; the text ends at `end`."""
    count, depth, head, key, at_value = 0, 0, Head(), "", False
    for match in tokens:
        count += 1
        token = match[0]
        kind = token[0]
        if kind in _OPENING:
            # Between messages only an object begins one: the brackets there are those of batches and escape sequences.
            if depth == 1 and at_value:
                _note(head, key, None)
            depth += 1 if depth or kind == _OBJECT else 0
        elif kind in _CLOSING:
            if depth == 1:
                _keep(head, found)
                head, key, at_value = Head(), "", False
            depth -= 1 if depth else 0
        elif depth != 1:
            continue
        elif kind == _COMMA:
            key, at_value = "", False
        elif kind == _COLON:
            at_value = True
            _note_key(head, key)
        elif not at_value:
            key = token.strip(b"\"'").decode("utf-8", "replace") if len(token) <= LONGEST_KEY else ""
        elif key in _NOTED:
            # The end of the text may have cut a number or a string short.
            _note(head, key, UNSET if match.end() == end else _value(token))
        if len(found) >= MOST_HEADS:
            break
    _keep(head, found)
    return count


def _keep(head: Head, found: list[Head]) -> None:
    if head.id is not UNSET or head.method is not UNSET or head.has_answer:
        found.append(head)


def _note_key(head: Head, key: str) -> None:
    if key in _ANSWERS:
        head.has_answer = True
    elif key == "method":
        head.method = None


def _note(head: Head, key: str, value: Any) -> None:
    if key == "id" and value is not UNSET:
        head.id = value
    elif key == "method":
        head.method = value if isinstance(value, str) else None


def _value(token: bytes) -> Any:
    """Read a string, also in single quotes, a number or null; UNSET for anything else."""
    if token in (b"null", b"None"):
        return None
    if len(token) > 1 and token[:1] == token[-1:] == b"'":
        return token[1:-1].decode("utf-8", "replace")
    number = re.compile(_NUMBER).fullmatch(token) if len(token) <= LONGEST_NUMBER else None
    if number is not None:
        return int(token) if number["rest"] is number["power"] is None else float(token)
    if token[:1] == b'"':
        try:
            return msgspec.json.decode(token)
        except (msgspec.DecodeError, UnicodeError):
            return UNSET
    return UNSET
