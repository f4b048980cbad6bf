"""Mistakes that only a run would meet are told before it, with their lines."""

from pathlib import Path

import pytest
from tests.cli.running import shoal as command
from tests.release.plans import SURVEY, survey

import shoal

AGE = 'hierarchies = {age = "intervals(10,20,40)"}'


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"survey.csv" = "micro', '"data.foo" = "micro', '"data.foo"', "ending '.foo'"),
        ("options = {change = 0.2}", "options = {foo = 1}", "options = {foo", "foo"),
        (
            'columns = ["pay"]\nk = 4',
            'columns = ["pay"]\nk = 5000',
            "k = 5000",
            "there are 200 records in all",
        ),
        ("[gates.recode]\nk = 4", "[gates.recode]\nk = 5000", "k = 5000", "there are 200 records in all"),
        (
            'columns = ["pay"]',
            'columns = ["pay", "region"]',
            'columns = ["pay", "region"]',
            "'region' holds texts",
        ),
        (AGE, 'hierarchies = {age = "interval(5)"}', "hierarchies =", "rule 'interval'"),
        (AGE, 'hierarchies = {age = "nofile.csv"}', "hierarchies =", "there is no file 'nofile.csv'"),
        ('data = "people.csv"', 'data = "none.csv"', 'data = "none.csv"', "none.csv"),
        ('data = "people.csv"', 'data = "${NO_SUCH}::people"', 'data = "${NO', "no variable NO_SUCH"),
        (
            'do = "drop"\ncolumns = ["name"]',
            'do = "pseudonymise"\ncolumns = ["name"]\nkey = "env:NO_SUCH"',
            "key =",
            "no variable NO_SUCH",
        ),
    ],
)
def test_what_no_run_could_do(tmp_path: Path, old: str, new: str, line: str, message: str):
    assert old in SURVEY
    text = SURVEY.replace(old, new)
    plan = survey(tmp_path, text)
    number = next(n for n, own in enumerate(text.splitlines(), start=1) if own.startswith(line))
    seen = command("release", plan, "--dry-run")
    assert seen.code == 2 and f"line {number}: " in seen.err and message in seen.err, seen.err
    assert "--columns" not in seen.err and "--ordinal" not in seen.err
    with pytest.raises(shoal.InputError, match=f"line {number}: "):
        shoal.release(plan, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "plan.toml"]


def test_the_dry_run_says_which_columns_go_out(tmp_path: Path):
    rows = command("release", survey(tmp_path), "--dry-run", "--json").json["outline"]
    (told,) = [row["how"] for row in rows if row["how"].startswith("survey.csv")]
    assert told.endswith("columns age, sex, region, job, pay")


def test_a_step_that_fails_names_the_settings_of_the_plan(tmp_path: Path):
    plan = survey(
        tmp_path, SURVEY.replace("k = 4\nmethod", "k = 4\nlevels = {age = 0, sex = 0, region = 0}\nmethod", 1)
    )
    seen = command("release", plan, "-o", tmp_path / "out")
    assert seen.code == 3 and seen.err.count("step 'recode'") == 1 and "'suppress'" in seen.err, seen.err
    assert "--suppress" not in seen.err
