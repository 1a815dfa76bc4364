"""The command `vendor`: make a copy, update it, or check it."""

from collections.abc import Sequence
from pathlib import Path

from .compare import Difference, compare, without_consequences
from .copy import Copy, make_copy
from .errors import VendorError
from .origin import Origin
from .parts import describe_size
from .record import update_command
from .target import find_copy
from .write import write

ORIGIN = Origin()


def vendor(
    dest: str,
    only: Sequence[str] | None = None,
    parts: Sequence[str] | None = None,
    *,
    force: bool = False,
    check: bool = False,
) -> list[str]:
    """Make `dest` a copy of this package with the labels `only` and the `parts`, or `check` that it is one.

    By default the labels and parts are those of the copy that is there; for a new one, all labels, types and messages.

    Returns lines to show. Raises `VendorError` if it must not or cannot write, and if a check finds a difference; the
    folder is then as it was before.
    """
    try:
        return _vendor(dest, only, parts, force=force, check=check)
    except OSError as why:
        place = f" ({why.filename})" if why.filename else ""
        raise VendorError(f"{dest}: {(why.strerror or str(why)).lower()}{place}") from None


def _vendor(
    dest: str, only: Sequence[str] | None, parts: Sequence[str] | None, *, force: bool, check: bool
) -> list[str]:
    target = Path(dest).absolute()
    found = find_copy(target, dest, ORIGIN.folder)
    if found is not None:
        only = found.labels if only is None else only
        parts = found.parts if parts is None else parts
    elif check:
        raise VendorError(f"{dest}: no such folder")
    wanted = make_copy(ORIGIN, only, parts)
    differences = compare(target, wanted, found)
    return _checked(dest, wanted, differences) if check else _updated(dest, wanted, differences, force=force)


def _checked(dest: str, wanted: Copy, differences: list[Difference]) -> list[str]:
    details = [str(d) for d in without_consequences(differences)]
    if _changes(differences):
        command = update_command(dest, wanted.labels, wanted.parts)
        hint = f"{command} --force" if _losses(differences) else command
        raise VendorError(f"{dest}: differs from {wanted} (hint: {hint})", details)
    return [*details, f"{dest}: up to date with {wanted}", f"size: {describe_size(wanted.files)}"]


def _updated(dest: str, wanted: Copy, differences: list[Difference], *, force: bool) -> list[str]:
    changes, losses = _changes(differences), _losses(differences)
    if losses and not force:
        raise VendorError(f"{dest}: files would be lost; nothing was changed (hint: --force overwrites them)", losses)
    if changes:
        write(Path(dest).absolute(), wanted.files, changes)
    written = sum(path in wanted.files for path in changes)
    return [
        f"{dest}: {'now' if changes else 'up to date with'} {wanted}",
        f"files written: {written}, removed: {len(changes) - written}",
        f"size: {describe_size(wanted.files)}",
        *(str(d) for d in differences if d.status == "extra"),
        f"update with: {update_command(dest, wanted.labels, wanted.parts)}",
    ]


def _changes(differences: list[Difference]) -> list[str]:
    return [d.what for d in differences if d.status not in ("extra", "version")]


def _losses(differences: list[Difference]) -> list[str]:
    return [str(d) for d in differences if d.status in ("edited", "in the way")]
