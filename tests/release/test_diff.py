"""Two releases: what changed between them, and what both together give away."""

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.release.firms import TURNOVER, firms, turnover
from tests.release.plans import SURVEY, survey

import shoal

KEYS = """\
[release]
name = "keys"
[sources.people]
data = "people.csv"
roles = {name = "identifier", age = "quasi-identifier", sex = "quasi-identifier", region = "quasi-identifier"}
[[steps]]
do = "drop"
columns = ["name", "pay", "age"]
[[steps]]
do = "recode"
quasi = ["sex", "region"]
k = 4
method = "lattice"
levels = {sex = 1}
[gates.recode]
k = 4
[outputs]
"keys.csv" = "recode"
"""


def test_the_same_twice(tmp_path: Path):
    plan = survey(tmp_path)
    one = shoal.release(plan, tmp_path / "one")
    two = shoal.release(plan, tmp_path / "two", repeat=one.folder)
    found = shoal.diff_releases(one.folder, two.folder)
    assert found.changes == () and not found.discloses and found.measured
    assert found.together[0].figures["k"] == found.together[0].figures["k_alone"][0]


def test_other_settings_and_another_secret(tmp_path: Path):
    plan = survey(tmp_path)
    one = shoal.release(plan, tmp_path / "one")
    plan.write_text(SURVEY.replace("change = 0.2", "change = 0.3"))
    two = shoal.release(plan, tmp_path / "two", another=True)
    found = shoal.diff_releases(one.folder, two.folder)
    settings = [item for item in found.changes if item.part == "settings"]
    assert [(item.name, item.before, item.after) for item in settings] == [
        ("perturb.options", {"change": 0.2}, {"change": 0.3})
    ]
    assert "survey.csv: values" in {item.name for item in found.changes if item.part == "outputs"}
    # What was drawn twice tells by its differences what was changed.
    left, right = (pl.read_csv(item.folder / "public" / "survey.csv") for item in (one, two))
    assert left["job"].value_counts().height == right["job"].value_counts().height
    assert found.together[0].figures["differing"]["job"] > 0


def test_k_alone_is_that_of_the_whole_release(tmp_path: Path):
    """Of few records that are seen in both releases each may be alone, and neither release says so of all of its records."""
    plan = survey(tmp_path, KEYS)
    one = shoal.release(plan, tmp_path / "one")
    people = pl.read_csv(tmp_path / "people.csv")
    strangers = people.with_columns(name=pl.lit("another ") + pl.col("name"))
    pl.concat([people.head(3), strangers.tail(-3)]).write_csv(tmp_path / "people.csv")
    two = shoal.release(plan, tmp_path / "two", another=True, accept_changed_input=True)
    found = shoal.diff_releases(one.folder, two.folder).together[0]
    assert found.figures["records"] == 3 and found.figures["k"] < 4
    assert found.figures["k_alone"] == [min(people.group_by("region").len()["len"])] * 2


def test_people_seen_in_both(tmp_path: Path):
    """One release tells the region, the other the sex: together they tell both."""
    plan = survey(tmp_path, KEYS)
    one = shoal.release(plan, tmp_path / "one")
    plan.write_text(KEYS.replace("levels = {sex = 1}", "levels = {region = 1}"))
    two = shoal.release(plan, tmp_path / "two", another=True)
    people = pl.read_csv(tmp_path / "people.csv")
    wanted = min(people.group_by("sex", "region").len()["len"])
    alone = [min(people.group_by(name).len()["len"]) for name in ("region", "sex")]
    found = shoal.diff_releases(one.folder, two.folder)
    assert found.together[0].figures["k"] == wanted
    assert found.together[0].figures["k_alone"] == alone
    assert not found.discloses
    for place in (one.folder / "internal" / "plan.toml", two.folder / "internal" / "plan.toml"):
        place.write_text(
            place.read_text().replace("[gates.recode]\nk = 4", f"[gates.recode]\nk = {wanted + 1}")
        )
    assert shoal.diff_releases(one.folder, two.folder).discloses
    done = command("diff", one.folder, two.folder, "--require-safe", "--json")
    assert done.code == 3 and done.json["discloses"] is True
    # Without what only the internal parts know nobody can say that it is safe.
    blind = command("diff", one.folder / "public", two.folder / "public", "--require-safe", "--json")
    assert blind.code == 3 and blind.json["discloses"] is False and blind.json["measured"] is False
    assert command("diff", one.folder / "public", two.folder / "public").code == 0
    assert command("diff", one.folder, two.folder).code == 0
    # Nobody outside knows who is who.
    shutil.rmtree(two.folder / "internal")
    blind = shoal.diff_releases(one.folder, two.folder)
    assert not blind.measured and "only the internal parts" in blind.together[0].detail


def test_people_are_followed_by_keys_and_not_by_their_place(tmp_path: Path):
    """The second file has them in another order, with one more and one fewer, and what was paid is another year's."""
    plan = survey(tmp_path, KEYS)
    one = shoal.release(plan, tmp_path / "one")
    people = pl.read_csv(tmp_path / "people.csv")
    newcomer = people.head(1).with_columns(name=pl.lit("somebody new"))
    later = pl.concat([newcomer, people.slice(1).reverse()]).with_columns(pl.col("pay") + 1)
    later.write_csv(tmp_path / "people.csv")
    plan.write_text(KEYS.replace("levels = {sex = 1}", "levels = {region = 1}"))
    two = shoal.release(plan, tmp_path / "two")
    (found,) = shoal.diff_releases(one.folder, two.folder).together
    assert found.figures["records"] == people.height - 1
    assert found.figures["k"] == min(people.slice(1).group_by("sex", "region").len()["len"])
    # Releases of another folder have other keys: nothing is known of who is who.
    (tmp_path / "elsewhere").mkdir()
    three = shoal.release(plan, tmp_path / "elsewhere" / "three")
    (blind,) = shoal.diff_releases(one.folder, three.folder).together
    assert blind.discloses is None and "no record in common" in blind.detail


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    shoal.release(turnover(place), place / "one")
    return place


def other_pattern(place: Path, tmp_path: Path, show: int) -> Path:
    """The same release with a complementary cell of the first one shown, and another one hidden in its stead."""
    from tests.release.test_verify import rehash

    folder = Path(shutil.copytree(place / "one", tmp_path / "two"))
    cells = pl.read_csv(next(folder.glob("internal/steps/01-*/cells.csv")))
    pattern = pl.read_csv(next(folder.glob("internal/steps/02-*/pattern.csv")))
    keys = ["region", "sector"]
    complementary = pattern.filter(pl.col("kind") == "complementary").select(keys)[show : show + 2]
    file = folder / "public" / "turnover.csv"
    shown = complementary.join(cells.select(*keys, pl.col("value").alias("true")), on=keys)
    frame = pl.read_csv(file).join(shown, on=keys, how="left", maintain_order="left")
    frame.with_columns(value=pl.coalesce("value", "true")).drop("true").write_csv(file)
    rehash(folder, "turnover.csv")
    return folder


def test_two_patterns_of_one_table(tables: Path, tmp_path: Path):
    two = other_pattern(tables, tmp_path, 0)
    found = shoal.diff_releases(tables / "one", two)
    cells = [item for item in found.changes if item.part == "cells"]
    assert [item.name for item in cells] == ["turnover.csv: newly shown"] and len(cells[0].after) == 2
    # Against the audit that tables have, with what both show.
    shown = {
        tuple(row[:2])
        for row in pl.read_csv(two / "public" / "turnover.csv").iter_rows()
        if row[2] is not None
    }
    from shoal.tables.files.loading import load

    whole = load(str(next(two.glob("internal/steps/01-*/cells.csv")))).table
    keys = [tuple(whole.table.key(cell).values()) for cell in range(whole.table.cells)]
    audit = shoal.audit(whole, [key for key in keys if key not in shown])
    assert found.together[0].kind == "tables"
    assert found.discloses == (not audit.safe)
    assert found.discloses and found.together[0].figures["exact"] >= 2
    # Without the levels everything that one hides counts.
    shutil.rmtree(two / "internal")
    blind = shoal.diff_releases(tables / "one", two)
    assert blind.discloses and blind.together[0].figures["too_narrow"] is None
    same = shoal.diff_releases(tables / "one", tables / "one")
    assert not same.discloses and same.changes == ()
    assert same.together[0].figures["exact"] == 0


def test_one_dimension_more(tables: Path, tmp_path: Path):
    """Another table of the same records shows a margin that the first one hides nothing of: no more is known."""
    shutil.copytree(tables, tmp_path / "more")
    plan = tmp_path / "more" / "turnover.toml"
    plan.write_text(
        TURNOVER.replace('["region", "sector"]', '["region"]').replace('"turnover.csv"', '"regions.csv"')
    )
    two = shoal.release(plan, tmp_path / "more" / "two", another=True)
    found = shoal.diff_releases(tables / "one", two.folder)
    assert found.measured and [item.kind for item in found.together] == ["tables"]
    assert {(item.name, item.before, item.after) for item in found.changes if item.part == "outputs"} == {
        ("turnover.csv", True, None),
        ("regions.csv", None, True),
    }


def test_two_periods(tables: Path, tmp_path: Path):
    shutil.copytree(tables, tmp_path / "later")
    factor = np.random.default_rng(1).uniform(0.95, 1.05, firms().height)
    later = firms().with_columns((pl.col("turnover") * factor).round(1))
    later.write_csv(tmp_path / "later" / "firms.csv")
    plan = tmp_path / "later" / "turnover.toml"
    text = TURNOVER.replace('do = "suppress"', 'do = "suppress"\ncost = "unity"')
    plan.write_text(text)
    two = shoal.release(plan, tmp_path / "later" / "two")
    found = shoal.diff_releases(tables / "one", two.folder)
    assert found.together[0].discloses is None and "different data" in found.together[0].detail
    crossed = found.together[0].figures["crossed"]
    hidden = [
        {
            tuple(row[:2])
            for row in pl.read_csv(item / "public" / "turnover.csv").iter_rows()
            if row[2] is None
        }
        for item in (tables / "one", two.folder)
    ]
    assert crossed == len(hidden[0] ^ hidden[1])
    bounded = shoal.diff_releases(tables / "one", two.folder, change=0.06)
    assert bounded.measured and bounded.together[0].figures["crossed"] == crossed
    wide = shoal.diff_releases(tables / "one", two.folder, change=1e6)
    assert wide.together[0].figures["too_narrow"] == 0 and not wide.discloses


def test_bad_input(tmp_path: Path):
    done = command("diff", tmp_path, tmp_path)
    assert done.code == 2 and "is no release" in done.err


def test_a_folder_that_is_not_there_and_records_beside_a_table(tmp_path: Path):
    with pytest.raises(shoal.InputError, match="there is no folder"):
        shoal.diff_releases(tmp_path / "none", tmp_path / "none")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one = shoal.release(survey(tmp_path / "one"), tmp_path / "one" / "out")
    two = shoal.release(turnover(tmp_path / "two"), tmp_path / "two" / "out")
    found = shoal.diff_releases(one.folder, two.folder)
    assert not found.measured and "cannot be measured" in found.together[0].detail
