"""A registry of packages on this machine, for npm."""

import base64
import hashlib
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

Reply = tuple[int, bytes]


@dataclass(slots=True)
class Registry:
    """What is served: the answers by their decoded paths."""

    address: str
    answers: dict[str, Reply] = field(default_factory=dict[str, Reply])

    def publish(
        self, package: str, version: str, data: bytes, *, dist: dict[str, str] | None = None, **more: Any
    ) -> str:
        """Publish one version of a package, whose digest may be another; give its right digest."""
        integrity = f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}"
        place = f"/{package}/-/{version}.tgz"
        told = {"integrity": integrity} if dist is None else dist
        manifest = {"name": package, "version": version, "dist": {"tarball": f"{self.address}{place}", **told}, **more}
        document = {
            "name": package,
            "dist-tags": {"latest": version},
            "versions": {version: manifest},
            "time": {version: "2026-10-19T23:30:00.000-05:00"},
        }
        self.answers[f"/{package}"] = (200, json.dumps(document).encode())
        self.answers[place] = (200, data)
        return integrity


@contextmanager
def registry() -> Generator[Registry]:
    """Serve a registry as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = made.answers.get(unquote(self.path), (404, b'{"error": "not found"}'))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Registry(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
