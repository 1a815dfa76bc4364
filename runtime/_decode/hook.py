"""The hook that msgspec calls for types it does not know, and the lazy doors to what only the slow path needs.

`engine` and `second_choices` import modules that lie above this one, which happens nowhere else in the package, and
defer that import. Most programs decode only valid messages, and loading the engine takes about as long as loading the
rest of the codec.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

from .._types.hooks import Absent, UInt64, uint64
from .._types.unions import UnionSpec, spec_of
from .._types.variants import CatchAll
from .context import MAX_RECORDED, Skipped, TypeReader
from .paths import Step

FORBIDDEN = "The key has no place here"
"""Error text for a key that must be absent."""


class Engine(Protocol):
    """What the rest of the package uses of the module `engine`; see there."""

    def repair(
        self,
        kind: Any,
        value: Any,
        *,
        strict: bool = False,
        keep_unknown: bool = False,
        mismatch: Sequence[str] = (),
        limit: int = MAX_RECORDED,
    ) -> tuple[Any, list[Skipped]]:
        """Read a value and list its repairs, or raise `msgspec.ValidationError`."""
        ...

    def repair_in_one_pass(
        self, kind: Any, data: Any, pattern: str, *, keep_unknown: bool, limit: int
    ) -> tuple[Any, list[Skipped]] | None:
        """Read JSON whose fast path failed in a lenient field and list the repairs, or return None."""
        ...

    def repair_part(
        self,
        kind: Any,
        value: Any,
        *,
        keep_unknown: bool = False,
        path: tuple[Step, ...] = (),
        mismatch: Sequence[str] = (),
        limit: int = MAX_RECORDED,
    ) -> tuple[Any, list[Skipped]]:
        """Read a part of a message and list its repairs, or raise `Mismatch`."""
        ...

    def read_strictly(self, kind: Any, value: Any) -> Any:
        """Read a value without repairs, or raise `ValueError`."""
        ...

    def read_union(self, spec: UnionSpec, value: Any) -> Any:
        """Read a union without repairs, or raise `ValueError`."""
        ...

    def reader_of(self, kind: Any) -> TypeReader:
        """Return the compiled reader of a type, or raise `TypeError`."""
        ...


@cache
def engine() -> Engine:
    """Load the repair engine at the first call."""
    from . import engine as loaded

    return loaded


class SecondChoices(Protocol):
    """What the rest of the package uses of the module `wide`; see there."""

    NOTHING: Any

    def expecting(self, kind: Any, forget: Callable[[], object]) -> Any:
        """Return a class that is read in place of a Struct where second choices are expected."""
        ...

    def places_of(self, kind: Any) -> Any:
        """Return the paths of the places whose second choices were met."""
        ...

    def second_choice(self, kind: Any, data: Any, pattern: str) -> Any:
        """Read what the fast path rejected strictly in its wide form, or return `NOTHING`."""
        ...


@cache
def second_choices() -> SecondChoices:
    """Load the readers of second choices at the first call."""
    from . import wide as loaded

    return loaded


def dec_hook(kind: type, value: Any) -> Any:
    """Read `value` as a type that msgspec does not know; raise `ValueError` if it is invalid."""
    if kind is UInt64:
        return uint64(value)
    spec = spec_of(kind)
    if spec is not None:
        return engine().read_union(spec, value)
    if issubclass(kind, CatchAll):
        return engine().read_strictly(kind, value)
    if kind is Absent:
        raise ValueError(FORBIDDEN)
    raise TypeError(f"{kind!r} is not a type of this package")
