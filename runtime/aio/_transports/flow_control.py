"""Flow control for the sending side of a transport."""

import asyncio


class FlowControl:
    """Lets writers wait while the reading side is slow, and makes them fail once the stream is broken."""

    __slots__ = ("_writable", "error")

    def __init__(self) -> None:
        """Start writable."""
        self._writable = asyncio.Event()
        self._writable.set()
        self.error: OSError | None = None
        """Why the stream is broken or closed; None while it is open."""

    @property
    def is_open(self) -> bool:
        """Whether writers need not wait, and the stream is not broken."""
        return self.error is None and self._writable.is_set()

    def pause(self) -> None:
        """Let writers wait."""
        self._writable.clear()

    def resume(self) -> None:
        """Let writers continue."""
        self._writable.set()

    def fail(self, why: BaseException | None) -> None:
        """Make writers fail from now on; the first reason is kept."""
        if self.error is None:
            self.error = why if isinstance(why, OSError) else BrokenPipeError(f"The stream is closed ({why})")
        self._writable.set()

    def check(self) -> None:
        """Raise a copy of `error` if there is one."""
        if self.error is not None:
            raise type(self.error)(*self.error.args)

    async def wait_writable(self) -> None:
        """Wait until writers may continue, and raise the error of a broken stream."""
        if not self._writable.is_set():
            await self._writable.wait()
        self.check()
