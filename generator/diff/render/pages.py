"""Long tables on pages of a bounded size: the rows stay in order, and each page repeats the head of its table."""

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, the lines below it, and a table; without rows there is none."""

    title: str
    intro: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[str, ...]


@dataclass(slots=True)
class Body:
    """The lines of one page below its head, and the titles of the sections on it."""

    lines: list[str] = field(default_factory=list[str])
    titles: list[str] = field(default_factory=list[str])
    size: int = 0

    def add(self, *lines: str) -> None:
        """Append lines."""
        self.lines += lines
        self.size += size_of(*lines)


def size_of(*lines: str) -> int:
    """Return the size of lines in UTF-8, which is never less than their number of characters."""
    return sum(len(line.encode("utf-8")) + 1 for line in lines)


def paginate(sections: list[Section], first: int, other: int) -> list[Body]:
    """Put sections on pages: `first` is the room on the first page, `other` that on each later one.

    A page holds at least one row, so a row must be shorter than a page.
    """
    pages = [Body()]
    for section in sections:
        for number, block in enumerate(_blocks(section)):
            page = pages[-1]
            begins = number == 0 or section.title not in page.titles
            lines = _opening(section, continued=number > 0) + block if begins else block
            if page.lines and page.size + size_of(*lines) > (first if len(pages) == 1 else other):
                page = Body()
                pages.append(page)
                lines = _opening(section, continued=number > 0) + block
            if section.title not in page.titles:
                page.titles.append(section.title)
            page.add(*lines)
    return pages


def _blocks(section: Section) -> Iterator[list[str]]:
    """List what must stay on one page: each row, or nothing below the heading of a section without rows."""
    yield [section.rows[0]] if section.rows else []
    yield from ([row] for row in section.rows[1:])


def _opening(section: Section, *, continued: bool) -> list[str]:
    """Return the lines that a section begins with on a page."""
    columns = list(section.columns) if section.rows else []
    if continued:
        return ["", f"## {section.title}, continued", "", *columns]
    return ["", f"## {section.title}", *(line for text in section.intro for line in ("", text)), "", *columns]
