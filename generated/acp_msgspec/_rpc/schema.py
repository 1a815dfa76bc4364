"""The message schema: the envelopes and methods of one protocol schema, and how params and results are read."""

from typing import Any, NoReturn

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, ValidationError, field

from .._decode.classes import accepts, class_names, instance_check, why_invalid
from .._decode.context import MAX_RECORDED, Skipped
from .._decode.hook import dec_hook, engine, second_choices
from .._decode.malformed import check_json, plain_values, reason, without_byte_order_mark
from .._decode.paths import Mismatch, Step, json_path, mismatch_path, pattern_of
from .._decode.report import OnSkip, record_limit, report
from .._decode.strict import strict_decoder
from .._types.inputs import Buffer, Unknown
from .._types.structs import AcpStruct
from .._types.variants import CatchAll, UnknownVariant, enc_hook
from .batch import BATCH_LIMIT
from .codes import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from .encoding import encode
from .errors import MessageError, RequestError
from .methods import Method

TITLES = {
    PARSE_ERROR: "Parse error",
    INVALID_REQUEST: "Invalid request",
    METHOD_NOT_FOUND: "Method not found",
    INVALID_PARAMS: "Invalid params",
}

PLAIN = (str, int, float, list, tuple, dict)


class MessageSchema(Struct):
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
    """Envelopes of the decoders, and those that can only be built."""
    carriers: dict[tuple[Any, bool], type[Any]] = field(default_factory=dict[tuple[Any, bool], type[Any]])
    """The envelope for a class of params and whether it is a request; filled at the first use."""
    results: set[Any] = field(default_factory=set[Any])
    """The classes of all results, and `Raw`; filled at the first use."""
    refusals: dict[int, Any] = field(default_factory=dict[int, Any])
    """An error for each code, to copy others from."""

    def refusal(self, request_id: Any, code: int, detail: str) -> Any:
        """Build the error response that refuses a message."""
        known = self.refusals.get(code)
        if known is not None:
            return self.error_response(id=request_id, error=msgspec.structs.replace(known, data=detail))
        error = msgspec.convert({"code": code, "message": TITLES[code], "data": detail}, self.error, dec_hook=dec_hook)
        if getattr(error, "data", None) is detail:  # free JSON is not converted, so the error can be copied
            self.refusals[code] = error
        return self.error_response(id=request_id, error=error)

    def refused(self, request_id: Any, error: Any) -> Any:
        """Build the error response for an error object or a `RequestError`."""
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
        """Decode the result of a request for `method` and report the repairs; raise `MessageError`."""
        try:
            part = raw if isinstance(raw, Raw) else as_raw(raw)
        except UnicodeEncodeError as why:
            self.fail(None, reason(why, raw), method=method)
        try:
            result, skipped = self.result(method, part, unknown, limit=record_limit(on_skip))
        except Mismatch as why:
            self.fail(None, why.message, path=why.path, method=method)
        except DecodeError as why:
            self.fail(None, reason(why, part), method=method)
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
        """Raise `MessageError`, with a reply if `answered` is set."""
        place = json_path(path)
        detail = message if place == "$" else f"{message} - at `{place}`"
        reply = self.refusal(id, code, detail) if answered and code is not None else None
        raise MessageError(message, id=id, method=method, code=code, path=place, reply=reply)

    def refused_together(self, count: int, unread: int | None) -> MessageError:
        """Build one error for `count` refused messages of a batch, and for the unread ones from byte `unread` on."""
        problems = [f"{count} more messages of the batch were refused"] if count else []
        if unread is not None:
            problems.append(f"Only the first {BATCH_LIMIT} messages of the batch were read")
        text = ". ".join(problems)
        reply = self.refusal(None, INVALID_REQUEST, text)
        return MessageError(text, code=INVALID_REQUEST, reply=reply, count=count, unread=unread)

    def part(
        self,
        kind: Any,
        raw: Raw | UnsetType,
        key: str,
        unknown: Unknown,
        failed: Exception | None = None,
        *,
        limit: int = MAX_RECORDED,
    ) -> tuple[Any, list[Skipped]]:
        """Read params or a result. Absent and null count as an empty object if no key is required.

        `failed` is the error of the fast path of the whole message, if it failed in this part and no second choice was
        found there; it only saves time. `limit` is the number of repairs to list.

        Raises `Mismatch` with a path from the message's root, such as `$.params.x` where `key` is `params`, and
        `msgspec.DecodeError` for malformed JSON.
        """
        if raw is UNSET or bytes(raw).strip() == b"null":
            return _from_nothing(kind, key, absent=raw is UNSET)
        if failed is None:
            try:
                return strict_decoder(kind)(raw), []
            except (ValidationError, RecursionError) as why:
                wide = second_choices()
                found = wide.second_choice(kind, raw, pattern_of(why))
                if found is not wide.NOTHING:
                    return found, []
                mismatch = ["$", key, *mismatch_path(why)[1:]]
        else:
            mismatch = mismatch_path(failed)
        plain = plain_values(raw, (key,))
        keep = unknown == "keep"
        return engine().repair_part(kind, plain, keep_unknown=keep, path=(key,), mismatch=mismatch, limit=limit)

    def envelope_of(self, params: Any, *, of_request: bool) -> type[Any]:
        """Return the envelope that carries params of this class; raise `TypeError` if none does."""
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
        """Return whether the type of the method's result is known."""
        known = self.methods.get(method) if method is not None else None
        return known is not None and known.response is not None

    def result_kind(self, method: str) -> Any:
        """Return the type of the result of a request for `method`.

        Raises `ValueError` if the protocol has no such request.
        """
        known = self.methods.get(method)
        if known is None or known.response is None:
            raise ValueError(f"{method!r} is not a request of this protocol")
        return known.response

    def check_result(self, result: Any, method: str | None) -> None:
        """Check a result that is about to be sent: its class, and plain values too if the method is known.

        Raises `TypeError` if no method, or not this one, has such a result.
        """
        if method is not None:
            problem = None if method.startswith("_") else why_invalid(self.result_kind(method), result)
            if problem is not None:
                raise TypeError(f"{problem}, for the result of {method!r}")
            return
        if not self.results:
            self.results = {Raw}.union(*(accepts(m.response) for m in self.methods.values() if m.response is not None))
        cls = result.__class__
        # Free JSON as a result does not mean that an instance of a params class is a result.
        is_free = object in self.results and not isinstance(result, AcpStruct | CatchAll)
        if self.results == {Raw}:
            return  # an early schema: no method has a result
        if not is_free and not any(c in self.results for c in cls.__mro__ if c is not object):
            hint = "; plain values need `method`, or to be Raw" if result is None or isinstance(result, PLAIN) else ""
            raise TypeError(f"No method has a result of the class {cls.__name__}; expected a response class{hint}")

    def result(
        self,
        method: str,
        raw: Raw | UnsetType,
        unknown: Unknown,
        failed: Exception | None = None,
        *,
        limit: int = MAX_RECORDED,
    ) -> tuple[Any, list[Skipped]]:
        """Read the result of a request for `method`, and list the repairs."""
        if method.startswith("_") and isinstance(raw, Raw) and method not in self.methods:
            return checked(raw), []
        return self.part(self.result_kind(method), raw, "result", unknown, failed, limit=limit)


def checked(raw: Raw) -> Raw:
    """Check that a raw part is JSON and return a copy of it, as the caller may reuse the buffer."""
    check_json(raw)
    return raw.copy()


def _from_nothing(kind: Any, key: str, *, absent: bool) -> tuple[Any, list[Skipped]]:
    what = "nothing" if absent else "null"
    reader = engine().reader_of(kind)
    if reader.viable(None) and not getattr(kind, "__takes_null__", False):
        return None, []
    if not reader.viable({}):
        if absent:
            raise Mismatch(f"Object missing required field `{key}`", ())
        raise Mismatch("Expected `object`, got `null`", (key,))
    value, _ = engine().repair_part(kind, {}, path=(key,))
    skipped = Skipped(json_path((key,)), None, f"Expected `object`, got {what}", "default")
    return value, [skipped]


def as_raw(raw: Buffer) -> Raw:
    """Return JSON in any kind of buffer as a raw part, without its byte order mark."""
    rest = without_byte_order_mark(raw)
    text: Buffer = raw if rest is None else rest
    return Raw(text.encode() if isinstance(text, str) else bytes(text))


def extension_method(method: str) -> str:
    """Return the name of an extension method; raise `ValueError` if it does not begin with an underscore."""
    if not method.startswith("_"):
        raise ValueError(f"{method!r} is not an extension method: it does not begin with an underscore")
    return method


def raw_json(value: Any) -> Raw | UnsetType:
    """Encode any JSON value to raw JSON, as `encode` does; raw JSON and UNSET are returned as they are."""
    return value if isinstance(value, Raw | UnsetType) else Raw(encode(value))


_FIELD_TYPES: dict[type[Any], Any] = {}


def field_type(envelope: type[Any], name: str) -> Any:
    """Return the resolved type of a field."""
    if envelope not in _FIELD_TYPES:
        _FIELD_TYPES[envelope] = next(f.type for f in msgspec.structs.fields(envelope) if f.name == name)
    return _FIELD_TYPES[envelope]
