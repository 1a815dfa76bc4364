"""The bars: what the ratios of a run are held against. No test asserts them; the run prints whether they are met."""

from dataclasses import dataclass
from typing import Literal

from benchmarks.timing import median
from benchmarks.workers import Times

OURS = "acp-msgspec"


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: how many times our time another side takes, at the least."""

    operation: str
    line: str
    side: str
    at_least: float


SECOND = ("session_prompt_blob", "session_new_http", "initialize_terminal", "config_options_grouped")
"""Lines with second choices of unions."""
BARS = (
    Bar("decode line", "agent_message_chunk", "official SDK", 10),
    Bar("decode line", "tool_call_update_20k_diff", "official SDK", 2.5),
    Bar("decode line", "session_prompt_3_blocks", "official SDK", 6),
    Bar("decode line", "initialize_response", "official SDK", 12),
    *(Bar("decode line", line, "official SDK", 3) for line in SECOND),
    Bar("decode params", "agent_message_chunk", "Rust crate", 2),
    Bar("decode params", "tool_call_update_20k_diff", "Rust crate", 1.5),
    Bar("decode line", "agent_message_chunk", "bare msgspec", 0.8),
    Bar("decode line", "tool_call_small", "bare msgspec", 0.8),
    Bar("decode line", "tool_call_update_20k_diff", "bare msgspec", 0.8),
    Bar("decode line", "session_prompt_3_blocks", "bare msgspec", 0.8),
    Bar("decode line", "initialize_response", "bare msgspec", 0.8),
    Bar("encode line", "agent_message_chunk", "official SDK", 15),
    Bar("encode line", "tool_call_update_20k_diff", "official SDK", 4),
)
IMPORT_AT_MOST = 1 / 7
MEMORY_AT_MOST = 1 / 2
FIRST_AT_MOST = 0.015


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a bar; `met` is None where a side is absent."""

    what: str
    bar: str
    found: str
    met: bool | None


def ratios(times: Times) -> dict[str, dict[str, dict[str, float]]]:
    """Give, for each side, how many times our time it takes: the median over the rounds, each a ratio of its own."""
    out: dict[str, dict[str, dict[str, float]]] = {}
    for operation, lines in times.items():
        for line, sides in lines.items():
            ours = sides.get(OURS, [])
            found = {side: [a / b for a, b in zip(theirs, ours, strict=False)] for side, theirs in sides.items()}
            out.setdefault(operation, {})[line] = {side: median(each) for side, each in found.items() if each}
    return out


def verdicts(of_sides: dict[str, dict[str, dict[str, float]]], fresh: dict[str, dict[str, float]]) -> list[Verdict]:
    """Hold a run against all bars."""
    out: list[Verdict] = []
    for bar in BARS:
        ratio = of_sides.get(bar.operation, {}).get(bar.line, {}).get(bar.side)
        what = f"{bar.operation}, {bar.line}: {bar.side} / ours"
        found = "absent" if ratio is None else f"{ratio:.2f} x"
        out.append(Verdict(what, f">= {bar.at_least:g} x", found, None if ratio is None else ratio >= bar.at_least))
    imports, memory = fresh.get("import, s", {}), fresh.get("peak RSS after all lines, KiB", {})
    out.append(_share("import: ours / official SDK", imports, IMPORT_AT_MOST, "1/7"))
    out.append(_share("peak RSS after all lines: ours / official SDK", memory, MEMORY_AT_MOST, "1/2"))
    firsts = {what: sides[OURS] for what, sides in fresh.items() if what.startswith("first decode") and OURS in sides}
    if firsts:
        worst = max(firsts, key=lambda what: firsts[what])
        name = worst.removeprefix("first decode, s: ")
        found = f"{firsts[worst] * 1e3:.1f} ms"
        met = firsts[worst] <= FIRST_AT_MOST
        out.append(Verdict(f"first decode after the import, the slowest: {name}", "<= 15 ms", found, met))
    return out


def _share(what: str, sides: dict[str, float], at_most: float, bar: Literal["1/7", "1/2"]) -> Verdict:
    if OURS not in sides or "official SDK" not in sides:
        return Verdict(what, f"<= {bar}", "absent", None)
    share = sides[OURS] / sides["official SDK"]
    return Verdict(what, f"<= {bar}", f"1/{1 / share:.2f}", share <= at_most)
