"""Entry point of `python -m acp_msgspec`, under whatever name the package is imported."""

from .tools.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
