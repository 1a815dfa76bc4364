"""The recorded verdicts of the reference: one folder for each upstream commit, one file for each label."""

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.oracle.reference import Question, Verdict
from tests.oracle.schema_files import REPO, Overrides
from tests.oracle.schema_walk import Schema
from tests.oracle.spelling import Node, spelt_out

FOLDER = REPO / "tests" / "oracle" / "vectors"
QUESTIONS = REPO / "tests" / "oracle" / "questions"
"""What is asked besides the probes: values that somebody met, or made by other means."""
LENGTH = 12
"""Digits of a commit that name a folder."""


def folder_of(commit: str) -> Path:
    """Return the folder of a commit, which need not be there."""
    return FOLDER / commit[:LENGTH]


def files_of(folder: Path) -> dict[str, Path]:
    """List the files of a folder by label, compressed or not."""
    return {path.name.split(".")[0]: path for path in sorted(folder.glob("*.jsonl*"))}


def read(path: Path) -> Iterator[Verdict]:
    """Read the verdicts of a file."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            told: dict[str, Any] = json.loads(line)
            yield Verdict(told["type"], told["json"], told["ok"], told.get("out"))


def read_questions(label: str) -> Iterator[Question]:
    """Read what is to be asked about a label besides the probes."""
    path = QUESTIONS / f"{label}.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                told: dict[str, str] = json.loads(line)
                yield Question(told["type"], told["json"])


def write(path: Path, verdicts: Iterable[Verdict]) -> None:
    """Write verdicts; the same ones give the same bytes."""
    text = "".join(f"{verdict.line()}\n" for verdict in verdicts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode("utf-8"), 9, mtime=0))


def schema_of(label: str, folder: Path) -> Schema:
    """Read the schema of a label from a folder with `v1/schema.json` and its like."""
    return Schema(label, spelt_out(raw_schema(label, folder)), Overrides())


def raw_schema(label: str, folder: Path) -> Node:
    """Read the schema of a label as it is."""
    version, _, channel = label.partition("_")
    path = folder / version / (f"schema.{channel}.json" if channel else "schema.json")
    document: Node = json.loads(path.read_text(encoding="utf-8"))
    return document
