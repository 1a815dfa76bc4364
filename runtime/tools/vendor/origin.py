"""The package that copies are made from, and the files that it provides."""

from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from .. import package
from .errors import VendorError
from .parts import PARTS
from .record import RECORD, Record, digest, read_record

LICENCE = "Apache-2.0"
_UNTOUCHED = """\
# flake8: noqa
# fmt: off
"""
"""Linters (ruff, too) and formatters skip the file; formatted by a project's own rules, it would count as edited."""
_NOTICE = f"SPDX-License-Identifier: {LICENCE}\n\nThe full text: https://www.apache.org/licenses/LICENSE-2.0\n"


class Origin(Struct, frozen=True):
    """The package that copies are made from: this one, which may itself be a copy."""

    folder: Path = package.FOLDER
    version: str = package.VERSION
    upstream_commit: str = package.UPSTREAM_COMMIT

    @property
    def header(self) -> str:
        """The first lines of every file of a copy."""
        return f"""\
# SPDX-License-Identifier: {LICENCE}
# Vendored from {package.NAME} {self.version}, upstream commit {self.upstream_commit or "unknown"}; see LICENSE.
# Do not edit this copy: {RECORD}, in the folder of the package, has the command that updates it.
"""


class Contents(NamedTuple):
    """What an origin provides; `files` have the contents that they have in a copy."""

    labels: list[str]
    parts: list[str]
    files: dict[str, bytes]


def contents_of(origin: Origin) -> Contents:
    """Read the files of an origin; raise `VendorError` for a copy that was edited."""
    record = origin.folder / RECORD
    if record.is_file():
        own = read_record(record.read_bytes(), str(record))
        return Contents(own.labels, own.parts, _recorded_files(origin.folder, own))
    labels = [p.parent.name for p in sorted(origin.folder.glob("*/types.py")) if not p.parent.name.startswith("_")]
    return Contents(labels, list(PARTS), _original_files(origin))


def with_header(origin: Origin, path: str, data: bytes) -> bytes:
    """Return a file as it is in a copy."""
    return _headers(origin)[Path(path).suffix] + data


def _headers(origin: Origin) -> dict[str, bytes]:
    comment = f"/*\n{origin.header}*/\n"
    headers = {".py": origin.header + _UNTOUCHED, ".css": comment, ".js": comment}
    return {suffix: header.encode() for suffix, header in headers.items()}


def _original_files(origin: Origin) -> dict[str, bytes]:
    headers = _headers(origin)
    places = sorted(p for p in origin.folder.rglob("*") if p.suffix in headers and p.is_file())
    files = {p.relative_to(origin.folder).as_posix(): headers[p.suffix] + p.read_bytes() for p in places}
    return {**files, "LICENSE": _licence(origin.folder), "py.typed": (origin.folder / "py.typed").read_bytes()}


def _recorded_files(folder: Path, own: Record) -> dict[str, bytes]:
    """Read the files of a copy; edited ones must not pass for original in the next copy."""
    files = {path: (folder / path).read_bytes() for path in own.files if (folder / path).is_file()}
    bad = [path for path, recorded in own.files.items() if path not in files or digest(files[path]) != recorded]
    if bad:
        problem = f"{folder}: is itself a vendored copy that was edited (hint: use an installed {package.NAME} instead)"
        raise VendorError(problem, [f"{'edited' if path in files else 'missing'}: {path}" for path in bad])
    return files


def _licence(folder: Path) -> bytes:
    """Find the licence in the package, in the metadata of its distribution, or in its checkout."""
    places = [folder / "LICENSE"]
    with suppress(metadata.PackageNotFoundError):
        installed = metadata.distribution(package.NAME)
        # The installed distribution of that name may be of another version than this package.
        if Path(str(installed.locate_file(package.NAME))).resolve() == folder:
            places += [Path(str(f.locate())) for f in installed.files or () if f.name == "LICENSE"]
    places += [folder.parent.parent / "LICENSE"] if folder.parent.name == "generated" else []
    return next((place.read_bytes() for place in places if place.is_file()), _NOTICE.encode())
