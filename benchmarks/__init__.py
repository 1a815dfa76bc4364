"""Benchmarks: ratios of one run, never asserted."""
