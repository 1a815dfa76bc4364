"""The layout of docstrings. Their texts come from `generator/docs.py`."""

import textwrap

WIDTH = 116


def doc_lines(text: str | None, pointer: str, indent: int) -> tuple[str, ...]:
    """Lay out a docstring: one line where it fits, else a summary, a blank line and the rest."""
    cite = _escaped(f"[#{pointer}]") if pointer else ""
    if not text:
        return (cite,) if cite else ()
    text = _escaped(text)
    whole = f"{text} {cite}".strip()
    room = WIDTH - indent
    if len(whole) + 6 <= room and not whole.endswith('"'):
        return (whole,)
    first, _, rest = text.partition(". ")
    summary = textwrap.wrap(f"{first}." if rest else first, room - 3)
    body = textwrap.wrap(f"{rest} {cite}".strip(), room) if rest or cite else []
    return (*summary, "", *body, "") if body else (*summary, "")


def plain_doc(text: str | None, indent: int) -> tuple[str, ...]:
    """Lay out the docstring of a field or member, which has no citation."""
    return doc_lines(text, "", indent) if text else ()


def _escaped(text: str) -> str:
    """Escape what cannot stand in a docstring as it is."""
    plain = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return plain if plain.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in plain)
