"""Releases with categories: recoded, blanked, exchanged for others, beside numbers or alone."""

import json

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli.main import main


@pytest.fixture
def people():
    draw = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "id": np.arange(300),
            "age": draw.integers(18, 90, 300),
            "sex": draw.choice(["f", "m"], 300),
            "town": draw.choice(["A", "B", "C", "D"], 300),
            "income": draw.lognormal(8, 0.5, 300).round(1),
        }
    )


def test_a_recoded_release_is_compared(people):
    safe = shoal.recode(people, quasi=["age", "sex", "town"], k=5, order="sorted", seed=1)
    found = shoal.compare(
        people, safe.frame, record_links=safe.record_links, columns=["age", "sex", "town", "income"]
    )
    figures = found.to_dict()
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    first = figures["categories"][0]
    assert first["column"] == "age" and first["recoded"]
    assert first["changed_percent"] > 90 > first["kept_percent"]
    assert [item["column"] for item in figures["attributes"]] == ["income"]
    # Loss and risk of the numbers are those of the numbers alone.
    alone = shoal.compare(people, safe.frame, record_links=safe.record_links, columns=["income"]).to_dict()
    for name in ("il", "dld", "pld", "id", "score", "fitness", "records"):
        assert figures[name] == alone[name]
    assert figures["il"] == 0 and figures["worst_risk"]["percent"] == 100.0
    # Nobody is found by the keys alone more often than one in k.
    known = ["age", "sex", "town"]
    keys = shoal.compare(
        people, safe.frame, record_links=safe.record_links, columns=known, known=[known], quasi=known
    )
    linked = next(attack for attack in keys.attacks if attack.name == "mixed-linkage")
    assert 0 < linked.percent <= 20.0 and keys.k_compared >= 5
    assert any("'id' and 'income' could be known, too" in text for text in keys.restrictions)


def test_only_categories_leave_the_figures_of_numbers_empty(people, tmp_path):
    swapped = people.with_columns(sex=pl.Series(np.random.default_rng(0).choice(["f", "m"], 300)))
    found = shoal.compare(people, swapped, key="id", columns=["sex", "town"])
    figures = found.to_dict()
    assert figures["il"] is figures["dld"] is figures["fitness"] is figures["score"] is None
    assert found.categories[0].changed_percent == pytest.approx(50, abs=10)
    assert found.categories[1].changed_percent == 0 and found.categories[1].kept_percent == pytest.approx(100)
    assert {attack["name"] for attack in figures["attacks"]} == {
        # These two know the numbers that are released beside.
        "rank-windows",
        "mahalanobis",
        "mixed-linkage",
        "likelihood",
        "attribute-inference",
        "membership",
    }
    assert "il" not in found.glance() and repr(found)
    found.report().write(tmp_path / "report.html")
    assert "linkage by numbers and categories" in (tmp_path / "report.html").read_text()


def test_codes_are_compared_as_categories_on_request(people):
    coded = people.with_columns(town=pl.Series(np.random.default_rng(1).integers(1, 4, 300)))
    changed = coded.with_columns(town=(pl.col("town") % 3) + 1)
    found = shoal.compare(coded, changed, key="id", columns=["town", "income"], categories=["town"])
    assert found.categories[0].changed_percent == 100 and [a.column for a in found.attributes] == ["income"]


def test_by_default_what_was_changed_is_compared(people):
    blanked = people.with_columns(town=pl.when(pl.col("town") == "A").then(None).otherwise("town"))
    found = shoal.compare(people, blanked, key="id")
    assert "town" in found.columns and "sex" not in found.columns
    share = 100 * (people["town"] == "A").mean()
    assert found.categories[0].blanked_percent == pytest.approx(share)
    assert any("since the release changed them: town" in note for note in found.notes)
    # A record that was not released changes no category.
    fewer = shoal.compare(people, people.head(250), key="id")
    assert not fewer.categories


def test_an_intruder_who_knows_less_finds_less(people):
    everything = shoal.compare(people, people, key="id", columns=["age", "sex", "town"])
    less = shoal.compare(people, people, key="id", columns=["age", "sex", "town"], known=[["sex"], ["town"]])
    by_name = [{a.name: a.percent for a in found.attacks} for found in (everything, less)]
    assert by_name[1]["mixed-linkage"] < 3 < by_name[0]["mixed-linkage"]


def test_measures_and_attacks_can_be_left_out(people):
    found = shoal.compare(people, people, key="id", columns=["income"], utility=[], attacks=[])
    assert found.utility == type(found.utility)() and found.tried == ()
    some = shoal.compare(
        people, people, key="id", columns=["age", "income"], utility=["eigenvalues"], attacks=["membership"]
    )
    assert some.utility.pmse is None and some.utility.eigenvalues.mean_change == 0
    assert [attack.name for attack in some.tried] == ["membership"]


def test_the_same_seed_gives_the_same_and_units_are_people(people):
    noisy = people.with_columns(income=pl.col("income") * 1.01, whose=pl.col("id") // 3)
    before = people.with_columns(whose=pl.col("id") // 3)
    one, two = (
        shoal.compare(before, noisy, key="id", columns=["age", "income"], unit="whose", seed=7).to_dict()
        for _ in range(2)
    )
    assert one == two


def run(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code, capsys.readouterr()


def test_the_gate_judges_the_worst_attack(people, tmp_path, capsys):
    people.write_csv(tmp_path / "before.csv")
    people.with_columns(age=pl.lit("*")).write_csv(tmp_path / "after.csv")
    arguments = ["compare", tmp_path / "before.csv", tmp_path / "after.csv", "--key", "id"]
    columns = ["--columns", "age,sex,town"]
    code, printed = run([*arguments, *columns, "--max-risk", 90], capsys)
    assert code == 3 and "the worst risk is 100.00 %" in printed.err
    columns += ["--known", "age,sex,town"]
    code, printed = run([*arguments, *columns, "--max-risk", 0.5], capsys)
    assert code == 3 and "the worst risk is" in printed.err
    code, _ = run([*arguments, *columns, "--max-risk", 90], capsys)
    assert code == 0
    code, printed = run(
        [*arguments, *columns, "--attacks", "none", "--utility", "marginals", "--json"], capsys
    )
    figures = json.loads(printed.out)
    assert code == 0 and figures["attacks"] == [] and figures["utility"]["pmse"] is None
    assert figures["worst_risk"]["percent"] == 0
    code, printed = run([*arguments, "--attacks", "membershp"], capsys)
    assert code == 2 and "membership" in printed.err


def test_what_is_left_out_is_said():
    draw = np.random.default_rng(0)
    wide = pl.DataFrame(draw.normal(size=(12, 60)), schema=[f"c{i}" for i in range(60)])
    found = shoal.compare(wide, wide, paired_by_position=True, columns=["*"], ways=3, attacks=[])
    assert any("34,220, more than 20,000" in note for note in found.notes)
    assert any(note.startswith("no regressions") for note in found.notes)
    assert any("pMSE is not computed with two-way: 1830 terms" in note for note in found.notes)


def test_gaps_that_stay_are_no_difference(people):
    gaps = people.with_columns(town=pl.when(pl.col("id") % 4 == 0).then(None).otherwise("town"))
    # Two thirds of the towns are exchanged in pairs: their shares stay, and so do the gaps.
    order = np.arange(300)
    here = np.flatnonzero(gaps["town"].is_not_null().to_numpy())
    order[here[:200]] = here[:200][::-1]
    released = gaps.with_columns(town=gaps["town"][order.tolist()])
    found = shoal.compare(gaps, released, key="id", columns=["town", "sex"])
    assert found.categories[0].total_variation == 0 and found.categories[0].blanked_percent == 0
    assert found.utility.pmse.models[0].pmse == pytest.approx(0, abs=1e-12)


def test_exchanged_values_and_codes_are_compared_by_default(people):
    draw = np.random.default_rng(3)
    before = people.with_columns(region=pl.Series(draw.integers(1, 6, 300)))
    order = draw.permutation(300).tolist()
    released = before.with_columns(town=before["town"][order], region=before["region"][order])
    found = shoal.compare(before, released, key="id")
    assert {"town", "region"} <= {one.column for one in found.categories} and "sex" not in found.columns
    assert all(one.changed_percent > 50 and one.total_variation == 0 for one in found.categories)
    links = shoal.perturb(
        before, "record-swap", regions=["town"], quasi=["sex"], options={"share": 1.0}, order="sorted", seed=1
    )
    for columns in (None, ["income"]):
        swapped = shoal.compare(before, links.frame, record_links=links.record_links, columns=columns)
        assert swapped.records == 300 and ("town" in swapped.columns) == (columns is None)


def test_links_to_an_original_in_another_order_are_still_refused(people):
    safe = shoal.perturb(people.drop("id"), "noise", ["income"], seed=1)
    with pytest.raises(shoal.InputError, match=r"of another release.*or name it with columns="):
        shoal.compare(
            people.drop("id").reverse(), safe.frame, columns=["income"], record_links=safe.record_links
        )


def test_an_intruder_knows_what_was_released_as_it_was(people):
    keyed = people.select("id", "sex", "town", cell=pl.col("age").cast(pl.String) + pl.col("town"))
    draw = np.random.default_rng(4)
    released = keyed.with_columns(sex=pl.Series(draw.choice(["f", "m"], 300)))
    # Nobody trusts what was drawn anew: the others alone find one of each cell, whatever is compared.
    cells = keyed.n_unique(["town", "cell"])
    for columns in (None, ["sex"]):
        found = shoal.compare(keyed, released, key="id", columns=columns)
        linked = {attack.name: attack.percent for attack in found.attacks}
        assert linked["mixed-linkage"] == pytest.approx(100 * cells / 300)
        assert _inferred(found) == ["sex", "town", "cell"]
        assert any("also knows town, cell" in note for note in found.notes)
        assert bool(found.restrictions) == (columns is not None)
    alone = shoal.compare(keyed, released, key="id", known=[["sex"]])
    assert max(a.percent for a in alone.attacks if a.name != "attribute-inference") < 5
    assert any("'town' and 'cell' could be known, too" in text for text in alone.restrictions)
    assert set(alone.restrictions) <= set(alone.warnings)


def _inferred(found):
    inferred = next(attack for attack in found.attacks if attack.name == "attribute-inference")
    return [one["column"] for one in dict(inferred.details)["by_column"]]


def test_a_confidential_column_that_was_released_as_it_is_is_inferred(people):
    draw = np.random.default_rng(6)
    before = people.select(
        "id", "age", "town", "income", diagnosis=pl.Series(draw.choice(list("abcdef"), 300))
    )
    released = before.with_columns(town=pl.Series(draw.choice(["A", "B"], 300)))
    found = shoal.compare(before, released, key="id", roles={"diagnosis": "confidential"})
    # Nobody knows it, so it links nobody, and it is the first to be inferred: incomes find the records.
    assert _inferred(found)[0] == "diagnosis"
    assert found.worst[1] == 100.0 and found.worst[0] != "attribute-inference"
    inferred = next(attack for attack in found.attacks if attack.name == "attribute-inference")
    assert dict(inferred.details)["by_column"][0]["released"] > 0.7
    hidden = shoal.compare(
        before,
        released.with_columns(income=pl.lit(1.0), age=pl.lit(1)),
        key="id",
        roles={"diagnosis": "confidential"},
    )
    assert max(a.percent for a in hidden.attacks if "linkage" in a.name or a.name == "likelihood") < 5
    # Amounts are as near as amounts are, also where nobody compares them and some are missing.
    amounts = before.with_columns(pl.when(pl.col("id") % 7 > 0).then("income"))
    near = shoal.compare(
        amounts,
        amounts.with_columns(pl.col("income") * 1.0001, town=released["town"]),
        key="id",
        columns=["town"],
        roles={"income": "confidential"},
    )
    assert near.records == 300 and _inferred(near)[0] == "income"


def test_a_restriction_is_a_warning_everywhere(people, tmp_path, capsys):
    people.write_csv(tmp_path / "a.csv")
    arguments = ["compare", tmp_path / "a.csv", tmp_path / "a.csv", "--key", "id", "--utility", "none"]
    restricted = ["--known", "sex;town", "--attacks", "mixed-linkage", "--report", tmp_path / "r.html"]
    code, printed = run([*arguments, *restricted], capsys)
    assert code == 0 and "restricted, see the warnings" in printed.out
    warnings = [line for line in printed.err.splitlines() if line.startswith("warning: ")]
    assert any("--known" in line and "'age' and 'income'" in line for line in warnings)
    assert any("--attacks" in line and "membership" in line for line in warnings)
    page = (tmp_path / "r.html").read_text()
    assert page.count('role="alert"') >= 2 and "restricted, see the warnings" in page
    _, printed = run([*arguments, *restricted[:4], "--json"], capsys)
    figures = json.loads(printed.out)
    assert figures["restrictions"] and set(figures["restrictions"]) <= set(figures["warnings"])
    _, printed = run([*arguments, "--json"], capsys)
    assert json.loads(printed.out)["restrictions"] == []


def test_many_records_that_cannot_be_compared_are_warned_of(people):
    for share, told in ((20, "notes"), (4, "warnings")):
        gaps = people.with_columns(income=pl.when(pl.col("id") % share == 0).then(None).otherwise("income"))
        found = shoal.compare(gaps, gaps, key="id", columns=["income", "sex"], attacks=[], utility=[])
        assert any(f"{found.left_out} records have a missing value" in text for text in getattr(found, told))


def test_a_gate_without_an_attack_does_not_pass(people, tmp_path, capsys):
    people.write_csv(tmp_path / "a.csv")
    arguments = ["compare", tmp_path / "a.csv", tmp_path / "a.csv", "--key", "id", "--columns", "sex,town"]
    code, printed = run([*arguments, "--attacks", "none", "--max-risk", 50], capsys)
    assert code == 3 and "no attack was tried" in printed.err
