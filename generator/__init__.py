"""The code generator: from the Agent Client Protocol's JSON Schema to the package `acp_msgspec`.

`pipeline` runs the stages in order: `source`, `read`, `lower`, `emit`, `write`. Each may import only what is before it.
"""

import time

STARTED = time.perf_counter()
"""When the program began, its imports included."""
