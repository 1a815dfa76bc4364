"""Conversations: an agent that is connected to, its sessions, and the changes of a turn as they come.

Everything here stands on the connection, and knows a schema only by its `Outline`.
"""
