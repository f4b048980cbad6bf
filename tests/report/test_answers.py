"""The answers to singling out, linking and inference are those of the figures, and name commands there are."""

import re
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import shoal as run
from tests.report.commands import COMMANDS, prepare

import shoal
from shoal.microdata.anonymity.assurances import assurances as of_classes
from shoal.microdata.measures.assurances import assurances as of_comparison
from shoal.microdata.microaggregation.assurances import assurances as of_groups
from shoal.microdata.perturbation.assurances import assurances as of_chance
from shoal.microdata.recoding.assurances import assurances as of_recoding
from shoal.operations import OPERATIONS
from shoal.report.provenance import Assurances
from shoal.tables.reports.assurances import of_pattern


@pytest.fixture
def survey(tmp_path: Path) -> pl.DataFrame:
    prepare(tmp_path)
    return pl.read_csv(tmp_path / "my survey.csv")


def texts(found: Assurances) -> tuple[str, ...]:
    return found.attacker, found.singling_out, found.linking, found.inference


def test_who_is_alone_is_counted(survey: pl.DataFrame) -> None:
    keys = ["age", "sex", "region"]
    sizes = survey.group_by(keys).len()["len"]
    alone = int((sizes == 1).sum())
    assert alone > 1
    found = of_classes([("survey", shoal.anonymity(survey, keys))])
    assert f"Yes: {alone} records are alone" in found.singling_out
    assert f"at most 1 (1/K), and {len(sizes) / survey.height:.3g} on average" in found.linking
    assert found.inference.startswith("Not measured")
    crowds = of_classes([("survey", shoal.anonymity(survey, ["sex"], confidential=["region"]))])
    least = survey.group_by("sex").len()["len"].min()
    assert f"Not by sex: K is {least}" in crowds.singling_out
    assert "region has at least 2 distinct values" in crowds.inference


def test_of_several_tables_the_worst_is_told(survey: pl.DataFrame) -> None:
    both = [
        (name, shoal.anonymity(survey, keys))
        for name, keys in (("good", ["sex"]), ("bad", ["age", "income"]))
    ]
    found = of_classes(both)
    assert all(text.startswith("In bad, the worst of 2 tables") for text in texts(found)[1:])


def test_a_recoding_tells_what_classes_share(survey: pl.DataFrame) -> None:
    result = shoal.recode(survey, quasi=["age", "sex"], k=4, confidential=["region"], method="lattice")
    found = of_recoding(result)
    assert f"K is {result.k_release}, so that each of the records shares these values" in found.singling_out
    shared = result.homogeneous[0]
    assert (
        "no class shares one region" if not shared.classes else f"{shared.people:,} people"
    ) in found.inference.lower()
    assert of_recoding(
        shoal.recode(survey, quasi=["age", "sex"], k=4, method="lattice")
    ).inference.startswith("Not measured")


def test_links_and_single_values_of_groups(survey: pl.DataFrame) -> None:
    result = shoal.microaggregate(
        survey.with_columns(rent=pl.lit(5.0)),
        k=3,
        columns=["income", "rent"],
        quasi=["income"],
        method="mdav",
    )
    found = of_groups(result)
    links = dict(result.expected_links)["income, rent"]
    assert f"links {links:,.1f} of 120 records" in found.linking and "min-max" in found.linking
    groups = int(result.parts[0].sizes.size)
    # Of rent every group holds one value; of income, which has no ties, none does.
    assert f"{groups} of {2 * groups} groups hold a single value" in found.inference


def test_a_comparison_tells_links_and_intervals(survey: pl.DataFrame) -> None:
    moved = survey.with_columns(pl.col("income", "rent") * 1.3)
    result = shoal.compare(
        survey, moved, columns=["income", "rent"], quasi=["age", "sex"], paired_by_position=True
    )
    found = of_comparison([result])
    assert f"for {result.links_expected:,.1f} of 120 records" in found.linking
    assert found.inference.startswith(f"{result.id:.2f} % of the true values")
    assert f"K of the release over age, sex is {result.k}" in found.singling_out


def test_what_a_seed_protects_from(survey: pl.DataFrame) -> None:
    arguments = {"method": "pram", "columns": ["region"]}
    assert "protect from nobody" in of_chance(shoal.perturb(survey, seed=1, **arguments)).attacker
    assert "does not know the secret" in of_chance(shoal.perturb(survey, **arguments)).attacker


def test_a_pattern_names_its_attacker() -> None:
    import numpy as np

    result = shoal.suppress(np.array([[10, 20, 30], [40, 50, 60], [70, 80, 90]]), sensitive=[("2", "2")])
    found = of_pattern(result)
    assert found.attacker == f"{result.attacker}."
    assert "Of 1 sensitive cell none can be computed more closely" in found.inference
    assert "contributors are unknown" in found.singling_out


@pytest.mark.parametrize("name", COMMANDS)
def test_what_was_not_measured_is_measured_by_a_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    run(name, *COMMANDS[name][0], "--report", "report.html", "--quiet")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    answers = html.partition("Singling out, linking, inference</h2>")[2].partition("<h2>")[0]
    assert "Not measured" in answers
    commands = set(re.findall(r"\bshoal ([a-z]+)", answers))
    assert commands and commands <= set(OPERATIONS)
