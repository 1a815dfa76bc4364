"""The command `python -m tests.oracle.reference`."""

import argparse
import json
import sys

from tests.oracle.reference import FEATURES, OracleError, Question, Reference, pinned_crate


def main() -> int:
    """Print a document or the verdicts of one surface."""
    parser = argparse.ArgumentParser(prog="reference", description="Ask the reference implementation.")
    parser.add_argument(
        "mode",
        choices=("schema", "meta", "types", "verdicts"),
        help="schema and meta: as upstream publishes them; types: which definitions the crate has; "
        "verdicts: reads lines {type, json}, writes {type, json, ok, out}",
    )
    parser.add_argument("surface", choices=FEATURES)
    parser.add_argument("--crate", help="the version of the crate; without it the one of Cargo.toml")
    options = parser.parse_args()
    try:
        reference = Reference(options.surface, options.crate or pinned_crate())
        if options.mode == "verdicts":
            for verdict in reference.verdicts(_questions()):
                print(verdict.line())
        else:
            document = getattr(reference, options.mode)()
            print(json.dumps(document, indent=2, ensure_ascii=False))
    except OracleError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    return 0


def _questions() -> list[Question]:
    found: list[Question] = []
    for number, line in enumerate(sys.stdin, 1):
        try:
            given = json.loads(line)
            found.append(Question(str(given["type"]), str(given["json"])))
        except (ValueError, KeyError, TypeError):
            raise OracleError(f"line {number} is not an object with `type` and `json`") from None
    return found


if __name__ == "__main__":
    sys.exit(main())
