"""The one error of vendoring."""

from collections.abc import Iterable


class VendorError(Exception):
    """Why nothing was copied, or what a check found: one line, printed after the lines of `details`."""

    def __init__(self, problem: str, details: Iterable[str] = ()) -> None:
        self.details = tuple(details)
        super().__init__(problem)
