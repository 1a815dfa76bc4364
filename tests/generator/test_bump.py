"""A bump in a copy of the project: what it edits by itself, what it asks for, and that nothing is lost in silence."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from generator.bump import Options, plan, render, write_plan
from generator.bump.plan import Group, Plan
from generator.bump.tables import Entry, entries
from generator.errors import GeneratorError
from generator.jsonutil import is_object
from generator.overrides import FILE
from generator.pipeline import generate_pinned
from tests.generator.bumping import FIRST, PINS, SECOND, THIRD, bump, commit_of, make_project
from tests.generator.command import generator
from tests.support import made_once, tree

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the project at the first pin once."""
    return made_once(tmp_path_factory, "first_pin", lambda folder: make_project(folder / "project")) / "project"


@pytest.fixture(scope="module")
def found(first: Path) -> Plan:
    """Plan the bump to the second pin once."""
    return plan(str(PINS / SECOND), Options(commit=commit_of(SECOND)), first)


@pytest.fixture
def project(first: Path, tmp_path: Path) -> Path:
    """Copy the project at the first pin."""
    return Path(shutil.copytree(first, tmp_path / "project"))


ONLY_THE_REFERENCE = {
    "v1.null_as_empty",
    "v1.tag_decides.AuthMethod",
    "v1_unstable.patch.McpError.data",
    "v2.forbids.ElicitationRequestScope.sessionId",
    "v2.forbids.ElicitationSessionScope.requestId",
    "v2.null_as_empty",
    "v2.patch.UsageUpdate.cost",
    "v2.not_patch.UsageUpdate._meta",
    "v2.verbatim.ErrorData",
    "v2_unstable.patch.McpError.data",
}
"""What the schema shows no sign of: only the verdicts of the reference do."""


def _subject(entry: Entry, value: object) -> str:
    """Return what must be asked for: a definition of which an entry says something, a method, or a capability."""
    if is_object(value):
        return str(value["path"])
    return value if isinstance(value, str) else entry[1 if len(entry) > 1 else 0]


def _answer(root: Path, answers: Path, plan: Plan) -> dict[str, str]:
    """Write what the stored overrides of the new pin say; return what that added, with what must be asked for."""
    have = tomllib.loads((root / FILE).read_text(encoding="utf-8"))
    want = tomllib.loads(answers.read_text(encoding="utf-8"))
    added = {
        f"{label}.{'.'.join(entry)}": _subject(entry, value)
        for label, table in want.items()
        for entry, value in entries(table).items()
        if entry not in entries(have.get(label, {}))
    }
    text = answers.read_text(encoding="utf-8")
    for label in want:
        renamed: dict[str, str] = {} if "renamed" in want[label] else have.get(label, {}).get("renamed", {})
        lines = "".join(f'{old} = "{new}"\n' for old, new in renamed.items())
        text += f"\n[{label}.renamed]\n{lines}" if lines else ""
        gone = [re.findall(r'"([^"]+)" in `gone`', d.hint) for d in plan.decisions if d.label == label]
        names = [name for found in gone for name in found]
        text = text.replace(f"[{label}]\n", f"[{label}]\ngone = {names}\n") if names else text
    (root / FILE).write_text(text, encoding="utf-8")
    return added


def _needs(overrides: dict[str, Any]) -> set[tuple[str, str, str]]:
    """List the entries for capabilities."""
    tables = ((label, table.get("capabilities", {})) for label, table in overrides.items())
    return {(label, key, str(value)) for label, table in tables for key, value in table.items()}


def test_rehearsal(project: Path, found: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    write_plan(found, project)

    missing = sum(t.count for t in found.texts)
    with capsys.disabled():
        print(
            f"\nbump {FIRST} -> {SECOND}: {len(found.edits)} edits, {len(found.decisions)} decisions, {missing} texts"
        )
    overrides = [e for e in found.edits if (e.old or e.new[0]).file == FILE]
    assert len(overrides) > 30, "the overrides of what left, became stable or has a new name"
    assert len(found.edits) - len(overrides) > 400, "and the docstrings"
    assert len(found.decisions) == 19, "as the documentation says; the aim is under 20"

    answers = tomllib.loads((PINS / SECOND / "overrides.toml").read_text(encoding="utf-8"))
    needs = _needs(tomllib.loads((project / FILE).read_text(encoding="utf-8")))
    assert needs <= _needs(answers), "the needs that moved and those that names settled are what a person said"
    assert len(needs - _needs(tomllib.loads((PINS / FIRST / "overrides.toml").read_text(encoding="utf-8")))) > 10

    added = _answer(project, PINS / SECOND / "overrides.toml", found)
    asked = "\n".join(f"{d.what} {d.hint} {d.place}" for d in found.decisions)
    unasked = {place for place, subject in added.items() if subject not in asked}
    assert unasked == ONLY_THE_REFERENCE, "what the reference does, and nobody was asked"
    (sender,) = [d for d in found.decisions if d.group is Group.SENDERS]
    assert "in v1_unstable, v2_unstable" in sender.what, "one line of the changelog tells of both"
    assert (len(sender.also), sender.also[0].partition("#")[0]) == (1, "schema/v2/schema.unstable.json")
    made = generate_pinned(lambda _: None, project, project / "generated")
    assert sum(len(s.undocumented) for s in made.summaries) >= missing > 300, "the texts are left to be written"
    listed = {f"{name}.{place}" for t in found.texts for name, places in t.missing.items() for place in places}
    undocumented = {place for s in made.summaries for place in s.undocumented}
    assert listed <= undocumented
    # A fact of the reference can give a definition other classes, which need texts of their own.
    given = tuple({added[place] for place in ONLY_THE_REFERENCE})
    assert all(place.startswith(given) for place in undocumented - listed)


@pytest.mark.endurance
def test_the_bump_after_it(tmp_path: Path) -> None:
    make_project(tmp_path / "project", first=SECOND)
    found = plan(str(PINS / THIRD), Options(commit=commit_of(THIRD)), tmp_path / "project")
    assert len(found.decisions) == 5, "as the changelog says"
    # What needs a draft's capability moves with it when it becomes stable.
    moved = {e.new[0].keys for e in found.edits if e.old is not None and e.new}
    assert ("v1", "capabilities", "session/update#update=subagent_update") in moved


def test_applied_once_is_applied(project: Path, found: Plan) -> None:
    write_plan(found, project)
    before = tree(project)
    again = plan(str(PINS / SECOND), Options(commit=commit_of(SECOND)), project)
    write_plan(again, project)
    assert not again.edits
    assert not again.files
    assert again.decisions, "what was not decided is asked again"
    assert tree(project) == before


def test_the_same_commit_is_nothing_to_do(project: Path) -> None:
    before = tree(project)
    same = plan(str(PINS / FIRST), Options(commit=commit_of(FIRST)), project)
    assert same.is_empty
    assert render(same, applied=False).startswith(f"nothing to do: {FIRST}")
    assert tree(project) == before


def test_the_text(found: Plan) -> None:
    text = render(found, applied=False)
    for line in ("with --apply, which needs no judgement:", "docstrings to write (", "left to do:", "  [ ] make test"):
        assert line in text
    assert "(it became stable)" in text
    assert "[v1_unstable.patch] CompactionUpdate" in text


def test_changes_that_are_not_committed_are_kept(project: Path, found: Plan) -> None:
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=all"]):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *command], cwd=project, check=True)
    (project / FILE).write_text((project / FILE).read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    before = tree(project / "schema")
    with pytest.raises(GeneratorError, match=r"^schema/: has changes that are not committed \(hint: commit or"):
        write_plan(found, project)
    assert tree(project / "schema") == before
    # Without --apply the last commit is the other side, so the report stays whole while decisions are written.
    again = plan(str(PINS / SECOND), Options(commit=commit_of(SECOND)), project)
    assert again.base == "the last commit"
    assert len(again.comparison.changes) == len(found.comparison.changes)


def test_a_failure_writes_nothing(project: Path, found: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(project)
    real = Path.replace
    last = max(found.files)

    def fail_at_the_end(self: Path, target: Path) -> Path:
        if str(target).endswith(last):
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", fail_at_the_end)
    with pytest.raises(GeneratorError, match="cannot be written: no space left on device"):
        write_plan(found, project)
    assert tree(project) == before


def test_a_source_that_cannot_be_pinned(project: Path, tmp_path: Path) -> None:
    before = tree(project)
    for source, message in (
        (tmp_path / "nowhere", "is not there"),
        (project / "schema", "has schemas that `pin` wrote"),
    ):
        with pytest.raises(GeneratorError, match=message):
            bump(project, source)
    assert tree(project) == before


def test_the_command_line(first: Path) -> None:
    run = generator("bump", first / "nowhere")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith(f"error: {first / 'nowhere'}: is not there")
    assert generator("bump", PINS / FIRST, "--commit", "HEAD~1").stderr.startswith("error: --commit 'HEAD~1' is not a")
