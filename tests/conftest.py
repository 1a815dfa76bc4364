"""What holds for all tests: how many examples Hypothesis tries where a test does not say it, and no deadline for one."""

from hypothesis import settings

from tests.examples import examples

settings.register_profile("acp", examples(100))
settings.load_profile("acp")
