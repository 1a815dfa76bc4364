"""Services for client handlers: files, terminals and permission requests.

Each works without a connection: of `aio`, they import `_transports` alone, and `_request_task` to recognise the request
that they answer. The emitted `aio.py` of each schema connects them to its methods.
"""
