"""What the system knows of a descriptor."""

import os
import select
import selectors
import stat

from . import platforms


def is_pollable(fd: int) -> bool:
    """Whether the loop can wait for a descriptor: not for files and some devices, and for none on Windows."""
    mode = os.fstat(fd).st_mode
    if platforms.is_windows() or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)):
        return False
    with selectors.DefaultSelector() as selector:
        try:
            selector.register(fd, selectors.EVENT_READ)
        except OSError:
            return False
    return True


def is_hung_up(fd: int) -> bool:
    """Whether nobody can write to the other end any more, even while something is left to read.

    That is the other end of a pipe, a socket or a terminal; a file has none. False where the system cannot tell, as on
    Windows, and for a descriptor that is closed.
    """
    if fd < 0 or not hasattr(select, "poll"):
        return False
    # Linux alone tells of a peer that closed one direction of a socket; elsewhere that counts as a hang-up.
    ends = select.POLLHUP | getattr(select, "POLLRDHUP", 0)
    poll = select.poll()
    poll.register(fd, ends)
    return any(event & (ends | select.POLLERR) for _, event in poll.poll(0))
