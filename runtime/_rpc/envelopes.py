"""The base of all messages: fields that readers require and constructors fill in."""

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
    """The placeholder of a field that the constructor fills in."""

    def __init__(self, value: Any) -> None:
        self.value = value


def stamped(value: T) -> T:
    """Declare a field that the constructor sets to `value`, while readers still require it."""
    stamp: Any = _Stamp(value)
    return stamp  # type: ignore[no-any-return]


class Stamping(KeywordOnly):
    """Fills in stamped fields when Python code builds an object; msgspec does not call the constructor."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> Any:
        """Create the class; its stamped fields have no default, so readers require them."""
        stamps = {key: stamp.value for key, stamp in namespace.items() if isinstance(stamp, _Stamp)}
        for key in stamps:
            del namespace[key]
        if stamps:
            namespace["__stamps__"] = stamps
        return super().__new__(cls, name, bases, namespace, **config)

    def __call__(cls, *arguments: Any, **values: Any) -> Any:
        """Build an object with its stamped fields."""
        return super().__call__(*arguments, **{**cls.__stamps__, **values})  # type: ignore[attr-defined]


class Envelope(AcpStruct, metaclass=Stamping):
    """Base of all messages: each carries the version of JSON-RPC."""

    __stamps__: ClassVar[dict[str, Any]]

    jsonrpc: Literal["2.0"] = stamped("2.0")
