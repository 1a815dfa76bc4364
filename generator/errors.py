"""The error that users of the generator see: one line with the place, the problem and a hint."""

from collections.abc import Iterable


class GeneratorError(Exception):
    """A problem of the input that stops the run.

    `file` and `pointer` (a JSON pointer, or empty) are the place, `hint` says how to solve the problem.
    """

    def __init__(self, problem: str, *, file: str = "", pointer: str = "", hint: str = "") -> None:
        """Compose the line that is printed."""
        self.file = file
        self.pointer = pointer
        self.problem = problem
        self.hint = hint
        place = f"{file}#{pointer}" if pointer else file
        line = f"{place}: {problem}" if place else problem
        super().__init__(" ".join(f"{line} (hint: {hint})".split()) if hint else " ".join(line.split()))

    @property
    def problems(self) -> tuple["GeneratorError", ...]:
        """The problems that this error reports: itself."""
        return (self,)


def child(pointer: str, *tokens: str | int) -> str:
    """Extend a JSON pointer (RFC 6901) by reference tokens."""
    return pointer + "".join("/" + str(t).replace("~", "~0").replace("/", "~1") for t in tokens)


def stale(entries: Iterable[str], *, file: str, schema: str) -> None:
    """Refuse entries of a file that match nothing in a schema; one error lists all, since a bump makes many."""
    names = list(entries)
    if names:
        noun = "entry" if len(names) == 1 else "entries"
        raise GeneratorError(
            f"stale {noun} {', '.join(names)}: {schema} has no such place, or the entry has no effect",
            file=file,
            hint="remove the entry, or correct its name",
        )
