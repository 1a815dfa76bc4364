"""The message layer of one schema: its classes, its methods, and how the parts of a message are read."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NoReturn

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, ValidationError, field

from ._batch import BATCH_LIMIT
from ._classes import accepts, class_names, instance_check, why_unfit
from ._diagnosis import after_mark, check_json, plain_values, reason
from ._errors import MessageError, RequestError
from ._hooks import dec_hook
from ._methods import Method
from ._observe import OnSkip, report
from ._repair import Mismatch, Skipped, Step, json_path, misfit_path, walk_mismatching
from ._structs import AcpStruct
from ._variants import CatchAll, UnknownVariant, enc_hook

Buffer = bytes | bytearray | memoryview | str
Unknown = Literal["reject", "keep"]

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
TITLES = {
    PARSE_ERROR: "Parse error",
    INVALID_REQUEST: "Invalid request",
    METHOD_NOT_FOUND: "Method not found",
    INVALID_PARAMS: "Invalid params",
}

PLAIN = (str, int, float, list, tuple, dict)


class Layer(Struct):
    """The message classes of one schema."""

    methods: dict[str, Method]
    request_id: Any
    error: Any
    request: type[Any]
    response: Any
    """A generic class: its parameter is the type of the result."""
    error_response: type[Any]
    extension_request: type[Any]
    extension_notification: type[Any]
    envelopes: list[type[Any]] = field(default_factory=list[type[Any]])
    """Those of its readers, and those that can be built alone."""
    carriers: dict[tuple[Any, bool], type[Any]] = field(default_factory=dict[tuple[Any, bool], type[Any]])
    """Which envelope carries which class of params, in a request or not; found at the first use."""
    results: set[Any] = field(default_factory=set[Any])
    """The classes of all results, and `Raw`; found at the first use."""

    def refusal(self, request_id: Any, code: int, detail: str) -> Any:
        """Make the error response that refuses a message."""
        error = msgspec.convert({"code": code, "message": TITLES[code], "data": detail}, self.error, dec_hook=dec_hook)
        return self.error_response(id=request_id, error=error)

    def refused(self, request_id: Any, error: Any) -> Any:
        """Make the error response of an error, or of the exception that stands for one."""
        if isinstance(error, RequestError):
            plain = {
                "code": error.code,
                "message": error.message,
                "data": msgspec.to_builtins(error.data, enc_hook=enc_hook),
            }
            error = msgspec.convert(plain, self.error, dec_hook=dec_hook)
        elif not instance_check(self.error)(error):
            wanted = f"{class_names(self.error)} or RequestError"
            raise TypeError(f"An error response needs an error: expected {wanted}, got {error.__class__.__name__}")
        return self.error_response(id=request_id, error=error)

    def decode_result(self, method: str, raw: Any, unknown: Unknown, on_skip: OnSkip | None) -> Any:
        """Read the result that answers a request for `method`, and tell of the repairs."""
        try:
            result, skipped = self.result(method, raw if isinstance(raw, Raw) else as_raw(raw), unknown)
        except Mismatch as why:
            self.fail(None, why.message, path=why.path, method=method)
        except DecodeError as why:
            self.fail(None, str(why), method=method)
        if skipped:
            report(skipped, on_skip)
        return result

    def fail(
        self,
        code: int | None,
        message: str,
        *,
        path: tuple[Step, ...] = (),
        id: Any = None,
        method: str | None = None,
        answered: bool = False,
    ) -> NoReturn:
        """Raise the error of a message, with the reply where one is due."""
        place = json_path(path)
        detail = message if place == "$" else f"{message} - at `{place}`"
        reply = self.refusal(id, code, detail) if answered and code is not None else None
        raise MessageError(message, id=id, method=method, code=code, path=place, reply=reply)

    def refused_together(self, count: int, unread: int | None) -> MessageError:
        """Make the one error for `count` messages of a batch, and for those from `unread` on, which were not read."""
        problems = [f"{count} more messages of the batch were refused"] if count else []
        if unread is not None:
            problems.append(f"Only the first {BATCH_LIMIT} messages of the batch were read")
        text = ". ".join(problems)
        reply = self.refusal(None, INVALID_REQUEST, text)
        return MessageError(text, code=INVALID_REQUEST, reply=reply, count=count, unread=unread)

    def part(
        self, kind: Any, raw: Raw | UnsetType, key: str, unknown: Unknown, misfit: Sequence[str] = ()
    ) -> tuple[Any, list[Skipped]]:
        """Read params or a result; absent and null stand for an empty object where no key is required.

        `misfit` is where in the message the strict pass has failed already, if it has; that is about time alone.

        Raises `Mismatch` with a path from the message's root, and `msgspec.DecodeError` for malformed JSON.
        """
        if raw is UNSET or bytes(raw).strip() == b"null":
            return _from_nothing(kind, key, absent=raw is UNSET)
        if not misfit:
            try:
                return strict_decoder(kind)(raw), []
            except (ValidationError, RecursionError) as why:
                misfit = ("$", key, *misfit_path(why)[1:])
        plain = plain_values(raw, (key,))
        value, skipped = walk_mismatching(kind, plain, keep_unknown=unknown == "keep", path=(key,), misfit=misfit)
        return value, skipped

    def envelope_of(self, params: Any, *, of_request: bool) -> type[Any]:
        """Find the envelope that carries params of a class; raise `TypeError` where none does."""
        if not self.carriers:
            self._find_carriers()
        found = self.carriers.get((params.__class__, of_request))
        if found is None:
            what, other = ("request", "notification") if of_request else ("notification", "request")
            problem = f"No {what} has params of the class {params.__class__.__name__}"
            hint = f"; it belongs to a {other}" if (params.__class__, not of_request) in self.carriers else ""
            raise TypeError(f"{problem}{hint}; expected the class that a method has for its params")
        return found

    def _find_carriers(self) -> None:
        for envelope in self.envelopes:
            of_request = issubclass(envelope, self.request)
            for kind in accepts(field_type(envelope, "params")) - {UnknownVariant, object}:
                self.carriers.setdefault((kind, of_request), envelope)

    def has_result(self, method: str | None) -> bool:
        """Whether the type of a method's result is known."""
        known = self.methods.get(method) if method is not None else None
        return known is not None and known.response is not None

    def result_kind(self, method: str) -> Any:
        """Give the type of the result that answers a request for `method`.

        Raises `ValueError` for a method that is not a request of the protocol.
        """
        known = self.methods.get(method)
        if known is None or known.response is None:
            raise ValueError(f"{method!r} is no request of this protocol")
        return known.response

    def check_result(self, result: Any, method: str | None) -> None:
        """Check the class of a result that is about to be sent, and a plain value where the method is known.

        Raises `TypeError` where no method, or not this one, has such a result.
        """
        if method is not None:
            problem = None if method.startswith("_") else why_unfit(self.result_kind(method), result)
            if problem is not None:
                raise TypeError(f"{problem}, for the result of {method!r}")
            return
        if not self.results:
            self.results = {Raw}.union(*(accepts(m.response) for m in self.methods.values() if m.response is not None))
        cls = result.__class__
        # A result of free JSON does not make a result of the params of some method.
        is_free = object in self.results and not isinstance(result, AcpStruct | CatchAll)
        if not is_free and not any(c in self.results for c in cls.__mro__ if c is not object):
            hint = "; plain values need `method`, or to be Raw" if result is None or isinstance(result, PLAIN) else ""
            raise TypeError(f"No method has a result of the class {cls.__name__}; expected a response class{hint}")

    def result(
        self, method: str, raw: Raw | UnsetType, unknown: Unknown, misfit: Sequence[str] = ()
    ) -> tuple[Any, list[Skipped]]:
        """Read the result that answers a request for `method`."""
        if method.startswith("_") and isinstance(raw, Raw) and method not in self.methods:
            return checked(raw), []
        return self.part(self.result_kind(method), raw, "result", unknown, misfit)


def checked(raw: Raw) -> Raw:
    """Keep a raw part as it came, once it is known to be JSON; the buffer that it came in may change."""
    check_json(raw)
    return raw.copy()


def _from_nothing(kind: Any, key: str, *, absent: bool) -> tuple[Any, list[Skipped]]:
    from ._compile import plan_of

    what = "nothing" if absent else "null"
    plan = plan_of(kind)
    if plan.viable(None):
        return None, []
    if not plan.viable({}):
        if absent:
            raise Mismatch(f"Object missing required field `{key}`", ())
        raise Mismatch("Expected `object`, got `null`", (key,))
    value, _ = walk_mismatching(kind, {}, path=(key,))
    skipped = Skipped(json_path((key,)), None, f"Expected `object`, got {what}", "default")
    return value, [skipped]


_DECODERS: dict[Any, Callable[[Any], Any]] = {}


def strict_decoder(kind: Any) -> Callable[[Any], Any]:
    """Give the strict decoder of a type, built at the first call."""
    found = _DECODERS.get(kind)
    if found is None:
        found = _DECODERS[kind] = msgspec.json.Decoder(kind, dec_hook=dec_hook).decode
    return found


def as_raw(raw: Buffer) -> Raw:
    """Take JSON of any kind of buffer as a raw part, without a byte order mark."""
    rest = after_mark(raw)
    text: Buffer = raw if rest is None else rest
    try:
        return Raw(text.encode() if isinstance(text, str) else bytes(text))
    except UnicodeEncodeError as why:
        raise DecodeError(reason(why, text)) from None


def extension_method(method: str) -> str:
    """Give back the name of an extension method; raise `ValueError` for a name that is none."""
    if not method.startswith("_"):
        raise ValueError(f"{method!r} is no extension method, since it does not begin with an underscore")
    return method


def raw_json(value: Any) -> Raw | UnsetType:
    """Encode any JSON value once and for all; raw JSON and UNSET stay what they are."""
    return value if isinstance(value, Raw | UnsetType) else Raw(msgspec.json.encode(value, enc_hook=enc_hook))


_FIELD_TYPES: dict[type[Any], Any] = {}


def field_type(envelope: type[Any], name: str) -> Any:
    """Give the resolved type of a field."""
    if envelope not in _FIELD_TYPES:
        _FIELD_TYPES[envelope] = next(f.type for f in msgspec.structs.fields(envelope) if f.name == name)
    return _FIELD_TYPES[envelope]
