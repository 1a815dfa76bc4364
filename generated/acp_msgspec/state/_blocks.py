"""Content blocks of any schema: their tags and texts, and how streamed blocks are joined."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from .._types.variants import CatchAll, UnknownVariant

Block: TypeAlias = Struct | CatchAll | UnknownVariant
"""A content block of any schema; `match` it with the classes of that schema, such as `v1.TextContent`."""


def tag_of(block: object) -> str:
    """Return the `type` of a content block or of a tool call's content; empty if it has none."""
    tag: object = block.tag if isinstance(block, UnknownVariant) else getattr(block, "type", "")
    return tag if isinstance(tag, str) else ""


def known_tag_of(block: object) -> str:
    """Return the `type` of a block whose schema knows that type; empty for any other block."""
    return "" if isinstance(block, UnknownVariant | CatchAll) else tag_of(block)


def text_of(block: object) -> str | None:
    """Return the text of a text block; None for any other block."""
    if known_tag_of(block) != "text":
        return None
    text: object = getattr(block, "text", None)
    return text if isinstance(text, str) else None


class Blocks:
    """Content that grows. The cost of appending does not depend on the size of the content."""

    __slots__ = ("_blocks", "_tail")

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        """Start with these blocks."""
        self._blocks: list[Any] = list(blocks)
        self._tail: list[str] = []
        """The texts of the last block, if it was joined from several."""

    def append(self, block: Block) -> None:
        """Append a streamed block. Text is joined to a text block before it that is equal but for its text."""
        if self._blocks and _can_join(self._blocks[-1], block):
            if not self._tail:
                self._tail.append(self._blocks[-1].text)
            self._tail.append(text_of(block) or "")
            return
        self._join_tail()
        self._blocks.append(block)

    def replace(self, blocks: Iterable[Block]) -> None:
        """Replace all blocks."""
        self._blocks, self._tail = list(blocks), []

    def view(self) -> tuple[Block, ...]:
        """Return the current blocks."""
        self._join_tail()
        return tuple(self._blocks)

    def _join_tail(self) -> None:
        if self._tail:
            # A copy, since a snapshot may hold the block.
            self._blocks[-1] = msgspec.structs.replace(self._blocks[-1], text="".join(self._tail))
            self._tail = []


def _can_join(last: Any, block: Any) -> bool:
    if type(last) is not type(block) or text_of(last) is None or not isinstance(last, Struct):
        return False
    return all(same(getattr(last, name), getattr(block, name)) for name in last.__struct_fields__ if name != "text")


def same(a: object, b: object) -> bool:
    """Compare values of a peer. Values nested too deeply to compare count as different."""
    try:
        return a is b or a == b
    except RecursionError:
        return False
