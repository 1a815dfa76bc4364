"""`VENDORED.json`: the record that each copy contains."""

import hashlib
import shlex
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct, field

from .. import package
from .errors import VendorError
from .parts import DEFAULT_PARTS, PARTS

RECORD = "VENDORED.json"

# An update deletes what the record lists, so no path may lead out of the folder.
_Path = Annotated[str, Meta(pattern=r"^(\w+/){0,3}\w+(\.\w+)?\Z")]
_Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Names = Annotated[list[str], Meta(min_length=1)]


def _all_parts() -> list[str]:
    return list(PARTS)


class Record(Struct, kw_only=True):
    """The contents of `VENDORED.json`."""

    package: Literal["acp-msgspec"] = "acp-msgspec"
    version: str
    upstream_commit: str
    labels: _Names
    parts: _Names = field(default_factory=_all_parts)
    """Records from before there were parts have none: those copies are complete."""
    schema_versions: dict[str, str]
    update: str
    """The command that makes the copy again. It is for the copy's folder, so that the folder can be moved."""
    files: dict[_Path, _Digest]


def read_record(data: bytes, shown: str = RECORD) -> Record:
    """Read a record; `shown` names it in the error."""
    try:
        return msgspec.json.decode(data, type=Record)
    except (msgspec.MsgspecError, ValueError, RecursionError) as why:
        raise VendorError(f"{shown}: is not a valid record: {why} (hint: restore it)") from None


def write_record(record: Record) -> bytes:
    """Write a record as people read it."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def update_command(dest: str, labels: list[str], parts: list[str]) -> str:
    """Return the command that makes such a copy."""
    # In the folder itself, our modules must not hide those of the standard library.
    python = ["python", "-P"] if dest == "." else ["python"]
    # Compared with the original: a copy with some labels or parts writes the same command as the original.
    only = [] if labels == sorted(package.SCHEMA_VERSIONS) else ["--only", *labels]
    chosen = ["all"] if parts == list(PARTS) else parts
    options = [*only, *([] if parts == list(DEFAULT_PARTS) else ["--parts", *chosen])]
    return shlex.join([*python, "-m", package.NAME, "vendor", dest, *options])


def digest(data: bytes) -> str:
    """Return the digest that a record has for a file."""
    return hashlib.sha256(data).hexdigest()
