"""The program that asks the reference: its manifest, its commands, and, where it can be built, its answers.

Building needs cargo and the network, so that part runs only where `ACP_ORACLE` is set.
"""

import json
import os
import subprocess
import sys
import tomllib
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import record
from tests.oracle.recorded import files_of, folder_of, raw_schema, read, write
from tests.oracle.reference import CRATE, FEATURES, HERE, OracleError, Question, Reference, Verdict, pinned_crate
from tests.oracle.schema_files import LABELS, REPO
from tests.oracle.spelling import is_object

LOCK: dict[str, Any] = json.loads((REPO / "schema" / "lock.json").read_text(encoding="utf-8"))
MANIFESTS = (HERE / "Cargo.toml", REPO / "benchmarks" / "peers" / "rust" / "Cargo.toml")

needs_cargo = pytest.mark.skipif(
    not os.environ.get("ACP_ORACLE"),
    reason="builds the reference from its crate, with cargo and the network: set ACP_ORACLE=1",
)


def command(*arguments: str, given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.oracle.reference", *arguments],
        input=given,
        capture_output=True,
        encoding="utf-8",
        cwd=REPO,
        env={**os.environ, **env},
        check=False,
    )


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.parent.name)
def test_each_version_is_pinned(manifest: Path) -> None:
    needs: dict[str, Any] = tomllib.loads(manifest.read_text(encoding="utf-8"))["dependencies"]
    versions: list[str] = [need["version"] if is_object(need) else need for need in needs.values()]
    assert versions
    assert all(version.startswith("=") for version in versions), versions


def test_no_lock_file_of_cargo_is_kept() -> None:
    listed = subprocess.run(["git", "ls-files", "*Cargo.lock"], cwd=REPO, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout")
    assert not listed.stdout


def test_the_pinned_crate_is_that_of_the_verdicts() -> None:
    index = json.loads((folder_of(LOCK["commit"]) / record.INDEX).read_text(encoding="utf-8"))
    assert pinned_crate() == index["crate"]


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted(path.parent for path in folder_of("").glob("*/index.json")), ids=str)
def test_the_index_tells_of_the_verdicts(folder: Path) -> None:
    index = json.loads((folder / record.INDEX).read_text(encoding="utf-8"))
    assert list(index["labels"]) == list(files_of(folder)) == list(LABELS)
    for label, told in index["labels"].items():
        assert told["verdicts"] == sum(1 for _ in read(files_of(folder)[label]))


def test_the_crate_is_the_one_that_the_lock_names() -> None:
    assert record.crate_of({"source": {"kind": "crate", "version": "9.8.7"}}) == "9.8.7"
    assert record.crate_of({"source": {"kind": "checkout"}}) == record.crate_of({}) == pinned_crate()


def test_the_same_verdicts_give_the_same_bytes(tmp_path: Path) -> None:
    verdicts = [Verdict("Text", '"ä"', True, '"ä"'), Verdict("Text", "1", False, None)]
    paths = [tmp_path / "a" / "v1.jsonl.gz", tmp_path / "b" / "v1.jsonl.gz"]
    for path in paths:
        write(path, verdicts)
        assert list(read(path)) == verdicts
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert b"v1" not in paths[0].read_bytes()[:20]


def test_definitions_that_the_crate_has_otherwise_are_not_asked_about() -> None:
    text = {"type": "string", "description": "in other words"}
    pinned: dict[str, Any] = {
        "Same": {"type": "string"},
        "Other": {"type": "string"},
        "Holder": {"type": "object", "properties": {"description": {"$ref": "#/$defs/Other"}}},
        "Gone": {"type": "string"},
        "Unread": {"type": "string"},
        "Message": {"x-docs-ignore": True},
    }
    own = {**pinned, "Same": text, "Other": {"type": "integer"}}
    del own["Gone"]
    found = record.why_not_asked(
        {"$defs": pinned}, {"$defs": own}, {**dict.fromkeys(own, "readable"), "Unread": "absent"}
    )
    assert found == {
        "Other": "the crate's schema describes Other otherwise",
        "Holder": "the crate's schema describes Other otherwise",
        "Gone": "the crate's schema does not have it",
        "Unread": "the crate has no type of this name that can be read and written: absent",
    }


@pytest.mark.parametrize(("surface", "crate"), [("v3", "1.0.0"), ("v1", "latest"), ("v1", "1.0.0; rm")])
def test_what_is_no_surface_or_version_is_refused(surface: str, crate: str) -> None:
    with pytest.raises(OracleError):
        Reference(surface, crate)


def test_without_cargo_the_command_says_so(tmp_path: Path) -> None:
    done = command("schema", "v1", "--crate=0.0.1", PATH=str(tmp_path), HOME=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == "error: there is no `cargo`; the reference is built by it (see docs/bumping.md)\n"
    assert not done.stdout


def test_a_line_that_asks_nothing_is_named() -> None:
    done = command("verdicts", "v1", given='{"type": "RequestId", "json": "1"}\n{}\n')
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: line 2 is not an object with `type` and `json`\n"


@needs_cargo
@pytest.mark.slow
@pytest.mark.parametrize("label", FEATURES)
def test_the_answers_are_the_recorded_ones(label: str) -> None:
    reference = Reference(label, pinned_crate())
    lacking = record.why_not_asked(raw_schema(label, REPO / "schema"), reference.schema(), reference.types())
    index = json.loads((folder_of(LOCK["commit"]) / record.INDEX).read_text(encoding="utf-8"))
    assert lacking == index["labels"][label].get("lacking", {})
    stored = read(files_of(folder_of(LOCK["commit"]))[label])
    recorded = [verdict for verdict in islice(stored, 0, None, 7) if verdict.type not in lacking]
    assert list(reference.verdicts(Question(v.type, v.json) for v in recorded)) == recorded


@needs_cargo
@pytest.mark.slow
@pytest.mark.parametrize("label", FEATURES)
def test_the_methods_are_the_pinned_ones(label: str) -> None:
    version, _, channel = label.partition("_")
    path = REPO / "schema" / version / (f"meta.{channel}.json" if channel else "meta.json")
    assert Reference(label, pinned_crate()).meta() == json.loads(path.read_text(encoding="utf-8"))


@needs_cargo
@pytest.mark.slow
def test_a_version_that_does_not_exist_is_an_error_of_cargo() -> None:
    with pytest.raises(OracleError, match=f"(?s)cargo cannot build.*{CRATE}"):
        Reference("v1", "0.0.999").schema()
