"""Methods that handle nothing because of their names: which handler was probably meant, if any.

A wrong guess refuses somebody's helper, so that a name alone counts only where it can hardly be anything else. Where
it may as well be a helper's, as with `close` or `load`, the method has to look like a handler, too.
"""

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from enum import Enum, auto
from functools import cache
from typing import Any

Function = Callable[..., Any]

_BEFORE = ("on", "handle", "do", "async")
_BEHIND = ("handler", "async")
"""What other libraries put around the name of a handler."""
_ELSEWHERE = {"extmethod": "extension_request", "extnotification": "extension_notification"}
"""What the official SDK calls a handler, where that is another word."""
_TELLING = frozenset({"prompt"})
"""Words behind a handler's first one that mean the handler by themselves; `close`, `load` and the like do not."""
_GENERIC = frozenset({"", "notification", "param", "params", "req", "request"})
"""What the argument of a handler is called."""
_UNTYPED = (inspect.Parameter.empty, Any, object, "Any", "object", "typing.Any")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Look(Enum):
    """What the signature of a method says."""

    HANDLER = auto()
    UNCLEAR = auto()
    OTHER = auto()


Looks = frozenset[Look]
_ANY: Looks = frozenset(Look)
_NO_OTHER: Looks = _ANY - {Look.OTHER}
_HANDLER: Looks = frozenset({Look.HANDLER})
_NONE: Looks = frozenset()


def probably_meant(name: str, method: Function, handlers: Mapping[str, Function], *, is_sure: bool) -> str:
    """Name the handler that a method was probably meant to be; empty for none, as for a helper.

    `handlers` are those that the class lacks. `is_sure`: what is not a helper of the class must be a handler.
    """
    words = _words(name)
    if "".join(words) in _ELSEWHERE and _ELSEWHERE["".join(words)] in handlers:
        return _ELSEWHERE["".join(words)]
    while len(words) > 1 and words[0] in _BEFORE:
        words = words[1:]
    while len(words) > 1 and words[-1] in _BEHIND:
        words = words[:-1]
    for counts in (_as_same, _as_misspelt, _as_end, _as_shuffled):
        for handler, base in handlers.items():
            looks = counts(words, _handler_words(handler), is_sure) if name != handler else _NONE
            if looks and look_of(method, base) in looks:
                return handler
    return ""


def read_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Read the signature of a callable, also where annotations name what only type checkers import."""
    if sys.version_info >= (3, 14):  # they are evaluated here
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.FORWARDREF)
    return inspect.signature(function)


def look_of(method: Function, base: Function) -> Look:
    """Say whether a method looks as if it were to override `base`, by its arguments and their types."""
    try:
        signature, model = read_signature(method), read_signature(base)
    except (TypeError, ValueError):
        return Look.UNCLEAR
    own = list(signature.parameters.values())
    expected = list(model.parameters.values())[1:]
    types = {_type_name(p.annotation) for p in expected} | {_type_name(model.return_annotation)}
    found = {_type_name(p.annotation) for p in own} | {_type_name(signature.return_annotation)}
    if found & types - {"", "Any", "None", "str", "bool"}:
        return Look.HANDLER
    own = own[1:]  # without self
    try:
        signature.replace(parameters=own, return_annotation=signature.empty).bind(*expected)
    except TypeError:
        return Look.OTHER
    if not own or not expected:
        return Look.UNCLEAR
    first = own[0]
    if any(first.annotation is each or first.annotation == each for each in (*_UNTYPED, expected[0].annotation)):
        is_generic = first.name.strip("_") in _GENERIC or first.kind not in _POSITIONAL
        return Look.HANDLER if is_generic else Look.UNCLEAR
    return Look.OTHER


# Each gives the looks of a method with which its name counts as close to a handler's; none where it is not close.


def _as_same(words: list[str], handler: list[str], is_sure: bool) -> Looks:
    """Compare but for case, underscores and what is put around a name."""
    if "".join(words) != "".join(handler):
        return _NONE
    return _ANY if len(handler) > 1 else _NO_OTHER


def _as_misspelt(words: list[str], handler: list[str], is_sure: bool) -> Looks:
    if len(words) != len(handler):
        has_more = set(handler) <= set(words)  # as `session_list_ids`, which says something else
        is_close = len(handler) > 1 and not has_more and _is_close("".join(words), "".join(handler), 0.93)
        return _ANY if is_close else _NONE
    pairs = [(a, b) for a, b in zip(words, handler, strict=True) if a != b]
    least = 0.8 if len(handler) > 1 else 0.9
    if not pairs or not all(_is_close(a, b, least) for a, b in pairs):
        return _NONE
    if all(a.startswith(b) or b.startswith(a) for a, b in pairs):
        return _HANDLER  # `session_closed` and `session_prompts` are words of their own
    return _ANY if len(handler) > 1 else _NO_OTHER


def _as_end(words: list[str], handler: list[str], is_sure: bool) -> Looks:
    """Compare without the first word of the handler, as `prompt` with `session_prompt`."""
    end = handler[1:]
    if not end or handler[0] in ("connection", "extension", "unknown"):
        return _NONE
    is_telling = len(end) > 1 or end[0] in _TELLING
    if words == end:
        if not is_sure or not is_telling:
            return _HANDLER
        return _ANY if len(end) == 1 else _NO_OTHER
    pairs = zip(words, end, strict=False)
    is_close = len(words) == len(end) and all(_is_close(a, b, 0.85) for a, b in pairs)
    return _HANDLER if is_telling and is_close else _NONE


def _as_shuffled(words: list[str], handler: list[str], is_sure: bool) -> Looks:
    """Compare in any order, as `new_session` with `session_new`, and `list_sessions` with `session_list`."""
    singular = sorted(word.removesuffix("s") for word in words)
    is_same = len(words) > 1 and singular == sorted(word.removesuffix("s") for word in handler)
    return _HANDLER if is_same else _NONE


@cache
def _handler_words(handler: str) -> list[str]:
    return _words(handler)


def _words(name: str) -> list[str]:
    return [word for word in re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_") if word]


def _is_close(a: str, b: str, least: float) -> bool:
    """Compare two words; letters in another order are a slip, too."""
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:  # which is most of them, and much faster
        return False
    return sorted(a) == sorted(b) or matcher.ratio() >= least


def _type_name(annotation: object) -> str:
    """Give the last part of a type's name, also where an annotation is text; empty where it has no name."""
    if annotation is inspect.Parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return str(text).rpartition(".")[2]
