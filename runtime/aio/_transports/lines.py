"""Messages as lines of a byte stream, as the transports over pipes, terminals and files send and receive them."""

from collections.abc import Callable, Sequence
from typing import Any

from ..._rpc.framing import LineSplitter, LineTooLong
from .descriptors import is_network
from .flow_control import FlowControl
from .receive_buffer import ReceiveBuffer

JOINED = 1024 * 1024
"""Messages of up to this many bytes in total are joined into one write."""

READ_SIZE = 64 * 1024
"""How many bytes are read at once: what a pipe holds. By default asyncio makes room for four times as many, which the
system maps and unmaps each time."""


def read_small(transport: Any) -> None:
    """Have one of asyncio's transports read `READ_SIZE` at once; those of other loops decide themselves.

    Not from a network: the end of the stream arrives behind all data, and less of it arrives if less is read at once.
    """
    pipe = transport.get_extra_info("pipe")
    if pipe is not None and hasattr(transport, "max_size") and not is_network(pipe.fileno()):
        transport.max_size = READ_SIZE


class LineBuffer(ReceiveBuffer):
    """Splits a byte stream into lines and buffers the lines until they are received."""

    def __init__(self, limit: int | None) -> None:
        """Start empty. `limit` is the maximum length of a line in bytes."""
        super().__init__()
        self._splitter = LineSplitter(limit)

    def feed(self, data: bytes) -> None:
        """Add the next bytes of the stream. Empty lines and the rest of a line over the limit are dropped."""
        if self.is_ended:
            return
        try:
            self.put(self._splitter.feed(data))
        except LineTooLong as why:
            done = 0
            for place, start in zip(why.places, why.starts, strict=True):
                self.put(why.lines[done:place])
                self.put_too_long(why.limit, start)
                done = place
            self.put(why.lines[done:])

    def end(self, why: BaseException | None = None) -> None:
        """End the stream; a last line without a line break is kept as well."""
        last = self._splitter.close()
        if last is not None:
            self.put([last])
        super().end(why)


def write_lines_now(write: Callable[[bytes], None], flow: FlowControl, messages: Sequence[bytes]) -> bool:
    """Write small messages in one write if the stream accepts them without waiting; return whether it did."""
    if not flow.is_open or sum(map(len, messages)) > JOINED:
        return False
    write(b"%b\n" % b"\n".join(messages))
    return True


async def write_lines(write: Callable[[bytes], None], flow: FlowControl, messages: Sequence[bytes]) -> None:
    """Write each message as a line, small ones in one write, and wait until the stream accepts more."""
    flow.check()
    if sum(map(len, messages)) <= JOINED:
        write(b"%b\n" % b"\n".join(messages))
        await flow.wait_writable()
        return
    for message in messages:
        write(message)
        write(b"\n")
        await flow.wait_writable()
