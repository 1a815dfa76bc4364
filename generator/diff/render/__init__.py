"""The formats: one module writes each, from the same comparison.

They read a finished `Comparison` (`compare/comparison.py`), and decide nothing about it.
"""
