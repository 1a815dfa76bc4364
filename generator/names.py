"""All Python names: each is made from the schema's own keys, and a collision is an error."""

import ast
import builtins
import importlib.util
import keyword
import re
import unicodedata
from collections.abc import Callable, Collection
from typing import cast

from generator.engine import camel, field_name, member_name
from generator.errors import GeneratorError
from generator.source import ROOT

TEMPLATES = ROOT / "templates"
RUNTIME = ROOT / "runtime"

LENIENCIES = frozenset({"NullOrDefault", "OrDefault", "SkipInvalid"})
"""Annotations that the runtime looks up by name; a class with such a name would be mistaken for one."""


def words_of(template: str) -> frozenset[str]:
    """List the Python names in the text of a template, without strings, comments and Jinja expressions."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}", " ", text, flags=re.DOTALL)
    text = re.sub(r"\{\{.*?\}\}", " 0 ", text, flags=re.DOTALL)
    text = re.sub(r'"""[^\n].*?"""|"[^"\n]*"|#[^\n]*', " ", text, flags=re.DOTALL)
    return frozenset(re.findall(r"\b[A-Za-z_]\w*", text))


def _members_in(template: str, *, attributes_only: bool = False) -> frozenset[str]:
    """List the attributes and methods that the classes of a template have for any schema."""
    found: set[str] = set()
    in_class = False
    for line in (TEMPLATES / template).read_text(encoding="utf-8").splitlines():
        if line[:1].isalpha():
            in_class = line.startswith("class ")
        attribute = re.match(r" {4}([a-z]\w*): (?=[A-Z{b])", line)
        method = None if attributes_only else re.match(r" {4}(?:async )?def ([a-z]\w*)\(", line)
        if in_class and (match := attribute or method) is not None:
            found.add(match[1])
    return frozenset(found)


def _members_of(file: str, name: str) -> frozenset[str]:
    """List the public attributes and methods that a class of the runtime declares or sets."""
    tree = ast.parse((RUNTIME / file).read_text(encoding="utf-8"))
    (owner,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    found = {n.name for n in owner.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    found |= {n.target.id for n in owner.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    stored = (n for n in ast.walk(owner) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    found |= {n.attr for n in stored if isinstance(n.value, ast.Name) and n.value.id == "self"}
    return frozenset(n for n in found if not n.startswith("_"))


RESERVED_FIELDS = _members_of("_types/variants.py", "CatchAll") | {"untagged_"}
"""Fields of the package's own base classes."""

CONNECTION_NAMES = (
    _members_of("aio/_connection.py", "Connection")
    | _members_in("aio.py.jinja")
    | _members_in("aio_serving.jinja", attributes_only=True)
)
"""Attributes and methods that the classes of a connection have with any schema."""


HIDDEN_BY_METHODS = frozenset(n for n in words_of("aio.py.jinja") if hasattr(builtins, n) and n.islower())
"""Built-ins that the emitted classes with a coroutine per method use."""


def _load_wire_name() -> Callable[[str], str]:
    # The package applies the same rule to each class; loading its file keeps the rule in one place.
    spec = importlib.util.spec_from_file_location("_acp_wire", ROOT / "runtime" / "_types" / "naming.py")
    if spec is None or spec.loader is None:
        raise GeneratorError("cannot be loaded", file="runtime/_types/naming.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("Callable[[str], str]", module.wire_name)


wire_name = _load_wire_name()


def normal(name: str) -> str:
    """Return a name as Python reads it: identifiers are compared in the normal form NFKC."""
    return unicodedata.normalize("NFKC", name)


def _valid(name: str) -> str:
    """Turn a name into a valid identifier; a change of case or to normal form can make it invalid."""
    made = "".join(c if f"_{c}".isidentifier() else "_" for c in normal(name))
    return made if made.isidentifier() and not keyword.iskeyword(made) else f"field_{made}"


def _is_class_name(name: str) -> bool:
    """Return whether a class can have a name: it may hide a built-in exception, but not a built-in function or type."""
    hides = hasattr(builtins, name) and name[:1].islower()
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_") and not hides


def helper(name: str, hidden: Collection[str]) -> str:
    """Name an import of an emitted module; `_` precedes it if the schema has the same name."""
    return f"_{name}" if name in hidden else name


def taken(name: str, file: str, pointer: str) -> GeneratorError:
    """Return the error for a definition whose name every module already has."""
    return GeneratorError(
        f"the name {name} is taken by the package itself",
        file=file,
        pointer=pointer,
        hint="see names.py for the reserved names",
    )


class Names:
    """The names of one emitted module, each with the place that claimed it."""

    def __init__(self, file: str) -> None:
        """Start without claims; `file` is shown in errors."""
        self.file = file
        self._claims: dict[str, str] = {}

    def claim(self, name: str, pointer: str) -> str:
        """Claim a class or alias name for the place `pointer`."""
        if not _is_class_name(name):
            raise GeneratorError(
                f"{name!r} cannot be a class name",
                file=self.file,
                pointer=pointer,
                hint="the keys of $defs become class names",
            )
        if name != normal(name):
            raise GeneratorError(
                f"Python reads the name {name!r} as {normal(name)!r}",
                file=self.file,
                pointer=pointer,
                hint="the keys of $defs become class names, in normal form NFKC",
            )
        if name in LENIENCIES:
            raise taken(name, self.file, pointer)
        if name in self._claims:
            raise GeneratorError(
                f"two places want the Python name {name}: {self._claims[name]} and {pointer}",
                file=self.file,
                pointer=pointer,
                hint="names come from the schema's keys; one of the two must change",
            )
        self._claims[name] = pointer
        return name


def variant_name(union: str, *steps: str) -> str:
    """Name a variant: its union, then the tag or title of each branch that leads to it."""
    return union + "".join(camel(step) for step in steps)


def envelope_name(params: str) -> str:
    """Name the envelope that carries a params type."""
    return f"{params}Message"


def field_of(key: str, definitions: Collection[str] = ()) -> str:
    """Name the field of a JSON key; `_` follows if it would hide a definition or a field of the package."""
    name = _valid(field_name(normal(key)))
    return f"{name}_" if name in RESERVED_FIELDS or name in definitions else name


def fields_of(keys: list[str], file: str, pointer: str, definitions: Collection[str] = ()) -> dict[str, str]:
    """Name the fields of one object; two keys with the same field name are an error."""
    out: dict[str, str] = {}
    for key in keys:
        name = field_of(key, definitions)
        if name in out.values():
            other = next(k for k, n in out.items() if n == name)
            raise GeneratorError(
                f"the properties {other!r} and {key!r} both want the Python name {name}", file=file, pointer=pointer
            )
        out[key] = name
    return out


def member_of(value: str | int, title: str | None) -> str:
    """Name a member of an enumeration; a number is named after its title."""
    if isinstance(value, str):
        return _valid(member_name(normal(value)))
    if title:
        return _valid(member_name(normal(title)))
    return f"CODE_{'MINUS_' if value < 0 else ''}{abs(value)}"


def method_of(key: str) -> str:
    """Name the coroutine of a method; `_` follows if it would hide a built-in that annotations beside it use."""
    name = _valid(field_name(normal(key)))
    return f"{name}_" if name in HIDDEN_BY_METHODS else name


def method_names(methods: list[tuple[str, bool, bool]], file: str) -> dict[tuple[str, bool], str]:
    """Name the coroutines of the methods that one side handles, by key and whether they handle requests.

    `methods` are keys, each with whether there is a request and a notification. If there are both, the name of the
    notification's coroutine says so.
    """
    out: dict[tuple[str, bool], str] = {}
    for key, has_request, has_notification in methods:
        name = method_of(key)
        wanted = {(key, True): name} if has_request else {}
        if has_notification:
            wanted[key, False] = f"{name}_notification" if has_request else name
        for made in wanted.values():
            if made in CONNECTION_NAMES or made in out.values():
                raise GeneratorError(
                    f"the method {key!r} cannot have the Python name {made}, which is taken",
                    file=file,
                    hint="see CONNECTION_NAMES in names.py",
                )
        out |= wanted
    return out
