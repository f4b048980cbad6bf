"""Settings for all tests: how slow the machine is decides nothing, and tests of a file or a group share a worker."""

import gc

import pytest
from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, and other programs may want the processor: neither is a defect.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# What is read in is here to stay: to look for garbage among it took a fifth of the time to collect, in each worker.
gc.disable()

# Groups that take minutes: whoever begins with them is not waited for at the end. A worker is given two groups at once, so
# a short one follows on them.
_LONG = ("browser", "spark", "hostile", "sqlite", "web", "pages", "postgresql", "mariadb")


def _group(item: pytest.Item) -> str | None:
    mark = item.get_closest_marker("xdist_group")
    return None if mark is None else str(mark.args[0])


class _Companions:
    """Tests of a file are a group, unless they have another: what they share is made once, kernels loaded once."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if _group(item) is None:
                item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
        place = {name: number for number, name in enumerate(_LONG)}
        items.sort(key=lambda item: place.get(_group(item) or "", len(place)))


def pytest_configure(config: pytest.Config) -> None:
    """Spread groups over workers, where there are several."""
    if config.getoption("loadgroup", default=False):
        config.pluginmanager.register(_Companions())


def pytest_collection_finish() -> None:
    """Look for garbage from now on, but not in what was read in: every look at it takes half a second."""
    gc.freeze()
    gc.enable()


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
