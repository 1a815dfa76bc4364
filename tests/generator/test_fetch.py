"""Pinning from an address, against servers that are slow, wrong, or cut the line."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from generator import fetch
from generator.errors import GeneratorError
from generator.pin import pin
from generator.source import load_lock, load_pinned
from tests.support import ROOT

COMMIT = "fedcba9876543210fedcba9876543210fedcba98"
Answer = Callable[[BaseHTTPRequestHandler, bytes], None]


def _plainly(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def serving(answer: Answer = _plainly, special: str = "v2/schema.json") -> Generator[str]:
    """Serve our own schema files below `/raw/…/schema/`; `special` is the file that `answer` is for."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("/schema/")[2]
            file = ROOT / "schema" / path
            if not path or not file.is_file():
                self.send_error(404)
                return
            (answer if path == special else _plainly)(self, file.read_bytes())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/raw/{COMMIT}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.slow
def test_from_an_address(tmp_path: Path) -> None:
    with serving() as base:
        lock, changes = pin(f"{base}/", None, None, tmp_path)
        assert (lock.commit, len(changes.added)) == (COMMIT, len(load_lock().files) + 1)
        again, changes = pin(base, None, None, tmp_path)
        assert (again, bool(changes)) == (lock, False)
    assert [s.raw for s in load_pinned(tmp_path)[0]] == [s.raw for s in load_pinned()[0]]


@pytest.mark.slow
def test_redirects_are_followed(tmp_path: Path) -> None:
    def elsewhere(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        if "moved" in handler.path:
            _plainly(handler, body)
            return
        handler.send_response(302)
        handler.send_header("Location", handler.path.replace("/raw/", "/moved/"))
        handler.end_headers()

    with serving(elsewhere) as base:
        pin(base, None, None, tmp_path)
    assert len(load_pinned(tmp_path)[0]) == 4


def _in_circles(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(302)
    handler.send_header("Location", handler.path)
    handler.end_headers()


def _gone(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_error(404)


def _broken(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_error(503)


def _cut_short(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[:1000])


def _cut_short_without_a_length(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(body[:1000])


def _a_page(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    _plainly(handler, b"<!doctype html><title>Sign in</title>")


def _another_json(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    _plainly(handler, b'{"message": "Not Found"}')


def _slow(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    time.sleep(1.5)


def _dripping(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(200)
    handler.end_headers()
    try:
        for byte in body[:40]:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:  # the other side has had enough
        pass


def _endless(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(100):
            handler.wfile.write(b" " * 100_000)
    except OSError:
        pass


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (_in_circles, "the server answers 302"),
        (_gone, "has no v2/schema.json, which is pinned now"),
        (_broken, "the server answers 503"),
        (_cut_short, "was cut short: 1000 of "),
        (_cut_short_without_a_length, "v2/schema.json: is not JSON: "),
        (_a_page, "v2/schema.json: is not JSON: "),
        (_another_json, "v2/schema.json#/$defs: has no definitions"),
        (_slow, "v2/schema.json: took more than 0.5 s"),
        (_dripping, "v2/schema.json: took more than 0.5 s"),
        (_endless, "v2/schema.json: is larger than 1000000 bytes"),
    ],
)
@pytest.mark.slow
def test_failures_change_nothing(answer: Answer, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as base:
        pin(base, None, None, tmp_path)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    monkeypatch.setattr(fetch, "LIMIT", 1_000_000)
    monkeypatch.setattr(fetch.fetch, "__defaults__", (0.5,))
    with serving(answer) as base, pytest.raises(GeneratorError) as caught:
        pin(base, None, None, tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_nobody_there() -> None:
    with serving() as base:
        pass
    with pytest.raises(GeneratorError, match=r"cannot be fetched: .*refused"):
        pin(base, None, None)
