"""The crate of the reference implementation: its schemas are composed, as upstream composes what it publishes."""

import re

from generator import cargo
from generator.errors import GeneratorError
from generator.jsonutil import is_object, parse_object
from generator.pin.checkout import is_upstream
from generator.pin.dates import day_of
from generator.pin.origin import Origin
from generator.source import LABELS, Kind, Provenance

PREFIX = "crate:"
SPEC = re.compile(r"crate:([a-zA-Z][\w-]*)@(\d+\.\d+\.\d+(?:[-+][\w.+-]+)?)")
CRATE = "agent-client-protocol-schema"
SHA = re.compile(r"[0-9a-f]{40}")


def open_crate(source: str, commit: str | None) -> Origin:
    """Compose the schemas of one version of the crate."""
    parts = SPEC.fullmatch(source)
    if parts is None:
        raise GeneratorError("does not name one version of a crate", file=source, hint=f"crate:{CRATE}@1.20.0")
    name, version = parts.groups()
    if name != CRATE:
        raise GeneratorError(f"is not the crate of the schemas, {CRATE}", file=source)
    found = cargo.crate(name, version)
    known, doubt = _commit(found, commit, f"{name} {version}")
    if found.archive_sha256 and found.archive_sha256 != found.sha256:
        raise GeneratorError("the archive does not have the digest that the index names", file=f"{name} {version}")
    files = {
        path: cargo.composed(mode, label, version)
        for label, (schema, meta) in LABELS.items()
        for path, mode in ((schema, "schema"), (meta, "meta"))
    }
    return Origin(
        read=files.get,
        shown=f"{name}@{version}",
        provenance=Provenance(
            Kind.CRATE,
            name,
            version,
            archive_sha256=found.sha256,
            verified=("cargo held the archive against the digest of the index",) if found.sha256 else (),
        ),
        commit=known,
        unverified=doubt,
        release=f"{name} {version}",
        date=day_of(found.published),
        is_composed=True,
    )


def _commit(found: cargo.Crate, commit: str | None, shown: str) -> tuple[str | None, str]:
    """Return the commit, and what speaks for it: `cargo publish` writes it into the crate."""
    raw = parse_object(found.vcs, f"{shown}/.cargo_vcs_info.json") if found.vcs is not None else {}
    state = raw.get("git")
    sha = state.get("sha1") if is_object(state) else None
    if not isinstance(sha, str) or not SHA.fullmatch(sha) or not is_upstream(found.repository):
        return commit, "--commit named it, and the crate does not; the files are composed from the crate"
    if commit is not None and not sha.startswith(commit):
        raise GeneratorError(f"is of the commit {sha}, not {commit}", file=shown, hint="leave --commit out")
    changed = ", with changes that were not committed" if is_object(state) and state.get("dirty") else ""
    return sha, f"the crate names it{changed}; the files are composed from the crate"
