"""The sides of the comparison: each a process that answers the name of a case with the seconds of one call."""
