"""Where a definition is used: the places that refer to it, and the methods whose messages carry it."""

from collections import defaultdict

from generator.diff.compare.index import Index, declaring_key, names_in
from generator.model import Alias, CatchAll, Struct, Type, Union


class Uses:
    """The places of one module, by the definition that they use."""

    def __init__(self, index: Index) -> None:
        """Collect the uses of all definitions and methods."""
        self._places: dict[str, set[str]] = defaultdict(set)
        self._users: dict[str, set[str]] = defaultdict(set)
        self._methods: dict[str, set[str]] = defaultdict(set)
        for definition in index.module.definitions:
            name = definition.name
            match definition:
                case Struct(fields=fields) | CatchAll(fields=fields):
                    for entry in fields:
                        self._note(entry.kind, name, f"{name}.{entry.name}")
                        source = declaring_key(entry.pointer)
                        if source not in (name, declaring_key(definition.pointer)):
                            self._add(source, name, name)
                    if isinstance(definition, Struct) and definition.base is not None:
                        self._add(definition.base, name, name)
                case Alias(kind=kind):
                    self._note(kind, name, name)
                case Union(tagged=tagged, others=others, fallbacks=fallbacks):
                    for kind in (*tagged, *others, *fallbacks):
                        self._note(kind, name, name)
                case _:
                    pass
        for method in index.module.methods:
            for part in (method.request, method.response, method.notification):
                if part is not None:
                    self._methods[part].add(method.name)

    def _note(self, kind: Type, user: str, place: str) -> None:
        for name in names_in(kind):
            self._add(name, user, place)

    def _add(self, name: str, user: str, place: str) -> None:
        self._places[name].add(place)
        self._users[name].add(user)

    def places(self, name: str) -> set[str]:
        """List the attributes, unions, aliases, subclasses and flattened classes that refer to a definition."""
        return self._places.get(name, set())

    def methods(self, name: str) -> set[str]:
        """List the methods whose messages may contain a definition at any depth."""
        seen = {name}
        waiting = [name]
        found: set[str] = set()
        while waiting:
            current = waiting.pop()
            found |= self._methods.get(current, set())
            fresh = self._users.get(current, set()) - seen
            seen |= fresh
            waiting.extend(fresh)
        return found
