"""What a source of schema files is, and what was read from one."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from generator.source import LockEntry, Provenance


@dataclass(frozen=True, slots=True)
class Origin:
    """A source of schema files: `read` returns one or None, `shown` names the source in errors."""

    read: Callable[[str], bytes | None]
    shown: str
    provenance: Provenance
    commit: str | None = None
    unverified: str = ""
    """Why the files may be those of another commit; empty if they are certainly those of `commit`."""
    release: str | None = None
    date: str | None = None
    inside: str = ""
    """The folder of an archive that the files lie in, with a slash; empty for anything else."""
    is_package: bool = False
    """Whether this is a package for users, which may carry one schema under the name of another."""
    is_composed: bool = False
    """Whether the files were composed from a crate: their structure is upstream's, their texts need not be."""


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """One schema or meta file: its entry in the lock, the bytes of the source, and those to be stored."""

    entry: LockEntry
    original: bytes
    stored: bytes


@dataclass(frozen=True, slots=True)
class Pinned:
    """The schemas of one source, in memory; nothing is written.

    `files` are by their names in `schema/`, such as `v1/schema.json`.
    """

    files: dict[str, PinnedFile]
    origin: Origin
    moved: dict[str, str] = field(default_factory=dict[str, str])
    """Files that are not there under their names, each with the reason."""

    @property
    def provenance(self) -> Provenance:
        """Return where the files came from."""
        return self.origin.provenance

    def vouched(self, sentence: str) -> "Pinned":
        """Return the same with one more sentence on what was verified."""
        provenance = replace(self.provenance, verified=(*self.provenance.verified, sentence))
        return replace(self, origin=replace(self.origin, provenance=provenance))
