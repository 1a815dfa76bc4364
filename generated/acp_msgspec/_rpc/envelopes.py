"""What all JSON-RPC messages have in common: the frame that is read strictly and written without being asked."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from msgspec import Meta

from .._types.structs import AcpStruct, KeywordOnly

if TYPE_CHECKING:
    # Type checkers bring it along.
    import typing_extensions  # pyright: ignore[reportMissingModuleSource]

    ResultT = typing_extensions.TypeVar("ResultT", default=Any)
else:
    ResultT = TypeVar("ResultT")

T = TypeVar("T")

ExtensionMethod = Annotated[str, Meta(pattern="^_")]
"""The name of a method outside the protocol: it begins with an underscore."""


class _Stamp:
    """Marks a field whose value those who build the object need not give."""

    def __init__(self, value: Any) -> None:
        self.value = value


def stamped(value: T) -> T:
    """Give a field the value `value` on construction, while a reader insists on finding it."""
    mark: Any = _Stamp(value)
    return mark  # type: ignore[no-any-return]


class Stamping(KeywordOnly):
    """Fills stamped fields in when Python builds an object; msgspec builds its own and never comes by here."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> Any:
        """Create the class with its stamped fields required."""
        stamps = {key: mark.value for key, mark in namespace.items() if isinstance(mark, _Stamp)}
        for key in stamps:
            del namespace[key]
        if stamps:
            namespace["__stamps__"] = stamps
        return super().__new__(cls, name, bases, namespace, **config)

    def __call__(cls, *arguments: Any, **values: Any) -> Any:
        """Build an object, stamped fields included."""
        return super().__call__(*arguments, **{**cls.__stamps__, **values})  # type: ignore[attr-defined]


class Envelope(AcpStruct, metaclass=Stamping):
    """Base of all messages: JSON-RPC 2.0, which every message says of itself."""

    __stamps__: ClassVar[dict[str, Any]]

    jsonrpc: Literal["2.0"] = stamped("2.0")
