"""The engine of a connection: calls and requests, the inbox and the outbox, dispatch and writing.

It imports `_transports` and what lies below `aio`. It knows nothing of handshakes and turns; an `Endpoint` (`endpoint`)
tells it about the schema.
"""
