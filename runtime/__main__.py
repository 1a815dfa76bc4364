"""Runs the tools: `python -m acp_msgspec`, or the name of a vendored copy."""

from .tools.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
