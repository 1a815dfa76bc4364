"""Pinning from tarballs: the layouts of packages, and archives that are damaged or hostile."""

import gzip
import io
import re
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from generator.errors import GeneratorError
from generator.jsonutil import digest
from generator.pin import archive, pin, read_source
from generator.source import Kind, load_lock, load_pinned
from tests.generator.upstream import COMMIT, DRAFT, ONLY, PACKAGE, as_json, manifest, packed, tarball
from tests.support import tree

STABLE = {"package.json": manifest(), "schema/v1/schema.json": as_json(ONLY)}


def _file(folder: Path, data: bytes, name: str = "sdk-1.2.3.tgz") -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


def _link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.slow
def test_a_tarball(upstream: Path, tmp_path: Path) -> None:
    data = packed(upstream)
    source = _file(tmp_path, data)
    root = tmp_path / "project"
    with pytest.raises(GeneratorError, match="the commit of these files is not known"):
        pin(source, None, None, root)
    lock, changes = pin(source, COMMIT, None, root, date="2026-10-20")
    assert len(changes.added) == 5
    assert lock == load_lock(root)
    assert (lock.commit, lock.date) == (COMMIT, "2026-10-20")
    assert lock.unverified == "--commit named it, and an archive does not say which it has"
    assert lock.source is not None
    assert (lock.source.kind, lock.source.name, lock.source.version) == (Kind.ARCHIVE, PACKAGE, "1.2.3")
    assert (lock.source.archive_sha256, lock.source.dated_by) == (digest(data), "hand")
    first = lock.files[0]
    assert (first.path, first.upstream_path) == ("v1/schema.json", "schema/v1/schema.json")
    assert first.source_path == "package/schema/v1/schema.json"
    assert {s.label: s.raw for s in load_pinned(root)[0]} == {s.label: s.raw for s in load_pinned()[0]}
    # The same files leave the lock as it is; nothing of this machine stands in it.
    again, changes = pin(_file(tmp_path, data, "again.tgz"), None, None, root)
    assert (again, bool(changes)) == (lock, False)
    assert str(tmp_path) not in (root / "schema" / "lock.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("top", ["package/", "agent-client-protocol-0123456/", "./package/"])
def test_any_one_folder_and_no_compression(top: str, tmp_path: Path) -> None:
    found = read_source(_file(tmp_path, gzip.decompress(tarball(STABLE, top=top)), "x.tar"))
    assert list(found.files) == ["v1/schema.json"]
    assert found.provenance.name == PACKAGE


def test_an_archive_that_is_no_package_has_the_name_of_its_file(tmp_path: Path) -> None:
    found = read_source(_file(tmp_path, tarball({"schema/v1/schema.json": as_json(ONLY)})))
    assert (found.provenance.name, found.provenance.version) == ("sdk-1.2.3.tgz", "")


def test_the_one_schema_with_drafts_is_the_unstable_one(tmp_path: Path) -> None:
    files = {"package.json": manifest(), "schema/schema.json": as_json(DRAFT)}
    root = tmp_path / "project"
    lock, _ = pin(_file(tmp_path, tarball(files)), COMMIT, None, root)
    entry = lock.files[0]
    assert (entry.path, entry.upstream_path) == ("v1/schema.unstable.json", "schema/schema.unstable.json")
    assert entry.source_path == "package/schema/schema.json"
    assert lock.source is not None
    assert lock.source.notes == ("its one schema, schema/schema.json, has drafts, so it is v1/schema.unstable.json",)
    assert load_lock(root) == lock
    # Where a stable schema is pinned, it is missing, and the reason is told.
    other = tmp_path / "other"
    pin(_file(tmp_path, tarball(STABLE)), COMMIT, None, other)
    before = tree(other)
    with pytest.raises(GeneratorError, match=r"has no v1/schema\.json, which is pinned now: its one schema, .* drafts"):
        pin(_file(tmp_path, tarball(files)), COMMIT, None, other)
    assert tree(other) == before


def test_an_unpacked_package_is_read_in_the_same_way(tmp_path: Path) -> None:
    folder = tmp_path / "package"
    (folder / "schema").mkdir(parents=True)
    (folder / "schema" / "schema.json").write_bytes(as_json(DRAFT))
    assert list(read_source(str(folder)).files) == ["v1/schema.json"]
    (folder / "package.json").write_bytes(manifest())
    found = read_source(str(folder))
    assert list(found.files) == ["v1/schema.unstable.json"]
    assert (found.provenance.kind, found.provenance.name) == (Kind.FOLDER, PACKAGE)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_drafts_beside_the_unstable_schema_are_refused(version: str, tmp_path: Path) -> None:
    names = (f"schema/{version}/schema.json", f"schema/{version}/schema.unstable.json")
    source = _file(tmp_path, tarball({"package.json": manifest(), **dict.fromkeys(names, as_json(DRAFT))}))
    with pytest.raises(GeneratorError, match=rf"{version}/schema\.json: marks drafts as unstable, so it is not the st"):
        read_source(source)


LARGE = as_json({"$defs": {"Only": {"description": "x" * 3_000_000, "type": "string"}}})
HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "is not a tarball"),
    "a page": (b"<html>Sign in</html>", "is not a tarball"),
    "a schema": (as_json(ONLY), "is not a tarball"),
    "cut short": (tarball(STABLE)[:-20], "cannot be unpacked"),
    "damaged": (tarball(STABLE)[:60] + b"\xff" * 40 + tarball(STABLE)[100:], "cannot be unpacked"),
    "cut below the compression": (gzip.compress(gzip.decompress(tarball(STABLE))[:700]), "is not a tarball"),
    "no schema": (tarball({"package.json": manifest()}), "has no schema"),
    "a page in it": (tarball({"schema/v1/schema.json": b"<!doctype html>"}), "is not JSON: it is a page"),
    "out of it": (tarball({"../schema/v1/schema.json": b"{}"}), "which leads out of its folder"),
    "absolute": (tarball({"etc/schema.json": b"{}"}, top="/"), "which leads out of its folder"),
    "backslashes": (tarball({"..\\..\\schema.json": b"{}"}), "which leads out of its folder"),
    "no folder": (tarball({"schema.json": as_json(ONLY)}, top=""), "has not one folder that holds all"),
    "two folders": (
        tarball({"a/schema.json": as_json(ONLY), "b/schema.json": as_json(ONLY)}, top=""),
        "has not one folder that holds all",
    ),
    "a link": (tarball({}, more=[_link("package/schema/v1/schema.json", "/etc/passwd")]), "is not a plain file"),
    "a hard link": (
        tarball(STABLE, more=[_link("package/schema/v2/schema.json", "package/package.json", tarfile.LNKTYPE)]),
        "is not a plain file",
    ),
    "a device": (tarball({}, more=[_link("package/schema.json", "", tarfile.CHRTYPE)]), "is not a plain file"),
    "twice": (
        tarball(STABLE, more=[tarfile.TarInfo("package/schema/v1/schema.json")]),
        "has package/schema/v1/schema.json twice",
    ),
    "too many": (tarball({f"{i}.txt": b"" for i in range(60)}), "has more than 50 members"),
    "a bomb": (tarball({**STABLE, "bomb.txt": bytes(30_000_000)}), "unpacks to more than 2000000 bytes"),
    "a bomb in a header": (
        tarball({f"{'x' * 2_500_000}/schema.json": b"{}"}),
        "unpacks to more than 2000000 bytes",
    ),
    "a large schema": (tarball({"schema/v1/schema.json": LARGE}), "unpacks to more than 2000000 bytes"),
    "a broken manifest": (tarball({**STABLE, "package.json": b"{"}), "package/package.json: is not JSON"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_archives_are_refused_in_one_line(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, message = HOSTILE[case]
    monkeypatch.setattr(archive, "UNPACKED_LIMIT", 2_000_000)
    monkeypatch.setattr(archive, "MEMBER_LIMIT", 50)
    source = _file(tmp_path, data)
    tracemalloc.start()
    try:
        with pytest.raises(GeneratorError, match=re.escape(message)) as caught:
            read_source(source)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert peak < 20_000_000
    assert sorted(p.name for p in tmp_path.iterdir()) == ["sdk-1.2.3.tgz"]


def test_a_member_with_a_size_beyond_the_end(tmp_path: Path) -> None:
    member = tarfile.TarInfo("package/schema/v1/schema.json")
    member.size = 2**40
    out = io.BytesIO(member.tobuf(tarfile.USTAR_FORMAT if member.size < 8**11 else tarfile.GNU_FORMAT) + b"{}")
    with pytest.raises(GeneratorError, match=r"is not a tarball|is cut short"):
        read_source(_file(tmp_path, out.getvalue()))


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "PACKED_LIMIT", 100)
    with pytest.raises(GeneratorError, match="is larger than 100 bytes"):
        read_source(_file(tmp_path, tarball(STABLE)))
