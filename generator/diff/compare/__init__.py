"""The comparison: what differs between two modules, and which rule each difference falls under.

`comparison.compare` starts it. It works on lowered modules and on their code as `emit` spells it, and knows nothing of
`render`.
"""
