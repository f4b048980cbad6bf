"""What must never go out: names, keys that nobody counts, files that no plan names, promises that do not hold."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.release.firms import TURNOVER, turnover
from tests.release.plans import SURVEY, people, survey

import shoal
from shoal.release.gates.judge import worst_attack, worst_linkage
from shoal.release.plan.reader import parse_plan
from shoal.release.register.record_keys import RecordKeys, codes_of
from shoal.release.run import running

DROP = """\
[release]
name = "x"
[sources.people]
data = "people.csv"
roles = {name = "identifier", age = "quasi-identifier", sex = "quasi-identifier", region = "quasi-identifier"}
[[steps]]
do = "drop"
columns = ["pay"]
[outputs]
"x.csv" = "drop"
"""
TREE = "18;18-48;*\n" + "".join(f"{age};{'18-48' if age < 49 else '49-79'};*\n" for age in range(19, 80))


def manifest(folder: Path) -> dict:
    return json.loads((folder / "public" / "manifest.json").read_text())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DROP, "line 10: 'x.csv' would publish column 'name', whose role is identifier"),
        (
            SURVEY.replace('age = "quasi-identifier"', 'agee = "quasi-identifier"'),
            "line 9: column 'agee' is not in the data of 'people'",
        ),
        (SURVEY.replace('method = "pram"', 'method = "prom"'), "line 28: step 'perturb': method 'prom'"),
        (SURVEY.replace('columns = ["job"]', 'columns = ["jobs"]'), "line 29: step 'perturb': column 'jobs'"),
        (SURVEY.replace('columns = ["job"]', 'columns = ["name"]'), "line 29: step 'perturb': column 'name'"),
    ],
)
def test_a_plan_that_does_not_fit_its_data(tmp_path: Path, text: str, message: str):
    plan = survey(tmp_path, text)
    with pytest.raises(shoal.InputError, match=re.escape(message)):
        shoal.release(plan, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "plan.toml"]
    refused = command("release", plan, "--dry-run")
    assert refused.code == 2 and message in refused.err


def test_a_gate_without_quasi_identifiers_is_refused_before_anything_runs(tmp_path: Path):
    text = DROP.replace("quasi-identifier", "other").replace("[outputs]", "[gates.drop]\nk = 3\n[outputs]")
    with pytest.raises(shoal.InputError, match=r"line 10: the gate 'k' needs quasi-identifiers"):
        shoal.release(survey(tmp_path, text), tmp_path / "out")


def test_columns_that_nobody_spoke_of(tmp_path: Path):
    plan = survey(tmp_path)
    mails = pl.Series("mail", [f"someone{number}@example.org" for number in range(200)])
    people().with_columns(mails).write_csv(tmp_path / "people.csv")
    with pytest.raises(shoal.InputError, match="column 'mail' has no role and looks like an identifier"):
        shoal.release(plan, tmp_path / "out")
    people().with_columns(zip=pl.Series([10100 + number % 7 for number in range(200)])).write_csv(
        tmp_path / "people.csv"
    )
    done = shoal.release(plan, tmp_path / "out")
    assert any("column 'zip' has no role" in text and "K does not count it" in text for text in done.warnings)


def test_what_a_step_recodes_is_counted_though_no_role_says_so(tmp_path: Path):
    plan = survey(tmp_path, SURVEY.replace('age = "quasi-identifier"\n', ""))
    done = shoal.release(plan, tmp_path / "out")
    released = pl.read_csv(done.folder / "public" / "survey.csv")
    wanted = min(released.group_by("age", "sex", "region").len()["len"])
    assert {gate.value for gate in done.gates if gate.name == "k"} == {wanted}


@pytest.mark.parametrize("kept", [True, False])
def test_k_counts_people_though_their_numbers_are_not_released(tmp_path: Path, kept: bool):
    """Eight records of each person: ten alike are two people."""
    roles = SURVEY.replace('pay = "measurement"', 'pay = "measurement"\nwho = "unit"')
    plan = survey(tmp_path, roles if kept else roles.replace('["name"]', '["name", "who"]'))
    who = pl.Series("who", [number // 8 for number in range(200)])
    people().sort("region", "sex", "age").with_columns(who).write_csv(tmp_path / "people.csv")
    with pytest.raises(shoal.Infeasible, match="gate 'k' of step 'recode' failed"):
        shoal.release(plan, tmp_path / "out")
    plan.write_text(
        plan.read_text().replace("k = 4\nloss", "k = 1\nloss").replace("k = 4\nreid", "k = 1\nreid")
    )
    done = shoal.release(plan, tmp_path / "out")
    released = pl.read_csv(done.folder / "public" / "survey.csv")
    assert "who" not in released.columns
    records = min(released.group_by("age", "sex", "region").len()["len"])
    # From outside only records can be counted, which is said.
    (outside,) = [check for check in shoal.verify_release(done.folder / "public").checks if check.name == "k"]
    assert outside.passed is None and "records were counted" in outside.detail
    assert all(gate.value < records for gate in done.gates if gate.name == "k")
    for found in (shoal.verify_release(done.folder), shoal.verify_release(done.folder, originals=tmp_path)):
        assert found.verified, found.failures


def test_promises_are_those_of_the_files(tmp_path: Path):
    """A key that is drawn anew after the gate breaks its K: nobody is told that it holds."""
    text = SURVEY.replace('columns = ["job"]\noptions = {change = 0.2}', 'columns = ["region"]\nchange = 0.5')
    text = text.replace("[gates.microaggregate]\nk = 4\nreidentifications = 60\n", "")
    text = text.replace('k = 4\nmethod = "lattice"', "k = 4\nlevels = {age = 2, sex = 0, region = 0}")
    done = shoal.release(survey(tmp_path, text), tmp_path / "out")
    released = pl.read_csv(done.folder / "public" / "survey.csv")
    k = min(released.group_by("age", "sex", "region").len()["len"])
    (item,) = [item for item in manifest(done.folder)["outputs"] if item["file"] == "survey.csv"]
    assert item.get("k", 0) <= k
    assert ("k" in item) == (k >= 4)
    told = [text for text in manifest(done.folder)["guarantees"] if "share every" in text]
    assert len(told) == (k >= 4)


def test_names_of_columns_that_are_not_released_stay_inside(tmp_path: Path):
    text = SURVEY.replace('columns = ["name"]', 'columns = ["name", "region"]').replace(
        '"sex", "region"]', '"sex"]'
    )
    done = shoal.release(survey(tmp_path, text), tmp_path / "out")
    assert "region" not in (done.folder / "public" / "manifest.json").read_text()


class _Killed(BaseException):
    pass


def _killed_at(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    original = running.run_step

    def killed(item, *others):
        if item.name == name:
            raise _Killed
        return original(item, *others)

    monkeypatch.setattr(running, "run_step", killed)


def test_what_a_broken_off_run_left_does_not_go_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    plan = survey(tmp_path, SURVEY.replace("[outputs]", '[outputs]\n"old.csv" = "recode"'))
    with monkeypatch.context() as patched:
        _killed_at(patched, "microaggregate")
        with pytest.raises(_Killed):
            shoal.release(plan, tmp_path / "out")
    unfinished = tmp_path / ".out.unfinished"
    assert (unfinished / "public" / "old.csv").exists()
    # As a process leaves it that is killed while it writes.
    (unfinished / "public" / ".survey.0123456789ab.shoal-unfinished.csv").write_text("half a file")
    plan.write_text(SURVEY.replace("[outputs]", '[internal]\n"old.csv" = "recode"\n[outputs]'))
    done = shoal.release(plan, tmp_path / "out", resume=True)
    assert {path.name for path in (done.folder / "public").iterdir()} == {
        "survey.csv",
        "matrices.json",
        "manifest.json",
    }
    assert (done.folder / "internal" / "old.csv").exists()
    assert shoal.verify_release(done.folder, originals=tmp_path).verified


def test_a_run_that_goes_on_has_its_inputs_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    plan = survey(tmp_path)
    with monkeypatch.context() as patched:
        _killed_at(patched, "perturb")
        with pytest.raises(_Killed):
            shoal.release(plan, tmp_path / "out")
    people(seed=1).write_csv(tmp_path / "people.csv")
    with pytest.raises(shoal.InputError, match="source 'people' is not what it was when this run began"):
        shoal.release(plan, tmp_path / "out", resume=True)
    done = shoal.release(plan, tmp_path / "out", resume=True, accept_changed_input=True)
    assert shoal.verify_release(done.folder, originals=tmp_path).verified


def test_files_that_settings_name_are_inputs(tmp_path: Path):
    (tmp_path / "ages.csv").write_text(TREE)
    plan = survey(tmp_path, SURVEY.replace('"intervals(10,20,40)"', '"ages.csv"'))
    done = shoal.release(plan, tmp_path / "out")
    assert shoal.verify_release(done.folder, originals=tmp_path).verified
    (tmp_path / "ages.csv").write_text(TREE.replace("< 49", "").replace("18-48", "18-50"))
    with pytest.raises(shoal.InputError, match=r"'ages\.csv' of step 'recode' is not what it was"):
        shoal.release(plan, tmp_path / "again", repeat=done.folder)
    assert not shoal.verify_release(done.folder, originals=tmp_path).verified
    with pytest.raises(shoal.InputError, match="the inputs are others"):
        shoal.release(plan, tmp_path / "again", repeat=done.folder, accept_changed_input=True)


def test_a_folder_that_is_no_release_is_never_replaced(tmp_path: Path):
    plan = survey(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    for target in (tmp_path / "mine", tmp_path, tmp_path / "people.csv"):
        with pytest.raises(shoal.InputError, match="is no release, and is not replaced"):
            shoal.release(plan, target, force=True)
    assert (tmp_path / "mine" / "thesis.txt").exists() and (tmp_path / "people.csv").exists()
    first = shoal.release(plan, tmp_path / "out")
    shoal.release(plan, tmp_path / "out", force=True, another=True)
    assert shoal.verify_release(first.folder).verified
    assert not list(tmp_path.glob(".out.*"))


def test_two_files_of_one_release_are_looked_at_together(tmp_path: Path):
    """One file tells the region, the other the sex: whoever has both knows both."""
    text = """\
[release]
name = "two"
[sources.people]
data = "people.csv"
roles = {name = "identifier", sex = "quasi-identifier", region = "quasi-identifier"}
[[steps]]
do = "drop"
name = "regions"
columns = ["name", "age", "pay", "job", "sex"]
[[steps]]
do = "drop"
name = "sexes"
data = "people"
columns = ["name", "age", "pay", "job", "region"]
[gates.regions]
k = 60
[gates.sexes]
k = 60
[outputs]
"regions.csv" = "regions"
"sexes.csv" = "sexes"
"""
    plan = survey(tmp_path, text)
    with pytest.raises(
        shoal.Infeasible, match=r"'regions.csv' and 'sexes.csv' together give away .* nothing was"
    ):
        shoal.release(plan, tmp_path / "out")
    assert not (tmp_path / "out").exists() and (tmp_path / "out.refused" / "report.html").exists()
    plan.write_text(text.replace("k = 60", "k = 10"))
    assert shoal.release(plan, tmp_path / "out").gates[0].value >= 60


def test_two_tables_of_one_release_are_looked_at_together(tmp_path: Path):
    """A second table of the same cells, protected otherwise, shows what the first one hides."""
    more = TURNOVER.replace(
        "[gates.suppress]",
        '[[steps]]\ndo = "suppress"\nname = "again"\ndata = "tabulate"\ncost = "unity"\n[gates.suppress]',
    ).replace('"turnover.csv" = "suppress"', '"turnover.csv" = "suppress"\n"again.csv" = "again"')
    plan = turnover(tmp_path, more)
    with pytest.raises(shoal.Infeasible, match=r"'turnover.csv' and 'again.csv' together give away"):
        shoal.release(plan, tmp_path / "out")
    plan.write_text(more.replace('cost = "unity"', ""))
    shoal.release(plan, tmp_path / "out")


def test_pseudonyms_of_a_column_that_was_an_identifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """They are released, though names are not; another key gives others, and is no repetition."""
    text = SURVEY.replace('do = "drop"', 'do = "pseudonymise"\nkey = "env:OUTER_KEY"')
    plan = survey(tmp_path, text)
    monkeypatch.setenv("OUTER_KEY", "a long key from elsewhere")
    done = shoal.release(plan, tmp_path / "out")
    assert pl.read_csv(done.folder / "public" / "survey.csv")["name"].n_unique() == 200
    assert "a long key" not in (tmp_path / ".shoal-register.json").read_text()
    shoal.release(plan, tmp_path / "again", repeat=done.folder)
    monkeypatch.setenv("OUTER_KEY", "another long key from elsewhere")
    with pytest.raises(shoal.InputError, match="'env:OUTER_KEY' of step 'pseudonymise' is not what it was"):
        shoal.release(plan, tmp_path / "third", repeat=done.folder)
    with pytest.raises(shoal.InputError, match="the inputs are others"):
        shoal.release(plan, tmp_path / "third", repeat=done.folder, accept_changed_input=True)
    monkeypatch.delenv("OUTER_KEY")
    missing = command("release", plan, "--dry-run")
    assert missing.code == 2 and "no variable OUTER_KEY" in missing.err


def test_the_seed_of_a_plan_is_that_of_its_searches(tmp_path: Path):
    plan = survey(tmp_path, SURVEY.replace('name = "survey"', 'name = "survey"\nseed = 7'))
    done = shoal.release(plan, tmp_path / "out")
    inside = json.loads((done.folder / "internal" / "manifest.json").read_text())
    seeds = {step["name"]: step["settings"].get("seed") for step in inside["steps"]}
    assert seeds == {"drop": None, "recode": 7, "perturb": None, "microaggregate": 7}


def test_most_of_the_records_were_released_before(tmp_path: Path):
    plan = survey(tmp_path)
    shoal.release(plan, tmp_path / "first")
    frame = pl.read_csv(tmp_path / "people.csv").reverse()
    frame.with_columns(
        pay=pl.when(pl.int_range(pl.len()) < 60).then(pl.col("pay") + 1).otherwise("pay")
    ).write_csv(tmp_path / "people.csv")
    with pytest.raises(shoal.InputError, match="most of these records were released before, in 'first'"):
        shoal.release(plan, tmp_path / "second")
    frame.with_columns(pl.col("pay") + 1).write_csv(tmp_path / "people.csv")
    shoal.release(plan, tmp_path / "second")


def test_records_are_known_again_by_their_keys():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"name": [f"p{n}" for n in range(50)], "age": rng.integers(18, 80, 50), "who": [None, *range(49)]}
    )
    roles = {"name": "identifier", "who": "unit"}
    key = bytes(16)
    order = rng.permutation(50)
    one, two = RecordKeys.of(frame, roles, key), RecordKeys.of(frame[order], roles, key)
    here, there = one.matched(two)
    assert sorted(here) == list(range(50)) and (order[there] == here).all()
    assert one.shared_rows(two) == 50
    other = RecordKeys.of(frame, roles, b"another key here")
    assert one.matched(other)[0].size == 0 and one.shared_rows(other) == 0
    # Without a name of its own each record is known by all it says; equal ones are matched one by one.
    plain = pl.DataFrame({"age": [1, 1, 2], "sex": ["f", "f", "m"]})
    same = RecordKeys.of(plain, {"age": "identifier"}, key)
    assert [pairs.tolist() for pairs in same.matched(RecordKeys.of(plain.head(1), {}, key))] == [[0], [0]]
    # Nobody is the same as somebody who is not named.
    assert codes_of(pl.Series(["a", None, "a", None])).tolist()[0::2] in ([1, 1], [2, 2], [3, 3])
    assert len(set(codes_of(pl.Series(["a", None, "a", None])).tolist())) == 3


def test_groups_under_other_names_are_still_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Pseudonyms of regions part people as the regions do, and so do those of households: gates count them."""
    monkeypatch.setenv("OUTER_KEY", "a long key from elsewhere")
    text = """\
[release]
name = "regions"
[sources.people]
data = "people.csv"
roles = {name = "identifier", sex = "quasi-identifier", region = "quasi-identifier"}
[[steps]]
do = "drop"
columns = ["name", "age", "pay", "job"]
[[steps]]
do = "pseudonymise"
columns = ["region"]
key = "env:OUTER_KEY"
[gates.pseudonymise]
k = 1
[outputs]
"regions.csv" = "pseudonymise"
"""
    done = shoal.release(survey(tmp_path, text), tmp_path / "out")
    fewest = people().group_by("sex", "region").len()["len"].min()
    assert done.gates[0].value == fewest
    assert done.outputs[0]["quasi"] == ["sex", "region"]
    homes = parse_plan(text.replace('region = "quasi-identifier"', 'region = "household"'), tmp_path)
    assert homes.roles("pseudonymise")["region"] == "household"
    assert homes.roles("pseudonymise")["name"] == "identifier"


def test_risk_counts_people_like_k_does(tmp_path: Path):
    """Everybody came five times and is the only one of an age: five records alike hide nobody."""
    text = """\
[release]
name = "visits"
intruders = ["respondents"]
[sources.visits]
data = "visits.csv"
roles = {person = "unit", age = "quasi-identifier"}
[[steps]]
do = "drop"
columns = ["person"]
[gates.drop]
risk = 0.5
[outputs]
"visits.csv" = "drop"
"""
    ages = [20 + number for number in range(8) for _ in range(5)]
    frame = pl.DataFrame({"person": [f"p{age}" for age in ages], "age": ages})
    frame.write_csv(tmp_path / "visits.csv")
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    with pytest.raises(
        shoal.Infeasible, match=r"gate 'risk' of step 'drop' failed: 1, and the limit is 0\.5"
    ):
        shoal.release(plan, tmp_path / "out")
    # Two people of each age, and all of one: a chance of a half, and of one in eight.
    for numbers, chance in ((2, 0.5), (8, 0.125)):
        frame.with_columns(age=pl.int_range(40) // 5 // numbers).write_csv(tmp_path / "visits.csv")
        done = shoal.release(plan, tmp_path / f"out-{numbers}", another=True)
        assert done.gates[0].value == pytest.approx(chance)
        assert shoal.verify_release(done.folder, originals=tmp_path).verified


@pytest.mark.parametrize(
    ("percents", "worst"), [([3.0, 12.0], 12.0), ([3.0, float("nan")], None), ([], None)]
)
def test_what_could_not_be_measured_passes_no_gate(percents: list[float], worst: float | None):
    attacks = [SimpleNamespace(name="dld", title="an attack", percent=percent) for percent in percents]
    compared = SimpleNamespace(attacks=attacks)
    for measured in (worst_attack, worst_linkage):
        if not percents:
            with pytest.raises(shoal.InputError, match="nothing is known of it"):
                measured(compared)
        elif worst is None:
            assert not measured(compared)[1] <= 100
        else:
            assert measured(compared) == ("an attack", worst)
