"""The report as Markdown, for pull requests and release notes: the head, then a section and a table per module.

GitHub refuses longer texts than `LIMIT`. A report that is longer is written to several files, each below that limit and
linked with the others; standard output gets its head, and how to write the rest.
"""

import re
import shlex
from pathlib import PurePath

from generator.diff.compare.comparison import Comparison, count_of, figures
from generator.diff.compare.folding import FoldedChange
from generator.diff.render.head import head
from generator.diff.render.pages import Body, Section, paginate, size_of
from generator.diff.render.plain import cut, excerpts, printable, repeated, shortened

LIMIT = 65_536
"""GitHub's limit for a comment or the text of a pull request, in characters; pages keep below it in UTF-8 as well."""
CONTENTS = 8_000
"""The room for the list of pages on the first one."""
NAVIGATION = 8_000
"""The room for the title and the links of every other page."""
TITLE = 200
"""How many characters of each compared name the title shows."""
CELL = 1_500
"""How many characters of a sentence or of code a cell shows; only hostile names are longer."""
LISTED = 400
"""How many characters the names take that follow a sentence."""
COLUMNS = ("| reader | writer | change | before | after |", "|---|---|---|---|---|")
PART = "<!-- A further part of a report; `python -m generator diff` wrote it and may replace it. -->"
"""The first line of every page but the first."""
SPECIAL = re.compile(r"[\\`*\[\]<>|~&@#$]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|:(?=//)")
"""Characters with a meaning inside a line; an underscore only at the edge of a word, a colon only in a URL."""
PLAIN_IN_URLS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def prose(text: str, width: int = CELL) -> str:
    """Escape text so that Markdown shows it as it is; what is longer than `width` is cut."""
    return SPECIAL.sub(r"\\\g<0>", cut(printable(text), width))


def code(text: str) -> str:
    """Write text as code in a table cell."""
    if not text:
        return ""
    shown = cut(printable(text), CELL).replace("|", "\\|")
    # The fence must be longer than any run of backticks in the text.
    fence = "`" * (max((len(run) for run in re.findall(r"`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def render_markdown(comparison: Comparison) -> str:
    """Write the whole report if it is below the limit, else its head and how to write the rest to files."""
    pages = markdown_files(comparison, "report.md")
    if len(pages) == 1:
        return pages["report.md"]
    arguments = shlex.join([comparison.old, comparison.new])
    command = f"python -m generator diff {arguments} --format markdown --out report.md"
    lines = [
        *_head(comparison),
        "",
        f"**Left out**: the tables of all {count_of(len(comparison.changes), 'change')}, which are longer than the "
        f"{LIMIT:,} characters that GitHub takes. This writes them to {len(pages)} files, {_listed(list(pages))}:",
        "",
        f"    {cut(printable(command), 2 * CELL)}",
    ]
    return "\n".join(lines) + "\n"


def markdown_files(comparison: Comparison, name: str) -> dict[str, str]:
    """Write the whole report as one file or several, each below the limit; `name` is the first of them."""
    folded = comparison.folded
    sections = [_section(comparison, label, folded) for label in comparison.labels]
    opening = _head(comparison)
    whole = paginate(sections, LIMIT - 1 - size_of(*opening), 0)
    if len(whole) == 1:
        return {name: "\n".join(opening + whole[0].lines) + "\n"}
    pages = paginate(sections, LIMIT - 1 - size_of(*opening) - CONTENTS, LIMIT - 1 - NAVIGATION)
    names = part_names(name, len(pages))
    files = {name: "\n".join([*opening, *_contents(names, pages), *pages[0].lines]) + "\n"}
    for number, page in enumerate(pages[1:], start=2):
        title = f"{_title(comparison)}, part {number} of {len(pages)}"
        links = [("first", 1), ("previous", number - 1), ("next", number + 1)]
        shown = [_link(text, names[n - 1]) for text, n in links if n <= len(pages)]
        lines = [PART, "", title, "", " · ".join(shown), *page.lines]
        files[names[number - 1]] = "\n".join(lines) + "\n"
    return files


def part_names(name: str, count: int) -> list[str]:
    """Name the files of a report: `report.md`, `report-2.md` and so on."""
    path = PurePath(name)
    return [name, *(f"{path.stem}-{n}{path.suffix}" for n in range(2, count + 1))]


def _title(comparison: Comparison) -> str:
    return f"# Schema changes: {code(cut(comparison.old, TITLE))} to {code(cut(comparison.new, TITLE))}"


def _head(comparison: Comparison) -> list[str]:
    lines = [f"- **{line.name.capitalize()}**: {prose(line.text)}" for line in head(comparison)]
    return [_title(comparison), "", *lines]


def _contents(names: list[str], pages: list[Body]) -> list[str]:
    """List the pages, as many as there is room for; the others are linked one from the other."""
    lines = ["", f"This report has {len(pages)} parts; this is the first.", ""]
    for number, (name, page) in enumerate(zip(names[1:], pages[1:], strict=True), start=2):
        line = f"- {_link(name, name)}: {', '.join(page.titles)}"
        if size_of(*lines, line) > CONTENTS - 200:
            lines.append(f"- parts {number} to {len(pages)}: each is linked from the one before")
            break
        lines.append(line)
    return lines


def _listed(names: list[str]) -> str:
    if len(names) > 3:
        return f"{names[0]} to {names[-1]}"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _link(text: str, name: str) -> str:
    target = "".join(c if c in PLAIN_IN_URLS else "".join(f"%{b:02X}" for b in c.encode("utf-8")) for c in name)
    return f"[{prose(text)}]({target})"


def _section(comparison: Comparison, label: str, folded: list[FoldedChange]) -> Section:
    said = f"{figures(comparison.of(label))}{repeated(label, folded)}."
    rows = tuple(_row(f) for f in folded if f.change.label == label)
    return Section(prose(label), (prose(f"{said[:1].upper()}{said[1:]}", LISTED),), COLUMNS, rows)


def _row(shown: FoldedChange) -> str:
    change = shown.change
    rule = change.rule
    said = [prose(change.sentence)]
    if shown.repeats:
        said.append(f"The same in {', '.join(map(prose, shown.labels[1:]))}")
        elsewhere = prose(shortened(shown.uses_elsewhere), LISTED)
        said[-1] += f", there used in {elsewhere}, too." if elsewhere else "."
    if change.used_in:
        said.append(f"Used in {prose(shortened(change.used_in), LISTED)}.")
    if change.also:
        said.append(f"Along with it: {prose(shortened(change.also), LISTED)}.")
    cells = [rule.reader, rule.writer, " ".join(said), *map(code, excerpts(change.before, change.after))]
    return f"| {' | '.join(cells)} |"
