"""JSON-RPC: methods, frames, envelopes, errors, and the decoders of messages.

It imports `_types` and `_decode`, and knows neither a schema nor a transport: each emitted `messages.py` describes its
envelopes to `schema` and `decoder`.
"""
