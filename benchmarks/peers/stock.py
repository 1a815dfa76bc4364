"""What datamodel-code-generator makes of the schema for msgspec by itself, with and without tagged unions."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import msgspec

from benchmarks.lines import load
from benchmarks.peers.serve import serve

SCHEMA = Path(__file__).parents[2] / "schema" / "v1" / "schema.json"
CLASSES = {
    "session/update": "SessionNotification",
    "session/prompt": "PromptRequest",
    "session/new": "NewSessionRequest",
    "initialize result": "InitializeResponse",
}
ATTEMPTS: dict[str, list[str]] = {
    "stock msgspec": [],
    "stock msgspec, tagged": ["--use-msgspec-tagged-unions"],
}


def generated(folder: Path, name: str, options: list[str]) -> ModuleType:
    """Generate a module and import it."""
    out = folder / f"{name}.py"
    command = [sys.executable, "-W", "ignore", "-m", "datamodel_code_generator", "--input-file-type", "jsonschema"]
    command += ["--input", str(SCHEMA), "--output", str(out), "--output-model-type", "msgspec.Struct"]
    subprocess.run([*command, "--target-python-version", "3.11", *options], check=True, stdout=sys.stderr)
    spec = importlib.util.spec_from_file_location(name, out)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Serve what can be decoded, and say what cannot."""
    cases: dict[str, Callable[[], object]] = {}
    cannot: dict[str, str] = {}
    lines = load(Path(sys.argv[1]))
    with TemporaryDirectory() as folder:
        for number, (side, options) in enumerate(ATTEMPTS.items()):
            module: Any = generated(Path(folder), f"stock_{number}", options)
            for line in lines:
                name = f"decode params|{side}|{line.name}"
                try:
                    decode = msgspec.json.Decoder(getattr(module, CLASSES[line.kind])).decode
                    decode(line.params)
                except (TypeError, NameError, AttributeError, msgspec.DecodeError) as why:
                    text = str(why).replace(f"{module.__name__}.", "")
                    cannot[name] = f"{type(why).__name__}: {text}"
                else:
                    cases[name] = partial(decode, line.params)
        serve(cases, cannot, "datamodel-code-generator")


if __name__ == "__main__":
    main()
