"""Special uniques as part of ``risk``: asked for, told, written, and refused where they make no sense."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal.microdata.risk.special_uniques.search import special_uniques

QUASI = ["age", "sex", "zip"]


@pytest.fixture
def people() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 40, 80),
            "sex": rng.choice(["f", "m"], 80),
            "zip": rng.choice(["1010", "2020", "3030", None], 80, p=[0.4, 0.3, 0.2, 0.1]),
            "w": rng.integers(2, 90, 80),
        }
    )


def codes(frame: pl.DataFrame) -> np.ndarray:
    ranks = [frame[name].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1 for name in QUASI]
    return np.stack(ranks, axis=1)


@pytest.mark.parametrize("null", ["own", "wildcard"])
def test_risk_finds_what_the_table_of_codes_has(people: pl.DataFrame, null: str) -> None:
    expected = special_uniques(codes(people), 2)
    for frame in (people, people.to_pandas(), people.to_arrow()):
        found = shoal.risk(
            frame, QUASI, sample_weights="w", special_uniques=True, max_size=2, null=null
        ).special_uniques
        assert found is not None and found.max_size == 2
        assert (found.minimal_uniques == expected.minimal_uniques).all()
        assert np.allclose(found.dis_scores, expected.dis_scores)
    assert shoal.risk(people, QUASI).special_uniques is None


def test_figures_file_and_report(people: pl.DataFrame, tmp_path: Path) -> None:
    data, file, page = tmp_path / "people.csv", tmp_path / "uniques.csv", tmp_path / "risk.html"
    people.write_csv(data)
    asked = ["risk", data, "--quasi", ",".join(QUASI), "--special-uniques", "--json"]
    told = command(*asked, "--uniques", file, "--report", page).json["special_uniques"]
    expected = special_uniques(codes(people))
    assert told["records"] == expected.records and told["max_size"] == 3
    assert told["minimal_uniques"] == {str(size): number for size, number in expected.by_size.items()}
    assert sum(told["records_by_fewest_keys"].values()) == expected.records
    assert told["dis_sum"] == pytest.approx(expected.dis_scores.sum())
    assert [one["column"] for one in told["contributions"]] == QUASI
    assert [one["percent"] for one in told["contributions"]] == pytest.approx(expected.contributions)
    written = pl.read_csv(file)
    assert written["record"].to_list() == list(range(1, 81))
    assert written["score"].to_list() == expected.scores.tolist()
    assert written["minimal_uniques"].to_list() == expected.minimal_uniques.sum(axis=1).tolist()
    assert np.allclose(written["contribution of zip"], expected.shares[:, 2])
    text = page.read_text()
    assert "Special uniques" in text and "DIS-SUDA" in text
    assert not any(code in text for code in ("1010", "2020", "3030"))
    assert command(*asked[:-2], "--json").json["special_uniques"] is None


def test_nobody_special_is_told_without_tables(tmp_path: Path) -> None:
    data, page = tmp_path / "pairs.csv", tmp_path / "risk.html"
    pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 1, 3, 3]}).write_csv(data)
    asked = ["risk", data, "--quasi", "a,b", "--special-uniques"]
    assert command(*asked, "--json").json["special_uniques"]["largest_score"] == 0
    outcome = command(*asked, "--report", page)
    assert outcome.code == 0 and "0 records" in outcome.out and "most special" not in outcome.out


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--max-size", "2"], "--special-uniques"),
        (["--uniques", "OUT"], "--special-uniques"),
        (["--special-uniques", "--max-size", "0"], "--max-size"),
    ],
)
def test_what_does_nothing_is_refused(
    people: pl.DataFrame, tmp_path: Path, options: list[str], part: str
) -> None:
    data = tmp_path / "people.csv"
    people.write_csv(data)
    options = [str(tmp_path / "out.csv") if option == "OUT" else option for option in options]
    outcome = command("risk", data, "--quasi", "age,sex", *options)
    assert outcome.code == 2 and part in outcome.err and outcome.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def test_a_limit_without_special_uniques_is_refused(people: pl.DataFrame) -> None:
    with pytest.raises(shoal.InputError, match="max_size= is about special_uniques="):
        shoal.risk(people, QUASI, max_size=2)
