"""The command line: `python -m generator …`."""

import keyword
import re
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from generator import STARTED
from generator.bump import Options, write_plan
from generator.bump import plan as plan_bump
from generator.bump import render as render_plan
from generator.bump.render import VECTORS
from generator.bump.staging import require_clean
from generator.diff import FORMATS
from generator.diff import diff as compare
from generator.diff.render.markdown import render_markdown
from generator.errors import GeneratorError
from generator.explain import explain as explain_type
from generator.manifest import FILE as MANIFEST
from generator.manifest import Written, update
from generator.pin import pin as pin_schemas
from generator.pin import verify
from generator.pipeline import Generated, Step, generate_pinned, generate_single
from generator.prove import prove_importable
from generator.source import ROOT, load_pinned
from generator.write import compare_or_write

MAX_UNDOCUMENTED = 20
"""How many places without a docstring are printed for each schema."""

app = typer.Typer(
    help="Generate the package acp_msgspec from the Agent Client Protocol's JSON Schema.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _root() -> None:
    """Make typer keep command names even if there is only one command."""


@app.command()
def generate(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 where files differ.")] = False,
    out: Annotated[Path | None, typer.Option(help="The folder to write into; the default is generated/.")] = None,
    schema: Annotated[Path | None, typer.Option(help="A schema file, instead of the pinned ones.")] = None,
    label: Annotated[str | None, typer.Option(help="The module name for --schema.")] = None,
    meta: Annotated[Path | None, typer.Option(help="The meta file that belongs to --schema.")] = None,
) -> None:
    """Generate the package from the pinned schemas, or one module from any schema file."""
    console = Console(highlight=False)
    target = out if out is not None else ROOT / "generated"
    with console.status("") as status:

        def step(text: str) -> None:
            if console.is_terminal:
                status.update(text)

        made = _generate(schema, label, meta, step, target)
        if not check and update(target, made.output, check=True).changes:
            step("import the emitted modules")
            prove_importable(made.files, made.output.package, made.output.modules)
        written = update(target, made.output, check=check)
    _print_summary(console, made)
    lines = _report_lines(written, check=check)
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)
    if check and lines:
        raise GeneratorError(
            f"{len(lines)} files differ from what the generator writes",
            file=str(target),
            hint="run `python -m generator generate` and commit the result; it keeps files that it did not write",
        )
    if check and schema is None:
        _require_docstrings(made)
    console.print(_last_line(written.changes.lines, check=check), soft_wrap=True)


def _require_docstrings(made: Generated) -> None:
    """Refuse a pinned schema with undocumented places."""
    for summary in made.summaries:
        if summary.undocumented:
            raise GeneratorError(
                f"{len(summary.undocumented)} places of {summary.label} have no docstring, the first of them "
                f"{summary.undocumented[0]}",
                file="schema/docs",
                hint="write their texts in our own words",
            )


def _report_lines(written: Written, *, check: bool) -> list[str]:
    """List the differences, or the removed files; then the files that stay although the output lacks them."""
    changes = written.changes
    lines = changes.lines if check else [f"removed: {path}" for path in changes.stale]
    lines += [f"kept: {path} ({why})" for path, why in changes.kept]
    lines += [f"kept: {path} (not written by `generate`)" for path in written.unlisted]
    if written.damage:
        lines.append(f"{MANIFEST}: {written.damage}; so nothing {'would be' if check else 'was'} removed")
    return lines


def _generate(schema: Path | None, label: str | None, meta: Path | None, step: Step, target: Path) -> Generated:
    if schema is None:
        if label is not None or meta is not None:
            raise GeneratorError("--label and --meta need --schema")
        return generate_pinned(step, out=target)
    if label is None or not re.fullmatch(r"[a-z][a-z0-9_]*", label) or keyword.iskeyword(label):
        raise GeneratorError(
            f"--schema needs a --label that is a module name, not {label!r}", hint="lower case, digits and underscores"
        )
    return generate_single(schema, label, meta, step, target)


def _print_summary(console: Console, made: Generated) -> None:
    seconds = time.perf_counter() - STARTED
    if console.is_terminal:
        table = Table("schema", "definitions", "structs", "unions", "enums", "documented")
        for s in made.summaries:
            table.add_row(
                s.label, str(s.definitions), str(s.structs), str(s.unions), str(s.enums), _share(s.documented)
            )
        console.print(table)
        _print_undocumented(console, made)
        console.print(f"{len(made.files)} files in {seconds:.2f} s")
        return
    for s in made.summaries:
        console.print(
            f"{s.label}: {s.definitions} definitions, {s.structs} structs, {s.unions} unions, {s.enums} enums, "
            f"{_share(s.documented)} documented",
            soft_wrap=True,
        )
    _print_undocumented(console, made)
    console.print(f"{len(made.files)} files in {seconds:.2f} s", soft_wrap=True)


def _print_undocumented(console: Console, made: Generated) -> None:
    for s in made.summaries:
        for place in s.undocumented[:MAX_UNDOCUMENTED]:
            console.print(f"undocumented: {s.label}.{place}", soft_wrap=True, markup=False)
        if len(s.undocumented) > MAX_UNDOCUMENTED:
            console.print(
                f"undocumented: {len(s.undocumented) - MAX_UNDOCUMENTED} more places of {s.label}", soft_wrap=True
            )


def _share(documented: tuple[int, int]) -> str:
    return f"{100 * documented[0] // documented[1]} %" if documented[1] else "-"


def _last_line(lines: list[str], *, check: bool) -> str:
    if check or not lines:
        return "up to date"
    return f"wrote {len(lines)} changes"


@app.command()
def pin(
    source: Annotated[
        str | None,
        typer.Argument(
            help="A checkout of upstream, a folder or tarball with its files, the http(s) URL of a folder, "
            "npm:NAME@VERSION, or crate:NAME@VERSION."
        ),
    ] = None,
    commit: Annotated[
        str | None, typer.Option(help="The commit to read from a checkout, or the commit that the files are of.")
    ] = None,
    release: Annotated[str | None, typer.Option(help="The release of the commit, such as schema-v1.2.3.")] = None,
    date: Annotated[str | None, typer.Option(help="The day of the commit, where SOURCE does not know it.")] = None,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Remove pinned files that SOURCE lacks.")
    ] = False,
    equal_to: Annotated[
        list[str] | None, typer.Option(help="Another source that must have the same structure; may be repeated.")
    ] = None,
    verified: Annotated[
        bool, typer.Option("--verify", help="Write nothing; compare what is pinned with its source, or with SOURCE.")
    ] = False,
) -> None:
    """Copy upstream's schemas into schema/, without their descriptions, and write the lock file."""
    if verified:
        if commit or release or date or drop_missing or equal_to:
            raise GeneratorError("--verify writes nothing, so it takes no other option")
        _verify(source)
        return
    if source is None:
        raise GeneratorError("pin needs a SOURCE", hint="only --verify does without")
    lock, changes = pin_schemas(
        source, commit, release, date=date, drop_missing=drop_missing, equal_to=tuple(equal_to or ())
    )
    lines = [
        f"{what}: {path}"
        for what, paths in (("new", changes.added), ("changed", changes.changed), ("removed", changes.stale))
        for path in paths
    ]
    lines.append(f"{'pinned' if changes else 'already pinned'}: {lock.commit} ({lock.release})")
    lines += [f"kept: {path} ({why})" for path, why in changes.kept]
    if lock.source is not None:
        lines += [f"from: {lock.source}", *(f"note: {note}" for note in lock.source.notes)]
        lines += [f"verified: {sentence}" for sentence in lock.source.verified]
    lines += [f"unverified: {lock.unverified}"] if lock.unverified else []
    lines += [] if lock.date else ["undated: the source does not know its day (hint: --date YYYY-MM-DD)"]
    _print_lines(lines)


def _verify(source: str | None) -> None:
    """Print how what is pinned compares with its source."""
    found = verify(ROOT, source)
    _print_lines([*(f"differs: {line}" for line in found.differences), *(f"note: {line}" for line in found.notes)])
    if found.differences:
        raise GeneratorError(f"{len(found.differences)} differences to what is pinned", file=found.shown)
    _print_lines([f"verified: {found.files} files against {found.shown}"])


def _print_lines(lines: list[str]) -> None:
    console = Console(highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


@app.command()
def bump(
    source: Annotated[str, typer.Argument(help="The same as for `pin`.")],
    apply: Annotated[bool, typer.Option("--apply", help="Write what needs no judgement.")] = False,
    commit: Annotated[str | None, typer.Option(help="The same as for `pin`.")] = None,
    release: Annotated[str | None, typer.Option(help="The same as for `pin`.")] = None,
    date: Annotated[str | None, typer.Option(help="The same as for `pin`.")] = None,
    drop_missing: Annotated[bool, typer.Option("--drop-missing", help="The same as for `pin`.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write the comparison as Markdown into this file.")] = None,
) -> None:
    """Compare SOURCE with what is pinned: list every edit and every decision; --apply pins it and writes the edits."""
    if apply:
        require_clean(ROOT)
    plan = plan_bump(source, Options(commit, release, date, drop_missing))
    if apply:
        write_plan(plan)
    if report is not None:
        compare_or_write(report.parent, {report.name: render_markdown(plan.comparison)}, {}, check=False)
    sys.stdout.write(render_plan(plan, applied=apply, has_vectors=(ROOT / VECTORS).is_file()))


@app.command()
def explain(
    name: Annotated[str, typer.Argument(help="A type: a key of $defs, or the class of a variant.")],
    label: Annotated[str, typer.Option(help="The module to look in.")] = "v1",
) -> None:
    """Show where a type comes from, how it is read, and its emitted code."""
    sources = {s.label: s for s in load_pinned()[0]}
    if label not in sources:
        raise GeneratorError(f"there is no module {label!r}", hint=f"one of {', '.join(sources)}")
    found = explain_type(sources[label], name)
    console = Console(highlight=False)
    console.print(Text(found.title, style="bold"))
    for key, value in found.details:
        console.print(Text.assemble((f"{key + ':':<12}", "dim"), value), soft_wrap=True)
    if found.fields:
        console.print()
    for python, wire, kind, how in found.fields:
        key = "" if python == wire else f" ({wire})"
        console.print(Text.assemble((python, "bold"), key, ": ", (kind, "cyan")), soft_wrap=True)
        console.print(Text(f"    {how}"), soft_wrap=True)
    console.print()
    if console.is_terminal:
        console.print(Syntax(found.code, "python", background_color="default"))
    else:
        print(found.code, end="")


@app.command()
def diff(
    old: Annotated[str, typer.Argument(help="A git revision, a lock file, a folder of schemas, or a schema file.")],
    new: Annotated[str, typer.Argument(help="The same, for the other side.")],
    fmt: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")] = "text",
    out: Annotated[Path | None, typer.Option(help="The file to write; the default is standard output.")] = None,
) -> None:
    """Show what changed for users between two versions; exit status: 0 no change, 3 patch or minor, 4 major.

    What cannot be read is left out, and listed on standard error.
    """
    if out is not None and out.is_dir():
        raise GeneratorError("is a folder", file=str(out), hint="name a file in it")
    report = compare(old, new, fmt)
    for problem in report.comparison.problems:
        print(f"not compared: {problem}", file=sys.stderr)
    text = report.text if report.text.endswith("\n") else report.text + "\n"
    if out is None:
        sys.stdout.write(text)
    else:
        compare_or_write(out.parent, {out.name: text}, {}, check=False)
    raise typer.Exit(report.status)


def main() -> None:
    """Run the command line; a `GeneratorError` is printed as one line, with exit status 1."""
    try:
        app()
    except GeneratorError as why:
        print(f"error: {why}", file=sys.stderr)
        raise SystemExit(1) from None
    except BrokenPipeError:
        raise SystemExit(1) from None
