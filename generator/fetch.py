"""Fetching over HTTP(S): the only module that uses the network; only `pin` calls it."""

import http.client
import time
import urllib.error
import urllib.request

from generator.errors import GeneratorError

TIMEOUT = 30.0  # seconds for one file, redirects included
LIMIT = 64 * 2**20  # bytes; upstream's largest file is less than a hundredth of this


def fetch(url: str, timeout: float = TIMEOUT) -> bytes | None:
    """Return the body of `url`, or None if the file does not exist; raise `GeneratorError` for any other failure."""
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
