"""The Jinja environment, where an undefined name in a template is an error. Only this module imports Jinja."""

from functools import cache

import jinja2

from generator.source import ROOT


@cache
def environment(*, autoescape: bool = False) -> jinja2.Environment:
    """Return the environment for `templates/`, created once as it keeps compiled templates; only HTML is escaped."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=autoescape,
    )
