"""Building blocks of emitted types: structs, enums, unions, number ranges, leniency. Data only; no decoding here."""
