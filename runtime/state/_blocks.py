"""Content blocks of any schema: telling them apart, and joining streamed ones."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from .._types.variants import CatchAll, UnknownVariant

Block: TypeAlias = Struct | CatchAll | UnknownVariant
"""A content block as its schema has it: `match` it with the classes of that schema, such as `v1.TextContent`."""


def tag_of(block: object) -> str:
    """Give the `type` of a block or of a tool call's content; empty where it has none."""
    tag: object = block.tag if isinstance(block, UnknownVariant) else getattr(block, "type", "")
    return tag if isinstance(tag, str) else ""


def known_tag_of(block: object) -> str:
    """Give the `type` of a block that is of a class of its own; empty for any other."""
    return "" if isinstance(block, UnknownVariant | CatchAll) else tag_of(block)


def text_of(block: object) -> str | None:
    """Give the text of a text block, None for any other."""
    if known_tag_of(block) != "text":
        return None
    text: object = getattr(block, "text", None)
    return text if isinstance(text, str) else None


class Blocks:
    """Content that grows: what is added costs the same however much is there already."""

    __slots__ = ("_blocks", "_tail")

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        """Start with whole blocks."""
        self._blocks: list[Any] = list(blocks)
        self._tail: list[str] = []
        """The texts of the last block, where it is made of several."""

    def append(self, block: Block) -> None:
        """Add a streamed block; text that follows text of the same kind becomes part of it."""
        if self._blocks and _joins(self._blocks[-1], block):
            if not self._tail:
                self._tail.append(self._blocks[-1].text)
            self._tail.append(text_of(block) or "")
            return
        self._settle()
        self._blocks.append(block)

    def replace(self, blocks: Iterable[Block]) -> None:
        """Put whole blocks in the place of all that was there."""
        self._blocks, self._tail = list(blocks), []

    def view(self) -> tuple[Block, ...]:
        """Give what is there now."""
        self._settle()
        return tuple(self._blocks)

    def _settle(self) -> None:
        if self._tail:
            # The block that a snapshot may hold is not touched.
            self._blocks[-1] = msgspec.structs.replace(self._blocks[-1], text="".join(self._tail))
            self._tail = []


def _joins(last: Any, block: Any) -> bool:
    if type(last) is not type(block) or text_of(last) is None or not isinstance(last, Struct):
        return False
    return all(same(getattr(last, name), getattr(block, name)) for name in last.__struct_fields__ if name != "text")


def same(a: object, b: object) -> bool:
    """Compare values of a peer; what is nested too deeply to compare counts as different."""
    try:
        return a is b or a == b
    except RecursionError:
        return False
