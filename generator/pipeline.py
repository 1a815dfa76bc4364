"""The stages in order: from a schema source to the files of the package."""

import ast
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from generator import api
from generator.docs import Docs, load_docs
from generator.emit import PACKAGE, emit_module, emit_package, runtime_files
from generator.errors import GeneratorError, Problems
from generator.lower import lower, lower_collecting
from generator.manifest import Output
from generator.model import Module
from generator.overrides import FILE as OVERRIDES
from generator.overrides import Overrides, load_overrides
from generator.read import read_collecting, read_schema
from generator.source import ROOT, Source, load_pinned, load_single

Step = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of one schema."""

    label: str
    definitions: int
    structs: int
    unions: int
    enums: int
    documented: tuple[int, int]
    undocumented: tuple[str, ...] = ()
    """The places without a docstring."""


@dataclass(frozen=True, slots=True)
class Generated:
    """The output of a run, and the figures of each schema."""

    output: Output
    summaries: tuple[Summary, ...]

    @property
    def files(self) -> dict[str, str]:
        """The text of each file."""
        return dict(self.output.files)


def generate_pinned(step: Step, root: Path = ROOT, out: Path = ROOT / "generated") -> Generated:
    """Generate the whole package from the schemas that are pinned below `root`, with the overrides and docs there.

    `out` holds the public names of the previous run. Raises `GeneratorError` with all problems of all schemas.
    """
    step("verify schema/lock.json")
    sources, lock = load_pinned(root)
    files = {**runtime_files(), **emit_package(lock, [s.label for s in sources])}
    names_file = out / api.FILE
    before = names_file.read_text(encoding="utf-8") if names_file.is_file() else ""
    summaries: list[Summary] = []
    entries: dict[str, list[api.PublicName]] = {}
    problems = Problems()
    for source in sources:
        with problems.collect():
            overrides = load_overrides(source, root / OVERRIDES)
            made = _generate_module(source, overrides, load_docs(source, root), step, problems)
            if made is not None:
                files.update(made.files)
                summaries.append(made.summary)
                own = api.entries_of(made.module, overrides) + api.names_of_package(made.module, made.files)
                entries[source.label], former = own, api.from_text(before, source.label)
                for problem in api.role_problems(made.module, own, former, overrides):
                    problems.add(problem)
                api.check_names(source.label, own, former, overrides)
    problems.stop()
    files[api.FILE] = api.to_text(entries)
    return Generated(_output(files, tuple(s.label for s in sources)), tuple(summaries))


def generate_single(
    path: Path,
    label: str,
    meta: Path | None,
    step: Step,
    out: Path,
    *,
    root: Path = ROOT,
    overrides: Path | None = None,
) -> Generated:
    """Generate a package with one schema file; `out` may hold modules of earlier runs, which stay.

    The docstrings are those of the project in `root`, and so are the overrides unless another file has them.
    """
    _check_label(label)
    source = load_single(path, label, meta)
    package = emit_package(None, [label])
    there = frozenset(p for p in package if (out / p).exists())
    problems = Problems()
    entries = load_overrides(source, overrides or root / OVERRIDES)
    made = _generate_module(source, entries, load_docs(source, root), step, problems)
    if made is None or problems:
        raise problems.error()
    files = {**runtime_files(), **{p: t for p, t in package.items() if p not in there}, **made.files}
    return Generated(_output(files, (label,), leaves=there | {api.FILE}), (made.summary,))


def _check_label(label: str) -> None:
    """Refuse a label that is already a folder, a module or a public name of the package."""
    taken = {path.split("/")[1].removesuffix(".py") for path in runtime_files()}
    init = ast.parse(emit_package(None, [])[f"{PACKAGE}/__init__.py"])
    taken |= {a.asname or a.name for node in init.body if isinstance(node, ast.ImportFrom) for a in node.names}
    if label in taken:
        raise GeneratorError(
            f"--label {label} is the name of a part of the package itself", hint="choose another one, such as next"
        )


def _output(files: dict[str, str], labels: tuple[str, ...], leaves: frozenset[str] | None = None) -> Output:
    return Output(PACKAGE, files, labels, (api.FILE,), leaves or frozenset(), whole=leaves is None)


def load_module(source: Source) -> Module:
    """Read and lower one schema, with the overrides of this project."""
    return lower_schema(source, load_overrides(source))


def lower_schema(source: Source, overrides: Overrides) -> Module:
    """Read and lower one schema."""
    with _recursion_as_error(source):
        return lower(read_schema(source), overrides)


def lower_partly(source: Source, overrides: Overrides, problems: Problems) -> Module | None:
    """Read and lower as much as possible of one schema, and add its problems to `problems`; None if that is nothing."""
    with problems.collect(), _recursion_as_error(source):
        return lower_collecting(read_collecting(source, problems), overrides, problems).module
    return None


@contextmanager
def _recursion_as_error(source: Source) -> Generator[None]:
    """Report definitions that are nested too deeply for Python's recursion limit."""
    try:
        yield
    except RecursionError:
        raise GeneratorError(
            "has definitions that refer to each other too deeply", file=source.file, pointer="/$defs"
        ) from None


@dataclass(frozen=True, slots=True)
class _Made:
    """What one schema has become."""

    module: Module
    files: dict[str, str]
    summary: Summary


def _generate_module(source: Source, overrides: Overrides, docs: Docs, step: Step, problems: Problems) -> _Made | None:
    """Run the stages for one schema, and add its problems to `problems`; None where it cannot be emitted."""
    with problems.collect(), _recursion_as_error(source):
        step(f"read {source.file}")
        schema = read_collecting(source, problems)
        step(f"lower {source.label}")
        lowered = lower_collecting(schema, overrides, problems)
        if not lowered.is_complete:
            return None
        step(f"emit {source.label}")
        module = lowered.module
        files = emit_module(module, source, docs, overrides.renamed if source.pinned else {})
        if source.pinned:
            with problems.collect():
                docs.check_used()
        kinds = Counter(type(d).__name__ for d in module.definitions)
        summary = Summary(
            label=source.label,
            definitions=len(schema.names),
            structs=kinds["Struct"] + kinds["CatchAll"] + len(module.envelopes),
            unions=kinds["Union"] + len(module.routings),
            enums=kinds["Enumeration"],
            documented=docs.coverage,
            undocumented=tuple(docs.missing),
        )
        return _Made(module, files, summary)
    return None
