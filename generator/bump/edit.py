"""Editing TOML files: comments and the order of entries stay."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import tomlkit
from tomlkit.items import Item, Table
from tomlkit.toml_document import TOMLDocument

from generator.bump.plan import Edit, Place
from generator.jsonutil import is_object

WIDE = 100
"""A list that is longer than this, in characters, is written on several lines."""


def edited(texts: Mapping[str, str], edits: Iterable[Edit]) -> dict[str, str]:
    """Return the texts of the files that the edits change."""
    editor = _Editor(texts)
    edits = list(edits)
    # What goes is taken first, so that a place that is left can be filled again.
    taken = [editor.take(e.old) if e.old is not None else None for e in edits]
    for edit, item in zip(edits, taken, strict=True):
        for number, place in enumerate(edit.new):
            is_whole = number == 0 and item is not None and item.unwrap() == edit.value
            editor.put(place, item if is_whole else edit.value)
    return editor.texts()


class _Editor:
    """Holds the files that are edited."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._documents: dict[str, TOMLDocument] = {}
        self._made: list[Table] = []

    def _document(self, file: str) -> TOMLDocument:
        if file not in self._documents:
            self._documents[file] = tomlkit.parse(self._texts.get(file, ""))
        return self._documents[file]

    def take(self, place: Place) -> Item | None:
        """Remove an entry, and return its value unless it is an item of a list."""
        owner: Any = self._document(place.file)
        for key in place.keys[:-2] if place.is_item else place.keys[:-1]:
            owner = owner[key]
        if place.is_item:
            items = owner[place.keys[-2]]
            items.remove(place.keys[-1])
            if not items:
                del owner[place.keys[-2]]
            return None
        item = cast("Item", owner[place.keys[-1]])
        del owner[place.keys[-1]]
        return item

    def put(self, place: Place, value: Any) -> None:
        """Add an entry."""
        keys = place.keys[:-2] if place.is_item else place.keys[:-1]
        owner: Any = self._document(place.file)
        for depth, key in enumerate(keys):
            if key not in owner:
                table = tomlkit.table(is_super_table=depth + 1 < len(keys))
                self._made.append(table)
                self._add(owner, key, table)
            owner = owner[key]
        if place.is_item:
            name, item = place.keys[-2:]
            if name not in owner:
                self._add(owner, name, tomlkit.array())
            items = owner[name]
            items.append(item)
            if len(items.as_string()) > WIDE:
                items.multiline(multiline=True)
        else:
            self._add(owner, place.keys[-1], _inline(value))

    def _add(self, owner: Any, key: str, value: Any) -> None:
        """Add a key before those that come after it in the alphabet, if the keys of its kind are in that order."""
        is_table = isinstance(value, Table)
        same = [k for k, v in owner.items() if isinstance(v, Table) is is_table]
        is_sorted = same == sorted(same) and all(owner is not made for made in self._made)
        later = [k for k in same if k > key] if is_sorted else []
        if not is_table:
            later += [k for k, v in owner.items() if isinstance(v, Table)]
        moved = [(k, owner[k]) for k in later]
        for k, _ in moved:
            del owner[k]
        owner.add(key, value)
        for k, v in moved:
            owner.add(k, v)

    def texts(self) -> dict[str, str]:
        """Return the edited texts."""
        for table in self._made:
            found: Any = table
            if not any(isinstance(value, Table) for value in found.values()):
                table.add(tomlkit.nl())
        for document in self._documents.values():
            _drop_empty(document)
        return {file: self._text(document) for file, document in self._documents.items()}

    def _text(self, document: TOMLDocument) -> str:
        """Write a document; where tables were added, tomlkit may leave two blank lines instead of one."""
        text = tomlkit.dumps(document).strip("\n") + "\n"
        if any("\n\n\n" in before for before in self._texts.values()):
            return text
        return re.sub(r"\n{3,}", "\n\n", text)


def _inline(value: Any) -> Any:
    if not is_object(value) or isinstance(value, Item):
        return value
    table: Any = tomlkit.inline_table()
    table.update(value)
    return table


def _drop_empty(owner: Any) -> None:
    """Remove the tables that have no entries left."""
    for key, value in list(owner.items()):
        if isinstance(value, Table):
            _drop_empty(value)
            if not value:
                del owner[key]
