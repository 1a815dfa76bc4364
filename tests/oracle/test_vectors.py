"""The reference implementation's recorded verdicts: what it accepts, and what it writes again."""

import importlib

import acp_msgspec as acp
import msgspec
import pytest
from acp_msgspec import v2

from tests.oracle.verdicts import LABELS, differences_of_paths, disagreements, verdicts


@pytest.mark.parametrize("label", LABELS)
def test_vectors(label: str) -> None:
    module = importlib.import_module(f"acp_msgspec.{label}")
    recorded = verdicts(acp.UPSTREAM_COMMIT, label)
    gone = {v["type"] for v in recorded if not hasattr(module, v["type"])}
    assert not gone, f"{', '.join(sorted(gone))}: no longer upstream; take their lines out, or record all anew"
    wrong = disagreements(acp, module, recorded)
    assert not wrong, f"{len(wrong)} of {len(recorded)} disagree, the first ones:\n" + "\n".join(wrong[:10])


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
