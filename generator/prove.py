"""Import the emitted modules in a separate process before anything is written."""

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from generator.errors import GeneratorError

CODE = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)\n"


def prove_importable(files: Mapping[str, str], package: str, labels: Sequence[str]) -> None:
    """Import the modules of some labels from a temporary folder; a failing import is an error."""
    names = [f"{package}.{label}" for label in labels]
    for name in ("aio", "conversation"):
        names += [f"{package}.{label}.{name}" for label in labels if f"{package}/{label}/{name}.py" in files]
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {f"{package}/__init__.py": "", **files}.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        command = [sys.executable, "-B", "-c", CODE, *names]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if run.returncode:
        last = run.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise GeneratorError(
            f"the emitted modules cannot be imported: {last[0]}",
            file=f"{package}/{', '.join(labels)}",
            hint="a name or value of the schema clashes with Python; nothing was written",
        )
