"""What a hostile peer may cost: floods, each run in a process of its own and measured.

`python -m tests.floods` (part of `make soak`) runs all of them and fails where one costs more memory or stops the loop
for longer than it may. A flood is an async function that is registered with `flood`; it sends what a peer may send, and
asserts what must come of it.
"""

from tests.floods.measure import FLOODS, Figures, Flood, flood, measured

__all__ = ["FLOODS", "Figures", "Flood", "flood", "measured"]
