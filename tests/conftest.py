"""What holds for all tests: examples of Hypothesis have no deadline, and where a test names no number, there are 100."""

from hypothesis import settings

from tests.examples import examples

settings.register_profile("acp", examples(100))
settings.load_profile("acp")
