"""Reading a tarball: in memory, within bounds, and only what is a plain file at a plain path."""

import gzip
import io
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from generator.errors import GeneratorError
from generator.jsonutil import digest, is_object, parse_object
from generator.pin.origin import Origin
from generator.source import Kind, Provenance, read_bytes

PACKED_LIMIT = 64 * 2**20  # bytes; upstream's largest package has one
UNPACKED_LIMIT = 256 * 2**20  # bytes of all members together; upstream's largest package has nine
MEMBER_LIMIT = 20_000
MANIFEST = "package.json"


def open_archive(path: Path, commit: str | None) -> Origin:
    """Open a tarball that lies in a file."""
    data, shown = read_archive(path, str(path)), str(path)
    inside, files = members(data, shown)
    name, version = package_of(files.get(MANIFEST), f"{shown}/{inside}{MANIFEST}")
    return Origin(
        read=files.get,
        shown=shown,
        provenance=Provenance(Kind.ARCHIVE, name or path.name, version, archive_sha256=digest(data)),
        commit=commit,
        unverified="--commit named it, and an archive does not say which it has",
        inside=inside,
        is_package=MANIFEST in files,
    )


def read_archive(path: Path, shown: str) -> bytes:
    """Read a file unless it is larger than any archive of schemas."""
    if path.stat().st_size > PACKED_LIMIT:
        raise GeneratorError(f"is larger than {PACKED_LIMIT} bytes", file=shown, hint="is this a package?")
    return read_bytes(path, shown)


def package_of(manifest: bytes | None, shown: str) -> tuple[str, str]:
    """Return the name and version that a package's own manifest states; empty without one."""
    raw = parse_object(manifest, shown) if manifest is not None else {}
    name, version = raw.get("name"), raw.get("version")
    return (name, version) if isinstance(name, str) and isinstance(version, str) else ("", "")


def repository_of(manifest: dict[str, object]) -> str:
    """Return the address of the repository in a package's manifest; empty without one."""
    found = manifest.get("repository")
    url = found.get("url") if is_object(found) else found
    return url if isinstance(url, str) else ""


def members(data: bytes, shown: str) -> tuple[str, dict[str, bytes]]:
    """Return the JSON files of a tarball by their paths below its one folder, and that folder with a slash.

    Nothing is unpacked to disk. A member that leads out of the folder, a link in the place of a file, a path that
    appears twice and sizes out of bounds are errors.
    """
    unpacked = _unpacked(data, shown)
    files: dict[str, bytes] = {}
    tops: set[str] = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(unpacked), mode="r:") as archive:
            for count, member in enumerate(archive):
                if count >= MEMBER_LIMIT:
                    raise GeneratorError(f"has more than {MEMBER_LIMIT} members", file=shown, hint="is this a package?")
                path = _plain(member.name, shown)
                top, *inside = path.parts
                tops.add(top if inside or member.isdir() else "")
                inner = "/".join(inside)
                if path.suffix != ".json" or member.isdir():
                    continue
                if not member.isreg() or member.issparse():
                    raise GeneratorError(f"has {member.name}, which is not a plain file", file=shown)
                if inner in files and len(tops) == 1:
                    raise GeneratorError(f"has {member.name} twice", file=shown)
                files[inner] = _content(archive, member, shown)
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as why:  # of damaged headers
        raise GeneratorError(
            f"is not a tarball: {why}", file=shown, hint="a single schema file is for `generate --schema`"
        ) from None
    if len(tops) != 1 or "" in tops:
        raise GeneratorError(
            "has not one folder that holds all", file=shown, hint="a package has package/, a release NAME-VERSION/"
        )
    return f"{tops.pop()}/", files


def _unpacked(data: bytes, shown: str) -> bytes:
    """Return the tar below the compression, in memory; what is larger than the limit stays packed."""
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(UNPACKED_LIMIT + 1)
    except (OSError, EOFError, zlib.error) as why:
        raise GeneratorError(f"cannot be unpacked: {str(why).lower()}", file=shown, hint="was it cut short?") from None
    if len(unpacked) > UNPACKED_LIMIT:
        raise GeneratorError(f"unpacks to more than {UNPACKED_LIMIT} bytes", file=shown, hint="is this a package?")
    return unpacked


def _plain(name: str, shown: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or ".." in path.parts or "\\" in name or "\0" in name:
        raise GeneratorError(f"has the member {name!r}, which leads out of its folder", file=shown)
    return path


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, shown: str) -> bytes:
    file = archive.extractfile(member)
    content = file.read() if file is not None else b""
    if len(content) != member.size:
        raise GeneratorError(f"is cut short in {member.name}", file=shown)
    return content
