"""Runs the floods: `python -m tests.floods [NAME…]`."""

import argparse
import sys

from tests.floods.measure import FLOODS, load, measured, run_here


def main() -> int:
    """Run floods and print a line for each; the exit status is 1 where one costs too much."""
    parser = argparse.ArgumentParser(prog="python -m tests.floods", description=__doc__)
    parser.add_argument("names", nargs="*", help="the floods to run; all by default")
    parser.add_argument("--one", help="run one in this process and print its figures as JSON")
    options = parser.parse_args()
    load()
    if options.one is not None:
        print(run_here(options.one))
        return 0
    failed = False
    for name in options.names or sorted(FLOODS):
        is_fine, costs = judged(name)
        failed = failed or not is_fine
        print(f"{name:50} {costs}  {'ok' if is_fine else 'TOO MUCH'}", flush=True)
    return int(failed)


def judged(name: str) -> tuple[bool, str]:
    """Run a flood; say whether it stayed within its bounds, and what it has cost."""
    flood = FLOODS[name]
    try:
        figures = measured(name)
    except AssertionError as why:
        return False, str(why)
    is_fine = figures.memory <= flood.memory and figures.pause <= flood.pause and figures.seconds <= flood.seconds
    return is_fine, f"{figures.memory / 2**20:7.1f} MiB  pause {figures.pause:6.3f} s  {figures.seconds:6.2f} s"


if __name__ == "__main__":
    sys.exit(main())
