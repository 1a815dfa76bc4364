"""Building blocks of emitted types: structs, enums, unions, number ranges, leniency. Data only; no decoding here.

The lowest layer: it imports nothing of the package, and everything else may import it.
"""
