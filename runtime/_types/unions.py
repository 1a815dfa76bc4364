"""Unions that msgspec cannot express: open ones, untagged ones, and ones with untagged fallbacks.

Each form below is a plain union to a type checker. At run time it is either the part of the union that msgspec can
decode in one pass, annotated with the whole `UnionSpec` for the slow path, or a stand-in that msgspec's hook reads.
"""

import sys
import typing
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from msgspec import Struct, field

from .hooks import StandIn
from .unwrap import union_members, unwrap
from .variants import CatchAll, UnknownVariant

K = TypeVar("K")
C = TypeVar("C")
F = TypeVar("F")


class UnionSpec(Struct, frozen=True, eq=False):
    """How to choose the variant of a union.

    `tagged` maps each tag to its classes, tried in order. `catch_alls` take unknown tags. `fallbacks` are tried in
    order on the whole value if the tag is missing or unknown, or if the class of the tag rejects the value; with
    `by_tag`, not in the last case. If `closed` is set, an unknown tag may become an `UnknownVariant`.
    """

    tag_field: str | None = None
    tagged: dict[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    catch_alls: tuple[Any, ...] = ()
    fallbacks: tuple[Any, ...] = ()
    closed: bool = False
    by_tag: bool = False


if TYPE_CHECKING:
    Closed: TypeAlias = K | UnknownVariant
    Open: TypeAlias = K | C
    Fallback: TypeAlias = K | F | UnknownVariant
    FallbackByTag: TypeAlias = K | F | UnknownVariant
    OpenFallback: TypeAlias = K | C | F
    Untagged: TypeAlias = F
    Routed: TypeAlias = K | C
    Tagged: TypeAlias = K
else:

    class _Form:
        """Builds the run-time type of `Form[...]`; each part is one type or a union of types."""

        parts: tuple[str, ...] = ()
        closed = False
        by_tag = False

        def __class_getitem__(cls, args: Any) -> Any:
            given = args if isinstance(args, tuple) else (args,)
            parts = dict(zip(cls.parts, map(_members, given), strict=True))
            found = (parts.get(name, ()) for name in ("known", "other", "fallback"))
            return _form(*found, closed=cls.closed, by_tag=cls.by_tag)

    class Closed(_Form):
        """Structs distinguished by a tag: `Closed[A | B]`. An unknown tag is an error, or an `UnknownVariant`."""

        parts = ("known",)
        closed = True

    class Open(_Form):
        """Structs distinguished by a tag, and the catch-all for other tags: `Open[A | B, Other]`."""

        parts = ("known", "other")

    class Fallback(_Form):
        """Tagged structs, then untagged types tried in order: `Fallback[A | B, C]`."""

        parts = ("known", "fallback")
        closed = True

    class FallbackByTag(Fallback):
        """The same, but untagged types are tried only if the tag is missing or unknown: `FallbackByTag[A | B, C]`."""

        by_tag = True

    class OpenFallback(_Form):
        """Tagged structs, the catch-all for other tags, then untagged types: `OpenFallback[A, Other, B]`."""

        parts = ("known", "other", "fallback")

    class Tagged(_Form):
        """Structs distinguished by a tag, and nothing else: `Tagged[A | B]`."""

        parts = ("known",)

    class Routed(_Form):
        """Messages distinguished by their method, and extension messages: `Routed[A | B, ExtensionRequest]`."""

        parts = ("known", "other")

    class Untagged(_Form):
        """Types without a tag, tried in order: `Untagged[A | B]`."""

        parts = ("fallback",)


def spec_of(kind: Any) -> UnionSpec | None:
    """Return the spec of a union type; None for other types."""
    if isinstance(kind, _UnionStandIn):
        return kind.spec
    if get_origin(kind) is Annotated:
        return next((m for m in kind.__metadata__ if isinstance(m, UnionSpec)), None)
    return None


def candidates(spec: UnionSpec, value: Any) -> tuple[Any, ...]:
    """List the types to try for `value`, in order."""
    if isinstance(value, dict) and spec.tag_field is not None:
        tag = value.get(spec.tag_field)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(tag, str):
            tagged = spec.tagged.get(tag, spec.catch_alls)
            if not spec.fallbacks or (spec.by_tag and tag in spec.tagged):
                return tagged
            return tagged + spec.fallbacks
    return spec.fallbacks


def forbidden(kind: Any) -> frozenset[str]:
    """Return the JSON keys that exclude a class where a union has it as a variant."""
    found: frozenset[str] = getattr(kind, "__forbids__", frozenset())
    return found


def excluding_key(keys: frozenset[str], value: Any) -> str | None:
    """Return the first key of an object that is one of `keys`, those that exclude a class; None for other values."""
    if not keys or not isinstance(value, dict):
        return None
    return next((key for key in cast("dict[str, Any]", value) if key in keys), None)


class _UnionStandIn(StandIn):
    """Metaclass of the stand-in of a union that only the hook can read."""

    spec: UnionSpec

    def __call__(self, *_: object, **__: object) -> NoReturn:
        _refuse_call(self.spec)


if TYPE_CHECKING:

    class _Alias:
        __args__: tuple[Any, ...]

        def __init__(self, origin: Any, args: tuple[Any, ...]) -> None: ...
        def __init_subclass__(cls, *, _root: bool) -> None: ...

else:
    # Private, but present wherever msgspec runs, as msgspec imports it as well. The public `types.GenericAlias` does
    # not work: evaluating annotations takes it apart and fails for a union of one type.
    _Alias = vars(typing)["_GenericAlias"]


class NativePart(_Alias, _root=True):
    """The part of a union that msgspec decodes in one pass; to type introspection it is a union.

    Other than a union of `typing`, it names the classes to call when it is called itself.
    """

    def __init__(self, kinds: tuple[Any, ...], spec: UnionSpec) -> None:
        super().__init__(Union, kinds)
        self.__union__ = spec

    def __call__(self, *_: object, **__: object) -> NoReturn:
        _refuse_call(self.__union__)

    def __repr__(self) -> str:
        return " | ".join(map(_shown, self.__args__))


def _refuse_call(spec: UnionSpec) -> NoReturn:
    """Raise the error of a union that is called like a class: it names the union and the classes to call instead."""
    classes = ", ".join(dict.fromkeys(map(_shown, _variants(spec))))
    package = __name__.removesuffix("_types.unions")  # with the dot; a vendored copy has another name
    modules = [vars(m) for name, m in sys.modules.items() if name.startswith(package)]
    names = (name for found in modules for name, kind in found.items() if spec_of(kind) is spec)
    raise TypeError(f"{next(names, 'This')} is a union and cannot be called; use one of its classes: {classes}")


def _variants(spec: UnionSpec) -> Iterator[Any]:
    """List the classes of a union, including those of nested unions."""
    tagged = (kind for kinds in spec.tagged.values() for kind in kinds)
    for kind in (*tagged, *spec.catch_alls, *spec.fallbacks):
        inner = spec_of(kind)
        if inner is not None:
            yield from _variants(inner)
        elif kind is not Any:  # any JSON has no class
            yield kind


def _shown(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        return _shown(kind.__origin__)  # of a list with a constraint, say
    if get_origin(kind) is list:
        return f"list[{_shown(get_args(kind)[0])}]"
    return str(getattr(kind, "__name__", kind))


def _members(part: Any) -> tuple[Any, ...]:
    return union_members(part) or (part,)


def _tag_of(kind: Any) -> tuple[str | None, Any]:
    config = getattr(kind, "__struct_config__", None)
    if config is not None:
        return config.tag_field, config.tag
    return kind.__shape__.tag_field, kind.__shape__.tag


def _form(
    known: tuple[Any, ...], others: tuple[Any, ...], fallbacks: tuple[Any, ...], *, closed: bool, by_tag: bool
) -> Any:
    tagged: dict[str, tuple[Any, ...]] = {}
    tag_field: str | None = None
    for kind in known:
        tag_field, tag = _tag_of(kind)
        tagged[tag] = (*tagged.get(tag, ()), kind)
    if tag_field is None and others:
        tag_field = others[0].__shape__.other_of
    spec = UnionSpec(tag_field, tagged, others, fallbacks, closed, by_tag)
    native = native_kinds(spec)
    return Annotated[NativePart(native, spec), spec] if native else _UnionStandIn("Union", (), {"spec": spec})


def native_kinds(spec: UnionSpec) -> tuple[Any, ...]:
    """Return the variants that msgspec can decode in one pass and never confuses with another.

    A value that this part rejects may still be valid: the slow path knows the whole union.
    """
    fallbacks = spec.fallbacks
    if not spec.tagged and not spec.catch_alls:
        # The first type of an untagged union is tried first anyway.
        first = fallbacks[0]
        is_native = get_origin(unwrap(first)) is list or (_is_plain(first) and not forbidden(first))
        return (first,) if Any not in fallbacks and is_native else ()
    if fallbacks:
        only = fallbacks[0]
        guarded = len(fallbacks) == 1 and getattr(only, "__untagged_by__", None) == spec.tag_field
        guarded = guarded and forbidden(only) <= {spec.tag_field}
        return (only,) if guarded else ()
    structs = [k[0] for k in spec.tagged.values() if len(k) == 1 and not issubclass(k[0], CatchAll)]
    single = [k for k in structs if not forbidden(k)]
    # msgspec makes the tag of a lone Struct optional.
    return tuple(single) if len(single) > 1 else ()


def _is_plain(kind: Any) -> bool:
    config = getattr(kind, "__struct_config__", None)
    return config is not None and config.tag is None
