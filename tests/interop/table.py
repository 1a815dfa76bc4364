"""The tables of docs/interop.md, made of the recorded results."""

import json
import re
from typing import Any

from tests.interop import install
from tests.interop.columns import COLUMNS, Column
from tests.support import ROOT

PAGE = ROOT / "docs" / "interop.md"
RESULTS = install.HERE / "results.json"
AGENTS = install.HERE / "agents.json"
SHORT = {"TypeScript SDK": "TypeScript", "Python SDK": "Python"}


def as_json(value: Any) -> str:
    """Write recorded results."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def versions() -> dict[str, str]:
    """Give the pinned versions of the SDKs."""
    node = json.loads((install.HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    python = (install.HERE / "requirements.txt").read_text(encoding="utf-8")
    found = re.search(r"^agent-client-protocol==(\S+)", python, re.MULTILINE)
    assert found is not None
    return {
        "TypeScript SDK": f"@agentclientprotocol/sdk {node['@agentclientprotocol/sdk']}",
        "Python SDK": f"agent-client-protocol {found[1]}",
    }


def conformance(results: dict[str, Any]) -> str:
    """Draw the features against the pairs; what is not ok has a numbered reason below."""
    heads = [_head(column) for column in COLUMNS]
    lines = ["| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    reasons: list[str] = []
    for feature, cells in results["features"].items():
        shown: list[str] = []
        for column in COLUMNS:
            cell = cells[column.name]
            if cell == "ok":
                shown.append("ok")
                continue
            mark, why = next(iter(cell.items()))
            if why not in reasons:
                reasons.append(why)
            shown.append(f"{mark} <sup>{reasons.index(why) + 1}</sup>")
        lines.append(f"| {_name(feature)} | " + " | ".join(shown) + " |")
    lines.append("")
    lines += [f"{n}. {reason[0].upper()}{reason[1:]}." for n, reason in enumerate(reasons, 1)]
    return "\n".join(lines)


def _head(column: Column) -> str:
    return f"{SHORT[column.sdk]} {column.theirs}, {column.transport}"


def _name(feature: str) -> str:
    """Mark what is a name of the protocol."""
    return re.sub(r"^(?:_meta|[$a-z]+/[a-z_]+)", r"`\g<0>`", feature)


def agents(found: list[dict[str, Any]]) -> str:
    """Draw how far we came with each agent."""
    lines = [
        "| agent | `initialize` | `session/new` | `session/prompt` | what our reader met |",
        "|---|---|---|---|---|",
    ]
    for agent in found:
        title = f"`{agent['package']}` {agent['version']}"
        if "problem" in agent:
            lines.append(f"| {title} | {agent['problem']} | | | |")
            continue
        steps = [agent["steps"].get(step, "") for step in ("initialize", "session/new", "session/prompt")]
        lines.append(f"| {title} | " + " | ".join(steps) + f" | {agent['reader']} |")
    return "\n".join(lines)


def fill(page: str, name: str, table: str) -> str:
    """Put a table between its two marks on the page."""
    start, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    assert rest, f"the page has no mark {start}"
    return f"{before}{start}\n{table}\n{end}{after}"
