"""Exports of a session's state: Markdown and HTML.

They read snapshots (`_views`), and never the state that these are made from.
"""
