"""The judge of the round trip: reads what an instance gives, writes it, reads it again, and compares.

It works on any generated package, be it the pinned one or one that a test has made elsewhere.
"""

import json
from collections.abc import Mapping
from enum import EnumType
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import msgspec

from tests.oracle.instances import Maker, Pair, Style, beyond, excluded, is_ambiguous, lacking
from tests.oracle.schema_parts import ROUTING, Call
from tests.oracle.spelling import is_array, is_object


class Judge:
    """Judges one schema's module of a package; a complaint is an AssertionError with what was given."""

    def __init__(self, package: Any, module: ModuleType) -> None:
        self.package = package
        self.exports: dict[str, Any] = {name: getattr(module, name) for name in module.__all__}
        self.decoder = cache(package.Decoder)

    def types(self) -> dict[str, Any]:
        """Give the exports that a decoder can be built for."""
        kinds = {n: k for n, k in self.exports.items() if not isinstance(k, FunctionType | Mapping)}
        # A side that handles no methods has an enumeration without members, which no decoder takes.
        return {n: k for n, k in kinds.items() if not (isinstance(k, EnumType) and not len(k))}

    def build_decoders(self) -> None:
        """Build a decoder for every export."""
        for name, kind in self.types().items():
            try:
                self.decoder(kind)
            except TypeError as why:
                raise AssertionError(f"{name}: {why}") from None

    def written(self, kind: Any, pair: Pair) -> Any:
        """Read a value, demand that what is written for it is what the schema asks for, and give what was read."""
        read = self.package.decode_strict(json.dumps(pair.given), type=kind)
        found = json.loads(self.package.encode(read))
        assert text(found) == text(pair.written), f"{text(pair.given)} is written as {text(found)}"
        return read

    def trip(self, kind: Any, pair: Pair) -> None:
        """Read, write and read again, through JSON and through plain values."""
        read = self.written(kind, pair)
        again = self.decoder(kind).decode(self.package.encode(read))
        assert again == read
        assert type(again) is type(read)
        builtins = self.package.to_builtins(read)
        assert plain(builtins)
        assert text(builtins) == text(pair.written)
        assert self.package.convert(pair.given, type=kind) == read
        assert self.package.convert(builtins, type=kind) == read

    def refused(self, kind: Any, given: Any) -> bool:
        """Say whether neither a strict nor a forgiving reader takes a value."""
        for read in (self.package.decode_strict, self.package.decode):
            try:
                read(json.dumps(given), type=kind)
            except msgspec.ValidationError:
                continue
            return False
        return True

    def definition(self, maker: Maker, key: str) -> None:
        """Try all instances of a definition."""
        pairs = maker.alone(key)
        assert pairs, "no instances"
        for pair in pairs:
            if is_ambiguous(maker.schema, key, pair.given):
                self.package.decode(json.dumps(pair.given), type=self.exports[key])
                continue
            # Disorder and unknown keys matter to the first reading alone.
            (self.written if maker.style is Style.NOISY else self.trip)(self.exports[key], pair)

    def lacking(self, maker: Maker, key: str) -> None:
        """Take away each required key in turn."""
        for given, _ in maker.pairs(key) if maker.schema.kind(key) in ("struct", "union") else ():
            for what, rest in lacking(maker.schema, key, given):
                assert self.refused(self.exports[key], rest), f"{what}: {rest}"

    def excluded(self, maker: Maker, key: str) -> int:
        """Add each key that excludes an object from its union, and count them."""
        tried = 0
        for given, _ in maker.pairs(key) if maker.schema.kind(key) == "union" else ():
            for what, more in excluded(maker.schema, key, given):
                assert self.refused(self.exports[key], more), f"{what}: {more}"
                tried += 1
        return tried

    def beyond(self, maker: Maker, key: str) -> None:
        """Go beyond each limit that readers enforce."""
        for given, _ in maker.pairs(key):
            for what, value in beyond(maker.schema, key, given):
                assert self.refused(self.exports[key], value), f"{what}: {value}"

    def null(self, maker: Maker, key: str) -> None:
        """Give null for a payload of a method: to a forgiving reader it may be an object without keys."""
        kind = self.exports[key]
        if not maker.schema.null_is_empty(key):
            assert self.refused(kind, None), "null is taken"
            return
        empty = self.package.decode_strict(b"{}", type=kind)
        assert self.package.decode(b"null", type=kind) == empty
        assert self.package.convert(None, type=kind) == empty
        assert self.written(kind, Pair({}, json.loads(self.package.encode(empty)))) == empty
        try:
            self.package.decode_strict(b"null", type=kind)
        except msgspec.ValidationError:
            return
        raise AssertionError("a strict reader takes null")

    def messages(self, maker: Maker, routing: str) -> None:
        """Try whole messages, by their routing union and by their own envelopes."""
        tripped = set[str]()
        for call, pair in maker.messages(routing):
            (self.written if maker.style is Style.NOISY else self.trip)(self.exports[routing], pair)
            own = "ErrorResponse" if call is None else "Response" if call.kind == "response" else f"{call.key}Message"
            if own not in tripped:
                tripped.add(own)
                self.trip(self.exports[own], pair)
                if call is not None and call.kind != "response":
                    self.built(call, pair)
        assert tripped, f"{ROUTING[routing]}s: no messages"

    def built(self, call: Call, pair: Pair) -> None:
        """Build a message from its params, where those have a class of their own."""
        message = self.package.decode(json.dumps(pair.given), type=self.exports[f"{call.key}Message"])
        if type(message.params).__name__ == call.key:  # another name for others' params goes by the method of those
            given = (message.id, message.params) if call.kind == "request" else (message.params,)
            made = self.exports[call.kind](*given)
            assert made == message, f"built as {made}"


def text(value: Any) -> str:
    """Give JSON text that differs where values do: `1` is not `1.0`, and the order of keys counts."""
    return json.dumps(value)


def plain(value: Any) -> bool:
    """Say whether a value consists of nothing but what `json.loads` gives."""
    if is_object(value):
        return type(value) is dict and all(type(k) is str and plain(v) for k, v in value.items())
    if is_array(value):
        return type(value) is list and all(map(plain, value))
    return value is None or type(value) in (str, int, float, bool)
