"""Ready handlers: files, terminals and permissions."""
