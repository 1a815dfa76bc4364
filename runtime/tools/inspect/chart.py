"""The chart of tool calls: one bar per call, with one segment per state."""

from .call_history import FINAL_STATES, CallHistories, CallHistory, StateChange
from .clock import between, format_duration
from .formatting import count_of, escape_line

_WIDTH, _LEAST, _HEIGHT = 1000.0, 6.0, 14  # of a bar; narrower segments would be invisible
_KNOWN = ("pending", "permission", "in_progress", "completed", "failed", "cancelled")


def chart(histories: CallHistories) -> str:
    """Draw all calls on one axis: of time if all times are known, otherwise of line numbers."""
    found = [call for call in histories.calls.values() if call.changes]
    if not found:
        return ""
    axis = _Axis([change for call in found for change in call.changes], histories.last)
    more = f"<p>{count_of(histories.left_out, 'message')} of further calls left out.</p>" if histories.left_out else ""
    return (
        f'<details class="calls"{" open" if len(found) <= 20 else ""}>\n'
        f"<summary><h2>Tool calls <small>{len(found)}, along {axis.name}</small></h2></summary>\n"
        f"{''.join(_call(call, axis) for call in found)}{more}</details>\n"
    )


class _Axis:
    """The position of a change between the first and the last one, in units of the drawing."""

    def __init__(self, changes: list[StateChange], last: StateChange | None) -> None:
        self._first = min(changes, key=lambda change: change.line)
        changes = [*changes, last] if last is not None else changes
        spans = [between(self._first.moment, change.moment) for change in changes]
        known = [span for span in spans if span is not None]
        self._timed = len(known) == len(spans) and max(known) > 0
        lines = max(change.line for change in changes) - self._first.line
        self._length = max(known) if self._timed else float(max(lines, 1))
        self.name = f"{format_duration(self._length)} of time" if self._timed else "the lines of the log"

    def position(self, change: StateChange) -> float:
        timed = between(self._first.moment, change.moment) if self._timed else None
        at = timed if timed is not None else float(change.line - self._first.line)
        return at / self._length * (_WIDTH - _LEAST)


def _call(call: CallHistory, axis: _Axis) -> str:
    kind = f'<span class="tag">{escape_line(call.kind)}</span>' if call.kind else ""
    decision = f'<span class="decision">{escape_line(call.decision)}</span>' if call.decision else ""
    state = f'<span class="tag {_css(call.state)}">{escape_line(call.state.replace("_", " "))}</span>'
    name = f"<b>{escape_line(call.title or call.id)}</b> {kind} <code>{escape_line(call.id)}</code>"
    return (
        f'<div class="call" data-call="{escape_line(call.id)}"><div class="name">{name}</div>\n{_bar(call, axis)}\n'
        f'<div class="states">{_steps(call)} {decision}</div>{state}</div>\n'
    )


def _bar(call: CallHistory, axis: _Axis) -> str:
    positions = [axis.position(change) for change in call.changes]
    end = _WIDTH if not call.is_done else positions[-1] + _LEAST
    edges = [*positions[1:], end]
    segments: list[str] = []
    for change, start, stop in zip(call.changes, positions, edges, strict=True):
        css = _css(change.state) + (" open" if change is call.changes[-1] and change.state not in FINAL_STATES else "")
        width = max(stop - start, _LEAST if change.state in FINAL_STATES else 1.0)
        segments.append(
            f'<rect class="{css}" x="{start:.1f}" y="0" width="{width:.1f}" height="{_HEIGHT}">'
            f"<title>{escape_line(change.state)}, line {change.line}</title></rect>"
        )
    shown = escape_line(", ".join(change.state for change in call.changes))
    box = f'viewBox="0 0 {_WIDTH:.0f} {_HEIGHT}" preserveAspectRatio="none"'
    return f'<svg class="bar" {box} role="img" aria-label="{shown}">{"".join(segments)}</svg>'


def _steps(call: CallHistory) -> str:
    out: list[str] = []
    for before, change in zip([None, *call.changes], call.changes, strict=False):
        took = between(before.moment, change.moment) if before is not None else None
        after = (
            f" <small>{format_duration(took)}</small> → " if took is not None else " → " if before is not None else ""
        )
        time = f" <small>{change.moment.shown}</small>" if before is None and change.moment is not None else ""
        out.append(f'{after}<a href="#l{change.line}">{escape_line(change.state.replace("_", " "))}</a>{time}')
    return "".join(out)


def _css(state: str) -> str:
    return f"s-{state}" if state in _KNOWN else "s-other"
