"""What changed for users of the package between two versions of the schemas, and whom each change affects.

`inputs` reads both sides, `compare/` finds the changes, `render/` writes them in one of the `FORMATS`. Only the
command line imports it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generator.diff.compare.comparison import Comparison, compare
from generator.diff.inputs import load
from generator.diff.render.html_page import render_html
from generator.diff.render.json_document import render_json
from generator.diff.render.markdown import render_markdown
from generator.diff.render.text import render_text
from generator.errors import GeneratorError
from generator.source import ROOT

FORMATS: dict[str, Callable[[Comparison], str]] = {
    "text": render_text,
    "markdown": render_markdown,
    "json": render_json,
    "html": render_html,
}
"""The function that writes each format."""


@dataclass(frozen=True, slots=True)
class Report:
    """A rendered comparison. `status` is the exit status: 0 for no change, 3 for patch or minor, 4 for major."""

    text: str
    status: int
    comparison: Comparison


def diff(old: str, new: str, fmt: str, root: Path = ROOT) -> Report:
    """Compare two versions of the schemas as users see them.

    Each of `old` and `new` is a lock file, a folder, a schema file, or a git revision of the project at `root`; `fmt`
    is a key of `FORMATS`. Raises `GeneratorError` for an argument that cannot be read.
    """
    if fmt not in FORMATS:
        raise GeneratorError(f"unknown format {fmt!r}", hint=f"one of {', '.join(FORMATS)}")
    comparison = compare(load(old, root), load(new, root))
    return Report(FORMATS[fmt](comparison), comparison.status, comparison)


__all__ = ["FORMATS", "Report", "diff"]
