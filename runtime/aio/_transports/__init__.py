"""Transports: send and receive messages over standard streams, a child process, a WebSocket, or in memory."""
