"""Search and bound share the time and the work they are given; told by clocks that are turned by hand."""

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal

from shoal import microaggregate
from shoal.microdata.microaggregation import partitioning
from shoal.microdata.microaggregation.partitioning import Shares
from shoal.runtime import Budget
from shoal.runtime.stages import stage_of


class Ticking:
    """A clock on which a look takes a while."""

    def __init__(self, look: float) -> None:
        self.now = 0.0
        self.look = look

    def __call__(self) -> float:
        self.now += self.look
        return self.now


def numbers(n: int, d: int = 3) -> pl.DataFrame:
    points = np.random.default_rng(3).standard_t(3, size=(n, d))
    return pl.DataFrame(points, schema=[f"x{place}" for place in range(d)])


@pytest.mark.parametrize(("n", "k"), [(400, 3), (2000, 5), (8000, 5)])
def test_search_and_bound_end_within_the_limit(n: int, k: int) -> None:
    clock, seen = Ticking(0.002), []
    limit = 1.0
    microaggregate(
        numbers(n),
        k,
        columns=["*"],
        threads=1,
        budget=Budget(seconds=limit, clock=clock),
        observer=lambda progress: seen.append((stage_of(progress.phase), clock.now)),
    )
    stages = list(dict.fromkeys(stage for stage, _ in seen))
    assert stages == ["search", "verification", "bound"]
    began = seen[0][1]
    ended = max(now for stage, now in seen if stage in ("search", "bound"))
    assert ended - began <= 1.2 * limit


def test_what_the_search_leaves_is_for_the_bound_and_all_is_for_the_search_without_one() -> None:
    clock = Ticking(0.0)
    for bounded, share in ((True, 0.8), (False, 1.0)):
        shares = Shares(Budget(seconds=10.0, iterations=7, clock=clock), 100, bounded=bounded)
        assert shares.for_search(100).seconds == pytest.approx(10.0 * share)
        assert shares.for_search(100).iterations == 7
        shares.searched(100)
        assert shares.for_bound(100).iterations == 7
        if bounded:
            clock.now += 2.0
            assert shares.for_bound(100).seconds == pytest.approx(8.0)


@pytest.mark.parametrize(("k", "most"), [(3, 4), (3, 60), (5, 4)])
def test_iterations_limit_the_bound_too(k: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    real = partitioning._best_bound

    def recorded(problem, labels, threads, budget, observer):
        given.append(budget)
        return real(problem, labels, threads, budget, observer)

    monkeypatch.setattr(partitioning, "_best_bound", recorded)
    few = microaggregate(numbers(300), k, columns=["*"], budget=Budget(iterations=most))
    assert [budget.iterations for budget in given] == [most]
    many = microaggregate(numbers(300), k, columns=["*"], budget=Budget(iterations=200))
    assert few.bound is None or few.bound <= many.bound + 1e-9


def test_what_is_usual_for_few_records_is_quick_and_any_limit_asks_for_more() -> None:
    quick = microaggregate(numbers(300), 5, columns=["*"])
    thorough = microaggregate(numbers(300), 5, columns=["*"], budget=Budget(iterations=3000))
    assert quick.parts[0].iterations == thorough.parts[0].iterations == 3000
    assert quick.bound < thorough.bound <= min(quick.loss, thorough.loss)
    # Two cores change nothing.
    again = microaggregate(numbers(300), 5, columns=["*"], threads=2)
    assert again.labels.tolist() == quick.labels.tolist() and again.bound == quick.bound


def test_without_a_bound_nothing_is_proved_and_nothing_else_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    with_bound = microaggregate(numbers(300), 4, columns=["*"])
    monkeypatch.setattr(partitioning, "_best_bound", None)
    without = microaggregate(numbers(300), 4, columns=["*"], bound=False)
    assert without.bound is None and without.bound_share is None and not without.optimal
    assert without.labels.tolist() == with_bound.labels.tolist()
    assert with_bound.bound_share == pytest.approx(100.0 * with_bound.bound / with_bound.loss)
    assert f"{with_bound.bound_share:.1f}" in with_bound.report().html()
    # One column alone is solved exactly: its proof is part of the search.
    assert microaggregate(numbers(40, 1), 4, columns=["*"], bound=False).bound_share == 100.0


def test_the_command_leaves_the_bound_out(tmp_path) -> None:
    data = tmp_path / "numbers.csv"
    numbers(60).write_csv(data)
    told = [
        shoal("microaggregate", data, "-k", 3, "--columns", "x0,x1", "--json", *more).json
        for more in ((), ("--no-bound",))
    ]
    assert told[0]["bound_percent"] > 0 and "bound" in told[0]["phases"]
    share = told[0]["bound_share_percent"]
    assert share == pytest.approx(100.0 * told[0]["bound_percent"] / told[0]["loss_percent"])
    assert told[1]["bound_percent"] is None and told[1]["bound_share_percent"] is None
    assert "bound" not in told[1]["phases"] and told[1]["loss_percent"] == told[0]["loss_percent"]
