"""The rule between names in Python and keys in JSON. The generator applies it as well."""


def wire_name(name: str) -> str:
    """Return the JSON key of a Python field: camelCase, `_meta` for `meta`, no trailing underscore."""
    if name == "meta":
        return "_meta"
    head, *tail = name.rstrip("_").split("_")
    return head + "".join(word.capitalize() for word in tail)
