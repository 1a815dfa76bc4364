"""Guessing which handler a method with a similar name was meant to be: `prompt` for `session_prompt`, for example.

A wrong guess refuses a helper method of the user. So a name alone only counts if it can hardly mean anything else. If a
helper may have the name as well, like `close` or `load`, the signature has to match the handler's too.
"""

import inspect
import re
from collections.abc import Container, Mapping
from difflib import SequenceMatcher
from enum import Enum, auto
from functools import cache
from typing import Any

from .handler_signatures import Function, read_signature

_PREFIXES = ("on", "handle", "do", "async")
_SUFFIXES = ("handler", "async")
"""Words that other libraries put around the name of a handler."""
_SDK_NAMES = {"extmethod": "extension_request", "extnotification": "extension_notification"}
"""Handlers that have an unrelated name in the official SDK."""
_DISTINCTIVE = frozenset({"prompt"})
"""Second words of handlers that mean the handler even alone; words like `close` and `load` do not."""
_GENERIC_PARAMETERS = frozenset({"", "notification", "param", "params", "req", "request"})
"""Usual names for the parameter of a handler."""
_UNTYPED = (inspect.Parameter.empty, Any, object, "Any", "object", "typing.Any")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class SignatureMatch(Enum):
    """How the signature of a method compares to a handler's."""

    MATCH = auto()
    UNCLEAR = auto()
    MISMATCH = auto()


Accepted = frozenset[SignatureMatch]
"""With which signatures a method counts as a misnamed handler, given its name."""
_ANY: Accepted = frozenset(SignatureMatch)
_NO_MISMATCH: Accepted = _ANY - {SignatureMatch.MISMATCH}
_ONLY_MATCH: Accepted = frozenset({SignatureMatch.MATCH})
_NEVER: Accepted = frozenset()


def guess_handler(
    name: str, method: Function, handlers: Mapping[str, Function], missing: Container[str], *, trust_name: bool
) -> str:
    """Return which handlers a method was probably meant to be, as text; empty for a helper method.

    `missing` are the names of those that the class does not have. A name that stands for several handlers alike, like
    `cancel`, is a helper's as soon as the class has one of them. With `trust_name`, a distinctive name counts with any
    signature.
    """
    words = _words(name)
    if "".join(words) in _SDK_NAMES and _SDK_NAMES["".join(words)] in missing:
        return f"`{_SDK_NAMES[''.join(words)]}`"
    while len(words) > 1 and words[0] in _PREFIXES:
        words = words[1:]
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words = words[:-1]
    for rule in (_if_same, _if_misspelt, _if_shortened, _if_reordered):
        found: list[str] = []
        for handler, base in handlers.items():
            accepted = rule(words, _handler_words(handler), trust_name) if name != handler else _NEVER
            if accepted and match_signature(method, base) in accepted:
                found.append(handler)
        if found and all(handler in missing for handler in found):
            return " or ".join(f"`{handler}`" for handler in found)
    return ""


def match_signature(method: Function, handler: Function) -> SignatureMatch:
    """Compare a method with a handler by the number, names and types of their parameters, and by their results."""
    try:
        signature, model = read_signature(method), read_signature(handler)
    except (TypeError, ValueError):
        return SignatureMatch.UNCLEAR
    own = list(signature.parameters.values())
    expected = list(model.parameters.values())[1:]
    expected_types = {_type_name(p.annotation) for p in expected} | {_type_name(model.return_annotation)}
    own_types = {_type_name(p.annotation) for p in own} | {_type_name(signature.return_annotation)}
    if own_types & expected_types - {"", "Any", "None", "str", "bool"}:
        return SignatureMatch.MATCH
    own = own[1:]  # without self
    try:
        signature.replace(parameters=own, return_annotation=signature.empty).bind(*expected)
    except TypeError:
        return SignatureMatch.MISMATCH
    if not own or not expected:
        return SignatureMatch.UNCLEAR
    first = own[0]
    if any(first.annotation is each or first.annotation == each for each in (*_UNTYPED, expected[0].annotation)):
        is_generic = first.name.strip("_") in _GENERIC_PARAMETERS or first.kind not in _POSITIONAL
        return SignatureMatch.MATCH if is_generic else SignatureMatch.UNCLEAR
    return SignatureMatch.MISMATCH


# Each rule compares the words of a method's name with those of a handler's.


def _if_same(words: list[str], handler: list[str], trust_name: bool) -> Accepted:
    """The names are the same but for case, underscores, prefixes and suffixes."""
    if "".join(words) != "".join(handler):
        return _NEVER
    return _ANY if len(handler) > 1 else _NO_MISMATCH


def _if_misspelt(words: list[str], handler: list[str], trust_name: bool) -> Accepted:
    """The names differ by a few letters."""
    if len(words) != len(handler):
        has_more = set(handler) <= set(words)  # like `session_list_ids`, which has another meaning
        is_close = len(handler) > 1 and not has_more and _is_close("".join(words), "".join(handler), 0.93)
        return _ANY if is_close else _NEVER
    pairs = [(a, b) for a, b in zip(words, handler, strict=True) if a != b]
    threshold = 0.8 if len(handler) > 1 else 0.9
    if not pairs or not all(_is_close(a, b, threshold) for a, b in pairs):
        return _NEVER
    if all(a.startswith(b) or b.startswith(a) for a, b in pairs):
        return _ONLY_MATCH  # `session_closed` and `session_prompts` have other meanings
    return _ANY if len(handler) > 1 else _NO_MISMATCH


def _if_shortened(words: list[str], handler: list[str], trust_name: bool) -> Accepted:
    """The name lacks the first word of the handler's, like `prompt` for `session_prompt`."""
    rest = handler[1:]
    if not rest or handler[0] in ("connection", "extension", "unknown"):
        return _NEVER
    is_distinctive = len(rest) > 1 or rest[0] in _DISTINCTIVE
    if words == rest:
        if not trust_name or not is_distinctive:
            return _ONLY_MATCH
        return _ANY if len(rest) == 1 else _NO_MISMATCH
    pairs = zip(words, rest, strict=False)
    is_close = len(words) == len(rest) and all(_is_close(a, b, 0.85) for a, b in pairs)
    return _ONLY_MATCH if is_distinctive and is_close else _NEVER


def _if_reordered(words: list[str], handler: list[str], trust_name: bool) -> Accepted:
    """The words are in another order, like `new_session` for `session_new` and `list_sessions` for `session_list`."""
    singular = sorted(word.removesuffix("s") for word in words)
    is_same = len(words) > 1 and singular == sorted(word.removesuffix("s") for word in handler)
    return _ONLY_MATCH if is_same else _NEVER


@cache
def _handler_words(handler: str) -> list[str]:
    return _words(handler)


def _words(name: str) -> list[str]:
    return [word for word in re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_") if word]


def _is_close(a: str, b: str, threshold: float) -> bool:
    """Return whether two words are similar, or have the same letters in another order."""
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.real_quick_ratio() < threshold or matcher.quick_ratio() < threshold:  # much faster, and rules out most
        return False
    return sorted(a) == sorted(b) or matcher.ratio() >= threshold


def _type_name(annotation: object) -> str:
    """Return the last part of a type's name, also if the annotation is a string; empty for a type without a name."""
    if annotation is inspect.Parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return str(text).rpartition(".")[2]
