"""Command-line tools: inspect a wire log, vendor the package.

The top layer: the tools may import everything, and no other part imports them.
"""
