"""Past schema files, one after another: `make history SCHEMAS="SOURCE…"`.

A source is a checkout of upstream (every schema file of its history), a folder with schema files in any depth, or one
file. Each distinct file is generated and imported, a decoder is built for every type, and instances of everything that
it describes make the round trip; or it is refused with file, pointer and reason. Of two files of one family that follow
each other, the later one must keep each public name whose part of the schema upstream has kept. The files stay outside.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from generator import api
from generator.errors import GeneratorError
from generator.git import git, git_line
from generator.jsonutil import digest
from generator.lower import lower
from generator.overrides import load_overrides
from generator.pipeline import generate_single
from generator.read import read_schema
from generator.source import load_single
from generator.write import compare_or_write
from tests.oracle.instances import Maker, Style
from tests.oracle.round_trip import Judge
from tests.oracle.schema_files import read_overrides
from tests.oracle.schema_walk import Schema
from tests.oracle.spelling import spelt_out
from tests.support import imported

FLAT = re.compile(r"(\d{4}-\d\d-\d\d_[0-9a-f]{7,40})_(?:(v\d)-)?")
"""What precedes the name of a file in a flat folder of past schemas: date, commit, and the folder that it was in."""
VERSION = re.compile(r"(?<![\w.])v?\d+\.\d+[\w.+-]*|(?<![0-9a-f])[0-9a-f]{12,40}(?![0-9a-f])")


@dataclass(frozen=True, slots=True)
class Past:
    """One distinct schema file: where it was first found, and the list of methods that lay beside it."""

    label: str
    shown: str
    version: str
    data: bytes
    meta: bytes | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file: `state` is ok, refused or failed, `why` the line that says more."""

    shown: str
    label: str
    version: str
    definitions: int = 0
    state: str = "ok"
    why: str = ""
    names: tuple[api.PublicName, ...] = ()
    lost: tuple[str, ...] = ()
    """Names that vanished by the doing of the generator's rules."""
    moved: tuple[str, ...] = ()
    """Names that vanished because upstream gave what they stand for a new key or title; `generate` asks to map them."""


def collect(source: str) -> list[Past]:
    """Find the distinct schema files of a source, in the order of their versions."""
    path = Path(source)
    if not path.exists():
        raise SystemExit(f"error: {source}: is neither a file nor a folder")
    is_checkout = path.is_dir() and git_line(path, "rev-parse", "--show-prefix") == ""
    found = list(_distinct(_commits(path, source) if is_checkout else _files(path)))
    if not found:
        raise SystemExit(f"error: {source}: holds no schema file")
    return found


def label_of(path: str) -> str:
    """Tell the module that a schema file became, by its path: v1, where nothing says v2."""
    parts = re.split(r"[/.]", _as_it_lay(path))
    return ("v2" if "v2" in parts else "v1") + ("_unstable" if "unstable" in parts else "")


def _as_it_lay(path: str) -> str:
    """Return the path that a file of a flat folder had: `2026-06-09_719d00e6_v2-schema.json` was `v2/schema.json`."""
    folder, slash, name = path.rpartition("/")
    found = FLAT.match(name)
    if found is None:
        return path
    return f"{folder}{slash}{found[1]}/{found[2] or ''}/{name[found.end() :]}"


def _is_schema(path: str) -> bool:
    return re.fullmatch(r"schema(\.v\d)?(\.unstable)?\.json", _as_it_lay(path).rpartition("/")[2]) is not None


def _meta_of(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return folder + slash + name.replace("schema", "meta", 1)


def _files(path: Path) -> Iterator[Past]:
    """Find the schema files in a folder, ordered by the versions in their paths."""
    if path.is_file():
        yield _past(path.name, str(path), "", path.read_bytes(), _read(path.with_name(_meta_of(path.name))))
        return
    names = [p.relative_to(path).as_posix() for p in path.rglob("*.json") if _is_schema(p.name)]
    for name in sorted(names, key=_in_order):
        flat = FLAT.match(name.rpartition("/")[2])
        version = flat[1] if flat is not None else next(iter(VERSION.findall(name)), "")
        yield _past(name, str(path / name), version, (path / name).read_bytes(), _read(path / _meta_of(name)))


def _past(path: str, shown: str, version: str, data: bytes, meta: bytes | None) -> Past:
    return Past(label_of(path), shown, version, data, meta)


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _in_order(name: str) -> tuple[list[tuple[int, str]], str]:
    """Order by version; a pre-release comes before its release."""
    version = next(iter(VERSION.findall(name)), "")
    parts = [(int(p), "") if p.isdecimal() else (-1, p) for p in re.findall(r"\d+|[a-z]+", version)]
    return [*parts, (0, "")], name


def _commits(path: Path, source: str) -> Iterator[Past]:
    """Find the schema files of all commits of a checkout, the oldest first."""
    log = git_line(path, "log", "--first-parent", "--reverse", "--format=%H %cs", "--", "schema", "schema.json") or ""
    for commit, _, date in (line.partition(" ") for line in log.splitlines()):
        tree = git_line(path, "ls-tree", "-r", "--name-only", commit) or ""
        names = tree.splitlines()
        for name in filter(_is_schema, names):
            data = git(path, "show", f"{commit}:{name}")
            meta = git(path, "show", f"{commit}:{_meta_of(name)}") if _meta_of(name) in names else None
            if data is not None:
                yield _past(name, f"{source}@{commit[:12]}/{name}", date, data, meta)


def _distinct(found: Iterable[Past]) -> Iterator[Past]:
    seen = set[tuple[str, str]]()
    for past in found:
        key = (past.label, digest(past.data))
        if key not in seen:
            seen.add(key)
            yield past


def judge(past: Past) -> Outcome:
    """Try one file."""
    made = Outcome(past.shown, past.label, past.version)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        schema, meta = root / "schema.json", root / "meta.json" if past.meta is not None else None
        schema.write_bytes(past.data)
        if meta is not None and past.meta is not None:
            meta.write_bytes(past.meta)
        try:
            generated = generate_single(schema, past.label, meta, lambda _: None, root)
            source = load_single(schema, past.label, meta)
            overrides = load_overrides(source)
            names = api.entries_of(lower(read_schema(source), overrides), overrides)
        except GeneratorError as why:
            told = str(why).replace(str(schema), past.shown).replace(str(meta), _meta_of(past.shown))
            # A refusal that names no place in the schema is no answer.
            is_answer = all(p.pointer for p in why.problems)
            return replace(made, state="refused" if is_answer else "failed", why=told)
        except Exception as why:  # a crash is this file's complaint, and the others shall be tried
            return replace(made, state="failed", why=_told(why))
        made = replace(made, definitions=generated.summaries[0].definitions, names=tuple(names))
        compare_or_write(root, generated.files, {}, check=False)
        document = spelt_out(json.loads(past.data))
        complaint = _round_trips(root, past.label, Schema(past.label, document, read_overrides(past.label)))
    return replace(made, state="failed", why=complaint) if complaint else made


def _round_trips(root: Path, label: str, schema: Schema) -> str:
    """Build all decoders and try all instances; the first complaint is told."""
    with imported(root, label, "past") as (package, module):
        judge = Judge(package, module)
        place = "decoders"
        try:
            judge.build_decoders()
            for style in Style:
                maker = Maker(schema, style)
                for key in schema.defs:
                    place = f"#/$defs/{key} ({style.name.lower()})"
                    if not schema.is_routing(key):
                        judge.definition(maker, key)
                        if style is Style.MINIMAL:
                            judge.lacking(maker, key)
                for key in schema.routings:
                    place = f"{key} ({style.name.lower()})"
                    judge.messages(maker, key)
        except Exception as why:  # whatever it is, it is this file's complaint, and the others shall be tried
            return f"{place}: {_told(why)}"
    return ""


def _told(why: Exception) -> str:
    return f"{type(why).__name__}: {' '.join(str(why).split())}"


def with_losses(outcomes: list[Outcome]) -> list[Outcome]:
    """Compare each file with the one before it of its family: which names are gone though upstream kept their parts."""
    before: dict[str, Outcome] = {}
    found: list[Outcome] = []
    for outcome in outcomes:
        if not outcome.names:
            found.append(outcome)
            continue
        old = before.get(outcome.label)
        gone = api.lost_names(list(outcome.names), list(old.names)) if old is not None else []
        known = {e.name for e in old.names} if old is not None else set[str]()
        told = [(f"{e.name} -> {now} ({e.stands_for})", now in known) for e, now in gone]
        lost = tuple(line for line, was_there in told if was_there)
        found.append(replace(outcome, lost=lost, moved=tuple(line for line, was_there in told if not was_there)))
        before[outcome.label] = outcome
    return found


def pairs_of(outcomes: list[Outcome]) -> int:
    """Count the comparisons that were made."""
    labels = [o.label for o in outcomes if o.names]
    return len(labels) - len(set(labels))


def table(outcomes: list[Outcome]) -> str:
    """Show what became of the files."""
    rows = [("file", "module", "version", "definitions", "result", "lost", "moved")]
    for o in outcomes:
        counts = (str(len(o.lost)), str(len(o.moved)))
        result = o.state if o.state == "ok" else f"{o.state}: {'; '.join(o.why.splitlines())}"
        rows.append((o.shown, o.label, o.version or "-", str(o.definitions or "-"), result, *counts))
    # The result comes last, since it alone may be long.
    order = (0, 1, 2, 3, 5, 6, 4)
    widths = [max(len(row[i]) for row in rows) for i in range(7)]
    lines = ["  ".join(row[i].ljust(widths[i]) if i != 4 else row[i] for i in order).rstrip() for row in rows]
    for o in outcomes:
        lines += [f"lost in {o.shown}: {name}" for name in o.lost]
        lines += [f"moved by upstream in {o.shown}: {name}" for name in o.moved]
    return "\n".join(lines)


def summary(outcomes: list[Outcome]) -> str:
    """Tell the figures in one line."""
    count = {state: sum(o.state == state for o in outcomes) for state in ("ok", "refused", "failed")}
    lost, moved = sum(len(o.lost) for o in outcomes), sum(len(o.moved) for o in outcomes)
    return (
        f"{len(outcomes)} distinct files: {count['ok']} ok, {count['refused']} refused, {count['failed']} failed; "
        f"{pairs_of(outcomes)} consecutive pairs, {lost} names lost, {moved} moved by upstream"
    )


def main(arguments: list[str] | None = None) -> int:
    """Judge all sources; 1 where a file failed or a name was lost, 0 where all are well or refused with a reason."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.generator.history", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="a checkout of upstream, a folder, or a file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many files at a time")
    chosen: Any = parser.parse_args(arguments)
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(max(1, chosen.jobs)) as pool:
        for source in chosen.sources:
            outcomes += with_losses(list(pool.map(judge, collect(source))))
    print(table(outcomes))
    print(summary(outcomes))
    return int(any(o.state == "failed" or o.lost for o in outcomes))


if __name__ == "__main__":
    sys.exit(main())
