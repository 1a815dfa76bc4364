"""What a source is, by how it is written."""

import re
from pathlib import Path

from generator.errors import GeneratorError
from generator.pin.address import open_address
from generator.pin.archive import open_archive
from generator.pin.checkout import open_folder
from generator.pin.crate import PREFIX as CRATE
from generator.pin.crate import open_crate
from generator.pin.layout import read_files
from generator.pin.origin import Origin, Pinned
from generator.pin.package import open_package, spec_of
from generator.source import LOCK, ROOT, SCHEMA_DIR

NPM = "npm:"


def read_source(source: str, commit: str | None = None, root: Path = ROOT) -> Pinned:
    """Read and check the schemas of a source; nothing is written.

    `source` is a checkout, a folder, a tarball, an http(s) address, `npm:NAME@VERSION` or `crate:NAME@VERSION`.
    Raises `GeneratorError` if it cannot be read, or is this project's own `schema/`.
    """
    if commit is not None and not re.fullmatch(r"[0-9a-f]{7,40}", commit):
        raise GeneratorError(f"--commit {commit!r} is not a commit", hint="7 to 40 hexadecimal digits")
    origin = _open(source, commit)
    if Path(source).exists():
        _refuse_pinned(origin, source, root)
    return read_files(origin)


def _open(source: str, commit: str | None) -> Origin:
    path = Path(source)
    if source.startswith(CRATE):
        return open_crate(source, commit)
    if source.startswith(NPM):
        return open_package(source, commit)
    if "://" in source:
        return open_address(source, commit)
    if path.is_dir():
        return open_folder(source, commit)
    if path.is_file():
        return open_archive(path, commit)
    if spec_of(source) is not None:
        return open_package(source, commit)
    raise GeneratorError(
        "is not there",
        file=source,
        hint="name a checkout, a folder, a tarball, an address, npm:NAME@VERSION or crate:NAME@VERSION",
    )


def _refuse_pinned(origin: Origin, source: str, root: Path) -> None:
    """Refuse a checkout of this project: its schemas lack descriptions, and its commits are not upstream's."""
    own = Path(source).resolve().is_relative_to((root / SCHEMA_DIR).resolve())
    if own or origin.read(f"{SCHEMA_DIR}/{LOCK}") is not None or origin.read(LOCK) is not None:
        raise GeneratorError(
            "has schemas that `pin` wrote, not those of upstream", file=source, hint="name a checkout of upstream"
        )
