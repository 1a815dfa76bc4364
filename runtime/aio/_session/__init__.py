"""The rules of the protocol on a connection: handshake, turns, handlers, loading of sessions."""
