"""Salvage: the id and the method of messages in malformed JSON.

Malformed JSON is never decoded. But the peer that sent it may wait for an answer, or one of our calls may wait for it,
and the error should reach both under the right id. So this scan accepts more than JSON: text before the object, raw
control characters in strings, trailing commas, single quotes, words such as NaN, numbers such as 01, any depth. It
reads the keys of outermost objects only. One line may contain several: a batch, two messages without a line break
between them, or a message behind a part of another one.
"""

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

MOST_TOKENS = 20_000
"""Tokens of a message that are scanned: a malformed message must not cost much more than a valid one."""
MOST_HEADS = 100
"""Maximum number of messages that are looked for in one line."""

# A string without an end extends to the end of the text, so that no character is scanned twice.
_TOKEN = rb'(?s:"(?:[^"\\]++|\\.)*+"?|[{}\[\],:]|[^\s"{}\[\],:]++)'
_OBJECT, _COMMA, _COLON = b"{,:"
_OPENING, _CLOSING = frozenset(b"{["), frozenset(b"}]")
_NUMBER = rb"[+-]?[0-9]+(?P<rest>\.[0-9]*)?(?P<power>[eE][+-]?[0-9]+)?"
_NOTED, _ANSWERS = frozenset({"id", "method"}), frozenset({"result", "error"})
_BEGIN = b'{"jsonrpc"'
_BEFORE_VALUES = b":[,'\\"
"""Characters before an object that is a value within another message, or that stands in a text."""
LOOK_BACK = 20
LONGEST_KEY = 20
LONGEST_NUMBER = 40


class Head(Struct):
    """What could be read of one message; `id` is UNSET if there is no readable id."""

    id: Any = UNSET
    method: str | UnsetType | None = UNSET
    """The method; None if its value is not text, UNSET if the key is missing."""
    has_answer: bool = False
    """Whether there is a result or an error."""

    @property
    def request_id(self) -> int | str | None:
        """The id if it is valid in JSON-RPC, else None."""
        value = self.id
        is_id = type(value) is str or (type(value) is int and -(2**63) <= value < 2**63)
        return value if is_id else None

    @property
    def has_usable_method(self) -> bool:
        """Whether the message can only be a request or a notification."""
        return isinstance(self.method, str) and self.method != "" and not self.has_answer

    @property
    def is_request(self) -> bool:
        """Whether the message is a request: it has an id and a method, and neither result nor error."""
        return self.id is not UNSET and self.method is not UNSET and not self.has_answer


def heads_of(buf: Any) -> list[Head]:
    """List the messages in any kind of buffer, as `heads` does."""
    return heads(buf.encode("utf-8", "replace") if isinstance(buf, str) else bytes(buf))


def heads(data: bytes) -> list[Head]:
    """List the messages in malformed JSON, in order, without those of which nothing could be read."""
    found: list[Head] = []
    left = MOST_TOKENS
    for start, end in pairwise([*islice(_beginnings(data), MOST_HEADS), len(data)]):
        left -= _read(islice(re.compile(_TOKEN).finditer(data, start, end), left), end, found)
        if left <= 0 or len(found) >= MOST_HEADS:
            break
    return found


def _beginnings(data: bytes) -> Iterator[int]:
    """Find the start of the first object, and of each whole message behind a part of another one."""
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
    """Append the messages in the tokens to `found` and return the number of tokens; the text ends at `end`."""
    count, depth, head, key, at_value = 0, 0, Head(), "", False
    for match in tokens:
        count += 1
        token = match[0]
        kind = token[0]
        if kind in _OPENING:
            # Between messages, brackets belong to batches and escape sequences; only a brace begins a message.
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
            # A number or a string at the end of the text may be incomplete.
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
    """Read a string (single quotes are accepted), a number or null; UNSET for anything else."""
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
