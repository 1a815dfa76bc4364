"""The fast path of responses: what follows the id decides which decoder reads the whole message, in one pass."""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from .._decode.hook import dec_hook
from .expectations import Expectations
from .schema import MessageSchema, checked

Read = Callable[[Any], Any]


class Answers(Struct):
    """The decoders of responses, by the method of the request; each is built at the first need."""

    schema: MessageSchema
    results: dict[str | None, Read] = field(default_factory=dict[str | None, Read])
    failures: list[Read] = []
    """The decoder of error responses, once it is built."""
    expectations: Expectations = field(default_factory=Expectations)

    def of_method(self, method: str | None) -> Read:
        """Return the decoder of the successful response to a request for `method`; without a known one it stays raw."""
        known = self.schema.methods.get(method) if method is not None else None
        if known is None or known.response is None:
            read = self.results[None] = _raw(self.schema)
            return read
        self._forget(known.name)
        return self.results[method]

    def expect(self, method: str) -> None:
        """Read second choices at once in the response to a request for `method`, until one has none."""
        kind = self.schema.response[self.schema.methods[method].response]
        wide = self.expectations.wide(kind, partial(self._forget, method))
        self.results[method] = self.expectations.decoder(wide, partial(self._decoder, wide))

    def _forget(self, method: str) -> None:
        kind = self.schema.response[self.schema.methods[method].response]
        self.results[method] = self.expectations.decoder(kind, partial(self._decoder, kind))

    def failure(self, buf: Any) -> Any:
        """Decode an error response whose keys are those of the class."""
        if not self.failures:
            self.failures.append(self._decoder(_strict_failure(self.schema.error_response)))
        return self.failures[0](buf)

    def _decoder(self, kind: Any) -> Read:
        return msgspec.json.Decoder(kind, dec_hook=dec_hook).decode


def _raw(schema: MessageSchema) -> Read:
    read = msgspec.json.Decoder(schema.response[Raw], dec_hook=dec_hook).decode

    def decode(buf: Any) -> Any:
        answer = read(buf)
        answer.result = checked(answer.result)
        return answer

    return decode


def _strict_failure(kind: Any) -> Any:
    """Return a class that reads objects of `kind` without any other key, such as a result."""

    def become(self: Any) -> None:
        self.__class__ = kind

    namespace = {"__module__": kind.__module__, "__post_init__": become}
    metaclass: Any = kind.__class__
    return metaclass(kind.__name__, (kind,), namespace, forbid_unknown_fields=True)
