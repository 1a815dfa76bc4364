"""The stages in a row: from a schema source to the files of the package."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generator.docs import load_docs
from generator.emit import PACKAGE, emit_module, emit_package, runtime_files
from generator.lower import lower
from generator.model import Module
from generator.overrides import load_overrides
from generator.read import read_schema
from generator.source import ROOT, Source, load_pinned, load_single

Step = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Summary:
    """What one schema became."""

    label: str
    definitions: int
    structs: int
    unions: int
    enums: int
    documented: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Generated:
    """Every file of a run, the folders it owns, and the figures of each schema."""

    files: dict[str, str]
    owned: tuple[str, ...]
    summaries: tuple[Summary, ...]


def generate_pinned(step: Step, root: Path = ROOT) -> Generated:
    """Generate the whole package from the pinned schemas."""
    step("verify schema/lock.json")
    sources, lock = load_pinned(root)
    files = {**runtime_files(), **emit_package(lock, [s.label for s in sources])}
    summaries: list[Summary] = []
    for source in sources:
        made, summary = _module(source, step)
        files.update(made)
        summaries.append(summary)
    return Generated(files, (PACKAGE,), tuple(summaries))


def generate_single(path: Path, label: str, meta: Path | None, step: Step, out: Path) -> Generated:
    """Generate a package around one schema file; `out` may hold others that were generated before."""
    source = load_single(path, label, meta)
    package = {p: t for p, t in emit_package(None, []).items() if not (out / p).exists()}
    made, summary = _module(source, step)
    return Generated({**runtime_files(), **package, **made}, (f"{PACKAGE}/{label}",), (summary,))


def load_module(source: Source) -> Module:
    """Read and lower one schema."""
    return lower(read_schema(source), load_overrides(source))


def _module(source: Source, step: Step) -> tuple[dict[str, str], Summary]:
    step(f"read {source.file}")
    schema = read_schema(source)
    step(f"lower {source.label}")
    module = lower(schema, load_overrides(source))
    step(f"emit {source.label}")
    docs = load_docs(source)
    files = emit_module(module, source, docs)
    if source.pinned:
        docs.check_used()
    kinds = Counter(type(d).__name__ for d in module.definitions)
    summary = Summary(
        label=source.label,
        definitions=len(schema.names),
        structs=kinds["Struct"] + kinds["CatchAll"] + len(module.envelopes),
        unions=kinds["Union"] + len(module.routings),
        enums=kinds["Enumeration"],
        documented=docs.coverage,
    )
    return files, summary
