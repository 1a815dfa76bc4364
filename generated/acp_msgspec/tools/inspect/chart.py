"""Tool calls as a chart: a bar for each, whose pieces are the states that it went through."""

from .call_history import ENDS, Call, Calls, Change
from .clock import between, lasting
from .formatting import many, markup

_WIDTH, _LEAST, _HEIGHT = 1000.0, 6.0, 14  # of a bar; the least is what can still be seen
_KNOWN = ("pending", "permission", "in_progress", "completed", "failed", "cancelled")


def chart(calls: Calls) -> str:
    """Draw all calls on one axis: of time where all times are known, else of line numbers."""
    found = [call for call in calls.calls.values() if call.changes]
    if not found:
        return ""
    axis = _Axis([change for call in found for change in call.changes], calls.last)
    more = f"<p>{many(calls.left_out, 'message')} of further calls left out.</p>" if calls.left_out else ""
    return (
        f'<details class="calls"{" open" if len(found) <= 20 else ""}>\n'
        f"<summary><h2>Tool calls <small>{len(found)}, along {axis.name}</small></h2></summary>\n"
        f"{''.join(_call(call, axis) for call in found)}{more}</details>\n"
    )


class _Axis:
    """Where a change lies between the first and the last, in units of the drawing."""

    def __init__(self, changes: list[Change], last: Change | None) -> None:
        self._first = min(changes, key=lambda change: change.line)
        changes = [*changes, last] if last is not None else changes
        spans = [between(self._first.moment, change.moment) for change in changes]
        known = [span for span in spans if span is not None]
        self._timed = len(known) == len(spans) and max(known) > 0
        lines = max(change.line for change in changes) - self._first.line
        self._length = max(known) if self._timed else float(max(lines, 1))
        self.name = f"{lasting(self._length)} of time" if self._timed else "the lines of the log"

    def place(self, change: Change) -> float:
        timed = between(self._first.moment, change.moment) if self._timed else None
        at = timed if timed is not None else float(change.line - self._first.line)
        return at / self._length * (_WIDTH - _LEAST)


def _call(call: Call, axis: _Axis) -> str:
    kind = f'<span class="tag">{markup(call.kind)}</span>' if call.kind else ""
    decision = f'<span class="decision">{markup(call.decision)}</span>' if call.decision else ""
    state = f'<span class="tag {_css(call.state)}">{markup(call.state.replace("_", " "))}</span>'
    name = f"<b>{markup(call.title or call.id)}</b> {kind} <code>{markup(call.id)}</code>"
    return (
        f'<div class="call" data-call="{markup(call.id)}"><div class="name">{name}</div>\n{_bar(call, axis)}\n'
        f'<div class="states">{_steps(call)} {decision}</div>{state}</div>\n'
    )


def _bar(call: Call, axis: _Axis) -> str:
    places = [axis.place(change) for change in call.changes]
    end = _WIDTH if not call.is_done else places[-1] + _LEAST
    edges = [*places[1:], end]
    pieces: list[str] = []
    for change, start, stop in zip(call.changes, places, edges, strict=True):
        css = _css(change.state) + (" open" if change is call.changes[-1] and change.state not in ENDS else "")
        width = max(stop - start, _LEAST if change.state in ENDS else 1.0)
        pieces.append(
            f'<rect class="{css}" x="{start:.1f}" y="0" width="{width:.1f}" height="{_HEIGHT}">'
            f"<title>{markup(change.state)}, line {change.line}</title></rect>"
        )
    shown = markup(", ".join(change.state for change in call.changes))
    box = f'viewBox="0 0 {_WIDTH:.0f} {_HEIGHT}" preserveAspectRatio="none"'
    return f'<svg class="bar" {box} role="img" aria-label="{shown}">{"".join(pieces)}</svg>'


def _steps(call: Call) -> str:
    out: list[str] = []
    for before, change in zip([None, *call.changes], call.changes, strict=False):
        took = between(before.moment, change.moment) if before is not None else None
        after = f" <small>{lasting(took)}</small> → " if took is not None else " → " if before is not None else ""
        time = f" <small>{change.moment.shown}</small>" if before is None and change.moment is not None else ""
        out.append(f'{after}<a href="#l{change.line}">{markup(change.state.replace("_", " "))}</a>{time}')
    return "".join(out)


def _css(state: str) -> str:
    return f"s-{state}" if state in _KNOWN else "s-other"
