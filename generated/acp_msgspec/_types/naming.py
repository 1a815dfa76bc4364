"""The one rule between names in Python and keys in JSON. The generator applies it, too."""


def wire_name(name: str) -> str:
    """Give the JSON key of a Python field: camelCase, `meta` for `_meta`, no trailing underscore."""
    if name == "meta":
        return "_meta"
    head, *tail = name.rstrip("_").split("_")
    return head + "".join(word.capitalize() for word in tail)
