"""What stands behind an alias: the one place that strips aliases, null and constraints off a type."""

from collections.abc import Callable

from generator.model import Alias, Constrained, Definition, Named, Nullable, Type


def unwrap(
    kind: Type, definition_of: Callable[[str], Definition | None], *, null: bool = False, constraints: bool = True
) -> Type:
    """Strip aliases off the outside of a type, and with them null and sender constraints if asked to.

    `definition_of` finds a definition by its name. A cycle of aliases ends where it began; it is reported when
    definitions are put in order.
    """
    seen: set[str] = set()
    while True:
        match kind:
            case Nullable(inner=inner) if null:
                kind = inner
            case Constrained(inner=inner) if constraints:
                kind = inner
            case Named(name=name) if name not in seen and isinstance(alias := definition_of(name), Alias):
                seen.add(name)
                kind = alias.kind
            case _:
                return kind
