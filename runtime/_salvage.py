"""What the beginning of a broken message still tells: its id, its method, and whether it is a response.

A message that is not clean JSON is never read. But the peer that sent it waits for an answer, or a call waits for it,
and both should hear of it under the right id. So this scan accepts more than JSON does: text before the object, raw
control characters in strings, trailing commas, single quotes, words such as NaN, any depth. It looks at the keys of
outermost objects only, of which one line may hold several: a batch, or two messages without a line break between them.
"""

import re
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

MOST_TOKENS = 20_000
"""How many tokens of a message are looked at: a broken message must not cost much more than a good one."""
MOST_HEADS = 100
"""How many messages of one line are told apart."""

# A string that has no end takes the rest of the text, so that no character is looked at twice.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[{}\[\],:]|[^\s"{}\[\],:]++', re.DOTALL)
_OPENING, _CLOSING = b"{[", b"}]"
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ANSWERS = frozenset({"result", "error"})


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
    def is_request(self) -> bool:
        """Whether it asks for an answer: it has an id and the key of a method, and is not a response."""
        return self.id is not UNSET and self.method is not UNSET and not self.has_answer


def first_head(buf: Any) -> Head:
    """Give the first message of a broken line; one that tells nothing where there is none."""
    data = buf.encode("utf-8", "replace") if isinstance(buf, str) else bytes(buf)
    return next(iter(heads(data)), Head())


def heads(data: bytes) -> list[Head]:
    """List the outermost objects of a broken message, in order; those that tell nothing at all are left out."""
    scan = _Scan()
    for count, token in enumerate(_TOKEN.finditer(data, max(data.find(b"{"), 0))):
        if count >= MOST_TOKENS or len(scan.found) >= MOST_HEADS:
            break
        scan.take(token[0], is_last=token.end() == len(data))
    return scan.finish()


class _Scan:
    """Where the scan is: how deep, and at which key of the outermost object."""

    def __init__(self) -> None:
        self.found: list[Head] = []
        self._depth = 0
        self._head = Head()
        self._key: str | None = None
        self._at_value = False

    def take(self, token: bytes, *, is_last: bool) -> None:
        if token in _OPENING and len(token) == 1:
            self._open(token)
        elif token in _CLOSING and len(token) == 1:
            self._close()
        elif self._depth != 1:
            return
        elif token == b",":
            self._key, self._at_value = None, False
        elif token == b":":
            self._at_value = True
            self._note_key()
        elif self._at_value:
            # The end of the text may have cut a number or a string short.
            self._note_value(UNSET if is_last else _value(token))
        else:
            key = _value(token)
            self._key = key if isinstance(key, str) else token.decode("utf-8", "replace")

    def finish(self) -> list[Head]:
        self._keep()
        return self.found

    def _open(self, token: bytes) -> None:
        # Between messages only an object begins one: the brackets there are those of batches and escape sequences.
        if self._depth or token == b"{":
            if self._depth == 1 and self._at_value:
                self._note_value(None)
            self._depth += 1

    def _close(self) -> None:
        if self._depth == 1:
            self._keep()
        self._depth = max(self._depth - 1, 0)

    def _note_key(self) -> None:
        if self._key in _ANSWERS:
            self._head.has_answer = True
        elif self._key == "method":
            self._head.method = None

    def _note_value(self, value: Any) -> None:
        if self._key == "id" and value is not UNSET:
            self._head.id = value
        elif self._key == "method":
            self._head.method = value if isinstance(value, str) else None

    def _keep(self) -> None:
        if self._head != Head():
            self.found.append(self._head)
        self._head, self._key, self._at_value = Head(), None, False


def _value(token: bytes) -> Any:
    """Read a string, also in single quotes, a number or null; UNSET for anything else."""
    if token in (b"null", b"None"):
        return None
    if len(token) > 1 and token[:1] == token[-1:] == b"'":
        return token[1:-1].decode("utf-8", "replace")
    if token[:1] == b'"' or (len(token) <= 40 and _NUMBER.fullmatch(token)):
        try:
            return msgspec.json.decode(token)
        except (msgspec.DecodeError, UnicodeError):
            return UNSET
    return UNSET
