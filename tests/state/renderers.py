"""Four renderers of Markdown, set up as permissively as they can be, and a judge of the pages that they make.

Each lets raw HTML and links of any kind pass, and has its extensions on: what keeps a page quiet is the Markdown alone.
"""

import html
import importlib
import re
from collections.abc import Callable
from typing import Any

from markdown_it import MarkdownIt

from tests.page_support import Page

Renderer = Callable[[str], str]
FORMATTING = frozenset(
    [
        "p",
        "br",
        "hr",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "blockquote",
        "ul",
        "ol",
        "li",
        "pre",
        "code",
        "em",
        "strong",
        "a",
        "del",
        "s",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "input",
        "sup",
        "sub",
        "section",
        "div",
        "span",
        "dl",
        "dt",
        "dd",
        "abbr",
        "mark",
        "ins",
        "img",
    ]
)
"""The elements that only format; pictures are looked at one by one."""
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[\w+/=]+")
TARGET = re.compile(r"(?:https?://|mailto:).*|[\w./#-]*", re.IGNORECASE | re.DOTALL)
ATTRIBUTES = frozenset(
    [
        "href",
        "title",
        "alt",
        "src",
        "class",
        "id",
        "type",
        "disabled",
        "checked",
        "start",
        "rel",
        "align",
        "style",
        "scope",
    ]
)
STYLE = re.compile(r"text-align: ?(?:left|right|center);?")


def _markdown_it(kind: str) -> Renderer:
    parser = MarkdownIt(kind, {"html": True, "linkify": False})
    vars(parser)["validateLink"] = lambda _: True  # pyright: ignore[reportUnknownLambdaType]
    return parser.render


def _python_markdown() -> Renderer:
    markdown: Any = importlib.import_module("markdown")
    names = ["extra", "nl2br", "sane_lists", "toc", "wikilinks", "admonition", "smarty"]
    return lambda text: str(markdown.markdown(text, extensions=names))


def _mistune() -> Renderer:
    mistune: Any = importlib.import_module("mistune")
    directives: Any = importlib.import_module("mistune.directives")
    renderer = mistune.HTMLRenderer(escape=False, allow_harmful_protocols=True)
    names = "strikethrough footnotes table url task_lists def_list abbr mark insert superscript subscript math spoiler"
    pictures = directives.RSTDirective([directives.Image(), directives.Figure()])
    parser = mistune.create_markdown(renderer=renderer, plugins=[*names.split(), pictures])
    return lambda text: str(parser(text))


def _cmark_gfm() -> Renderer:
    cmark: Any = importlib.import_module("cmarkgfm.cmark")
    options = cmark.Options.CMARK_OPT_UNSAFE | cmark.Options.CMARK_OPT_FOOTNOTES
    extensions = ["table", "autolink", "strikethrough", "tasklist"]
    return lambda text: str(cmark.markdown_to_html_with_extensions(text, options, extensions=extensions))


RENDERERS: dict[str, Renderer] = {
    "markdown-it-py": _markdown_it("gfm-like"),
    "markdown-it-py, as specified": _markdown_it("commonmark"),
    "Python-Markdown": _python_markdown(),
    "mistune": _mistune(),
    "cmark-gfm": _cmark_gfm(),
}


def acts(page: str) -> list[str]:
    """List what in a page loads, runs, or leads to anything but a page, an address or a file beside."""
    found: list[str] = []
    for tag, attributes in Page(page).elements:
        shown = f"<{tag} {attributes}>"
        if tag not in FORMATTING or not attributes.keys() <= ATTRIBUTES:
            found.append(shown)
        if tag == "img" and not PICTURE.fullmatch(attributes.get("src") or ""):
            found.append(shown)
        if tag != "img" and "src" in attributes:
            found.append(shown)
        if not TARGET.fullmatch(html.unescape(attributes.get("href") or "")):
            found.append(shown)
        if not STYLE.fullmatch(attributes.get("style") or "text-align: left"):
            found.append(shown)
    return found
