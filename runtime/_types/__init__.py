"""What emitted types are made of: structs, enums, unions, number ranges, leniency. Data only; no decoding here."""
