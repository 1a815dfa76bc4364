"""The errors that users of the generator see: for each problem one line with the place, the problem and a hint."""

import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager


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

    def within(self, file: str) -> "GeneratorError":
        """Return the same error of another file."""
        return GeneratorError(self.problem, file=file, pointer=self.pointer, hint=self.hint)


class GeneratorErrors(GeneratorError):
    """Several problems of one run, in the order of their places; its text has one line for each.

    Its own place, problem and hint are those of the first.
    """

    def __init__(self, found: Iterable[GeneratorError]) -> None:
        """Compose the lines; `found` has at least one problem."""
        self._problems = tuple(sorted(found, key=_place))
        first = self._problems[0]
        super().__init__(first.problem, file=first.file, pointer=first.pointer, hint=first.hint)
        self.args = ("\n".join(str(p) for p in self._problems),)

    @property
    def problems(self) -> tuple[GeneratorError, ...]:
        """The problems, sorted by file and pointer."""
        return self._problems

    def within(self, file: str) -> GeneratorError:
        """Return the same errors of another file."""
        return GeneratorErrors(p.within(file) for p in self._problems)


class Problems:
    """Collects the problems of a run, so that one does not hide the next. Each is kept once."""

    def __init__(self) -> None:
        """Start without problems."""
        self._found: dict[str, GeneratorError] = {}

    def __iter__(self) -> Iterator[GeneratorError]:
        """List the problems in the order in which they were found."""
        return iter(self._found.values())

    def __len__(self) -> int:
        """Return the number of problems."""
        return len(self._found)

    def add(self, why: GeneratorError) -> None:
        """Note the problems of an error."""
        for problem in why.problems:
            self._found.setdefault(str(problem), problem)

    @contextmanager
    def collect(self) -> Generator[None]:
        """Note the problems of what is done inside, and go on behind it."""
        try:
            yield
        except GeneratorError as why:
            self.add(why)

    def error(self) -> GeneratorError:
        """Return one error for all problems; there must be one."""
        found = tuple(self._found.values())
        return found[0] if len(found) == 1 else GeneratorErrors(found)

    def stop(self) -> None:
        """Raise the problems, if there are any."""
        if self._found:
            raise self.error()


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


def _place(why: GeneratorError) -> tuple[str, list[tuple[int, str]], str]:
    """Order by file and pointer; the tenth branch comes after the second."""
    steps = [(int(s), "") if re.fullmatch(r"[0-9]{1,9}", s) else (-1, s) for s in why.pointer.split("/")]
    return why.file, steps, str(why)
