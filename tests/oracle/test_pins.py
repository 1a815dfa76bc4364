"""Three upstream commits, each with its own overrides: today's generator makes a sound package of every one of them.

Where verdicts of the reference are recorded for a commit, the package agrees with all of them.
"""

import importlib
import shutil
from pathlib import Path

import pytest

from generator.manifest import update
from generator.pin import pin
from generator.pipeline import generate_pinned
from tests.generator.bumping import FIRST
from tests.oracle.compare import accepted, compare_modules
from tests.oracle.recorded import folder_of
from tests.oracle.told import as_text
from tests.oracle.verdicts import LABELS, commits, differences_of_paths, verdicts
from tests.support import CASES, imported

PINS = sorted(p.name for p in (CASES / "pins").iterdir())
EACH_PIN = [pin if pin == FIRST else pytest.param(pin, marks=pytest.mark.endurance) for pin in PINS]
"""The package of the newest pin is that of the project, whose verdicts `test_vectors` reads."""

pytestmark = pytest.mark.slow


def generate_pin(commit: str, out: Path) -> None:
    """Generate the package of a stored commit, as `pin` and `generate` would in a project of its own."""
    case, root = CASES / "pins" / commit, out / "project"
    pin(str(case), commit, None, root=root)
    shutil.copy(case / "overrides.toml", root / "schema" / "overrides.toml")
    made = generate_pinned(lambda _: None, root, out)
    assert [s.label for s in made.summaries] == list(LABELS)
    update(out, made.output, check=False)


@pytest.mark.parametrize("commit", EACH_PIN)
def test_pin(commit: str, tmp_path: Path) -> None:
    generate_pin(commit, tmp_path)
    with imported(tmp_path, "v1", f"pinned_{commit}") as (package, _):
        assert commit == package.UPSTREAM_COMMIT
        modules = {label: importlib.import_module(f"{package.__name__}.{label}") for label in LABELS}
        overrides = CASES / "pins" / commit / "overrides.toml"
        outcome = compare_modules(package, modules, folder_of(commit), CASES / "pins" / commit, overrides)
        assert not outcome.open, as_text(outcome, overrides)
        shown = {(finding.rule.name.lower(), finding.subject) for finding in outcome.findings}
        assert shown == {(entry["rule"], entry["subject"]) for entry in accepted(commit)}, "stale: accepted.toml"
        assert not outcome.skipped
        for label in LABELS if commit in commits() else ():
            differ = differences_of_paths(package, modules[label], verdicts(commit, label))
            assert not differ, "\n".join(differ[:10])


@pytest.mark.endurance
def test_verdicts_are_of_stored_commits() -> None:
    assert set(commits()) <= set(PINS)
    for commit in commits():
        found = [verdicts(commit, label) for label in LABELS]
        assert all(len(each) > 1000 for each in found)
        # Both verdicts on most types: what is taken alone, or refused alone, shows little.
        types = {v["type"] for each in found for v in each}
        both = {v["type"] for each in found for v in each if v["ok"]} & {
            v["type"] for each in found for v in each if not v["ok"]
        }
        assert len(both) > 0.8 * len(types)
