"""Stands for the reference in tests: prints the documents of the folder that the environment names."""

import os
import sys
from pathlib import Path

from generator.source import LABELS

FOLDER = "FAKE_REFERENCE"

if __name__ == "__main__":
    mode, surface, _ = sys.argv[1:]
    path = Path(os.environ[FOLDER]) / LABELS[surface][("schema", "meta").index(mode)]
    if not path.is_file():
        sys.exit("error: cargo cannot build the reference:\nerror[E0425]: cannot find this\n  --> src/main.rs")
    print(path.read_text(encoding="utf-8"))
