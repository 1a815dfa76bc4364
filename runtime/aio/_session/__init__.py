"""The rules of the protocol on a connection: handshake, turns, handlers, loading of sessions.

It imports `_engine` and `_transports`; of the rest of `aio`, only `_connection` may import it.
"""
