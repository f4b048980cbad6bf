"""Special uniques: equal to the definition on every small file, and to the answers of sdcMicro on a large one."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.benchmark_data import benchmark_file
from tests.microdata.risk.special_uniques import plain_special_uniques as plain

import shoal
from shoal.microdata.risk.special_uniques.scores import chances_of_a_match, weights_by_size
from shoal.microdata.risk.special_uniques.search import endings_of, special_uniques

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age")


def check(codes: np.ndarray, largest: int | None) -> None:
    """Everything that is found, against the definition."""
    records, keys = codes.shape
    most = keys if largest is None else min(largest, keys)
    found, expected = special_uniques(codes, largest), plain.minimal_uniques(codes, most)
    scores = np.zeros(records)
    by_key = np.zeros((records, keys))
    for record, own in enumerate(expected):
        sizes = np.bincount([len(one) for one in own], minlength=most + 1)
        assert found.minimal_uniques[record].tolist() == sizes.tolist()
        for one in own:
            scores[record] += plain.weight(keys, most, len(one))
            by_key[record, list(one)] += plain.weight(keys, most, len(one))
        assert found.smallest[record] == min([len(one) for one in own], default=0)
    assert found.scores.tolist() == scores.tolist()
    assert np.allclose(found.shares * scores[:, None], by_key, atol=1e-9)
    total = scores.sum()
    assert np.allclose(found.contributions, 100 * by_key.sum(axis=0) / total if total else 0.0)
    assert found.records == sum(map(bool, expected)) and found.max_size == most
    assert sum(found.by_size.values()) == sum(map(len, expected))
    power = 1 + (8 - keys) / 20
    spread = sum(score**-power for score in scores if score)
    chances = [
        1 / (1 + plain.pairs(codes) * 0.99 / (0.01 * score**power * spread)) if score else 0.0
        for score in scores
    ]
    assert np.allclose(found.dis_scores, chances, rtol=1e-12, atol=0)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_small_files_by_the_definition(data: st.DataObject) -> None:
    records, keys = data.draw(st.integers(1, 14)), data.draw(st.integers(1, 6))
    kinds = data.draw(st.lists(st.integers(1, 5), min_size=keys, max_size=keys))
    row = st.tuples(*[st.integers(-1, kind - 1) for kind in kinds])
    codes = np.array(data.draw(st.lists(row, min_size=records, max_size=records)))
    check(codes, data.draw(st.none() | st.integers(1, keys + 1)))


@pytest.mark.parametrize("seed", range(4))
def test_hundreds_of_files_of_all_shapes_by_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(500):
        records, keys = int(rng.integers(2, 22)), int(rng.integers(1, 6))
        # Some keys have so many values that sets of them are no endings.
        kinds = rng.choice([1, 2, 3, 4, 7, 30, 300], size=keys)
        codes = np.stack([rng.integers(0, kind, records) for kind in kinds], axis=1)
        if rng.random() < 0.5:
            codes = codes[rng.integers(0, records, records)]
        codes = np.where(rng.random(codes.shape) < rng.choice([0.0, 0.1, 0.4]), -1, codes)
        check(codes, int(rng.integers(1, keys + 2)))


def test_larger_files_by_counting_every_set_of_keys() -> None:
    rng = np.random.default_rng(7)
    codes = (rng.beta(1, 2, (600, 1)) * np.array([2, 3, 3, 5, 6, 9, 40]) * rng.random((600, 7))).astype(int)
    codes[rng.random(codes.shape) < 0.03] = -1
    found = special_uniques(codes)
    unique: dict[int, np.ndarray] = {}
    counts = np.zeros((600, 8), dtype=int)
    for mask in range(1, 1 << 7):
        chosen = [key for key in range(7) if mask >> key & 1]
        rows = codes[:, chosen]
        known = (rows >= 0).all(axis=1)
        _, place, number = np.unique(rows[known], axis=0, return_inverse=True, return_counts=True)
        unique[mask] = np.zeros(600, dtype=bool)
        unique[mask][known] = number[place.reshape(-1)] == 1
        smaller = [unique[mask ^ 1 << key] for key in chosen if mask ^ 1 << key]
        counts[:, len(chosen)] += unique[mask] & ~np.logical_or.reduce([np.zeros(600, dtype=bool), *smaller])
    assert (found.minimal_uniques == counts).all() and counts.sum() > 1000


@pytest.mark.parametrize("keys", [5, 6, 7, 8])
def test_the_answers_of_sdcmicro(keys: int) -> None:
    data = pl.read_csv(benchmark_file("casc/testdata.csv"))
    oracle = pl.read_csv(benchmark_file(f"oracles/suda_testdata{keys}.csv"), infer_schema_length=None)
    codes = np.stack([data[name].rank("dense").cast(pl.Int64).to_numpy() - 1 for name in KEYS[:keys]], axis=1)
    found = special_uniques(codes)
    assert found.scores.tolist() == oracle["score"].to_list()
    # The peer computes with seven digits.
    assert np.abs(found.dis_scores - oracle["dis"].to_numpy()).max() < 1e-7
    assert np.abs(found.shares - oracle[:, 2:].to_numpy()).max() < 1e-12
    sums = {5: (6, None), 6: (816, None), 7: (4890, 9.831092654), 8: (409148, 211.532249)}[keys]
    assert found.scores.sum() == sums[0]
    if sums[1] is not None:
        assert found.dis_scores.sum() == pytest.approx(sums[1], abs=5e-10 if keys == 7 else 5e-7)


def test_reordering_keys_and_records_changes_nothing_but_their_order() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(-1, 4, (60, 6))
    found = special_uniques(codes)
    records, keys = rng.permutation(60), rng.permutation(6)
    other = special_uniques(codes[records][:, keys])
    assert (other.minimal_uniques == found.minimal_uniques[records]).all()
    assert np.allclose(other.shares, found.shares[records][:, keys])
    assert np.allclose(other.contributions, found.contributions[keys])


def test_codes_may_be_any_numbers_from_0_on() -> None:
    codes = np.random.default_rng(5).integers(-1, 3, (40, 4))
    far = np.where(codes < 0, -1, codes * 1_000_000_007)
    assert (special_uniques(far).scores == special_uniques(codes).scores).all()


def test_endings_are_the_values_of_the_lowest_keys() -> None:
    rng = np.random.default_rng(11)
    kinds = np.array([2, 3, 5, 40])
    columns = np.stack([rng.integers(-1 if kind < 5 else 0, kind, 50) for kind in kinds])
    found = endings_of(columns, kinds)
    assert (found.keys, found.number) == (3, 3 * 4 * 5) and found.alike.shape == (8, 60, 1)
    for mask in range(8):
        chosen = [key for key in range(3) if mask >> key & 1]
        for one in range(50):
            bits = int(found.alike[mask, found.of_row[one], 0])
            for other in range(50):
                alike = all(columns[key, one] == columns[key, other] >= 0 for key in chosen)
                assert bits >> int(found.of_row[other]) & 1 == alike


def test_too_many_sets_of_keys_are_refused_and_a_limit_lets_them_through() -> None:
    codes = np.random.default_rng(1).integers(0, 3, (300, 40))
    with pytest.raises(shoal.InputError, match=r"40 keys have .* smaller max_size=") as refusal:
        special_uniques(codes)
    assert "\n" not in str(refusal.value)
    assert special_uniques(codes, 3).max_size == 3
    check(codes[:5], 2)
    with pytest.raises(shoal.InputError):
        special_uniques(np.zeros((5, 70), dtype=int), 2)


@pytest.mark.parametrize(
    ("codes", "size"),
    [(np.zeros((0, 2), dtype=int), None), (np.zeros((2, 0), dtype=int), None), (np.full((2, 2), -2), None)]
    + [(np.zeros((2, 2), dtype=int), size) for size in (0, -1, 1.5, True)],
)
def test_what_makes_no_sense_is_refused(codes: np.ndarray, size: object) -> None:
    with pytest.raises(shoal.InputError):
        special_uniques(codes, size)  # type: ignore[arg-type]


def test_scores_and_chances() -> None:
    assert weights_by_size(5, 3).tolist() == [0, 4 * 3, 3, 1]
    scores = np.array([0.0, 2.0, 2.0, 8.0])
    assert chances_of_a_match(scores, 0, 5).tolist() == [0, 1, 1, 1]
    assert chances_of_a_match(np.zeros(3), 4, 5).tolist() == [0, 0, 0]
    # Equal scores share out the chance of the whole file: uniques by uniques and pairs.
    chance = chances_of_a_match(np.array([3.0, 3.0]), 6, 5)
    assert chance == pytest.approx([0.01 * 2 / (0.01 * 2 + 0.99 * 6)] * 2)
    # However many keys there are, a larger score is never a smaller chance.
    assert (np.diff(chances_of_a_match(np.array([1.0, 2.0, 1e300]), 10, 60)) > 0).all()
