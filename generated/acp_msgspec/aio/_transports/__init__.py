"""Transports: send and receive messages over standard streams, a child process, a WebSocket, or in memory.

A message is bytes here: nothing is decoded. They import nothing of the rest of `aio`.
"""
