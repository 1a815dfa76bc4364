"""Which operating system this is.

The code for Windows has never run there: it is tested by replacing `is_windows`. So everything asks this function.
"""

import sys


def is_windows() -> bool:
    """Return whether this is Windows."""
    return sys.platform == "win32"
