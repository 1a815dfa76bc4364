"""The tables of a run, and its JSON."""

import json
import os
import platform
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.bars import OURS, Verdict
from benchmarks.timing import median
from benchmarks.workers import Run, Times

Ratios = dict[str, dict[str, dict[str, float]]]
SIDES = (
    OURS,
    "acp-msgspec, method_of",
    "acp-msgspec, encode_line",
    "bare msgspec",
    "json.loads",
    "official SDK",
    "official SDK, routed",
    "pydantic",
    "stock msgspec",
    "stock msgspec, tagged",
    "TypeScript SDK",
    "Rust crate",
    "Rust crate, LTO",
)
SHORT = {
    "agent_message_chunk": "chunk",
    "tool_call_small": "tool call",
    "tool_call_update_20k_diff": "20 kB diff",
    "session_prompt_3_blocks": "prompt",
    "session_prompt_text": "prompt, text",
    "session_prompt_blob": "prompt, blob",
    "session_new_stdio": "new, stdio",
    "session_new_http": "new, HTTP",
    "initialize_agent": "init, agent",
    "initialize_terminal": "init, terminal",
    "config_options_flat": "options",
    "config_options_grouped": "options, groups",
    "initialize_response": "initialize",
}


def machine() -> dict[str, Any]:
    """Say what the run ran on."""
    return {
        "cores": os.cpu_count(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def as_json(
    run: Run,
    ratios: Ratios,
    sizes: dict[str, int],
    fresh: dict[str, dict[str, float]],
    verdicts: list[Verdict],
) -> str:
    """Write all figures: nanoseconds per call, or per item of a grown list, and how many times our time that is."""
    operations: dict[str, Any] = {}
    growth: dict[str, Any] = {}
    for operation, lines in run.times.items():
        for line, sides in lines.items():
            target, unit = (growth, "ns per item") if sizes[line] else (operations, "ns")
            found: dict[str, Any] = {}
            for side in sorted(sides, key=SIDES.index):
                found[side] = {unit: round(median(sides[side]) * 1e9 / (sizes[line] or 1), 2)}
                if side in ratios[operation].get(line, {}):
                    found[side]["ratio"] = round(ratios[operation][line][side], 3)
            target.setdefault(operation, {})[line] = found
    whole = {
        "machine": machine(),
        "versions": run.about,
        "absent": run.absent,
        "cannot": run.cannot,
        "operations": operations,
        "growth": growth,
        "fresh": {what: {side: float(f"{value:.4g}") for side, value in of.items()} for what, of in fresh.items()},
        "bars": [{"what": v.what, "bar": v.bar, "found": v.found, "met": v.met} for v in verdicts],
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def print_times(console: Console, run: Run, ratios: Ratios, sizes: dict[str, int]) -> None:
    """Print one table for each operation: a row for each side, our time first, then multiples of it."""
    for operation, lines in run.times.items():
        shown = [line for line in lines if not sizes[line]]
        cannot = {tuple(case.split("|")[1:]) for case in run.cannot if case.startswith(f"{operation}|")}
        table = Table(title=f"{operation}: our time, and what the others take as a multiple of it")
        table.add_column("")
        for line in shown:
            table.add_column(SHORT.get(line, line), justify="right")
        for side in SIDES:
            if any(side in lines[line] for line in shown) or any(side == of for of, _ in cannot):
                table.add_row(side, *(_cell(run, ratios, operation, line, side, cannot) for line in shown))
        console.print(table)


def _cell(run: Run, ratios: Ratios, operation: str, line: str, side: str, cannot: set[tuple[str, ...]]) -> str:
    sides = run.times[operation][line]
    if side not in sides:
        return "cannot" if (side, line) in cannot else "-"
    return f"{median(sides[side]) * 1e6:.2f} µs" if side == OURS else f"{ratios[operation][line][side]:.2f} x"


def print_growth(console: Console, times: Times, sizes: dict[str, int]) -> None:
    """Print what one item of a list costs as the list grows."""
    lines = [line for line in times.get("decode line", {}) if sizes[line]]
    found = {line: {**times["decode line"][line], **times.get("decode params", {}).get(line, {})} for line in lines}
    table = Table("list", title="decode line: ns per item as the list grows (Rust crate: params only)")
    sides = [side for side in SIDES if any(side in found[line] for line in lines)]
    for side in sides:
        table.add_column(side, justify="right")
    for line in lines:
        cells = [median(found[line][s]) * 1e9 / sizes[line] if s in found[line] else None for s in sides]
        table.add_row(line, *("-" if cell is None else f"{cell:,.0f}" for cell in cells))
    console.print(table)


def print_fresh(console: Console, fresh: dict[str, dict[str, float]]) -> None:
    """Print what fresh processes pay."""
    sides = list(dict.fromkeys(side for found in fresh.values() for side in found))
    table = Table("fresh process", *sides)
    for what, found in fresh.items():
        name, _, rest = what.partition(", ")
        unit, _, line = rest.partition(": ")
        label = f"{name}: {line}" if line else name
        table.add_row(label, *(_amount(found[side], unit) if side in found else "-" for side in sides))
    console.print(table)


def print_missing(console: Console, run: Run) -> None:
    """Print what is absent and what cannot be done, each with its reason."""
    for name, why in run.absent.items():
        console.print(f"absent: {name}: {why}")
    reasons: dict[str, list[str]] = {}
    for case, why in run.cannot.items():
        reasons.setdefault(f"{', '.join(case.split('|')[:2])}: {why}", []).append(case.split("|")[2])
    for why, lines in reasons.items():
        console.print(f"cannot: {why} ({', '.join(lines)})")


def print_verdicts(console: Console, verdicts: list[Verdict]) -> None:
    """Print the bars."""
    table = Table("bar", "wanted", "found", "", title="bars (ratios of this run)")
    for verdict in verdicts:
        mark = {True: "[green]met[/]", False: "[red]missed[/]", None: "-"}[verdict.met]
        table.add_row(verdict.what, verdict.bar, verdict.found, mark)
    console.print(table)


def _amount(value: float, unit: str) -> str:
    return f"{value * 1e3:.2f} ms" if unit == "s" else f"{value / 1024:.1f} MiB"
