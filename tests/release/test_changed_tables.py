"""Plans whose steps change figures: released, confirmed from the files, repeated to the byte; planted faults are found."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.release.firms import firms
from tests.release.test_verify import changed, names

import shoal
from shoal.errors import InputError

TABULATED = """\
[release]
name = "turnover"

[sources.firms]
data = "firms.csv"
roles = {firm = "identifier", turnover = "confidential"}

[[steps]]
do = "tabulate"
dimensions = ["region", "sector"]
value = "turnover"
contributor = "firm"

[[steps]]
"""
ROUND = TABULATED + 'do = "round"\nbase = 100\n[gates.round]\nsafe = true\n[outputs]\n"out.csv" = "round"\n'
ADJUST = TABULATED + 'do = "adjust"\n[gates.adjust]\nsafe = true\n[outputs]\n"out.csv" = "adjust"\n'
COUNTS = """\
[release]
name = "counts"

[sources.firms]
data = "firms.csv"
roles = {firm = "identifier", turnover = "confidential"}

[[steps]]
do = "perturb-table"
dimensions = ["region", "sector"]
record = "firm"
deviation = 8
variance = 6.0

[[steps]]
name = "regions"
do = "perturb-table"
data = "firms"
dimensions = ["region"]
record = "firm"
deviation = 8
variance = 6.0

[gates.perturb-table]
safe = true

[outputs]
"out.csv" = "perturb-table"
"regions.csv" = "regions"
"""


KEYED = COUNTS.replace('record = "firm"', 'record_key = "rkey"')
CHANGING = {"round": ROUND, "adjust": ADJUST, "perturb-table": COUNTS, "record keys": KEYED}


@pytest.mark.parametrize("text", CHANGING.values(), ids=CHANGING)
def test_plans_change_figures_and_are_confirmed(tmp_path: Path, text: str) -> None:
    keys = np.random.default_rng(5).random(140)
    firms(140).with_columns(rkey=keys).write_csv(tmp_path / "firms.csv")
    (tmp_path / "plan.toml").write_text(text)
    done = shoal.release(tmp_path / "plan.toml", tmp_path / "out")
    assert all(gate.passed for gate in done.gates) and done.gates[0].name == "safe"
    assert {item["kind"] for item in done.outputs} == {"changed table"}
    for place in (done.folder / "public", done.folder):
        assert shoal.verify_release(place).verified
    found = shoal.verify_release(done.folder, originals=tmp_path)
    assert found.verified and ("figures", True) in {(check.name, check.passed) for check in found.checks}
    again = command("release", tmp_path / "plan.toml", "-o", tmp_path / "again", "--repeat", done.folder)
    assert again.code == 0, again.err
    first, second = (tmp_path / name / "public" / "out.csv" for name in ("out", "again"))
    assert first.read_bytes() == second.read_bytes()
    both = shoal.diff_releases(done.folder, done.folder)
    # Beside itself a table gives away no more than alone; of adjusted ones not all that is known is used.
    assert {item.discloses for item in both.together} <= {False, None}
    # A figure that the method would not have published.
    changed(
        done.folder,
        "out.csv",
        lambda frame: frame.with_columns(
            value=pl.when(pl.int_range(pl.len()) == 0).then(pl.col("value") + 1000).otherwise(pl.col("value"))
        ),
    )
    assert "figures" in names(shoal.verify_release(done.folder, originals=tmp_path))


def test_the_same_records_are_counted_alike_in_all_tables_of_a_release(tmp_path: Path) -> None:
    firms(140).write_csv(tmp_path / "firms.csv")
    (tmp_path / "plan.toml").write_text(COUNTS)
    done = shoal.release(tmp_path / "plan.toml", tmp_path / "out")
    both, one = (pl.read_csv(done.folder / "public" / name) for name in ("out.csv", "regions.csv"))
    margin = dict(both.filter(pl.col("sector") == "total").select("region", "value").iter_rows())
    assert margin == dict(one.select("region", "value").iter_rows())


def test_a_plan_has_no_seed_for_what_protects(tmp_path: Path) -> None:
    firms().write_csv(tmp_path / "firms.csv")
    (tmp_path / "plan.toml").write_text(ROUND.replace("base = 100", "base = 100\nseed = 1"))
    with pytest.raises(InputError, match="a release draws from its secret"):
        shoal.release(tmp_path / "plan.toml", tmp_path / "out")


SUPPRESSED = TABULATED + 'do = "suppress"\n[outputs]\n"hidden.csv" = "suppress"\n'


@pytest.fixture(scope="module")
def beside_each_other(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Releases of the same firms: with hidden cells, rounded coarsely and finely, adjusted."""
    place = tmp_path_factory.mktemp("beside")
    firms(140).write_csv(place / "firms.csv")
    texts = {
        "hidden": SUPPRESSED,
        "coarse": ROUND,
        "fine": ROUND.replace("base = 100", "base = 1").replace(
            'do = "tabulate"', 'do = "tabulate"\nrules = ["frequency(1)"]'
        ),
        "adjusted": ADJUST,
    }
    found = {}
    for name, text in texts.items():
        (place / f"{name}.toml").write_text(text)
        found[name] = shoal.release(place / f"{name}.toml", place / name, another=bool(found)).folder
    return found


def test_a_rounded_table_beside_one_with_hidden_cells_is_one_system(
    beside_each_other: dict[str, Path],
) -> None:
    hidden, coarse, fine = (beside_each_other[name] for name in ("hidden", "coarse", "fine"))
    told = {}
    for name, other in (("coarse", coarse), ("fine", fine)):
        (item,) = shoal.diff_releases(hidden, other).together
        (turned,) = shoal.diff_releases(other, hidden).together
        assert item.discloses is not None and item.discloses == turned.discloses
        assert item.figures == turned.figures
        told[name] = item
    # To within one everything that is hidden is known; that the pattern must ask more of than a coarse base leaves, too.
    assert (
        told["fine"].discloses and told["fine"].figures["too_narrow"] > told["coarse"].figures["too_narrow"]
    )
    # Without the internal part nobody knows by how much figures were changed.
    (blind,) = shoal.diff_releases(hidden, fine / "public").together
    assert blind.discloses is None and "only the internal part" in blind.detail


def test_of_adjusted_tables_what_is_not_used_is_said(beside_each_other: dict[str, Path]) -> None:
    (item,) = shoal.diff_releases(beside_each_other["adjusted"], beside_each_other["adjusted"]).together
    assert item.discloses is None and "moved by at least their levels is not used" in item.detail


_BESIDE = """\
do = "suppress"

[[steps]]
name = "loose"
do = "tabulate"
data = "firms"
dimensions = ["region", "sector"]
value = "turnover"
contributor = "firm"
rules = ["frequency(1)"]

[[steps]]
do = "round"
base = BASE

[outputs]
"hidden.csv" = "suppress"
"rounded.csv" = "round"
"""


def test_a_release_of_hidden_cells_and_rounded_figures_is_looked_at_together(tmp_path: Path) -> None:
    """To within one, the rounded table shows what the other one hides."""
    firms(140).write_csv(tmp_path / "firms.csv")
    plan = tmp_path / "plan.toml"
    plan.write_text(TABULATED + _BESIDE.replace("BASE", "1"))
    with pytest.raises(
        shoal.Infeasible, match=r"'hidden.csv' and 'rounded.csv' together give away .* nothing was published"
    ):
        shoal.release(plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()


_TWO_KINDS = """\
do = "suppress"

[[steps]]
name = "records"
do = "drop"
data = "firms"
columns = ["firm", "turnover"]

[outputs]
"hidden.csv" = "suppress"
"records.csv" = "records"
"""


def test_what_cannot_be_judged_together_is_told_to_whoever_signs(tmp_path: Path) -> None:
    firms(140).write_csv(tmp_path / "firms.csv")
    (tmp_path / "plan.toml").write_text(TABULATED + _TWO_KINDS)
    done = shoal.release(tmp_path / "plan.toml", tmp_path / "out")
    told = "were not judged together: what records and a table give away together cannot be measured"
    assert any(told in text for text in done.warnings)
    assert told in (done.folder / "internal" / "report.html").read_text()
    assert shoal.verify_release(done.folder, originals=tmp_path).verified


GIVEN = """\
[release]
name = "counts"

[sources.firms]
data = "firms.csv"
roles = {firm = "identifier", turnover = "confidential", key = "confidential"}

[sources.chances]
data = "ptable.csv"

[[steps]]
do = "perturb-table"
data = "firms"
dimensions = ["region", "sector"]
record_key = "key"
ptable = "chances"
rows = ["sector"]

[outputs]
"out.csv" = "perturb-table"
"""


def test_keys_and_tables_of_others_are_confirmed_in_crosstabs(tmp_path: Path) -> None:
    records = firms(140)
    keys = [(37 * place % 140 + 0.5) / 140 for place in range(140)]
    records.with_columns(key=pl.Series(keys)).write_csv(tmp_path / "firms.csv")
    wide = [-6, -3, 0, 3, 6]
    lines = [(0, 0, 1.0, 0)] + [
        (count, count + change, chance, change)
        for count in range(1, 8)
        for change, chance in (
            ((-count, 0.5), (count, 0.5)) if count < 6 else tuple(zip(wide, [0.2] * 5, strict=True))
        )
    ]
    pl.DataFrame(lines, schema=["i", "j", "p", "v"], orient="row").write_csv(tmp_path / "ptable.csv")
    (tmp_path / "plan.toml").write_text(GIVEN)
    done = shoal.release(tmp_path / "plan.toml", tmp_path / "out")
    assert shoal.verify_release(done.folder).verified
    found = shoal.verify_release(done.folder, originals=tmp_path)
    assert found.verified, [str(check) for check in found.checks if check.passed is False]
    assert ("figures", True) in {(check.name, check.passed) for check in found.checks}
    out = pl.read_csv(done.folder / "public" / "out.csv")
    assert out.columns[0] == "sector" and out.columns[-1] == "total"
    changed(done.folder, "out.csv", lambda frame: frame.with_columns(total=pl.col("total") + 1))
    assert not shoal.verify_release(done.folder, originals=tmp_path).verified
