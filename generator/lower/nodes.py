"""Pure questions about one schema node: nothing here knows other definitions or the state of a run."""

from typing import Any, cast

from generator.engine import SchemaObject
from generator.jsonutil import is_array, is_object

Node = SchemaObject | bool
PREFIX = "#/$defs/"
UNTAGGED = "untagged"
"""What names the only branch of a union that has neither a tag nor a title."""


def has_flag(node: Node, keyword: str) -> bool:
    """Return whether a boolean extension keyword is true."""
    return isinstance(node, SchemaObject) and node.extras.get(keyword) is True


def text_of(node: Node, keyword: str) -> str | None:
    """Return the text of a keyword that the typed form keeps among its extras."""
    value = node.extras.get(keyword) if isinstance(node, SchemaObject) else None
    return value if isinstance(value, str) else None


def const_of(node: Node) -> str | int | None:
    """Return the value of `const`."""
    return cast("str | int | None", node.extras.get("const")) if isinstance(node, SchemaObject) else None


def default_of(node: Node) -> tuple[bool, Any]:
    """Return whether a schema has a default, and the default."""
    if isinstance(node, SchemaObject) and "default" in node.model_fields_set:
        return True, node.default
    return False, None


def type_of(node: SchemaObject) -> tuple[str | None, bool]:
    """Return the JSON type of a schema, and whether `type` also allows null."""
    if isinstance(node.type, list):
        rest = [t for t in node.type if t != "null"]
        return (rest[0] if rest else "null"), "null" in node.type
    return node.type, False


def is_free(node: Node) -> bool:
    """Return whether a schema allows any JSON value."""
    return node is True or (
        isinstance(node, SchemaObject)
        and not (node.type or node.ref or node.allOf or node.anyOf or node.oneOf or node.properties or node.enum)
    )


def is_null(node: Node) -> bool:
    """Return whether a schema allows null only."""
    return isinstance(node, SchemaObject) and node.type == "null"


def has_values(node: SchemaObject) -> bool:
    """Return whether a schema lists its values: `enum` or `const`."""
    return "const" in node.extras or bool(node.enum)


def reference_of(node: Node) -> str | None:
    """Return the definition that a schema refers to: by `$ref`, or by a lone `allOf` around one, and nothing else."""
    if isinstance(node, bool) or node.type or node.properties or node.anyOf or node.oneOf:
        return None
    if node.ref:
        return node.ref.removeprefix(PREFIX)
    targets = all_of(node)
    return targets[0] if len(targets) == 1 else None


def all_of(node: SchemaObject) -> list[str]:
    """List the definitions that a schema includes through `allOf`."""
    return [n.ref.removeprefix(PREFIX) for n in node.allOf if isinstance(n, SchemaObject) and n.ref]


def branches_of(node: SchemaObject) -> tuple[str, list[Node]]:
    """Return the keyword that lists a schema's branches, and the branches."""
    return ("oneOf", list(node.oneOf)) if node.oneOf else ("anyOf", list(node.anyOf))


def branch_groups(node: SchemaObject) -> list[tuple[str, list[Node]]]:
    """List the keywords that list branches, each with its branches; an object may have two, and tags come first."""
    groups = [(keyword, branches) for keyword, branches in (("oneOf", node.oneOf), ("anyOf", node.anyOf)) if branches]
    return sorted(((k, list(b)) for k, b in groups), key=lambda group: not any(map(_has_tag, group[1])))


def _has_tag(node: Node) -> bool:
    return isinstance(node, SchemaObject) and bool(required_constants(node))


def nameless(node: SchemaObject) -> list[SchemaObject]:
    """List the branches of an object that neither a tag nor a title names."""
    branches = [b for b in (*node.oneOf, *node.anyOf) if isinstance(b, SchemaObject)]
    return [b for b in branches if is_object_branch(b) and step_of(b) is None]


def step_in(node: SchemaObject, branch: Node) -> str | None:
    """Return what names the class of a branch of `node`: its tag, its title, or that it is the only one without."""
    if not isinstance(branch, SchemaObject):
        return None
    return step_of(branch) or (UNTAGGED if nameless(node) == [branch] else None)


def is_object_branch(node: SchemaObject) -> bool:
    """Return whether a branch describes an object in place."""
    return node.type == "object" or bool(node.properties)


def sole_branch(node: SchemaObject) -> SchemaObject | None:
    """Return the one branch of an object that has no others, if nothing names it: it is a part of the object."""
    found = nameless(node)
    return found[0] if len(found) == len(node.oneOf) + len(node.anyOf) == 1 else None


def branches_without_null(node: SchemaObject) -> tuple[list[tuple[int, Node]], bool]:
    """Return the branches that are not null, each with its index, and whether there is a null branch."""
    branches = branches_of(node)[1]
    rest = [(i, b) for i, b in enumerate(branches) if not is_null(b)]
    return rest, len(rest) < len(branches)


def required_constants(node: SchemaObject) -> list[tuple[str, str]]:
    """List the required properties of an object that allow one text only, each with that text."""
    found = [(k, const_of(p)) for k, p in (node.properties or {}).items() if k in node.required]
    return [(k, c) for k, c in found if isinstance(c, str)]


def forbidden_keys(node: SchemaObject) -> tuple[str, ...]:
    """List the keys that `propertyNames` excludes."""
    names = node.propertyNames
    excluded = cast("dict[str, Any]", names.extras.get("not", {})) if isinstance(names, SchemaObject) else {}
    keys: list[str] = excluded["enum"] if "enum" in excluded else [excluded["const"]] if "const" in excluded else []
    return tuple(keys)


def step_of(branch: SchemaObject) -> str | None:
    """Return what names the class of a branch: its tag, else its title."""
    constants = required_constants(branch)
    return constants[0][1] if constants else branch.title


def definition_refs(raw: Any) -> list[str]:
    """List the definitions that a raw schema refers to, once per reference."""
    out: list[str] = []
    if is_object(raw):
        for key, value in raw.items():
            if key == "$ref" and isinstance(value, str):
                out.append(value.removeprefix(PREFIX))
            elif key not in ("default", "const", "enum"):
                out.extend(definition_refs(value))
    elif is_array(raw):
        for value in raw:
            out.extend(definition_refs(value))
    return out
