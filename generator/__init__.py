"""The code generator: from the Agent Client Protocol's JSON Schema to the package `acp_msgspec`."""

import time

STARTED = time.perf_counter()
"""When the program began, its imports included."""
