"""Permission options and plans: labels by kind, and the status of each step."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

LABELS: dict[str, str] = {
    "allow_once": "Allow",
    "allow_always": "Always allow",
    "reject_once": "Reject",
    "reject_always": "Always reject",
}
"""What an option of each kind is called unless told otherwise."""


def option_labels(kinds: Iterable[str], names: Mapping[str, str] | None) -> list[str]:
    """Return the label of an option for each kind, which is one of `names` first.

    Raises `ValueError` for a kind that is given twice, for one without a label, and for a name without its kind.
    """
    wanted = [str(kind) for kind in kinds]
    given = {str(kind): name for kind, name in (names or {}).items()}
    for kind in wanted:
        if wanted.count(kind) > 1:
            raise ValueError(f"The kind {kind!r} is given twice: options of one kind need ids of their own")
        if kind not in LABELS and kind not in given:
            raise ValueError(f"There is no name for an option of the kind {kind!r}: give it in `names`")
    for kind in given:
        if kind not in wanted:
            raise ValueError(f"`names` has {kind!r}, and there is no option of this kind")
    return [given.get(kind, LABELS.get(kind, "")) for kind in wanted]


def steps_of(steps: Iterable[T]) -> list[T]:
    """Return steps as a list. Raises `TypeError` for one text, whose steps would be its characters."""
    if isinstance(steps, str):
        raise TypeError("The steps are one text: give a list of texts, such as its lines")
    return list(steps)


def progress(steps: Sequence[object], current: int | None) -> list[str]:
    """Return the status of each step, given the index of the one in progress.

    Those before it are completed, those after it pending. None: all are pending; the number of steps: all completed.
    Raises `ValueError` for any other number.
    """
    if current is None:
        return ["pending"] * len(steps)
    if not 0 <= current <= len(steps):
        raise ValueError(f"current={current}: there are {len(steps)} steps; use an index, or {len(steps)} when done")
    return [*["completed"] * current, "in_progress", *["pending"] * (len(steps) - current - 1)][: len(steps)]
