"""The state that all passes share: the schema, the overrides, the names, and what earlier passes have made."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from generator.engine import SchemaObject
from generator.errors import GeneratorError, child
from generator.lower.categories import Category, category_of
from generator.model import Alias, Definition, Enumeration, Identifier
from generator.names import Names
from generator.overrides import Overrides
from generator.read import Schema

Value = Alias | Enumeration | Identifier


@dataclass(slots=True)
class Context:
    """The state of one run of all passes."""

    schema: Schema
    overrides: Overrides
    names: Names
    routing: frozenset[str]
    """The definitions that describe whole messages: `messages.py` replaces them, the passes before it skip them."""
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    """The definitions that are not objects or unions, once `lower_values` has run."""
    upserted: frozenset[str] = frozenset()
    """The pointers of the objects that update something, once `find_upserts` has run."""
    _nodes: dict[str, SchemaObject] = field(default_factory=dict[str, SchemaObject])
    """Definitions that `hoist_inline` has changed or added."""
    _inline: dict[str, str] = field(default_factory=dict[str, str])
    """The pointers of those that it has added."""

    def fail(self, pointer: str, problem: str, hint: str = "") -> GeneratorError:
        """Return the error for a problem at `pointer`."""
        return self.schema.fail(pointer, problem, hint)

    def definition(self, name: str) -> SchemaObject:
        """Return a definition in typed form."""
        return self._nodes[name] if name in self._nodes else self.schema.definitions[name]

    def pointer(self, name: str) -> str:
        """Return the JSON pointer of a definition."""
        return self._inline.get(name) or child("", "$defs", name)

    def lowered_names(self) -> list[str]:
        """List the definitions that become classes and aliases, in the order of their names."""
        return sorted({*self.schema.names, *self._inline} - self.routing)

    def in_category(self, *wanted: Category) -> Iterator[tuple[str, SchemaObject, str]]:
        """List the definitions of some categories: name, node and pointer."""
        for name in self.lowered_names():
            node = self.definition(name)
            if category_of(node) in wanted:
                yield name, node, self.pointer(name)

    def is_struct(self, name: str | None) -> bool:
        """Return whether a definition is an object with declared properties only; there may be none."""
        return name is not None and category_of(self.definition(name)) is Category.STRUCT

    def made_as(self, name: str) -> Definition | None:
        """Return what a definition has become, if it is neither an object nor a union."""
        return self.values.get(name)

    def replace(self, name: str, node: SchemaObject) -> None:
        """Change a definition."""
        self._nodes[name] = node

    def add_inline(self, name: str, node: SchemaObject, pointer: str) -> None:
        """Add a definition for the inline schema at `pointer`."""
        self._nodes[name] = node
        self._inline[name] = pointer
