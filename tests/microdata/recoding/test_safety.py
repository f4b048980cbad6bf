"""Requests that look harmless and would release too much, claim too much, or end in a crash."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal import Infeasible, InputError


def test_averages_are_not_made_of_one_persons_records() -> None:
    data = pl.DataFrame(
        {"a": list("xxxxyyyy"), "u": [1, 1, 1, 2, 3, 3, 3, 4], "x": [1.0, 2, 3, 4, 5, 6, 7, 8]}
    )
    with pytest.raises(InputError, match="several"):
        shoal.recode(data, ["a"], 2, unit="u", average=["x"], drop=["u"], method="lattice")
    with pytest.raises(InputError, match="dropped"):
        shoal.recode(data, ["a"], 2, average=["x"], drop=["x"], method="lattice")


def test_a_population_is_that_of_all_strata() -> None:
    data = pl.DataFrame({"a": list("xxxxxxyyyyyy"), "region": ["N"] * 6 + ["S"] * 6})
    with pytest.raises(InputError, match="all strata"):
        shoal.recode(data, ["a"], 3, by=["region"], models=["k-map(2)"], population=data, method="lattice")
    with pytest.raises(InputError, match="no class"):
        shoal.recode(
            data, ["a"], 3, keep_suppressed=True, models=["k-map(2)"], population=data, method="lattice"
        )


def test_closeness_minds_the_order_of_the_values() -> None:
    data = pl.DataFrame({"a": list("xxxyyy"), "c": ["low", "low", "mid", "mid", "high", "high"]})
    asked = {
        "models": ["closeness(0.2,ordered)"],
        "confidential": ["c"],
        "method": "lattice",
        # Nobody shows a key at the highest level.
        "suppress": 1.0,
    }
    safe = shoal.recode(data, ["a"], 2, ordinal={"c": ["low", "mid", "high"]}, **asked)
    assert safe.levels == {"a": 1}
    with pytest.raises(InputError, match="order"):
        shoal.recode(data, ["a"], 2, **asked)
    enum = data.with_columns(pl.col("c").cast(pl.Enum(["low", "mid", "high"])))
    assert shoal.recode(enum, ["a"], 2, **asked).levels == {"a": 1}


def test_one_odd_household_does_not_undo_the_others() -> None:
    rng = np.random.default_rng(1)
    household = np.repeat(np.arange(60), 3)
    town = np.repeat(rng.choice(["a", "b", "c"], 60), 3)
    town[0] = "c" if town[1] != "c" else "a"
    data = pl.DataFrame(
        {"h": [None, None, *household[2:].tolist()], "town": town, "age": rng.integers(0, 9, 180)}
    )
    safe = shoal.recode(data, ["town", "age"], 5, household="h", method="auto")
    assert safe.suppressed_cells["town"] == 0 and safe.levels["town"] is not None
    with pytest.raises(InputError, match="household"):
        shoal.recode(data, ["town", "age"], 5, household="h", keep_suppressed=True, suppress=0.1)


def test_keys_that_stay_do_so_in_households_too() -> None:
    data = pl.DataFrame({"h": [1, 1, 2, 2, 3, 3, 4, 4], "town": list("AAAABBBB"), "age": list("oyoyoyoy")})
    safe = shoal.recode(
        data, ["town", "age"], 2, household="h", stay=["town"], method="local", weights={"age": 9}
    )
    assert safe.frame["town"].to_list() == data["town"].to_list()


def test_no_proof_is_claimed_for_what_was_not_tried() -> None:
    data = pl.DataFrame({"a": list("xxxyyyz"), "b": list("ppppppp")})
    safe = shoal.recode(data, ["a", "b"], 2, measure="discernibility")
    assert "whole columns" in str(dict(_facts(safe)))
    assert "record by record" not in str(dict(_facts(safe)))
    assert any("not tried" in note for note in safe.notes)


def _facts(safe: object) -> list[tuple[str, object]]:
    from shoal.microdata.recoding.report import facts

    return facts(safe, None)


def test_a_report_tells_nothing_of_a_label_that_one_person_has() -> None:
    data = pl.DataFrame(
        {
            "town": ["Rareville"] * 12 + ["B"] * 30 + ["C"] * 30,
            "age": ["1"] * 72,
            "u": [0] * 12 + list(range(1, 61)),
        }
    )
    safe = shoal.recode(data, ["town", "age"], 3, unit="u", suppress=0.2, method="lattice")
    assert safe.suppressed_people == 1
    assert "Rareville" not in safe.report().html()


def test_what_counts_as_one_value_is_released_as_one() -> None:
    data = pl.DataFrame({"a": [float("nan"), None, 0.0, -0.0, 1.0, 1.0]})
    released = shoal.recode(data, ["a"], 2, method="lattice").frame["a"]
    assert released.null_count() == 2 and not released.is_nan().any()
    assert [str(value) for value in released.drop_nulls()] == ["0.0", "0.0", "1.0", "1.0"]


def test_levels_by_hand_are_kept_by_the_method_that_chooses() -> None:
    data = pl.DataFrame({"a": list("xyxyxy"), "b": list("ppqqrr")})
    tree = {"a": "star", "b": [("p", "pq", "*"), ("q", "pq", "*"), ("r", "r", "*")]}
    safe = shoal.recode(data, ["a", "b"], 2, levels={"a": 0, "b": 0}, hierarchies=tree)
    assert set(safe.frame["b"]) <= {"p", "q", "r", "*"}


def test_the_limit_is_one_of_people_over_all_strata() -> None:
    data = pl.DataFrame({"s": ["n"] * 6 + ["m"] * 6, "u": [*range(6), *range(6)], "a": list("xxxyyz") * 2})
    shifted = data.with_columns(u=pl.Series([*range(6), 5, 4, 3, 2, 1, 0]))
    safe = shoal.recode(data, ["a"], 2, unit="u", by=["s"], suppress=0.17, method="lattice", drop=["u"])
    assert safe.suppressed_people <= 0.17 * 6
    with pytest.raises(Infeasible):
        shoal.recode(
            shifted,
            ["a"],
            2,
            unit="u",
            by=["s"],
            suppress=0.17,
            levels={"a": 0},
            method="lattice",
            drop=["u"],
        )


@pytest.mark.parametrize("made", ["pandas", "enum"])
def test_types_do_not_list_values_that_were_left_out(made: str) -> None:
    values = ["b", "b", "a", "a", "RARE"]
    data = (
        pd.DataFrame({"k": pd.Series(values, dtype="category")})
        if made == "pandas"
        else pl.DataFrame({"k": pl.Series(values, dtype=pl.Enum(["a", "b", "RARE"]))})
    )
    frame = shoal.recode(data, ["k"], 2, method="lattice", suppress=0.3).frame
    assert "RARE" not in str(frame["k"].dtype) and "RARE" not in set(frame["k"])


@pytest.mark.parametrize("method", ["auto", "lattice", "local-suppression"])
def test_a_value_written_like_a_blank_is_told_from_one(method: str) -> None:
    data = pl.DataFrame({"a": ["x", "x", "y", "y", "*", "*", "z"], "b": list("ppppppp")})
    safe = shoal.recode(data, ["a", "b"], 2, method=method, suppress=0.2)
    assert safe.k_release >= 2
    again = shoal.recode(safe.frame, ["a", "b"], 3, method=method, suppress=0.2)
    assert again.k_release >= 3


def test_everybody_left_out_is_no_release() -> None:
    data = pl.DataFrame({"a": list("xyz"), "b": list("ppp")})
    for method in ("auto", "local-suppression", "lattice"):
        with pytest.raises(Infeasible):
            shoal.recode(data, ["a", "b"], 2, suppress=1.0, stay=["a"], method=method)


def test_people_with_several_combinations_and_keys_that_stay() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 14))
        data = pl.DataFrame(
            {"a": rng.choice(list("xyz"), n), "b": rng.choice(list("pq"), n), "u": rng.integers(0, 5, n)}
        )
        try:
            safe = shoal.recode(
                data,
                ["a", "b"],
                2,
                unit="u",
                stay=["a"],
                suppress=0.3,
                method="local-suppression",
                drop=["u"],
            )
        except (Infeasible, InputError):
            continue
        assert safe.k_release >= 2


def test_wildcards_are_counted_for_people_of_one_record() -> None:
    data = pl.DataFrame({"a": list("xxxyyyzz"), "b": list("pppqqqrr"), "u": [1, 1, 1, 2, 2, 2, 3, 4]})
    with pytest.raises(InputError, match="one unit"):
        shoal.recode(data, ["a", "b"], 2, unit="u", null="wildcard", drop=["u"])


def test_odd_values_are_counted_as_they_are_released() -> None:
    mixed = pd.DataFrame({"a": pd.Series([1, 1.0, "1", pd.NA, None, "x", "x"], dtype=object)})
    assert shoal.recode(mixed, ["a"], 2, method="lattice").k_release == 2
    start = dt.datetime(2024, 1, 1)
    moments = pl.DataFrame(
        {
            "a": pl.Series([start] * 4).cast(pl.Datetime("ns"))
            + pl.Series([0, 1, 0, 1]).cast(pl.Duration("ns"))
        }
    )
    assert shoal.recode(moments, ["a"], 2, method="lattice", hierarchies={"a": "star"}).k_release >= 2


def test_deep_hierarchies_and_odd_names() -> None:
    deep = [[f"v{i}", *[f"v{min(i, 149 - level)}.{level}" for level in range(150)], "*"] for i in range(150)]
    data = pl.DataFrame({"a": [f"v{i}" for i in range(150)]})
    assert shoal.recode(data, ["a"], 2, hierarchies={"a": deep}, method="lattice").k_release >= 2
    named = pl.DataFrame(
        {"unit of each record": list("xxyy"), "u": [1, 2, 3, 4], "key 0": [1.0, 2.0, 3.0, 4.0]}
    )
    safe = shoal.recode(named, ["unit of each record"], 2, unit="u", method="lattice", drop=["u"])
    assert safe.k_release == 2
    averaged = shoal.recode(named.drop("u"), ["unit of each record"], 2, average=["key 0"], method="lattice")
    assert averaged.averages.k == 2
