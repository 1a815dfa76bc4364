"""The short forms of raw schemas, written out, so that the tests read each meaning in one form only."""

from typing import Any, TypeAlias, TypeGuard

Node: TypeAlias = dict[str, Any]


def is_object(value: Any) -> TypeGuard[Node]:
    """Say whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Say whether a JSON value is an array."""
    return isinstance(value, list)


def spelt_out(node: Any, names: bool = False) -> Any:
    """Copy a schema with `{}` for `true` and a choice of constants for `enum`: early files use the short forms."""
    if is_array(node):
        return [spelt_out(part) for part in node]
    if not is_object(node):
        return node
    found: Node = {}
    for word, part in node.items():
        if names and part is True:
            found[word] = {}
        elif names or word not in ("const", "default", "enum"):
            found[word] = spelt_out(part, names=not names and word in ("properties", "$defs"))
        else:
            found[word] = part
    return found if names else _in_full(found)


def _in_full(found: Node) -> Node:
    """Write out the short forms of one schema, those inside it aside."""
    if is_array(found.get("enum")):
        found["oneOf"] = [{"type": found.get("type", "string"), "const": value} for value in found.pop("enum")]
        found.pop("type", None)
    if isinstance(found.get("const"), str):
        found.setdefault("type", "string")
    if found.get("format") == "byte":
        found["contentEncoding"] = "base64"
        del found["format"]
    if found.get("type") == "object" and "$ref" in found:
        found["allOf"] = [{"$ref": found.pop("$ref")}, *found.get("allOf", ())]
    for word in ("anyOf", "oneOf"):  # listed values, and any other text
        if word in found and all(_is_text(part) for part in found[word]):
            found[word] = [c for part in found[word] for c in part.get("oneOf", [part])]
        if "properties" not in found and len(found.get(word, ())) == 1 and _is_nameless(found[word][0]):
            found = {**found.pop(word)[0], **found}
    return found


def _is_nameless(node: Node) -> bool:
    return node.get("type") == "object" and "title" not in node and not is_tagged([node])


def _is_text(node: Node) -> bool:
    return node.get("type") == "string" or all("const" in c for c in node.get("oneOf", [node]))


def is_tagged(choices: list[Node]) -> bool:
    """Say whether one of the choices has a constant property."""
    return any("const" in p for choice in choices for p in choice.get("properties", {}).values())
