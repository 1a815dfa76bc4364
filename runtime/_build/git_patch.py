"""A change to one file as git writes it, with the file's absolute path."""

from typing import Literal

from .unified_diff import hunks_text

Operation = Literal["add", "delete", "modify"]
_ESCAPES = {**{chr(code): f"\\{code:03o}" for code in (*range(0x20), 0x7F)}, '"': '\\"', "\\": "\\\\"} | {
    "\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r",
}  # fmt: skip
"""How git writes the characters that it quotes."""
_TABLE = str.maketrans(_ESCAPES)


def operation_of(old: str | None, new: str | None) -> Operation:
    """Return what happens to a file, given its text before and after. Raises `ValueError` if both are None."""
    if old is None and new is None:
        raise ValueError("A diff needs the text before the change, the text after it, or both")
    return "add" if old is None else "delete" if new is None else "modify"


def git_patch(path: str, old: str | None, new: str | None) -> str | None:
    r"""Write a change as `git diff --no-prefix` does; None if a text stays the same.

    `old` is None for a new file, and `new` for a deleted one. Lines end with `\n` alone. Paths are quoted as git does
    with `core.quotePath=false`.
    """
    operation, name = operation_of(old, new), _quoted(path)
    hunks = hunks_text(old or "", new or "")
    if operation == "modify" and not hunks:
        return None
    header = [f"diff --git {name} {name}"]
    header += {"add": ["new file mode 100644"], "delete": ["deleted file mode 100644"], "modify": []}[operation]
    if hunks:
        end = "\t" if " " in name else ""  # git ends a name with a space so, to tell it from a time
        header.append("--- /dev/null" if old is None else f"--- {name}{end}")
        header.append("+++ /dev/null" if new is None else f"+++ {name}{end}")
    return "\n".join([*header, hunks])


def _quoted(path: str) -> str:
    return f'"{path.translate(_TABLE)}"' if any(c in _ESCAPES for c in path) else path
