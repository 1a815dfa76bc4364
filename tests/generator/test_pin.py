"""Pinning: what is taken over, what is left out, and that a failure leaves everything as it was."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.diff.inputs import load
from generator.errors import GeneratorError
from generator.jsonutil import digest
from generator.pin import pin
from generator.pipeline import generate_pinned
from generator.source import LABELS, load_lock, load_pinned, without_prose
from tests.generator.command import generator
from tests.generator.upstream import COMMIT, DRAFT, FILES, ONLY, as_json, checkout_of, published, run_git
from tests.support import ROOT, tree


def test_prose_is_left_out_and_nothing_else() -> None:
    raw: dict[str, Any] = {
        "description": "gone",
        "$defs": {
            "description": {"description": "gone", "type": "string", "const": "description"},
            "A": {
                "properties": {"description": {"type": "string", "description": "gone", "default": {"description": 1}}},
                "anyOf": [{"description": "gone", "enum": ["description"], "x-note": {"description": "gone"}}],
                "required": ["description"],
            },
        },
    }
    assert without_prose(raw) == {
        "$defs": {
            "description": {"type": "string", "const": "description"},
            "A": {
                "properties": {"description": {"type": "string", "default": {"description": 1}}},
                "anyOf": [{"enum": ["description"], "x-note": {}}],
                "required": ["description"],
            },
        }
    }


def test_the_stored_files_have_no_prose_and_are_in_the_lock() -> None:
    lock = load_lock()
    assert {schema for schema, _ in LABELS.values()} <= {e.path for e in lock.files} <= set(FILES)
    for entry in lock.files:
        data = (ROOT / "schema" / entry.path).read_bytes()
        assert digest(data) == entry.sha256
        raw = json.loads(data)
        assert without_prose(raw) == raw


@pytest.mark.slow
def test_a_folder(upstream: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    lock, changes = pin(str(upstream), COMMIT, "schema-v9.9.9", root)
    assert (lock.commit, lock.release) == (COMMIT, "schema-v9.9.9")
    assert sorted(changes.added) == sorted(["schema/lock.json", *(f"schema/{name}" for name in FILES)])
    sources, read = load_pinned(root)
    assert read == lock
    ours = {s.label: s.raw for s in load_pinned()[0]}
    assert {s.label: s.raw for s in sources} == ours
    for entry in lock.files:
        assert entry.upstream_sha256 == digest((upstream / entry.path).read_bytes())
    # Once more it is a no-op, and the commit is known from the lock.
    again, changes = pin(str(upstream), None, None, root)
    assert again == lock
    assert not changes


def test_a_folder_with_the_files_in_schema(upstream: Path, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    upstream.rename(checkout / "schema")
    lock, _ = pin(str(checkout), COMMIT, None, tmp_path / "project")
    assert lock.release == "unreleased"


@pytest.mark.slow
def test_a_checkout_at_any_commit(upstream: Path, tmp_path: Path) -> None:
    checkout, first = checkout_of(upstream, tmp_path)
    run_git(checkout, "tag", "schema-v1.2.3")
    (checkout / "schema" / "v1" / "schema.json").write_text('{"$defs": {"Only": {"type": "string"}}}', encoding="utf-8")
    run_git(checkout, "commit", "--quiet", "--all", "--message=two")
    # The work tree plays no part, be it dirty or not.
    (checkout / "schema" / "v2" / "schema.json").unlink()
    root = tmp_path / "project"
    lock, _ = pin(str(checkout), first[:9], None, root)
    assert lock.date == run_git(checkout, "show", "--no-patch", "--format=%cs", first)
    assert (lock.commit, lock.release) == (first, "schema-v1.2.3")
    assert load_pinned(root)[0][0].raw == load_pinned()[0][0].raw
    lock, _ = pin(str(checkout), None, None, root)
    assert (lock.commit, lock.release) == (run_git(checkout, "rev-parse", "HEAD"), "unreleased")
    assert list(load_pinned(root)[0][0].raw["$defs"]) == ["Only"]
    with pytest.raises(GeneratorError, match="has no commit fedcba9"):
        pin(str(checkout), "fedcba9", None, root)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("missing", "has no v2/meta.json, which is pinned now"),
        ("broken", "v2/meta.json: is not JSON"),
        ("array", "v2/meta.json: is not a JSON object"),
        ("commit", "the commit of these files is not known"),
        ("folder", "is not a tarball"),
        ("address", "is not an http or https URL"),
        ("nothing", "has no schema"),
        ("nowhere", "is not there"),
    ],
)
@pytest.mark.slow
def test_failures_change_nothing(damage: str, message: str, upstream: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    pin(str(upstream), COMMIT, None, root)
    before = tree(root)
    source = str(upstream)
    commit: str | None = COMMIT
    file = upstream / "v2" / "meta.json"
    (upstream / "v1" / "schema.json").write_text('{"$defs": {"Only": {"type": "string"}}}', encoding="utf-8")
    match damage:
        case "missing":
            file.unlink()
        case "broken":
            file.write_text('{"version": 2,', encoding="utf-8")
        case "array":
            file.write_text("[]", encoding="utf-8")
        case "commit":
            commit = None
        case "folder":
            source = str(file)
        case "address":
            source = "ftp://example.com/schema"
        case "nowhere":
            source = str(tmp_path / "nowhere")
        case _:
            source = str(tmp_path / "empty")
            (tmp_path / "empty").mkdir()
    with pytest.raises(GeneratorError, match=re.escape(message)):
        pin(source, commit, None, root)
    assert tree(root) == before


@pytest.mark.slow
def test_doing_without(upstream: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    pin(str(upstream), COMMIT, None, root)
    for name in ("schema.json", "schema.unstable.json", "meta.json", "meta.unstable.json"):
        (upstream / "v2" / name).unlink()
    (upstream / "v1" / "meta.json").unlink()
    with pytest.raises(GeneratorError, match=r"has no v1/meta\.json"):
        pin(str(upstream), None, None, root)
    lock, changes = pin(str(upstream), COMMIT, None, root, drop_missing=True)
    assert len(changes.stale) == 5
    assert not (root / "schema" / "v2").exists()
    assert [s.label for s in load_pinned(root)[0]] == ["v1", "v1_unstable"]
    assert load_pinned(root)[0][0].meta is None
    assert len(lock.files) == 3
    with pytest.raises(GeneratorError, match="has no schema"):
        pin(str(ROOT / "templates"), COMMIT, None, tmp_path / "other")


@pytest.mark.slow
def test_the_layout_before_there_were_two_versions(upstream: Path, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (upstream / "v1").rename(checkout / "schema")
    lock, _ = pin(str(checkout), COMMIT, None, tmp_path / "project")
    assert next((e.path, e.upstream_path) for e in lock.files) == ("v1/meta.json", "schema/meta.json")
    shutil.copy(ROOT / "schema" / "overrides.toml", tmp_path / "project" / "schema")
    made = generate_pinned(lambda _: None, tmp_path / "project")
    assert [s.label for s in made.summaries] == ["v1", "v1_unstable"]


@pytest.mark.parametrize(
    "old", [("v1", "v2"), *(pytest.param(each, marks=pytest.mark.endurance) for each in (("v1",), ("v2",)))]
)
@pytest.mark.slow
def test_the_layouts_between(upstream: Path, tmp_path: Path, old: tuple[str, ...]) -> None:
    """For a while v2 lay beside v1 under names of its own, and the packages had v1 as of old and v2 in its folder."""
    folder = tmp_path / "checkout" / "schema"
    folder.mkdir(parents=True)
    for version in ("v1", "v2"):
        if version not in old:
            (upstream / version).rename(folder / version)
            continue
        for path in (upstream / version).iterdir():
            stem, rest = path.name.split(".", 1)
            path.rename(folder / (path.name if version == "v1" else f"{stem}.{version}.{rest}"))
    lock, _ = pin(str(folder.parent), COMMIT, None, tmp_path / "project")
    assert len(lock.files) == 8
    assert [s.label for s in load_pinned(tmp_path / "project")[0]] == ["v1", "v1_unstable", "v2", "v2_unstable"]
    loaded = load(str(folder.parent), tmp_path)
    assert list(loaded.modules) == ["v1", "v1_unstable", "v2", "v2_unstable"]
    assert loaded.has_meta == {"v1", "v1_unstable", "v2", "v2_unstable"}


@pytest.mark.slow
def test_what_cannot_be_verified_says_so(upstream: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    lock, _ = pin(str(upstream), COMMIT, None, root)
    assert lock.unverified == "--commit named it, and the folder is not of a repository that has it"
    assert load_lock(root) == lock
    assert pin(str(upstream), None, None, root)[0].unverified == lock.unverified
    checkout, commit = checkout_of(upstream, tmp_path)
    assert pin(str(checkout), None, None, root)[0].unverified == ""
    assert "unverified" not in (root / "schema" / "lock.json").read_text(encoding="utf-8")
    # A folder of a repository that has the commit, with the same files, and with others.
    other = tmp_path / "other"
    assert pin(str(checkout / "schema"), commit, None, other)[0].unverified == ""
    file = checkout / "schema" / "v1" / "schema.json"
    file.write_text('{"$defs": {"Only": {"type": "string"}}}', encoding="utf-8")
    found = pin(str(checkout / "schema"), commit, None, tmp_path / "third")[0]
    assert found.unverified == "--commit named it, but v1/schema.json differs there"


@pytest.mark.slow
def test_a_verified_lock_is_not_overwritten_by_a_guess(upstream: Path, tmp_path: Path) -> None:
    root, copy = tmp_path / "project", tmp_path / "copy"
    shutil.copytree(upstream, copy)
    checkout, commit = checkout_of(upstream, tmp_path)
    verified, _ = pin(str(checkout), None, None, root)
    for named in (commit, commit[:12]):
        lock, changes = pin(str(copy), named, None, root)
        assert lock == verified
        assert not changes
    before = tree(root)
    with pytest.raises(GeneratorError, match=rf"has the files of {commit}, which is pinned from a checkout"):
        pin(str(copy), COMMIT, None, root)
    (copy / "v1" / "schema.json").write_text('{"$defs": {"Only": {"type": "string"}}}', encoding="utf-8")
    with pytest.raises(GeneratorError, match=r"is not that of [0-9a-f]{40}, which is pinned .*v1/schema\.json differs"):
        pin(str(copy), commit, None, root)
    assert tree(root) == before


@pytest.mark.parametrize(
    ("remote", "doubt"),
    [
        ("https://github.com/agentclientprotocol/agent-client-protocol", ""),
        ("https://somebody:secret@github.com/agentclientprotocol/agent-client-protocol.git", ""),
        ("git@github.com:agentclientprotocol/agent-client-protocol.git", ""),
        ("ssh://git@github.com:22/zed-industries/agent-client-protocol", ""),
        ("https://github.com/somebody/agent-client-protocol", "no remote of the checkout is upstream's repository"),
        ("/home/somebody/agentclientprotocol/agent-client-protocol", "no remote of the checkout is upstream's"),
        (None, "no remote of the checkout is upstream's repository"),
    ],
)
def test_only_a_checkout_of_upstream_verifies(remote: str | None, doubt: str, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    (folder / "v1").mkdir(parents=True)
    (folder / "v1" / "schema.json").write_bytes(as_json(ONLY))
    checkout, commit = checkout_of(folder, tmp_path, remote)
    root = tmp_path / "project"
    lock, _ = pin(str(checkout), None, None, root)
    assert lock.unverified.startswith(doubt)
    assert bool(lock.unverified) == bool(doubt)
    text = (root / "schema" / "lock.json").read_text(encoding="utf-8")
    assert "secret" not in text
    assert "/home" not in text
    assert lock.source is not None
    assert lock.source.dated_by == "commit"
    assert bool(lock.source.verified) == (not doubt)
    # A commit that no branch and no tag of upstream has is somebody's own.
    (checkout / "schema" / "v1" / "schema.json").write_bytes(as_json(DRAFT))
    run_git(checkout, "commit", "--quiet", "--all", "--message=two")
    if not doubt:
        assert pin(str(checkout), None, None, root)[0].unverified.startswith("no branch or tag that the checkout has")
        published(checkout)
        assert pin(str(checkout), None, None, root)[0].unverified == ""
        assert pin(str(checkout), commit, None, root)[0].unverified == ""


@pytest.mark.parametrize(
    "day", ["2026-13-01", "2026-02-30", "20261201", "yesterday", "2026-1-2", "2026-12-01T00:00", ""]
)
def test_a_malformed_day_is_refused(day: str, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "schema.json").write_bytes(as_json(ONLY))
    with pytest.raises(GeneratorError, match=re.escape(f"--date {day!r} is not a day")):
        pin(str(folder), COMMIT, None, tmp_path / "project", date=day)
    assert not (tmp_path / "project").exists()


def test_the_day_of_a_lock(tmp_path: Path) -> None:
    """A day that is not known is named by hand; that of a commit is not."""
    folder, root = tmp_path / "small", tmp_path / "project"
    (folder / "v1").mkdir(parents=True)
    (folder / "v1" / "schema.json").write_bytes(as_json(ONLY))
    assert pin(str(folder), COMMIT, None, root)[0].date == ""
    lock, _ = pin(str(folder), None, None, root, date="2026-08-22")
    assert (lock.date, lock.source and lock.source.dated_by) == ("2026-08-22", "hand")
    assert pin(str(folder), None, None, root)[0] == lock
    assert pin(str(folder), None, None, root, date="2026-08-23")[0].date == "2026-08-23"
    checkout, _ = checkout_of(folder, tmp_path)
    known = pin(str(checkout), None, None, root)[0].date
    assert known == run_git(checkout, "show", "--no-patch", "--format=%cs")
    for source in (str(checkout), str(checkout / "schema")):
        with pytest.raises(GeneratorError, match=f"is of {known}, not of 2020-01-01"):
            pin(source, None, None, root, date="2020-01-01")


def test_a_lock_of_before_is_still_read(tmp_path: Path) -> None:
    """It has neither a source nor places in one; the same files fill in what it does not know."""
    folder, root = tmp_path / "small", tmp_path / "project"
    (folder / "v1").mkdir(parents=True)
    (folder / "v1" / "schema.json").write_bytes(as_json(ONLY))
    pin(str(folder), COMMIT, None, root)
    path = root / "schema" / "lock.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    for key in ("source", "unverified"):
        del raw[key]
    path.write_text(json.dumps(raw), encoding="utf-8")
    lock = load_lock(root)
    assert (lock.source, lock.unverified) == (None, "")
    dated, _ = pin(str(folder), None, None, root, date="2026-08-22")
    assert dated == replace(lock, date="2026-08-22")


@pytest.mark.parametrize(
    "source",
    [
        [],
        {},
        {"kind": "elsewhere"},
        {"kind": "npm", "name": 1},
        {"kind": "npm", "verified": "yes"},
        {"kind": "npm", "notes": [1]},
        {"kind": "npm", "more": "x"},
    ],
)
def test_a_source_that_is_none(source: object, tmp_path: Path) -> None:
    (tmp_path / "schema").mkdir()
    raw = json.loads((ROOT / "schema" / "lock.json").read_text(encoding="utf-8"))
    (tmp_path / "schema" / "lock.json").write_text(json.dumps({**raw, "source": source}), encoding="utf-8")
    with pytest.raises(GeneratorError, match="is not a lock file"):
        load_lock(tmp_path)


def test_a_single_file_of_an_old_package(upstream: Path, tmp_path: Path) -> None:
    package = tmp_path / "package" / "schema"
    package.mkdir(parents=True)
    (upstream / "v1" / "schema.json").rename(package / "schema.json")
    lock, _ = pin(str(package.parent), COMMIT, None, tmp_path / "project")
    assert [e.path for e in lock.files] == ["v1/schema.json"]
    assert lock.unverified.startswith("--commit named it")


def test_the_project_itself_is_not_upstream(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "schema", tmp_path / "clone" / "schema")
    for source in (ROOT, ROOT / "schema", ROOT / "schema" / "v1", tmp_path / "clone", tmp_path / "clone" / "schema"):
        with pytest.raises(GeneratorError, match="has schemas that `pin` wrote, not those of upstream"):
            pin(str(source), None if source == ROOT else COMMIT, None, ROOT, drop_missing=True)


def test_an_address_of_another_commit(tmp_path: Path) -> None:
    with pytest.raises(GeneratorError, match=f"names the commit {'a' * 40}, not {COMMIT}"):
        pin(f"http://127.0.0.1:9/{'a' * 40}/schema", COMMIT, None, tmp_path)


def test_command_line_refuses_a_bad_commit(upstream: Path) -> None:
    run = generator("pin", upstream, "--commit", "HEAD~1")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "error: --commit 'HEAD~1' is not a commit (hint: 7 to 40 hexadecimal digits)\n"
