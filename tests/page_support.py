"""What the tests of single pages share: a reader of their elements, and a browser that runs them."""

import subprocess
from html.parser import HTMLParser
from pathlib import Path

from tests.docs.support import find_browser, missing

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--dump-dom"),
)


class Page(HTMLParser):
    """Takes down the elements of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str, css: str | None = None) -> list[dict[str, str | None]]:
        """List the attributes of the elements with a tag and a class."""
        found = [attributes for name, attributes in self.elements if name == tag]
        return [a for a in found if css is None or css in (a.get("class") or "").split()]


def shown_in_browser(page: Path, profile: Path, fragment: str = "") -> str:
    """Open a page in Chromium, and give its document once its scripts have run."""
    browser = find_browser()
    if browser is None:
        missing("Chromium is not installed (Debian: apt-get install chromium)")
    command = [browser, *FLAGS, f"--user-data-dir={profile}", f"{page.as_uri()}{fragment}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
