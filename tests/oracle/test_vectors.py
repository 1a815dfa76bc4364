"""The reference implementation's recorded verdicts: what it accepts, and what it writes again."""

import importlib

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v2

from tests.oracle.compare import compare_modules
from tests.oracle.recorded import files_of, folder_of
from tests.oracle.schema_files import REPO
from tests.oracle.told import as_text
from tests.oracle.verdicts import LABELS, differences_of_paths, verdicts


@pytest.mark.slow
def test_vectors() -> None:
    vectors, overrides = folder_of(acp.UPSTREAM_COMMIT), REPO / "schema" / "overrides.toml"
    modules = {label: importlib.import_module(f"acp_msgspec.{label}") for label in LABELS}
    assert list(files_of(vectors)) == list(LABELS), "`make vectors` records the verdicts for a new commit"
    outcome = compare_modules(acp, modules, vectors, REPO / "schema", overrides)
    assert not outcome.open, as_text(outcome, overrides)
    assert not outcome.skipped, "types that are not in the package: record all anew with `make vectors`"


@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
def test_the_walk_finds_the_same_with_and_without_the_help_of_msgspec(label: str) -> None:
    # Of plain values, which may be anything, the walk reads every field itself; of JSON text only what does not fit.
    module = importlib.import_module(f"acp_msgspec.{label}")
    wrong = differences_of_paths(acp, module, verdicts(acp.UPSTREAM_COMMIT, label))
    assert not wrong, "\n".join(wrong[:20])


def test_a_constant_that_is_missing_is_missed_in_the_second_look_too() -> None:
    update = b'{"sessionId":"s","update":{"sessionUpdate":"state_update"}}'
    for read in (acp.decode, acp.decode_strict):
        with pytest.raises(msgspec.ValidationError, match=r"missing required field `state` - at `\$\.update`"):
            read(update, type=v2.UpdateSessionNotification)
