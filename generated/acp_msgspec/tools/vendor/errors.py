"""The one error of vendoring."""

from collections.abc import Iterable


class VendorError(Exception):
    """Why nothing was copied, or what a check found: one line, after `facts` of one line each."""

    def __init__(self, problem: str, facts: Iterable[str] = ()) -> None:
        self.facts = tuple(facts)
        super().__init__(problem)
