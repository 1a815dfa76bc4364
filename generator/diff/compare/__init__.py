"""The comparison: what differs between two modules, and which rule each difference falls under."""
