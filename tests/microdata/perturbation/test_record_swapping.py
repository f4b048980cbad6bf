"""Record swapping: partners as a plain search finds them, who moves and who need not, and what the checks see."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.perturbation.problems import SECRET, broken, problem_of, released

import shoal
from shoal.errors import InputError
from shoal.microdata.perturbation.record_swapping import solve
from shoal.microdata.perturbation.record_swapping.exchange_kernels import (
    Pools,
    exchange,
    smallest_in_groups,
)
from shoal.microdata.perturbation.record_swapping.households import numbered, read_households
from shoal.microdata.perturbation.record_swapping.solve import RecordSwapOptions

PLACE = {"household": "hid", "regions": ("state", "county"), "quasi": ("age", "job")}


def people(households: int, seed: int, *, states: int = 3, counties: int = 4, ages: int = 12) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 2, 2, 3, 4], households)
    hid = np.repeat(np.arange(households), size)
    state, county = rng.integers(0, states, households), rng.integers(0, counties, households)
    n = hid.size
    return pl.DataFrame(
        {
            "hid": hid,
            "state": [f"s{value}" for value in state[hid]],
            "county": [f"c{value}" for value in county[hid]],
            "age": np.minimum(rng.geometric(0.25, n), ages),
            "job": [f"j{value}" for value in np.minimum(rng.geometric(0.5, n), 6)],
            "tenure": [f"t{value}" for value in rng.integers(0, 2, households)[hid]],
            "income": rng.normal(size=n).round(3),
        }
    ).sample(fraction=1.0, shuffle=True, seed=seed)


def swapped(frame: pl.DataFrame, **options: object) -> tuple[pl.DataFrame, dict[str, object], object]:
    problem = problem_of(frame, PLACE["regions"], **PLACE)
    change = solve.perturb(problem, RecordSwapOptions(**options), secret=SECRET)
    return released(frame, change), dict(change.facts), change


def _plain_exchange(
    wanting: list[int], pools: Pools, partner: list[int], wanted: list[int]
) -> tuple[list[int], list[int]]:
    for own in wanting:
        if partner[own] >= 0 or pools.pool[own] < 0 or wanted[pools.group[own]] <= 0:
            continue
        for other in pools.order.tolist():
            fits = pools.pool[other] == pools.pool[own] and pools.cell[other] != pools.cell[own]
            if fits and partner[other] < 0:
                partner[own], partner[other] = other, own
                wanted[pools.group[own]] -= 1
                wanted[pools.group[other]] -= 1
                break
    return partner, wanted


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
    st.integers(0, 12),
)
def test_partners_are_those_of_a_plain_search(
    rows: list[tuple[int, int, int]], random: object, most: int
) -> None:
    count = len(rows)
    order = list(range(count))
    random.shuffle(order)
    pool = np.array([pool for pool, _, _ in rows])
    cell = numbered([pool, np.array([region for _, region, _ in rows])])
    group = np.array([group for _, _, group in rows])
    pools = Pools(pool, cell, np.array(order), group, np.array([most, most]))
    wanting = [own for own in order if random.random() < 0.6]
    partner = np.full(count, -1)
    # Two of one pool may have met before.
    first = [own for own in range(count) if pool[own] == 0][:2]
    if len(first) == 2:
        partner[first[0]], partner[first[1]] = first[1], first[0]
    expected = _plain_exchange(wanting, pools, partner.tolist(), [most, most])
    pairs = exchange(np.array(wanting, dtype=np.int64), pools, partner)
    assert (partner.tolist(), pools.wanted.tolist()) == expected
    assert 2 * pairs == 2 * most - sum(expected[1])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-5, 5)), min_size=1, max_size=30))
def test_the_smallest_of_each_group(rows: list[tuple[int, int]]) -> None:
    groups, values = (np.array(column) for column in zip(*rows, strict=True))
    found = smallest_in_groups(groups, values, 5)
    for group in set(groups.tolist()):
        assert found[group] == min(value for own, value in rows if own == group)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(0, 10**6), st.integers(2, 5), st.booleans())
def test_risk_is_counted_along_the_regions(households: int, seed: int, k: int, whole: bool) -> None:
    frame = people(households, seed)
    if frame["state"].n_unique() < 2 or frame["county"].n_unique() < 2:
        return
    place = PLACE if whole else {**PLACE, "household": None}
    found = read_households(problem_of(frame, PLACE["regions"], **place))
    rows = frame.rows(named=True)
    risky: dict[object, int] = {}
    for level, names in enumerate((("state",), ("state", "county"))):
        cells = [tuple(row[name] for name in (*names, "age", "job")) for row in rows]
        count = Counter(cells)
        for number, (row, cell) in enumerate(zip(rows, cells, strict=True)):
            own = row["hid"] if whole else number
            if count[cell] < k:
                risky.setdefault(own, level)
    levels = found.level_at_risk(k)
    for number, row in enumerate(rows):
        own = row["hid"] if whole else number
        assert levels[found.of_record[number]] == risky.get(own, 2)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(2, 150),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.1, 0.6]),
    st.booleans(),
    st.sampled_from([(), ("tenure",), ("tenure", "job")]),
)
def test_what_is_promised_holds(
    households: int, seed: int, share: float, match_size: bool, similar: tuple[str, ...]
) -> None:
    frame = people(households, seed)
    if frame["state"].n_unique() < 2 or frame["county"].n_unique() < 2:
        return
    after, facts, change = swapped(frame, share=share, match_size=match_size, similar=similar, k=3)
    assert broken(frame, after, change) == []
    assert len(change.promises) == 4
    assert after.drop("state", "county").equals(frame.drop("state", "county"))
    moved = frame.filter((after["state"] != frame["state"]) | (after["county"] != frame["county"]))
    assert facts["households exchanged"] == moved["hid"].n_unique()


def test_all_at_risk_move_and_nobody_leaves_the_state_without_need() -> None:
    frame = people(4000, 3, ages=8)
    after, facts, change = swapped(frame, share=0.1, k=3)
    cells = frame.with_columns(n=pl.len().over("state", "age", "job"))
    at_top = cells.filter(pl.col("n") < 3)["hid"].n_unique()
    assert facts["households at risk"] > 100
    assert facts["households at risk left where they are"] == 0
    crossed = frame.filter(after["state"] != frame["state"])["hid"].n_unique()
    assert crossed <= 2 * at_top
    assert facts["households exchanged"] >= 0.1 * 4000
    assert facts["households exchanged"] < 0.2 * 4000
    assert broken(frame, after, change) == []


def test_nobody_crosses_when_nobody_is_rare_in_a_state() -> None:
    frame = people(4000, 4, ages=2).with_columns(job=pl.lit("j"))
    after, facts, _ = swapped(frame, share=0.2)
    assert after["state"].equals(frame["state"])
    assert facts["households that change their state"] == 0
    # The share holds in every state, not only overall.
    homes = frame.with_columns(moved=after["county"] != frame["county"]).unique("hid")
    assert homes.group_by("state").agg(pl.col("moved").mean())["moved"].min() >= 0.2


def test_households_agree_where_they_can() -> None:
    frame = people(3000, 5, ages=2).with_columns(job=pl.lit("j"))
    after, _, _ = swapped(frame, share=0.3, similar=("tenure",))
    for name in ("tenure", "size"):
        sized = frame.with_columns(size=pl.len().over("hid"))
        before = sized.group_by("state", "county", name).agg(pl.col("hid").n_unique())
        now = sized.with_columns(after.select("state", "county"))
        assert before.sort(pl.all()).equals(
            now.group_by("state", "county", name).agg(pl.col("hid").n_unique()).sort(pl.all())
        )


def test_the_order_of_the_file_does_not_matter() -> None:
    frame = people(400, 6)
    turned = frame.sample(fraction=1.0, shuffle=True, seed=9)
    first, second = (
        swapped(own, share=0.2, similar=("tenure",))[0].sort(own.columns) for own in (frame, turned)
    )
    assert first.equals(second)
    assert not first.equals(frame.sort(frame.columns))


def test_records_without_household_or_place() -> None:
    frame = people(300, 7).with_columns(
        hid=pl.when(pl.int_range(pl.len()) % 50 == 0).then(None).otherwise("hid"),
    )
    lost = frame["hid"].drop_nulls()[0]
    frame = frame.with_columns(county=pl.when(pl.col("hid") == lost).then(None).otherwise("county"))
    after, _, change = swapped(frame, share=0.5)
    assert broken(frame, after, change) == []
    assert after["county"].is_null().equals(frame["county"].is_null())
    assert any("1 household has no complete place" in text for text in change.warnings)


def test_checks_see_what_is_wrong() -> None:
    frame = people(200, 8)
    after, _, change = swapped(frame, share=0.2)
    whole, large, at_risk, _ = change.promises
    alone = frame.with_row_index().filter(pl.len().over("hid") > 1)["index"][0]
    moved = after.with_columns(
        county=pl.when(pl.int_range(pl.len()) == alone).then(pl.lit("elsewhere")).otherwise("county")
    )
    assert any(whole.text in text for text in broken(frame, moved, change))
    assert any(large.text in text for text in broken(frame, moved, change))
    # Nothing moved at all: those at risk are still where they were.
    assert any(at_risk.text in text for text in broken(frame, frame, change))
    frame = people(400, 8, ages=2).with_columns(job=pl.lit("j"))
    _, _, change = swapped(frame, share=0.2)
    shifted = frame.with_columns(state=pl.col("state").replace({"s0": "s1", "s1": "s0"}))
    assert any("'state'" in text for text in broken(frame, shifted, change))


def test_nobody_changes_the_state_for_the_share_alone() -> None:
    frame = people(400, 12)
    after, facts, change = swapped(frame, share=0.1, k=2)
    few = change.promises[3]
    assert not any(sign.isdigit() for sign in few.text)
    assert broken(frame, after, change) == []
    # Two households that are not at risk exchange their states: who counts those at risk by hand finds them.
    homes = frame.with_columns(
        rare=(pl.len().over("state", "county", "age", "job") < 2) | (pl.len().over("state", "age", "job") < 2)
    ).with_columns(rare=pl.col("rare").any().over("hid"))
    stayed = homes.filter((after["state"] == frame["state"]) & ~pl.col("rare"))
    swaps = dict(zip(["s0", "s1"], ["s1", "s0"], strict=True))
    moving = stayed.filter(pl.col("state").is_in(["s0", "s1"]))["hid"].unique().to_list()
    wrong = after.with_columns(
        state=pl.when(pl.col("hid").is_in(moving)).then(pl.col("state").replace(swaps)).otherwise("state")
    )
    assert any(few.text in text for text in broken(frame, wrong, change))
    assert facts["households that change their state"] > 0
    # With one level alone the share has nowhere else to go, and nothing is promised.
    one = problem_of(frame, ["county"], household="hid", regions=("county",), quasi=("age", "job"))
    assert len(solve.perturb(one, RecordSwapOptions(share=0.3), secret=SECRET).promises) == 3


def test_far_more_than_asked_is_said() -> None:
    frame = people(300, 13)
    _, facts, change = swapped(frame, share=0.05, k=20)
    (note,) = change.notes
    moved, at_risk = facts["households exchanged"], facts["households at risk"]
    assert note.startswith(
        f"5 % of the households were asked for and {100 * moved / 300:.3g} % moved: {at_risk:,} are at risk"
    )
    assert swapped(frame, share=0.9, k=2)[2].notes == ()
    assert swapped(frame, share=0.0, k=20)[2].notes == ()


def test_regions_from_the_finest_are_warned_of() -> None:
    frame = people(300, 14).with_columns(county=pl.col("state") + pl.col("county"))
    told = "every 'county' lies in one 'state'"
    for regions, wrong in ((("county", "state"), True), (("state", "county"), False)):
        found = shoal.perturb(
            frame, "record-swap", household="hid", regions=regions, quasi=["age", "job"], seed=1
        )
        assert any(text.startswith(told) for text in found.warnings) is wrong


def test_split_households_are_refused() -> None:
    frame = people(50, 9)
    row = frame.with_row_index().filter(pl.len().over("hid") > 1)["index"][-1]
    split = frame.with_columns(
        county=pl.when(pl.int_range(pl.len()) == row).then(pl.lit("c99")).otherwise("county")
    )
    with pytest.raises(InputError, match=rf"first of the household: record {row + 1};"):
        swapped(split)


@pytest.mark.parametrize(
    ("place", "options", "message"),
    [
        ({"regions": ()}, {}, "needs regions="),
        ({"quasi": ()}, {}, "needs quasi="),
        ({"quasi": ("state",)}, {}, "key and the place"),
        ({}, {"similar": ("tenur",)}, "did you mean 'tenure'"),
        ({}, {"similar": ("county",)}, "'similar'"),
        ({"regions": ("nowhere",)}, {}, "no two regions"),
        ({"regions": ("one",)}, {}, "no two regions"),
    ],
)
def test_what_cannot_be_is_refused(
    place: dict[str, object], options: dict[str, object], message: str
) -> None:
    frame = people(50, 10).with_columns(nowhere=pl.lit(None, dtype=pl.String), one=pl.lit("x"))
    own = {**PLACE, **place}
    with pytest.raises(InputError, match=message):
        solve.perturb(problem_of(frame, own["regions"], **own), RecordSwapOptions(**options), secret=SECRET)


def test_columns_that_give_the_place_away_are_named() -> None:
    frame = people(200, 11).with_columns(postcode=pl.col("state") + pl.col("county"))
    safe = shoal.perturb(
        frame, "record-swap", household="hid", regions=["state", "county"], quasi=["age", "job"], seed=1
    )
    told = "column 'postcode', released as it is, determines them; add it to regions="
    assert any(told in text for text in safe.warnings)
