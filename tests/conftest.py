"""Settings for all tests: how slow the machine is decides nothing."""

from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, and other programs may want the processor: neither is a defect.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
