"""The formats: one module writes each, from the same comparison."""
