"""The slow path: repairs plain JSON values that the strict decode rejected, and explains why it rejected them.

It imports `_types` alone. `hook` is what msgspec calls during the fast path, and loads `engine` when it is needed.
"""
