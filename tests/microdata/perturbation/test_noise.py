"""Noise: kernels against NumPy, means and covariances that stay, and what is refused."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.perturbation.problems import SECRET, broken, problem_of, released

from shoal.errors import InputError
from shoal.microdata.perturbation import noise, noise_kernels
from shoal.microdata.perturbation.exact_noise import exactly_noised, fewest_units
from shoal.microdata.perturbation.noise import NoiseOptions
from shoal.runtime.secret_kernels import normal

tables = st.tuples(st.integers(1, 5), st.integers(1, 40), st.integers(0, 10**6))


def _random(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_kernels_are_those_of_plain_arithmetic(shape: tuple[int, int, int]) -> None:
    d, n, seed = shape
    table, centre = _random((n, d), seed), _random((d,), seed + 1)
    means = [float(sum(Fraction(value) for value in table[:, column].tolist()) / n) for column in range(d)]
    assert np.allclose(noise_kernels.column_means(table), means, rtol=1e-14, atol=1e-15)
    assert np.allclose(
        noise_kernels.products(table, centre), (table - centre).T @ (table - centre), rtol=1e-12
    )
    matrix, target = _random((d, 3), seed + 2), _random((n, 3), seed + 3)
    expected = target + (table - centre) @ matrix
    noise_kernels.add_turned(target, table, centre, matrix)
    assert np.allclose(target, expected, rtol=1e-12, atol=1e-12)


def test_sums_of_many_rows_lose_no_digits() -> None:
    table = np.full((100_000, 1), 0.1)
    assert noise_kernels.column_means(table)[0] == pytest.approx(0.1, rel=1e-14)


def test_normal_numbers_belong_to_a_record_and_a_column() -> None:
    keys = np.array([SECRET.draws("noise", name).key for name in ("x", "y")])
    who = np.arange(4000, dtype=np.uint64)
    drawn = noise_kernels.normals(keys, who)
    assert drawn[7, 1] == normal(keys[1], who[7], np.uint64(0))
    assert np.array_equal(noise_kernels.normals(keys, who[::-1].copy()), drawn[::-1])
    assert np.abs(drawn.mean(axis=0)).max() < 5 / np.sqrt(4000)
    assert np.abs(np.cov(drawn.T) - np.eye(2)).max() < 5 * np.sqrt(2 / 4000)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 6),
    st.integers(0, 60),
    st.integers(0, 10**6),
    st.sampled_from([0.01, 0.3, 5.0]),
    st.sampled_from(["plain", "total", "constant", "twice", "large", "far"]),
)
def test_means_and_covariances_stay(d: int, more: int, seed: int, share: float, shape: str) -> None:
    n = fewest_units(d) + more
    x = np.exp(_random((n, d), seed))
    if shape == "total" and d > 2:
        x[:, -1] = x[:, 0] + x[:, 1]
    elif shape == "constant":
        x[:, -1] = 0.1
    elif shape == "twice" and d > 1:
        x[:, -1] = -2 * x[:, 0]
    elif shape == "large":
        x *= 10.0 ** np.arange(d) * 1e6
    elif shape == "far":
        x += 1e6
    y = exactly_noised(x, _random((n, d), seed + 1), share)
    deviations = x.std(axis=0)
    unit = np.where(deviations > 1e-9, deviations, 1.0)
    # What lies far from zero has that much fewer digits.
    digits = 1e-13 * max(1.0, float((np.abs(x).max(axis=0) / unit).max()))
    assert np.abs((x.mean(axis=0) - y.mean(axis=0)) / unit).max() < digits
    old, new = (np.atleast_2d(np.cov(v.T)) / np.outer(unit, unit) for v in (x, y))
    assert np.abs(old - new).max() < digits
    if shape == "total" and d > 2:
        assert np.allclose(y[:, -1], y[:, 0] + y[:, 1], rtol=1e-9)
    if shape == "twice" and d > 1:
        assert np.allclose(y[:, -1], -2 * y[:, 0], rtol=1e-9)
    varying = deviations > 1e-9
    assert np.all(y[:, ~varying] == x[:, ~varying])
    assert np.all((y != x).mean(axis=0)[varying] > 0.9)


def test_exact_noise_is_as_large_as_asked() -> None:
    x, z = _random((5000, 3), 0), _random((5000, 3), 1)
    for share in (0.1, 1.0):
        y = exactly_noised(x, z, share)
        # Original and noise are mixed in shares 1 : c whose squares add up to one.
        for column in range(3):
            found = np.corrcoef(x[:, column], y[:, column])[0, 1]
            assert found == pytest.approx(1 / np.sqrt(1 + share**2), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_moments_stay_in_every_stratum_and_around_gaps(seed: int, strata: int) -> None:
    rng = np.random.default_rng(seed)
    n = 60 * strata
    stratum = np.arange(n) % strata
    x = rng.lognormal(size=(n, 2)) * (1 + stratum)[:, None]
    x[(np.arange(n) // strata) % 4 == 0, 0] = np.nan
    # A record without any value has nothing to protect, and needs no company.
    x[0] = np.nan
    frame = pl.DataFrame({"a": x[:, 0], "b": x[:, 1]}).fill_nan(None)
    problem = problem_of(frame, ["a", "b"], strata=stratum)
    change = noise.perturb(problem, NoiseOptions(amount=40), secret=SECRET)
    after = released(frame, change)
    assert len(change.promises) == 1
    assert broken(frame, after, change) == []
    assert after["a"].is_null().equals(frame["a"].is_null())
    # The check is worth something: a thousandth of a deviation is seen.
    moved = after.with_columns(b=pl.col("b") + 1e-3 * frame["b"].std() * (pl.int_range(n) == 5))
    assert len(broken(frame, moved, change)) == 1
    for column in ("a", "b"):
        assert (after[column] != frame[column]).sum() == frame[column].count()


def test_correlated_noise_keeps_correlations_and_additive_does_not() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=20_000)
    frame = pl.DataFrame({"a": x, "b": 10 * (x + 0.3 * rng.normal(size=x.size))})
    before = np.corrcoef(frame["a"], frame["b"])[0, 1]
    found = {}
    for kind in ("correlated", "additive"):
        change = noise.perturb(
            problem_of(frame, ["a", "b"]), NoiseOptions(amount=100, kind=kind), secret=SECRET
        )
        after = released(frame, change)
        found[kind] = np.corrcoef(after["a"], after["b"])[0, 1]
        assert after["b"].var() / frame["b"].var() == pytest.approx(2, rel=0.05)
        added = after["b"] - frame["b"]
        assert added.std() / frame["b"].std() == pytest.approx(1, rel=0.05)
        assert change.promises == ()
    assert found["correlated"] == pytest.approx(before, abs=0.01)
    assert found["additive"] == pytest.approx(before / 2, abs=0.02)


def test_correlated_noise_takes_gaps_and_small_strata() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]])
    x[rng.random(x.shape) < 0.4] = np.nan
    frame = pl.DataFrame(x, schema=["a", "b", "c"]).fill_nan(None)
    strata = [0] * 198 + [1, 2]
    for kind in ("correlated", "additive"):
        problem = problem_of(frame, ["a", "b", "c"], strata=strata)
        after = released(frame, noise.perturb(problem, NoiseOptions(kind=kind), secret=SECRET))
        for name in frame.columns:
            assert after[name].is_null().equals(frame[name].is_null())
            # Nobody stays as he was for being alone in a stratum.
            assert (after[name] != frame[name]).sum() == frame[name].count()


def test_the_order_of_the_file_does_not_matter() -> None:
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"id": np.arange(200), "a": rng.normal(size=200), "b": rng.lognormal(size=200)})
    turned = frame.sample(fraction=1.0, shuffle=True, seed=1)
    for kind in ("exact", "correlated", "additive"):
        first, second = (
            released(
                own,
                noise.perturb(problem_of(own, ["a", "b"], key="id"), NoiseOptions(kind=kind), secret=SECRET),
            ).sort("id")
            for own in (frame, turned)
        )
        assert first.equals(second)


def test_few_records_are_refused() -> None:
    frame = pl.DataFrame({"a": np.arange(25.0), "b": np.arange(25.0) ** 2})
    with pytest.raises(InputError, match=r"too small for exact noise.*record 17") as refused:
        noise.perturb(problem_of(frame, ["a", "b"], strata=[0] * 16 + [1] * 9), NoiseOptions(), secret=SECRET)
    assert "\n" not in str(refused.value)
    gaps = frame.with_columns(a=pl.when(pl.int_range(25) == 4).then(None).otherwise("a"))
    with pytest.raises(InputError, match="record 5"):
        noise.perturb(problem_of(gaps, ["a", "b"]), NoiseOptions(), secret=SECRET)
    assert fewest_units(1) == 10
    assert fewest_units(3) == 15


def test_what_is_no_number_is_refused() -> None:
    frame = pl.DataFrame({"d": ["2020-01-01", "2020-01-02"] * 10}).with_columns(pl.col("d").str.to_date())
    with pytest.raises(InputError, match="column 'd' holds others"):
        noise.perturb(problem_of(frame, ["d"]), NoiseOptions(), secret=SECRET)
    with pytest.raises(InputError, match="same value everywhere"):
        noise.perturb(problem_of(pl.DataFrame({"x": [1.5] * 20}), ["x"]), NoiseOptions(), secret=SECRET)


def test_whole_numbers_are_rounded_when_asked() -> None:
    frame = pl.DataFrame({"a": np.arange(100), "b": np.arange(100) / 7})
    problem = problem_of(frame, ["a", "b"])
    change = noise.perturb(problem, NoiseOptions(round=True, amount=50), secret=SECRET)
    assert (change.numbers["a"] == np.rint(change.numbers["a"])).all()
    assert not (change.numbers["b"] == np.rint(change.numbers["b"])).any()
    assert change.promises == ()
    assert any("nothing exact is promised" in text for text in change.warnings)
    with pytest.raises(InputError, match="'round'"):
        noise.perturb(problem_of(frame, ["b"]), NoiseOptions(round=True), secret=SECRET)


def test_a_user_learns_of_negative_values_and_of_those_without_noise() -> None:
    frame = pl.DataFrame({"a": [0.1 * (i % 7) for i in range(100)] + [3.0] * 50})
    problem = problem_of(frame, ["a"], strata=[0] * 100 + [1] * 50)
    change = noise.perturb(problem, NoiseOptions(amount=100), secret=SECRET)
    assert dict(change.facts)["values without noise"] == 50
    assert any("50 values are released as they were" in text for text in change.warnings)
    assert any("negative" in text for text in change.warnings)
