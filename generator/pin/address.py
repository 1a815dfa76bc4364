"""Files at an http(s) address."""

import re

from generator.errors import GeneratorError
from generator.fetch import fetch
from generator.pin.archive import MANIFEST, package_of
from generator.pin.origin import Origin
from generator.source import Kind, Provenance

COMMIT = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")


def open_address(source: str, commit: str | None) -> Origin:
    """Open the address of a folder with schema files."""
    if not source.startswith(("http://", "https://")):
        raise GeneratorError("is not an http or https URL", file=source)
    if re.search(r"^https?://[^/]*@|[?#]", source):
        raise GeneratorError("an address must have no user, query or fragment: the lock would keep it")
    base = source.rstrip("/")
    in_url = COMMIT.search(base)
    found = in_url.group() if in_url else None
    if commit is not None and found is not None and not found.startswith(commit):
        raise GeneratorError(f"names the commit {found}, not {commit}", file=source, hint="leave --commit out")
    doubt = "the address names it" if found else "--commit named it, and the address does not contain it"
    return Origin(
        read=lambda path: fetch(f"{base}/{path}"),
        shown=base,
        provenance=Provenance(Kind.ADDRESS, base),
        commit=found or commit,
        unverified=doubt,
        is_package=found is None and _is_package(base),
    )


def _is_package(base: str) -> bool:
    """Return whether there is a package's manifest; servers that answer everything with a page have none."""
    shown = f"{base}/{MANIFEST}"
    data = fetch(shown)
    try:
        return package_of(data, shown) != ("", "")
    except GeneratorError:
        return False
