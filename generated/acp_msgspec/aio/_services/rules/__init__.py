"""Rules that answer permission requests without a person: by kind, tool, path and command; the first match wins.

A rule that allows is strict: whatever is not understood does not match. A rule that rejects or asks is wide: one of
several paths or commands is enough, and what cannot be looked through counts.
"""
