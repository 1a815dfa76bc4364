"""The engine of a connection: calls and requests, the inbox and the outbox, dispatch and writing."""
