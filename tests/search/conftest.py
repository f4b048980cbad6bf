"""Settings of Hypothesis for tests that call compiled code."""

from hypothesis import settings

# The first call of a kernel compiles it, which takes longer than any deadline for a single example.
settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")
