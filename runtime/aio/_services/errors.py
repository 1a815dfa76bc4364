"""Errors of the file service."""


class FileRefused(ValueError):
    """A path or a file that is not served; the text is the reason."""
