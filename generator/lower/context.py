"""The state that all passes share: the schema, the overrides, the names, and what earlier passes have made.

A problem of one definition does not hide those of the next: passes do each thing in `attempt`. What cannot be done only
because another definition is broken is not a problem of its own.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from generator.engine import SchemaObject
from generator.errors import GeneratorError, Problems, child
from generator.lower.categories import Category, category_of
from generator.model import Alias, Definition, Enumeration, Identifier
from generator.names import Names
from generator.overrides import Overrides
from generator.read import Schema

Value = Alias | Enumeration | Identifier


class BrokenError(Exception):
    """What a pass needs is broken, which is reported already."""


@dataclass(slots=True)
class Context:
    """The state of one run of all passes."""

    schema: Schema
    overrides: Overrides
    names: Names
    routing: frozenset[str]
    """The definitions that describe whole messages: `messages.py` replaces them, the passes before it skip them."""
    problems: Problems
    broken: set[str] = field(default_factory=set[str])
    """Definitions that could not be read, hoisted from, or made a value; what needs their content fails silently."""
    is_complete: bool = True
    """Whether every attempt so far has succeeded."""
    _lacking: list[str] = field(default_factory=list[str])
    """The pointers of what attempts have left out."""
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    """The definitions that are not objects or unions, once `lower_values` has run."""
    upserted: frozenset[str] = frozenset()
    """The pointers of the objects that update something, once `find_updates` has run."""
    _nodes: dict[str, SchemaObject] = field(default_factory=dict[str, SchemaObject])
    """Definitions that `hoist_inline` has changed or added."""
    _inline: dict[str, str] = field(default_factory=dict[str, str])
    """The pointers of those that it has added."""

    def fail(self, pointer: str, problem: str, hint: str = "") -> GeneratorError:
        """Return the error for a problem at `pointer`."""
        return self.schema.fail(pointer, problem, hint)

    @contextmanager
    def attempt(self, *names: str, at: str = "") -> Generator[None]:
        """Note the problems of what is done inside, and go on behind it.

        The definitions `names` are broken then, and that with the pointer `at` is not whole.
        """
        try:
            yield
        except (GeneratorError, BrokenError) as why:
            self.broken.update(names)
            self.is_complete = False
            self._lacking.append(at)
            for problem in why.problems if isinstance(why, GeneratorError) else ():
                if not self._follows(problem):
                    self.problems.add(problem)

    def _follows(self, problem: GeneratorError) -> bool:
        """Return whether something at the place of a problem, or inside it, could not be read."""
        is_ours = problem.pointer != "" and problem.file == self.schema.source.file
        return is_ours and _is_around(problem.pointer, self.schema.problems_at)

    def is_whole(self, definition: Definition) -> bool:
        """Return whether nothing is missing from a definition because of a problem inside it, or elsewhere."""
        return self.is_complete or not _is_around(definition.pointer, [*self.schema.problems_at, *self._lacking])

    def definition(self, name: str) -> SchemaObject:
        """Return a definition in typed form; raises `BrokenError` for a broken one."""
        self._require(name)
        return self._nodes[name] if name in self._nodes else self.schema.definitions[name]

    def declared(self, name: str) -> SchemaObject:
        """Return a definition of the schema as it was read; of a broken one, it may have extension keywords only."""
        return self.schema.definitions[name]

    def _require(self, name: str) -> None:
        if name in self.broken:
            raise BrokenError(name)

    def pointer(self, name: str) -> str:
        """Return the JSON pointer of a definition."""
        return self._inline.get(name) or child("", "$defs", name)

    def lowered_names(self) -> list[str]:
        """List the definitions that become classes and aliases, in the order of their names; broken ones do not."""
        return sorted({*self.schema.names, *self._inline} - self.routing - self.broken)

    def in_category(self, *wanted: Category) -> Iterator[tuple[str, SchemaObject, str]]:
        """List the definitions of some categories: name, node and pointer."""
        for name in self.lowered_names():
            node = None if name in self.broken else self.definition(name)
            if node is not None and category_of(node) in wanted:
                yield name, node, self.pointer(name)

    def is_struct(self, name: str | None) -> bool:
        """Return whether a definition is an object with declared properties only; there may be none."""
        return name is not None and category_of(self.definition(name)) is Category.STRUCT

    def made_as(self, name: str) -> Definition | None:
        """Return what a definition has become, if it is neither an object nor a union.

        Raises `BrokenError` for a broken definition.
        """
        self._require(name)
        return self.values.get(name)

    def replace(self, name: str, node: SchemaObject) -> None:
        """Change a definition."""
        self._nodes[name] = node

    def add_inline(self, name: str, node: SchemaObject, pointer: str) -> None:
        """Add a definition for the inline schema at `pointer`."""
        self._nodes[name] = node
        self._inline[name] = pointer


def _is_around(place: str, found: Iterable[str]) -> bool:
    """Return whether one of the pointers is that of a place, or of something inside it."""
    return any(pointer == place or pointer.startswith(f"{place}/") for pointer in found)
