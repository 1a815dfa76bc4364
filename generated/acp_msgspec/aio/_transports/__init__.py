"""Transports: how lines get in and out, over pipes, sockets, processes, memory and WebSockets."""
