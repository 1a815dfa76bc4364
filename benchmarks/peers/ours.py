"""Our side: the package, the limit that bare msgspec sets it, and `json.loads` alone."""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import acp_msgspec as acp
import msgspec
from acp_msgspec import v1
from acp_msgspec._decode.hook import dec_hook

from benchmarks.lines import Line, load
from benchmarks.peers.serve import serve


class InitializeAnswer(v1.Response):
    """The response to `initialize`, as one type: what a bare decoder needs and no reader can know beforehand."""

    result: v1.InitializeResponse


ENVELOPES: dict[str, Any] = {
    "session/update": v1.SessionNotificationMessage,
    "session/prompt": v1.PromptRequestMessage,
    "session/new": v1.NewSessionRequestMessage,
    "initialize result": InitializeAnswer,
}
PARAMS: dict[str, Any] = {
    "session/update": v1.SessionNotification,
    "session/prompt": v1.PromptRequest,
    "session/new": v1.NewSessionRequest,
    "initialize result": v1.InitializeResponse,
}


def method_of(_: object) -> str:
    """Stand for a connection's table of the requests that it has sent."""
    return "initialize"


def reading(line: Line, *, asking: bool) -> Callable[[], Any]:
    """Give the call that reads a whole line; one that is asking passes `method_of`, as a connection always does."""
    is_from_client = line.kind in ("session/prompt", "session/new")
    read = v1.decode_client_message if is_from_client else v1.decode_agent_message
    data = line.line
    if not asking:
        return partial(read, data)

    def call() -> object:  # a partial would take its time to pass the keyword on
        return read(data, method_of=method_of)

    return call


def cases_of(line: Line) -> dict[str, Callable[[], object]]:
    """List what is timed on one line."""
    envelope, kind = ENVELOPES[line.kind], PARAMS[line.kind]
    is_response = line.kind == "initialize result"
    read = reading(line, asking=is_response)
    message = read()
    params = acp.decode(line.params, type=kind)
    asked = {} if is_response else {f"decode line|acp-msgspec, method_of|{line.name}": reading(line, asking=True)}
    return {
        f"decode line|acp-msgspec|{line.name}": read,
        **asked,
        f"decode line|json.loads|{line.name}": partial(json.loads, line.line),
        f"decode params|acp-msgspec|{line.name}": partial(acp.Decoder(kind).decode, line.params),
        f"encode line|acp-msgspec|{line.name}": partial(acp.encode, message),
        f"encode line|acp-msgspec, encode_line|{line.name}": partial(acp.encode_line, message),
        f"encode params|acp-msgspec|{line.name}": partial(acp.encode, params),
        **_bare("line", envelope, line.name, line.line, message),
        **_bare("params", kind, line.name, line.params, params),
    }


def _bare(part: str, kind: Any, name: str, data: bytes, wanted: Any) -> dict[str, Callable[[], object]]:
    """List the case of a bare decoder, where it reads the line at all and reads it as we do."""
    decode = msgspec.json.Decoder(kind, dec_hook=dec_hook).decode
    try:
        found = decode(data)
    except msgspec.ValidationError:
        return {}
    if acp.to_builtins(found) != acp.to_builtins(wanted):
        raise AssertionError(f"{name}: the two decoders disagree")
    return {f"decode {part}|bare msgspec|{name}": partial(decode, data)}


def main() -> None:
    """Serve the cases of all lines."""
    cases: dict[str, Callable[[], object]] = {}
    for line in load(Path(sys.argv[1])):
        cases |= cases_of(line)
    serve(cases, {}, "msgspec")


if __name__ == "__main__":
    main()
