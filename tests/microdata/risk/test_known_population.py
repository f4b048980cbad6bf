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


def sample(draw: int) -> pl.DataFrame:
    return population().sample(fraction=0.1, seed=draw)


@pytest.fixture(scope="module")
def draws() -> list[tuple[dict[str, float], Risk]]:
    everybody = population()
    found = []
    for draw in range(DRAWS):
        drawn = sample(draw)
        alone = drawn.filter(pl.len().over(KEYS) == 1)
        truth = {
            "every": float((1 / drawn["F"]).sum()),
            "tau1": float((alone["F"] == 1).sum()),
            "tau2": float((1 / alone["F"]).sum()),
            "uniques": float((everybody["F"] == 1).sum()),
        }
        found.append((truth, shoal.risk(drawn, KEYS, population=everybody.height)))
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


def test_the_estimate_is_near_the_truth_and_its_interval_holds_it(draws) -> None:
    for name, figure, near in (
        ("every", "expected_matches", 0.1),
        ("tau2", "matches_among_uniques", 0.15),
        ("tau1", "population_uniques", 0.3),
    ):
        held = 0
        for truth, found in draws:
            own = getattr(found.journalist, figure)
            assert own.value == pytest.approx(truth[name], rel=near), name
            held += own.low <= truth[name] <= own.high
        assert held >= DRAWS - 2, name


def test_risks_of_records_are_what_happens_to_them(draws) -> None:
    risks = np.concatenate([found.records_at_risk.risk for _, found in draws])
    truth = np.concatenate([1.0 / sample(draw)["F"].to_numpy() for draw in range(DRAWS)])
    for low, high in ((0.05, 0.25), (0.25, 0.45), (0.45, 0.7), (0.7, 1.01)):
        own = (risks >= low) & (risks < high)
        assert truth[own].mean() == pytest.approx(risks[own].mean(), rel=0.15)


def test_what_is_judged_is_not_below_the_truth(draws) -> None:
    for truth, found in draws:
        hidden = {name: value for name, value in found.estimates.items() if name != "respondents known"}
        assert max(hidden.values()) > truth["every"]
        assert found.estimates["respondents known"] > truth["every"]


def test_zayatz_overshoots_and_pitman_is_near(draws) -> None:
    for truth, found in draws:
        assert found.population_uniques["zayatz"] > 1.2 * truth["uniques"]
        assert found.population_uniques["pitman"] == pytest.approx(truth["uniques"], rel=0.5)


def test_the_file_of_the_population_gives_the_truth(draws) -> None:
    found = shoal.risk(sample(0), KEYS, population_file=population())
    truth = draws[0][0]
    assert found.expected_persons == pytest.approx(truth["every"], rel=1e-12)
    assert found.population_uniques["counted"] == truth["uniques"]


def test_models_tell_how_many_are_found_with_their_households() -> None:
    everybody = population().with_columns(hid=pl.int_range(pl.len()) // 3)
    for draw in range(4):
        drawn = pl.Series(np.random.default_rng(draw).permutation(everybody["hid"].n_unique())[:600])
        members = everybody.filter(pl.col("hid").is_in(drawn.implode()))
        found = shoal.risk(members, KEYS, population=everybody.height, household="hid", respondents="unknown")
        safe = members.group_by("hid").agg(safe=(1 - 1 / pl.col("F")).product())["safe"]
        truth = 3 * float((1 - safe).sum())
        main = found.loglinear["main"]
        # One member of three is enough to find all, so counting records alone is far too low.
        assert main.persons == pytest.approx(truth, rel=0.05) and main.reidentifications < 0.7 * truth
        persons = found.journalist.expected_persons
        assert found.estimates == {"latent classes, upper end of the interval, with households": persons.high}
        assert found.expected_persons < truth and persons.value == pytest.approx(truth, rel=0.1)
        assert persons.low < truth < persons.high


def test_without_households_persons_are_records(draws) -> None:
    for _, found in draws:
        for model in found.loglinear.values():
            assert model.persons == model.reidentifications


def household_population(households: int = 30_000) -> pl.DataFrame:
    """Members of households whose keys all belong to the household, with how many records share them."""
    rng = np.random.default_rng(5)
    size = rng.integers(1, 6, households)
    region = np.minimum(rng.geometric(0.08, households), 40)
    rooms = np.clip(rng.normal(1.0 + size / 2, 1.0, households), 1, 9).astype(np.int64)
    income = np.clip(rng.normal(10 + 2 * rooms, 6.0, households), 0, 49).astype(np.int64)
    frame = pl.DataFrame(
        {"hid": np.arange(households), "size": size, "region": region, "rooms": rooms, "income": income}
    )
    whole = frame.select(pl.all().repeat_by("size").explode())
    return whole.with_columns(F=pl.len().over("size", "region", "rooms", "income"))


def test_keys_of_the_household_count_it_once_and_without_it_a_warning_asks_for_it() -> None:
    everybody, keys = household_population(), ["size", "region", "rooms", "income"]
    rng = np.random.default_rng(1)
    drawn = pl.Series(rng.choice(30_000, 1500, replace=False))
    members = everybody.filter(pl.col("hid").is_in(drawn.implode()))
    truth = float((1 / members["F"]).sum())
    found = shoal.risk(members, keys, population=everybody.height, household="hid")
    assert found.journalist.expected_matches.value == pytest.approx(truth, rel=0.15)
    assert not any(item.kind == "households-missing" for item in found.remarks)
    alone = shoal.risk(members.drop("hid"), keys, population=everybody.height)
    assert alone.journalist.expected_matches.value < 0.5 * truth
    assert any(item.kind == "households-missing" for item in alone.remarks)


def test_records_drawn_with_unequal_chances_are_weighed() -> None:
    everybody = population()
    rng = np.random.default_rng(3)
    chance = pl.Series(np.where(everybody["region"].to_numpy() % 2 == 0, 0.03, 0.15))
    drawn = everybody.with_columns(w=1.0 / chance).filter(pl.Series(rng.random(20_000)) < chance)
    truth = float((1 / drawn["F"]).sum())
    found = shoal.risk(drawn, KEYS, sample_weights="w").journalist.expected_matches
    assert found.value == pytest.approx(truth, rel=0.1) and found.low < truth < found.high
