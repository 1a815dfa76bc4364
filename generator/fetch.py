"""Fetching over HTTP(S): the only door to the network, used by `pin` alone."""

import http.client
import time
import urllib.error
import urllib.request

from generator.errors import GeneratorError

TIMEOUT = 30.0  # seconds that one file may take, redirects included
LIMIT = 64 * 2**20  # bytes; upstream's files are below one hundredth of it


def fetch(url: str, timeout: float = TIMEOUT) -> bytes | None:
    """Give the body of `url`, or None where there is no such file; anything else that goes wrong is an error."""
    deadline = time.monotonic() + timeout
    request = urllib.request.Request(url, headers={"User-Agent": "acp-msgspec-generator"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return _body(answer, url, deadline)
    except urllib.error.HTTPError as why:
        if why.code in (404, 410):
            return None
        raise GeneratorError(f"the server answers {why.code} {why.reason}", file=url) from None
    except TimeoutError:
        raise GeneratorError(f"took more than {timeout:g} s", file=url, hint="try again later") from None
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as why:
        reason = getattr(why, "reason", None) or why
        if isinstance(reason, TimeoutError):
            raise GeneratorError(f"took more than {timeout:g} s", file=url, hint="try again later") from None
        raise GeneratorError(f"cannot be fetched: {reason}", file=url) from None


def _body(answer: http.client.HTTPResponse, url: str, deadline: float) -> bytes:
    wanted = answer.headers.get("Content-Length")
    chunks: list[bytes] = []
    size = 0
    while chunk := answer.read1(65536):
        chunks.append(chunk)
        size += len(chunk)
        if time.monotonic() > deadline:
            raise TimeoutError
        if size > LIMIT:
            raise GeneratorError(f"is larger than {LIMIT} bytes", file=url, hint="is this a schema?")
    if wanted is not None and wanted.isdecimal() and size != int(wanted):
        raise GeneratorError(f"was cut short: {size} of {wanted} bytes came", file=url, hint="try again")
    return b"".join(chunks)
