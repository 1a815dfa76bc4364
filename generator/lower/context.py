"""What every step of the lowering shares: the schema, the exceptions, the names, and the classes made so far."""

from dataclasses import dataclass, field
from typing import Any, cast

from generator.engine import SchemaObject
from generator.errors import GeneratorError, child
from generator.jsonutil import is_array, is_object
from generator.model import Definition
from generator.names import Names
from generator.overrides import Overrides
from generator.read import Schema

Node = SchemaObject | bool


@dataclass(slots=True)
class Context:
    """The state of one lowering."""

    schema: Schema
    overrides: Overrides
    names: Names
    made: list[Definition] = field(default_factory=list[Definition])
    """Definitions and the classes derived from them, in the order in which they were lowered."""

    def fail(self, pointer: str, problem: str, hint: str = "") -> GeneratorError:
        """Make the error that says what is wrong at `pointer`."""
        return self.schema.fail(pointer, problem, hint)

    def definition(self, name: str) -> SchemaObject:
        """Give a definition in typed form."""
        return self.schema.definitions[name]

    def pointer(self, name: str) -> str:
        """Give the place of a definition."""
        return child("", "$defs", name)


@dataclass(frozen=True, slots=True)
class Property:
    """One property on its way to becoming a field: its schema and the definition that declares it."""

    key: str
    node: Node
    pointer: str
    owner: str
    required: bool
    lenient_as: Node | None = None
    """The same property as an enclosing object declares it; its flags count too."""


def flag(node: Node, keyword: str) -> bool:
    """Say whether a boolean extension keyword is set."""
    return isinstance(node, SchemaObject) and node.extras.get(keyword) is True


def text_of(node: Node, keyword: str) -> str | None:
    """Give the text of a keyword that the typed form keeps among its extras."""
    value = node.extras.get(keyword) if isinstance(node, SchemaObject) else None
    return value if isinstance(value, str) else None


def const_of(node: Node) -> str | int | None:
    """Give the constant that a schema demands."""
    return cast("str | int | None", node.extras.get("const")) if isinstance(node, SchemaObject) else None


def reference_of(node: Node) -> str | None:
    """Give the definition that a schema stands for: `$ref`, or a lone `allOf` around one, and nothing else."""
    if isinstance(node, bool) or node.type or node.properties or node.anyOf or node.oneOf:
        return None
    if node.ref:
        return node.ref.removeprefix("#/$defs/")
    targets = all_of(node)
    return targets[0] if len(targets) == 1 else None


def all_of(node: SchemaObject) -> list[str]:
    """List the definitions that a schema takes in through `allOf`."""
    return [n.ref.removeprefix("#/$defs/") for n in node.allOf if isinstance(n, SchemaObject) and n.ref]


def branches_of(node: SchemaObject) -> tuple[str, list[Node]]:
    """Give the alternatives of a schema and the keyword that lists them."""
    return ("oneOf", list(node.oneOf)) if node.oneOf else ("anyOf", list(node.anyOf))


def type_of(node: SchemaObject) -> tuple[str | None, bool]:
    """Give the JSON type of a schema, and whether null is one too."""
    if isinstance(node.type, list):
        rest = [t for t in node.type if t != "null"]
        return (rest[0] if rest else "null"), "null" in node.type
    return node.type, False


def default_of(node: Node) -> tuple[bool, Any]:
    """Say whether a schema has a default, and which."""
    if isinstance(node, SchemaObject) and "default" in node.model_fields_set:
        return True, node.default
    return False, None


def is_free(node: Node) -> bool:
    """Say whether a schema takes any JSON value."""
    return node is True or (
        isinstance(node, SchemaObject)
        and not (node.type or node.ref or node.allOf or node.anyOf or node.oneOf or node.properties or node.enum)
    )


def definition_refs(node: Any) -> list[str]:
    """List the definitions that a raw schema refers to, each as often as it does."""
    out: list[str] = []
    if is_object(node):
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                out.append(value.removeprefix("#/$defs/"))
            elif key not in ("default", "const", "enum"):
                out.extend(definition_refs(value))
    elif is_array(node):
        for value in node:
            out.extend(definition_refs(value))
    return out
