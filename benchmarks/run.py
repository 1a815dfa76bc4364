"""All sides side by side in one run: tables on the terminal, `results.json`, `results.svg`.

Run with `make bench`. `benchmarks/README.md` tells what each side does.
"""

import sys
from pathlib import Path

from rich.console import Console

from benchmarks import bars, chart, fresh, install, lines, report, workers
from benchmarks.install import CACHE, HERE, PEERS, Absent
from benchmarks.workers import Command

MODULES = "benchmarks.peers"


def commands(folder: Path, official: Path | Absent) -> dict[str, Command | Absent]:
    """Install the sides and give the command of each."""
    node = install.typescript_sdk()
    out: dict[str, Command | Absent] = {
        "acp-msgspec": [sys.executable, "-m", f"{MODULES}.ours", folder],
        "stock msgspec": [sys.executable, "-m", f"{MODULES}.stock", folder],
        "official SDK": official if isinstance(official, Absent) else [official, "-m", f"{MODULES}.official", folder],
        "TypeScript SDK": node
        if isinstance(node, Absent)
        else ["node", PEERS / "typescript" / "bench.mjs", node, folder],
    }
    for side, profile in (("Rust crate", "release"), ("Rust crate, LTO", "lto")):
        binary = install.rust_crate(profile)
        out[side] = binary if isinstance(binary, Absent) else [binary, folder, side]
    return out


def main() -> None:
    """Run everything and report."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    folder = CACHE / "lines"
    lines.write(folder)
    sizes = {line.name: line.items for line in lines.load(folder)}
    with console.status("installing the other sides (some minutes at first)") as status:
        official = install.official_sdk()
        run = workers.measure(commands(folder, official), sizes, status.update)
        status.update("fresh processes")
        figures = fresh.middle(fresh.measure(folder, official))
    run.cannot = {case: why for case, why in run.cannot.items() if not sizes[case.split("|")[2]]}
    ratios = bars.ratios(run.times)
    verdicts = bars.verdicts(ratios, figures)
    report.print_times(console, run, ratios, sizes)
    report.print_growth(console, run.times, sizes)
    report.print_fresh(console, figures)
    report.print_missing(console, run)
    report.print_verdicts(console, verdicts)
    (HERE / "results.json").write_text(report.as_json(run, ratios, sizes, figures, verdicts), encoding="utf-8")
    (HERE / "results.svg").write_text(chart.draw(ratios), encoding="utf-8")
    console.print("written: benchmarks/results.json, benchmarks/results.svg")


if __name__ == "__main__":
    main()
