"""Packages of the npm registry."""

import base64
import binascii
import hashlib
import re
from typing import Any

from generator import npm
from generator.errors import GeneratorError
from generator.jsonutil import is_object
from generator.pin.archive import MANIFEST, open_archive, package_of, read_archive, repository_of
from generator.pin.checkout import is_upstream
from generator.pin.dates import day_of
from generator.pin.origin import Origin
from generator.source import Kind, Provenance

SPEC = re.compile(r"(?:npm:)?((?:@[a-z0-9][a-z0-9._~-]*/)?[a-z0-9][a-z0-9._~-]*)@(\d+\.\d+\.\d+(?:[-+][\w.+-]+)?)")
STRONGEST = ("sha512", "sha384", "sha256", "sha1")


def spec_of(source: str) -> tuple[str, str] | None:
    """Return the package and version that a source names, or None if it names none."""
    parts = SPEC.fullmatch(source)
    return (parts[1], parts[2]) if parts is not None else None


def open_package(source: str, commit: str | None) -> Origin:
    """Download one version of a package from the registry that npm is configured for."""
    spec = spec_of(source)
    if spec is None:
        raise GeneratorError(
            "does not name one version of a package", file=source, hint="npm:@agentclientprotocol/sdk@2.4.0"
        )
    package, version = spec
    shown = f"{package}@{version}"
    told = npm.metadata(package, version)
    dist = told.get("dist")
    integrity = _integrity(dist if is_object(dist) else {}, shown)
    with npm.tarball(package, version) as path:
        _check_digest(read_archive(path, shown), integrity, shown)
        try:
            opened = open_archive(path, commit)
        except GeneratorError as why:
            raise GeneratorError(why.problem, file=why.file.replace(str(path), shown), hint=why.hint) from None
    _check_manifest(opened, package, version, shown)
    known, doubt = _commit(told, commit, shown)
    verified = ("the tarball has the digest that the registry names",)
    return Origin(
        read=opened.read,
        shown=shown,
        provenance=Provenance(
            Kind.NPM, package, version, integrity, opened.provenance.archive_sha256, verified=verified
        ),
        commit=known,
        unverified=doubt,
        release=f"{package} {version}",
        date=_published(told, version),
        inside=opened.inside,
        is_package=True,
    )


def _check_manifest(opened: Origin, package: str, version: str, shown: str) -> None:
    """Refuse a tarball that is not of the package and version that it was downloaded as."""
    if package_of(opened.read(MANIFEST), f"{shown}/{MANIFEST}") != (package, version):
        raise GeneratorError("its tarball is not of this package and version", file=shown)


def _commit(told: dict[str, Any], commit: str | None, shown: str) -> tuple[str | None, str]:
    """Return the commit, and what speaks for it: of upstream's own packages the registry may know it."""
    head = told.get("gitHead")
    if not isinstance(head, str) or not is_upstream(repository_of(told)):
        return commit, "--commit named it, and the package does not"
    if commit is not None and not head.startswith(commit):
        raise GeneratorError(f"is of the commit {head}, not {commit}", file=shown, hint="leave --commit out")
    return head, "the registry names it, as whoever published the package stated it"


def _integrity(dist: dict[str, Any], shown: str) -> str:
    """Return the strongest digest that the registry publishes of a tarball, in the form ALGORITHM-BASE64."""
    told = dist.get("integrity")
    digests = told.split() if isinstance(told, str) else []
    sha1 = dist.get("shasum")
    if not digests and isinstance(sha1, str) and re.fullmatch(r"[0-9a-f]{40}", sha1):
        digests = [f"sha1-{base64.b64encode(bytes.fromhex(sha1)).decode()}"]
    for algorithm in STRONGEST:
        for found in digests:
            if found.startswith(f"{algorithm}-"):
                return found.partition("?")[0]
    raise GeneratorError("the registry names no digest of the tarball", file=shown)


def _check_digest(data: bytes, integrity: str, shown: str) -> None:
    algorithm, _, wanted = integrity.partition("-")
    try:
        expected = base64.b64decode(wanted, validate=True)
    except (binascii.Error, ValueError):
        expected = b""
    if hashlib.new(algorithm, data).digest() != expected:
        raise GeneratorError("the tarball does not have the digest that the registry names", file=shown)


def _published(told: dict[str, Any], version: str) -> str | None:
    times = told.get("time")
    return day_of(times.get(version)) if is_object(times) else None
