"""The folder of a copy: whether it can be one, and what an earlier copy recorded there."""

import keyword
from pathlib import Path

from .errors import VendorError
from .record import RECORD, Record, read_record


def find_copy(target: Path, shown: str, origin: Path) -> Record | None:
    """Read the record of an earlier copy; None if there is nothing yet.

    Raises `VendorError` for any other folder, and for one that cannot be a package; `shown` is its name as given.
    """
    name = target.name
    if not name.isidentifier() or keyword.iskeyword(name):
        raise VendorError(f"{shown}: {name!r} is not a valid package name")
    if not target.parent.is_dir():
        raise VendorError(f"{Path(shown).parent}: no such folder")
    if target.is_symlink():
        raise VendorError(f"{shown}: is a symbolic link; give the folder that it points to")
    if origin in target.parent.resolve().joinpath(name).parents:
        raise VendorError(f"{shown}: is inside the package that would be copied")
    if not target.exists():
        return None
    if (target / RECORD).is_symlink() or not (target / RECORD).is_file():
        raise VendorError(f"{shown}: exists and is not a vendored copy (it has no file {RECORD})")
    return read_record((target / RECORD).read_bytes(), f"{shown}/{RECORD}")
