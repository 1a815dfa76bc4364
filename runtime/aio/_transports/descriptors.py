"""Questions about a file descriptor that the operating system answers."""

import os
import select
import selectors
import socket
import stat

from . import platforms


def is_pollable(fd: int) -> bool:
    """Return whether the event loop can wait for a descriptor. False for files, some devices, and always on Windows."""
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
    """Return whether the other end of a pipe, socket or terminal is closed, even while data is left to read.

    False for files, for a closed descriptor, and where the system cannot say, as on Windows.
    """
    if fd < 0 or not hasattr(select, "poll"):
        return False
    # Only Linux reports a peer that closed one direction of a socket; elsewhere it counts as a hang-up.
    events = select.POLLHUP | getattr(select, "POLLRDHUP", 0)
    poll = select.poll()
    poll.register(fd, events)
    return any(event & (events | select.POLLERR) for _, event in poll.poll(0))


def is_network(fd: int) -> bool:
    """Return whether a descriptor is a socket of the network; False for pipes and for sockets within the system."""
    if not stat.S_ISSOCK(os.fstat(fd).st_mode):
        return False
    with socket.socket(fileno=os.dup(fd)) as copy:
        return copy.family in (socket.AF_INET, socket.AF_INET6)
