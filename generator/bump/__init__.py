"""A bump: take the schemas of a source in, and say at once what that changes and what it asks for.

`staging` reads both sides, `labels` lowers them, `entries` and `texts` plan the edits of the overrides and docstrings,
`decide` lists what a person must decide, `edit` and `write` carry the plan out, `render` prints it.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from generator import api
from generator.bump.decide import decisions_of
from generator.bump.edit import edited
from generator.bump.emission import emit
from generator.bump.entries import Family, plan_entries
from generator.bump.labels import Label, read_label
from generator.bump.plan import Plan
from generator.bump.render import render
from generator.bump.staging import Options, State, load_state, require_clean
from generator.bump.texts import missing_texts, plan_texts
from generator.bump.write import write_all
from generator.diff.compare.comparison import Comparison, compare
from generator.diff.inputs import input_of
from generator.errors import GeneratorError
from generator.overrides import FILE as OVERRIDES
from generator.overrides import STABLE_OF, overrides_of
from generator.source import ROOT, read_if_there
from generator.tolerant import Tolerated, lower_what_can_be_read
from generator.write import Changes

__all__ = ["Options", "Plan", "plan", "render", "write_plan"]


def plan(source: str, options: Options, root: Path = ROOT) -> Plan:
    """Compare a source with what is pinned, and plan the bump; nothing is written.

    Raises `GeneratorError` for a source that cannot be pinned, and for TOML files that cannot be read.
    """
    state = load_state(source, options, root)
    raw = _parsed(OVERRIDES, state)
    names = dict.fromkeys((*state.old, *state.new))
    labels = {n: read_label(n, state.old.get(n), state.new.get(n), raw, api.from_text(state.api, n)) for n in names}
    families = _families(labels)
    edits = [edit for family in families for edit in plan_entries(family, raw)]
    overrides = edited(state.toml, edits).get(OVERRIDES, state.toml[OVERRIDES])
    after = tomllib.loads(overrides)
    final = {n: found for n, x in labels.items() if x.new is not None and (found := _lowered(x.new, after)) is not None}
    texts = {file: text for file, text in state.toml.items() if file != OVERRIDES}
    emitted = {n: emit(found, texts) for n, found in final.items()}
    docs = {Path(file).stem: _parsed(file, state) for file in texts}
    moves = [edit for family in families for edit in plan_texts(family, emitted, docs)]
    return Plan(
        shown=source,
        base=state.base,
        present=state.present,
        lock=state.staged.lock,
        files=_changed(state, {**edited(texts, moves), OVERRIDES: overrides}),
        removed=state.staged.removed,
        edits=(*edits, *moves),
        decisions=tuple(decisions_of(families, final, emitted, after)),
        texts=tuple(missing_texts(families, emitted, moves)),
        comparison=_compared(state, labels, final, source),
    )


def write_plan(found: Plan, root: Path = ROOT) -> Changes:
    """Write what a plan changes; raise `GeneratorError` if `schema/` has changes that are not committed."""
    require_clean(root)
    return write_all(root, found.files, found.removed)


def _parsed(file: str, state: State) -> dict[str, Any]:
    try:
        return tomllib.loads(state.toml[file])
    except tomllib.TOMLDecodeError as why:
        raise GeneratorError(f"is not TOML: {why}", file=file) from None


def _families(labels: Mapping[str, Label]) -> list[Family]:
    """Pair each stable label with its unstable one."""
    unstable_of = {stable: unstable for unstable, stable in STABLE_OF.items()}
    paired = {unstable_of[n] for n in labels if n in unstable_of}
    return [Family(x, labels.get(unstable_of.get(n, ""))) for n, x in labels.items() if n not in paired]


def _lowered(found: Tolerated, raw: dict[str, Any]) -> Tolerated | None:
    """Lower a schema with the edited overrides; None if that fails, which is reported when it is read first."""
    try:
        again = lower_what_can_be_read(found.source, lambda s: overrides_of(s, raw))
    except GeneratorError:
        return None
    return replace(again, problems=found.problems, is_whole=found.is_whole)


def _changed(state: State, toml: Mapping[str, str]) -> dict[str, bytes]:
    """List the files whose content changes."""
    wanted = {**state.staged.files, **{file: text.encode("utf-8") for file, text in toml.items()}}
    return {file: data for file, data in wanted.items() if read_if_there(state.root / file) != data}


def _compared(state: State, labels: Mapping[str, Label], final: Mapping[str, Tolerated], source: str) -> Comparison:
    """Compare both sides as their users see them; labels that cannot be read on one side are left out."""
    unread = {n for n, x in labels.items() if (n in state.old and x.old is None) or (n in state.new and n not in final)}
    old = [x.old for n, x in labels.items() if x.old is not None and n not in unread]
    new = [found for n, found in final.items() if n not in unread]
    return compare(input_of(state.base, old), input_of(source, new))
