"""Exports of a session's state: Markdown and HTML."""
