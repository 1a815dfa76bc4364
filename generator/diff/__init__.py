"""What changed for users of the package between two versions of the schemas, and whom each change affects.

`inputs` reads both sides, `compare/` finds the changes, `render/` writes them in one of the `FORMATS`. Only the
command line imports it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from generator.diff.compare.comparison import Comparison, compare
from generator.diff.inputs import load
from generator.diff.render.html_page import render_html
from generator.diff.render.json_document import render_json
from generator.diff.render.markdown import PART, markdown_files, part_names, render_markdown
from generator.diff.render.text import render_text
from generator.errors import GeneratorError
from generator.source import ROOT, read_if_there

FORMATS: dict[str, Callable[[Comparison], str]] = {
    "text": render_text,
    "markdown": render_markdown,
    "json": render_json,
    "html": render_html,
}
"""The function that writes each format for standard output."""


@dataclass(frozen=True, slots=True)
class Report:
    """A rendered comparison. `status` is the exit status: 0 for no change, 3 for patch or minor, 4 for major."""

    text: str
    """What standard output gets."""
    status: int
    comparison: Comparison
    fmt: str = "text"

    def files(self, name: str) -> dict[str, str]:
        """Return the files to write for an output file `name`: it alone, or the parts of a long Markdown report."""
        if self.fmt == "markdown":
            return markdown_files(self.comparison, name)
        return {name: self.text if self.text.endswith("\n") else f"{self.text}\n"}


def written_parts(out: Path) -> dict[str, bytes]:
    """Return the further parts of a former report in the file `out`: what an earlier run wrote beside it."""
    found: dict[str, bytes] = {}
    for number in count(2):
        name = part_names(out.name, number)[-1]
        if (data := read_if_there(out.parent / name)) is None or not data.startswith(PART.encode("utf-8")):
            break
        found[name] = data
    return found


def diff(old: str, new: str, fmt: str, root: Path = ROOT) -> Report:
    """Compare two versions of the schemas as users see them.

    Each of `old` and `new` is a lock file, a folder, a schema file, or a git revision of the project at `root`; `fmt`
    is a key of `FORMATS`. Raises `GeneratorError` for an argument that cannot be read.
    """
    if fmt not in FORMATS:
        raise GeneratorError(f"unknown format {fmt!r}", hint=f"one of {', '.join(FORMATS)}")
    return report_of(compare(load(old, root), load(new, root)), fmt)


def report_of(comparison: Comparison, fmt: str) -> Report:
    """Render a comparison in one of the `FORMATS`."""
    return Report(FORMATS[fmt](comparison), comparison.status, comparison, fmt)


__all__ = ["FORMATS", "Report", "diff", "report_of", "written_parts"]
