"""The wanted copy: its labels, its parts, and every file of it."""

from collections.abc import Sequence
from typing import NamedTuple

from .. import package
from .errors import VendorError
from .exports import reduced
from .origin import Contents, Origin, contents_of, with_header
from .parts import DEFAULT_PARTS, PARTS, complete_parts, select
from .record import RECORD, Record, digest, update_command, write_record


class Copy(NamedTuple):
    """A copy as it should be; the record is the last of its files."""

    origin: Origin
    labels: list[str]
    parts: list[str]
    files: dict[str, bytes]

    def __str__(self) -> str:
        return f"{package.NAME} {self.origin.version} ({', '.join(self.labels)}; {', '.join(self.parts)})"


def make_copy(origin: Origin, only: Sequence[str] | None, parts: Sequence[str] | None) -> Copy:
    """Build a copy in memory, by default of all labels and `DEFAULT_PARTS`.

    Raises `VendorError` for labels and parts that the origin does not have.
    """
    contents = contents_of(origin)
    labels = _labels(contents, only)
    wanted = _parts(contents, DEFAULT_PARTS if parts is None else parts)
    left_out = {*contents.labels} - {*labels}  # folders of no label serve them all
    files = {path: data for path, data in sorted(contents.files.items()) if path.partition("/")[0] not in left_out}
    inits = ["__init__.py", *(f"{label}/__init__.py" for label in labels)]
    selected = select(files, wanted, inits)
    copied = {path: data for path, data in files.items() if path in selected}
    for path in selected.intersection(inits) if len(selected) < len(files) else ():
        text = reduced(path, files[path], files, selected)
        if text is not None:
            copied[path] = with_header(origin, path, text)
    complete = complete_parts(files, selected, contents.parts)
    record = Record(
        version=origin.version,
        upstream_commit=origin.upstream_commit,
        labels=labels,
        parts=complete,
        schema_versions={label: package.RELEASES[label] for label in labels if label in package.RELEASES},
        update=update_command(".", labels, complete),
        files={path: digest(data) for path, data in copied.items()},
    )
    return Copy(origin, labels, complete, {**copied, RECORD: write_record(record)})


def _labels(contents: Contents, only: Sequence[str] | None) -> list[str]:
    chosen = sorted(set(contents.labels if only is None else only))
    if not chosen:
        raise VendorError(f"no label is given; there are {', '.join(contents.labels)}")
    for label in chosen:
        if label not in contents.labels:
            raise VendorError(f"unknown label {label!r}; there are {', '.join(contents.labels)}")
    return chosen


def _parts(contents: Contents, parts: Sequence[str]) -> list[str]:
    if not parts:
        raise VendorError(f"no part is given; there are {', '.join(contents.parts)}")
    for part in parts:
        if part != "all" and part not in contents.parts:
            problem = f"part {part!r} is not in this copy" if part in PARTS else f"unknown part {part!r}"
            raise VendorError(f"{problem}; there are {', '.join(contents.parts)}")
    return contents.parts if "all" in parts else [part for part in PARTS if part in parts]
