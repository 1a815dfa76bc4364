"""JSON-RPC: methods, frames, envelopes, errors, and the decoders of messages."""
