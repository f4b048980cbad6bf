"""Rank swapping: its kernels against slow twins, what it promises, and that checks see what is wrong."""

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.perturbation.problems import SECRET, broken, problem_of, released

from shoal.errors import InputError
from shoal.microdata.perturbation import rank_swapping, ranking_kernels
from shoal.microdata.perturbation.promises.same_values import RanksMoved, SameValues
from shoal.microdata.perturbation.rank_swapping import RankSwapOptions, window_in_ranks
from shoal.microdata.perturbation.rank_swapping_kernels import partners
from shoal.microdata.perturbation.ranking import ranking
from shoal.runtime.secret_kernels import below

DRAWS = SECRET.draws("test")


def _plain_partners(who: np.ndarray, starts: list[int], widths: list[int]) -> list[int]:
    """The same by looking at all ranks in reach."""
    found = [-1] * len(who)
    for begin, end, width in zip(starts, starts[1:], widths, strict=False):
        for rank in range(begin, end):
            if found[rank] >= 0:
                continue
            reach = range(rank + 1, min(rank + width, end - 1) + 1)
            free = [other for other in reach if found[other] < 0]
            if not free:
                found[rank] = rank
                continue
            for draw in range(20):
                partner = reach[int(below(DRAWS.key, who[rank], np.uint64(draw), len(reach)))]
                if partner in free:
                    break
            else:
                partner = free[int(below(DRAWS.key, who[rank], np.uint64(20), len(free)))]
            found[rank], found[partner] = partner, rank
    return found


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 45)), min_size=1, max_size=4))
def test_partners_are_those_of_a_plain_search(parts: list[tuple[int, int]]) -> None:
    starts = np.cumsum([0, *[size for size, _ in parts]])
    widths = np.array([width for _, width in parts])
    who = np.arange(starts[-1], dtype=np.uint64) * np.uint64(7919)
    found = partners(DRAWS.key, who, starts, widths)
    assert found.tolist() == _plain_partners(who, starts.tolist(), widths.tolist())


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 4)), st.integers(0, 2)), min_size=1, max_size=40)
)
def test_records_are_in_the_order_of_stratum_value_and_hash(rows: list[tuple[int | None, int]]) -> None:
    values = np.array([np.nan if value is None else float(value) for value, _ in rows])
    strata = np.array([stratum for _, stratum in rows])
    who = np.arange(len(rows), dtype=np.uint64)
    found = ranking(values, strata, who, DRAWS)
    words = ranking_kernels.hashes(DRAWS.key, who)
    here = [row for row in range(len(rows)) if not np.isnan(values[row])]
    assert found.order.tolist() == sorted(here, key=lambda row: (strata[row], values[row], words[row]))
    assert found.sizes.tolist() == [
        sum(strata[row] == own for row in here) for own in range(strata.max() + 1)
    ]
    ranks = found.mid_ranks()
    for row in range(len(rows)):
        line = [values[other] for other in here if strata[other] == strata[row]]
        if row not in here:
            assert np.isnan(ranks[row])
        else:
            below_, upto = sum(v < values[row] for v in line), sum(v <= values[row] for v in line)
            assert ranks[row] == (below_ + 1 + upto) / 2


def test_partners_are_uniform_among_the_free() -> None:
    # The first of 11 ranks with a window of 5 finds each of the five above it in a fifth of the cases.
    counts = np.zeros(6)
    for trial in range(3000):
        who = np.arange(11, dtype=np.uint64) + np.uint64(11 * trial)
        counts[partners(DRAWS.key, who, np.array([0, 11]), np.array([5]))[0]] += 1
    assert counts[0] == 0
    assert np.abs(counts[1:] - 600).max() < 5 * np.sqrt(600 * 0.8)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.one_of(st.none(), st.integers(-3, 8)), st.integers(0, 2)), min_size=2, max_size=60),
    st.sampled_from([0.5, 5.0, 30.0, 100.0]),
)
def test_what_is_promised_holds(rows: list[tuple[int | None, int]], window: float) -> None:
    frame = pl.DataFrame(
        {"x": [x for x, _ in rows], "other": list(range(len(rows)))},
        schema={"x": pl.Int64, "other": pl.Int64},
    )
    if frame["x"].drop_nulls().n_unique() < 2:
        return
    problem = problem_of(frame, ["x"], strata=[stratum for _, stratum in rows])
    change = rank_swapping.perturb(problem, RankSwapOptions(window=window), secret=SECRET)
    assert broken(frame, released(frame, change), change) == []
    assert frame["x"].is_null().to_list() == released(frame, change)["x"].is_null().to_list()


def test_nearly_everything_moves_and_stays_near() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.lognormal(size=5000), "y": rng.normal(size=5000)})
    change = rank_swapping.perturb(problem_of(frame, ["x", "y"]), RankSwapOptions(window=4), secret=SECRET)
    after = released(frame, change)
    assert (after["x"] != frame["x"]).mean() > 0.99
    assert dict(change.facts)["values without a partner, left as they are"] < 100
    moved = (after["x"].rank() - frame["x"].rank()).abs()
    assert moved.max() <= 200
    assert moved.mean() > 50
    assert np.corrcoef(frame["x"].rank(), after["x"].rank())[0, 1] > 0.99


def test_the_order_of_the_file_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"x": rng.integers(0, 30, 400), "y": rng.normal(size=400).round(1), "s": rng.integers(0, 3, 400)}
    )
    turned = frame.sample(fraction=1.0, shuffle=True, seed=5)
    after = []
    for own in (frame, turned):
        problem = problem_of(own, ["x", "y"], strata=own["s"].to_list())
        change = rank_swapping.perturb(problem, RankSwapOptions(window=10), secret=SECRET)
        after.append(released(own, change).sort(own.columns))
    assert after[0].equals(after[1])


def test_the_same_key_gets_the_same_value() -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"id": np.arange(300), "x": rng.normal(size=300).round(1)})
    turned = frame[::-1]
    first, second = (
        released(
            own,
            rank_swapping.perturb(
                problem_of(own, ["x"], key="id"), RankSwapOptions(window=10), secret=SECRET
            ),
        )
        for own in (frame, turned)
    )
    assert first.equals(second.sort("id"))


def test_ordered_values_and_dates_can_be_swapped() -> None:
    size = ["small", "middle", "large"]
    frame = pl.DataFrame({"size": [size[i % 3] for i in range(60)]}).with_columns(
        day=pl.date(2020, 1, 1) + pl.duration(days=pl.int_range(60))
    )
    problem = problem_of(frame, ["size", "day"], orders={"size": size, "day": None})
    change = rank_swapping.perturb(problem, RankSwapOptions(window=20), secret=SECRET)
    after = released(frame, change)
    assert broken(frame, after, change) == []
    assert after["day"].dtype == pl.Date
    assert (after["day"] != frame["day"]).sum() > 50


def test_checks_see_what_is_wrong() -> None:
    frame = pl.DataFrame({"x": [float(i) for i in range(100)]})
    strata = np.arange(100) // 50
    problem = problem_of(frame, ["x"], strata=strata)
    change = rank_swapping.perturb(problem, RankSwapOptions(window=10), secret=SECRET)
    same, near = change.promises
    assert isinstance(same, SameValues)
    assert isinstance(near, RanksMoved)
    good = released(frame, change)
    # Five ranks are allowed in a stratum of fifty.
    values = frame["x"].to_list()
    values[0], values[6] = values[6], values[0]
    assert len(broken(frame, pl.DataFrame({"x": values}), change)) == 1
    values = frame["x"].to_list()
    values[0], values[5] = values[5], values[0]
    assert broken(frame, pl.DataFrame({"x": values}), change) == []
    values = frame["x"].to_list()
    values[49], values[50] = values[50], values[49]
    assert any("same values" in text for text in broken(frame, pl.DataFrame({"x": values}), change))
    gone = good.with_columns(x=pl.when(pl.int_range(100) == 3).then(None).otherwise("x"))
    assert len(broken(frame, gone, change)) == 2


@pytest.mark.parametrize("window", [0, -1, 100.5, float("nan")])
def test_windows_without_sense_are_refused(window: float) -> None:
    from shoal.runtime.registry import Method

    method = Method(
        "rank-swap",
        "shoal.microdata.perturbation.rank_swapping:perturb",
        "shoal.microdata.perturbation.rank_swapping:RankSwapOptions",
        "",
    )
    with pytest.raises(InputError, match="window"):
        method.configure({"window": window})


@pytest.mark.parametrize("values", [[1.0, 1.0, None], [None, None, None]])
def test_columns_that_cannot_change_are_refused(values: list[float | None]) -> None:
    frame = pl.DataFrame({"x": values}, schema={"x": pl.Float64})
    with pytest.raises(InputError, match=r"column 'x'.*nothing in it can change"):
        rank_swapping.perturb(problem_of(frame, ["x"]), RankSwapOptions(), secret=SECRET)


def test_the_window_is_a_share_of_the_ranks() -> None:
    assert window_in_ranks(np.array([1000, 19, 20, 40]), 5).tolist() == [50, 1, 1, 2]
    assert window_in_ranks(np.array([700]), 1).tolist() == [7]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=25),
    st.randoms(use_true_random=False),
    st.integers(1, 99),
    st.integers(0, 3),
)
def test_the_check_agrees_with_counting(values: list[int], random: object, window: int, swaps: int) -> None:
    released_values = list(values)
    for _ in range(swaps):
        i, j = random.randrange(len(values)), random.randrange(len(values))
        released_values[i], released_values[j] = released_values[j], released_values[i]
    promise = RanksMoved(("x",), window, np.zeros(len(values), dtype=np.int64))
    before, after = (
        nw.from_native(pl.DataFrame({"x": own}), eager_only=True) for own in (values, released_values)
    )
    far = [
        sum(min(old, new) < value < max(old, new) for value in values) + (old != new)
        for old, new in zip(values, released_values, strict=True)
    ]
    assert promise.check(before, after).kept == (max(far) <= max(1, len(values) * window / 100 + 1e-6))
