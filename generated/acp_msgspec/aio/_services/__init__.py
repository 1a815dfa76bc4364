"""Services for client handlers: files, terminals and permission requests."""
