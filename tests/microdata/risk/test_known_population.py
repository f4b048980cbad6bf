"""Samples of a known population: true re-identifications are counted, and estimates stand where they are said to stand."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.microdata.risk.result import Risk

KEYS = ["age", "sex", "region", "education"]
DRAWS = 8


def population(people: int = 20_000) -> pl.DataFrame:
    """People whose keys depend on each other, with how many share them."""
    rng = np.random.default_rng(11)
    age = np.minimum(rng.gamma(4.0, 11.0, people), 94).astype(np.int64)
    education = np.clip(rng.normal(4 - np.abs(age - 40) / 25, 1.5, people), 0, 7).astype(np.int64)
    frame = pl.DataFrame(
        {
            "age": age,
            "sex": rng.integers(0, 2, people),
            "region": np.minimum(rng.geometric(0.15, people), 20),
            "education": education,
        }
    )
    return frame.with_columns(F=pl.len().over(KEYS))


@pytest.fixture(scope="module")
def draws() -> list[tuple[dict[str, float], Risk]]:
    everybody = population()
    found = []
    for draw in range(DRAWS):
        sample = everybody.sample(fraction=0.1, seed=draw)
        alone = sample.filter(pl.len().over(KEYS) == 1)
        truth = {
            "every": float((1 / sample["F"]).sum()),
            "tau1": float((alone["F"] == 1).sum()),
            "tau2": float((1 / alone["F"]).sum()),
            "uniques": float((everybody["F"] == 1).sum()),
        }
        found.append((truth, shoal.risk(sample, KEYS, population=everybody.height)))
    return found


def test_individual_risk_is_too_low(draws) -> None:
    for truth, found in draws:
        assert 0.2 * truth["every"] < found.expected_persons < truth["every"]


def test_two_models_hold_the_truth_between_them_in_most_draws(draws) -> None:
    for name in ("tau1", "tau2"):
        held = 0
        for truth, found in draws:
            values = [getattr(model, name) for model in found.loglinear.values()]
            held += min(values) <= truth[name] <= max(values)
        assert held > DRAWS / 2, name


def test_the_worst_estimate_is_not_below_the_truth(draws) -> None:
    for truth, found in draws:
        hidden = {name: value for name, value in found.estimates.items() if name != "respondents known"}
        assert max(hidden.values()) > 0.9 * truth["every"]
        assert found.estimates["respondents known"] > truth["every"]


def test_zayatz_overshoots_and_pitman_is_near(draws) -> None:
    for truth, found in draws:
        assert found.population_uniques["zayatz"] > 1.2 * truth["uniques"]
        assert found.population_uniques["pitman"] == pytest.approx(truth["uniques"], rel=0.5)


def test_the_file_of_the_population_gives_the_truth(draws) -> None:
    everybody = population()
    sample = everybody.sample(fraction=0.1, seed=0)
    found = shoal.risk(sample, KEYS, population_file=everybody)
    truth = draws[0][0]
    assert found.expected_persons == pytest.approx(truth["every"], rel=1e-12)
    assert found.population_uniques["counted"] == truth["uniques"]


def test_models_tell_how_many_are_found_with_their_households() -> None:
    everybody = population().with_columns(hid=pl.int_range(pl.len()) // 3)
    for draw in range(4):
        drawn = pl.Series(np.random.default_rng(draw).permutation(everybody["hid"].n_unique())[:600])
        sample = everybody.filter(pl.col("hid").is_in(drawn.implode()))
        found = shoal.risk(sample, KEYS, population=everybody.height, household="hid", respondents="unknown")
        safe = sample.group_by("hid").agg(safe=(1 - 1 / pl.col("F")).product())["safe"]
        truth = 3 * float((1 - safe).sum())
        main = found.loglinear["main"]
        # One member of three is enough to find all, so counting records alone is far too low.
        assert main.persons == pytest.approx(truth, rel=0.05) and main.reidentifications < 0.7 * truth
        assert found.estimates["log-linear, main effects, with households"] == main.persons
        assert found.expected_persons < truth


def test_without_households_persons_are_records(draws) -> None:
    for _, found in draws:
        for model in found.loglinear.values():
            assert model.persons == model.reidentifications
