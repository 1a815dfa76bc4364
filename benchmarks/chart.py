"""The chart of a run: how many times our time each side takes, on a logarithmic scale."""

from html import escape
from math import log10

from benchmarks.bars import OURS

Ratios = dict[str, dict[str, dict[str, float]]]
PANELS = (
    ("decode line", "Decode a line", ("official SDK", "TypeScript SDK", "json.loads", "bare msgspec")),
    ("decode params", "Decode params", ("Rust crate", "pydantic", "TypeScript SDK", "bare msgspec")),
    ("encode line", "Encode a line", ("official SDK", "TypeScript SDK")),
)
LINES = {
    "agent_message_chunk": "message chunk, 0.2 kB",
    "tool_call_small": "tool call, 0.3 kB",
    "tool_call_update_20k_diff": "diff, 20 kB",
    "session_prompt_3_blocks": "prompt, 2 kB",
    "session_prompt_blob": "prompt with a blob, 0.8 kB",
    "session_new_http": "new session, two HTTP servers",
    "initialize_terminal": "initialize response, terminal login",
    "config_options_grouped": "options in groups",
    "initialize_response": "initialize response, 0.4 kB",
}
COLOURS = {
    "official SDK": "#3b82c4",
    "pydantic": "#3b82c4",
    "TypeScript SDK": "#c2762b",
    "Rust crate": "#b0544a",
    "json.loads": "#8a8f98",
    "bare msgspec": "#4c9a5b",
}
WIDTH, LEFT, RIGHT = 860, 300, 60
ROW, BAR, GAP, HEAD = 17, 12, 10, 34
LOW, HIGH = 0.05, 50.0
TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
NOTES = (
    "Logarithmic; right of 1 x the other takes longer. Medians of one run, the sides taking turns.",
    "Of a line with a result (initialize) the TypeScript SDK checks the frame only.",
)
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #57606a }
.title { font-size: 16px; font-weight: 600 }
.panel { font-size: 13px; font-weight: 600 }
.strong, .title, .panel { fill: #1f2328 }
.grid { stroke: #8a8f98; stroke-opacity: .3 }
.one { stroke: #8a8f98; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
text { fill: #9da7b1 }
.strong, .title, .panel { fill: #e6edf3 }
}
"""


def draw(ratios: Ratios) -> str:
    """Draw the panels one below the other."""
    body: list[str] = []
    top = 80
    for operation, title, sides in PANELS:
        part, top = _panel(ratios.get(operation, {}), title, sides, top)
        body += part
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" '
        f'role="img" aria-label="Benchmark: time of other implementations as a multiple of {OURS}">'
    )
    return "\n".join(
        [
            head,
            f"<style>{STYLE}</style>",
            _text(16, 26, f"Time of others as a multiple of {OURS}", "title"),
            *(_text(16, 45 + 16 * number, note) for number, note in enumerate(NOTES)),
            *body,
            "</svg>\n",
        ]
    )


def _panel(lines: dict[str, dict[str, float]], title: str, sides: tuple[str, ...], top: int) -> tuple[list[str], int]:
    rows = [(line, [s for s in sides if s in lines[line]]) for line in LINES if line in lines]
    bottom = top + HEAD + sum(len(found) * ROW + GAP for _, found in rows)
    out = [_text(16, top + 14, title, "panel")]
    for tick in TICKS:
        x = _x(tick)
        css = "one" if tick == 1 else "grid"
        out.append(f'<line class="{css}" x1="{x:.1f}" x2="{x:.1f}" y1="{top + 22}" y2="{bottom}"/>')
        out.append(_text(x, top + 16, f"{tick:g} x", anchor="middle"))
    y = top + HEAD
    for line, found in rows:
        out.append(_text(16, y + BAR - 2, LINES[line], "strong"))
        for side in found:
            out += _bar(side, lines[line][side], y)
            y += ROW
        y += GAP
    return out, bottom + 22


def _bar(side: str, ratio: float, y: int) -> list[str]:
    one, end = _x(1), _x(ratio)
    left, width = min(one, end), max(abs(end - one), 1)
    value = f"{ratio:.1f} x" if ratio >= 1.95 else f"{ratio:.2f} x"
    place = _text(end + 5, y + BAR - 2, value, "strong") if ratio >= 1 else _text(one + 5, y + BAR - 2, value, "strong")
    return [
        _text(LEFT - 10, y + BAR - 2, side, anchor="end"),
        f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2" fill="{COLOURS[side]}"/>',
        place,
    ]


def _x(ratio: float) -> float:
    clamped = min(max(ratio, LOW), HIGH)
    return LEFT + (WIDTH - LEFT - RIGHT) * log10(clamped / LOW) / log10(HIGH / LOW)


def _text(x: float, y: float, text: str, css: str = "", anchor: str = "start") -> str:
    style = f' class="{css}"' if css else ""
    return f'<text{style} x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
