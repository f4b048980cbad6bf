"""Tests of a group are run by one worker, so that a browser, a cluster or a server is started once."""

import pytest


@pytest.mark.xdist_group("companions")
@pytest.mark.parametrize("number", range(2))
def test_a_worker_knows_the_group_of_a_test(request: pytest.FixtureRequest, number: int) -> None:
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("groups are for several workers: -n 2 --dist loadgroup")
    assert request.node.nodeid.endswith(f"[{number}]@companions")
