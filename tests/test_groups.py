"""Tests of a file or a group are run by one worker, so that what they share is made once; long groups come first."""

import pytest


@pytest.mark.xdist_group("companions")
@pytest.mark.parametrize("number", range(2))
def test_a_worker_knows_the_group_of_a_test(request: pytest.FixtureRequest, number: int) -> None:
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("groups are for several workers: -n 2 --dist loadgroup")
    assert request.node.nodeid.endswith(f"[{number}]@companions")


def test_tests_of_a_file_are_a_group_and_long_groups_come_first(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("groups are for several workers: -n 2 --dist loadgroup")
    assert request.node.nodeid.endswith("@tests/test_groups.py")
    groups = [item.nodeid.rpartition("@")[2] for item in request.session.items]
    longest = [name for name in ("browser", "spark", "web") if name in groups]
    assert longest == sorted(longest, key=groups.index)
    assert all(groups.index(name) < groups.index("tests/test_groups.py") for name in longest)
