"""Settings for all tests: how slow the machine is decides nothing, and tests of a group share a worker."""

import pytest
from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, and other programs may want the processor: neither is a defect.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let the group of a test be part of its name, by which xdist 3.8 tells groups; pytest 9.2 no longer sees it there.

    Otherwise every worker starts a browser, a cluster and servers of its own, and nothing says so.
    """
    if not config.getoption("loadgroup", default=False):
        return
    for item in items:
        grouped = getattr(item, "_nodeid", item.nodeid)
        if grouped != item.nodeid:
            item._id = type(item._id).parse(grouped)  # type: ignore[attr-defined]
