"""Command-line tools: inspect a wire log, vendor the package."""
