"""Checking what was built by hand before it is sent: msgspec checks nothing on construction."""

from typing import Any

import msgspec
from msgspec import ValidationError

from ._repair import KEPT, Mismatch, Walk
from ._variants import UnknownVariant, enc_hook


def validate(obj: Any, /, *, type: Any = None) -> None:
    """Check that `obj` is what a strict reader accepts, and what the schema asks of a sender beyond that.

    Checked are required fields, types, ranges, enumeration values and tags, and the limits that readers do not
    enforce: lengths, patterns, bounds of floats, Base64, the form of URIs and date-times. An `UnknownVariant` passes
    as it came.

    `type` is what the peer expects, by default the class of `obj`; name it to check lists and members of unions.

    Raises `msgspec.ValidationError` with the JSON path of the first misfit.
    """
    kind = obj.__class__ if type is None else type
    try:
        plain = msgspec.to_builtins(obj, enc_hook=_plain)
        msgspec.json.encode(plain)  # finds text that is no Unicode and numbers that JSON cannot carry
    except (TypeError, OverflowError) as why:
        raise ValidationError(f"The object holds what JSON cannot carry: {why}") from None
    except UnicodeEncodeError:
        raise ValidationError("The object holds text with a lone surrogate, which is no Unicode text") from None
    except RecursionError:
        raise ValidationError("The object is nested too deeply") from None
    try:
        Walk(strict=True, sending=True).whole(kind, plain)
    except Mismatch as why:
        raise ValidationError(str(why)) from None


def _plain(value: Any) -> Any:
    # An object of a wrong class may have a tag that is unknown here, too; only what was kept on purpose may pass.
    return {value.tag_field: value.tag, KEPT: True} if isinstance(value, UnknownVariant) else enc_hook(value)
