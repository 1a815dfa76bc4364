"""What holds for all tests.

An example of Hypothesis has no deadline, as other programs may hold it up; a test that names no number tries 100.
"""

from hypothesis import settings

from tests.examples import examples

settings.register_profile("acp", examples(100))
settings.load_profile("acp")
