"""Plans: what they say, and that every mistake is told with its line before anything runs."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.release.plans import SURVEY, survey

import shoal
from shoal.release.plan.draft import Wanted, draft_plan
from shoal.release.plan.plan import line_of, lines_of, located
from shoal.release.plan.reader import parse_plan

PLAN = """\
[release]
name = "survey 2026"
type = "scientific"
intruders = ["register", "respondents"]

[sources.people]
data = "people.csv"

[sources.people.roles]
person = "identifier"
"age of" = "quasi-identifier"

[[steps]]
do = "drop"
columns = ["person"]

[[steps]]
name = "coarser"
do = "recode"
quasi = ["age of"]
k = 5

[gates.coarser]
k = 5

[outputs]
"safe.csv" = "coarser"
"""


def test_a_plan():
    plan = parse_plan(PLAN, Path("/somewhere"))
    assert [(step.name, step.do, step.inputs) for step in plan.steps] == [
        ("drop", "drop", ("people",)),
        ("coarser", "recode", ("drop",)),
    ]
    # The order of records is what links them.
    assert plan.steps[1].settings.order == "sorted"
    assert plan.source_of("coarser") == "people"
    assert plan.location("people") == "/somewhere/people.csv"
    assert plan.gates["coarser"].k == 5
    assert [(item.file, item.step, item.product) for item in plan.outputs] == [
        ("safe.csv", "coarser", "output")
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('name = "survey 2026"', 'name = "a/b"', 2, "name"),
        ('type = "scientific"', 'type = "open"', 3, "one of"),
        ('intruders = ["register", "respondents"]', "intruders = []", 4, "empty"),
        ('data = "people.csv"', 'date = "people.csv"', 6, "data must be given"),
        ('"age of" = "quasi-identifier"', '"age of" = "key"', 11, "role 'key' is not a role of columns"),
        ('do = "drop"', 'do = "dorp"', 14, "did you mean 'drop'"),
        ('columns = ["person"]', "columns = []", 15, "empty"),
        ('name = "coarser"\n', 'name = "drop"\n', 17, "two things named 'drop'"),
        ('name = "coarser"\n', 'name = "1st"\n', 18, "no name"),
        ("k = 5\n\n[gates", "k = 5.5\n\n[gates", 21, "whole number"),
        ("k = 5\n\n[gates", "kk = 5\n\n[gates", 21, "did you mean 'k'"),
        ("k = 5\n\n[gates", 'data = "nothing"\n\n[gates', 21, "a source or an earlier step"),
        ("k = 5\n\n[gates", "time_limit = 5\n\n[gates", 21, "cannot be repeated"),
        ("[gates.coarser]", "[gates.finer]", 23, "step 'finer'"),
        ("k = 5\n\n[outputs]", "k = 0\n\n[outputs]", 24, "at least 1"),
        ("k = 5\n\n[outputs]", "safe = true\n\n[outputs]", 24, "about tables"),
        ('"safe.csv" = "coarser"', '"safe.csv" = "nothing"', 27, "step 'nothing'"),
        ('"safe.csv" = "coarser"', '"../safe.csv" = "coarser"', 27, "without folders"),
        ('"safe.csv" = "coarser"', '"safe.csv" = "coarser.record_links"', 27, "not for publication"),
        ('"safe.csv" = "coarser"', '"manifest.json" = "coarser"', 27, "without folders"),
        ("[outputs]", "[output]", 26, "did you mean 'outputs'"),
        ('name = "coarser"\n', "name = 5\n", 18, "no name"),
        ("k = 5\n\n[gates", "data = 5\n\n[gates", 21, "names a source or an earlier step"),
        ("k = 5\n\n[outputs]", "k = true\n\n[outputs]", 24, "k must be a number"),
        ("k = 5\n\n[outputs]", "safe = false\n\n[outputs]", 24, "true or left out"),
        ('"safe.csv" = "coarser"', '"a\\u0000.csv" = "coarser"', 26, "without folders"),
    ],
)
def test_a_mistake_is_told_with_its_line(old: str, new: str, line: int, message: str):
    assert PLAN.count(old) == 1
    with pytest.raises(shoal.InputError) as problem:
        parse_plan(PLAN.replace(old, new), Path())
    assert str(problem.value).startswith(f"plan.toml, line {line}: ")
    assert message in str(problem.value)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("steps = [1]", "a step is a table"),
        ("gates = 5", "a part of its own"),
        ('outputs = "safe.csv"', "a part of its own"),
    ],
)
def test_a_part_that_is_something_else(part: str, message: str):
    name = part.partition(" ")[0]
    kept = [block for block in PLAN.split("\n\n") if not block.startswith((f"[{name}", f"[[{name}"))]
    with pytest.raises(shoal.InputError, match=rf"plan\.toml, line 1: .*{message}"):
        parse_plan("\n\n".join([part, *kept]), Path())


@pytest.mark.parametrize("part", ["release", "sources.people", "steps", "outputs"])
def test_a_part_that_is_missing(part: str):
    text = "\n".join(block for block in PLAN.split("\n\n") if not block.startswith((f"[{part}", f"[[{part}")))
    with pytest.raises(shoal.InputError, match=r"plan\.toml"):
        parse_plan(text, Path())


def test_pseudonyms_are_not_for_everybody():
    text = PLAN.replace('do = "drop"', 'do = "pseudonymise"\nkey = "env:KEY"')
    parse_plan(text, Path())
    with pytest.raises(shoal.InputError, match="line 13: a public-use file has no pseudonyms"):
        parse_plan(text.replace('"scientific"', '"public"'), Path())
    with pytest.raises(shoal.InputError, match="key"):
        parse_plan(text.replace('"env:KEY"', '"0123456789abcdef"'), Path())


def test_randomness_that_protects_has_no_seed():
    step = '[[steps]]\ndo = "perturb"\nmethod = "pram"\ncolumns = ["age of"]\nseed = 3\n\n[gates'
    with pytest.raises(shoal.InputError, match="leave the seed out"):
        parse_plan(PLAN.replace("[gates", step), Path())


@pytest.mark.parametrize(
    "nested", ["[" * 5000 + "]" * 5000, "{a=" * 5000 + "1" + "}" * 5000, "[" * 200 + "]" * 200]
)
def test_values_nested_deeply_are_refused(nested):
    text = PLAN.replace("[gates", f'[[steps]]\ndo = "drop"\ncolumns = {nested}\n\n[gates', 1)
    with pytest.raises(shoal.InputError, match=r"nested too deeply|columns"):
        parse_plan(text, Path(), "plan.toml")
    dotted = ".".join(["columns"] * 5000)
    with pytest.raises(shoal.InputError):
        parse_plan(text.replace(f"columns = {nested}", f"{dotted} = 1"), Path(), "plan.toml")


def test_outputs_that_some_file_systems_take_for_one_are_refused():
    text = PLAN.replace("[outputs]", '[outputs]\n"SURVEY.csv" = "coarser"\n"survey.CSV" = "coarser"', 1)
    with pytest.raises(shoal.InputError, match=r"'survey\.CSV' and 'SURVEY\.csv' are one file where"):
        parse_plan(text, Path())
    with pytest.raises(shoal.InputError, match="a file of the release folder"):
        parse_plan(PLAN.replace("[outputs]", '[outputs]\n"Manifest.json" = "coarser"', 1), Path())


def test_no_toml():
    with pytest.raises(shoal.InputError, match=r"plan\.toml is no TOML: .*line 2"):
        parse_plan("[release]\nname = \n", Path())


def test_variables_of_the_environment(monkeypatch):
    monkeypatch.setenv("CLINIC", "postgresql://u:secret@host/db")
    assert located("${CLINIC}::people", Path("/x")) == "postgresql://u:secret@host/db::people"
    monkeypatch.delenv("CLINIC")
    with pytest.raises(shoal.InputError, match="no variable CLINIC"):
        located("${CLINIC}::people", Path("/x"))
    assert located("book.xlsx::Sheet 1", Path("/x")) == "/x/book.xlsx::Sheet 1"


def test_lines():
    text = 'a = 1\n[x]\nb.c = 2\n# [y]\n["q r"]\n"s t" = 1\n[[z]]\n[[z]]\nd = 1\n[z.w]\ne = 2'
    lines = lines_of(text)
    assert lines[("a",)] == 1
    assert lines[("x", "b", "c")] == 3
    assert lines[("q r", "s t")] == 6
    assert lines[("z", 1, "d")] == 9
    assert lines[("z", 1, "w", "e")] == 11
    assert line_of(lines, ("z", 1, "nothing", "here")) == 8
    assert line_of(lines, ("nothing",)) is None


@pytest.mark.parametrize("kind", ["public", "scientific", "secure"])
def test_a_draft_is_a_plan(tmp_path: Path, kind: str):
    frame = pl.DataFrame(
        {
            "name": ["Ode", "Rim", "Sol", "Tam"],
            "age": [31, 40, 31, 52],
            "sex": ["f", "m", "f", "m"],
            "income": [900, 1500, 800, 950],
            'a "quoted" name': ["x", "y", "x", "y"],
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    text = draft_plan(str(tmp_path / "people.csv"), wanted=Wanted(kind), folder=tmp_path)
    plan = parse_plan(text, tmp_path)
    assert plan.about.type == kind
    assert [step.do for step in plan.steps] == ["drop", "recode", "microaggregate"]
    assert plan.sources["data"].roles["name"] == "identifier"
    # Every role has its reason beside it, and no value of the data is there.
    assert text.count("  # ") >= frame.width
    assert "Ode" not in text and "1500" not in text
    assert Path(plan.location("data")).resolve() == (tmp_path / "people.csv").resolve()


def test_a_draft_holds_no_address_of_a_database(tmp_path: Path):
    place = f"sqlite:///{tmp_path}/clinic.db::people"
    from shoal import sources

    sources.write(pl.DataFrame({"age": [31, 40, 31], "sex": ["f", "m", "f"]}), place)
    text = draft_plan(place, folder=tmp_path)
    assert "clinic.db" not in text
    assert '"${SHOAL_SOURCE}::people"' in text


def test_a_draft_has_the_gates_of_a_policy_and_no_others(tmp_path: Path):
    frame = pl.DataFrame(
        {
            "age": [20 + number % 50 for number in range(3000)],
            "sex": ["f", "m"] * 1500,
            "household_id": list(range(3000)),
            "weight": [1.5] * 3000,
        }
    )
    frame.write_csv(tmp_path / "people.csv")

    def drafted(**policy: float):
        text = draft_plan(str(tmp_path / "people.csv"), wanted=Wanted(policy=policy), folder=tmp_path)
        plan = parse_plan(text, tmp_path)
        assert [step.name for step in plan.steps] == ["recode", "households"]
        assert set(plan.gates) == {"households", *(["recode"] if "loss" in policy else [])}
        assert "loss" not in policy or plan.gates["recode"].loss == policy["loss"]
        return plan.gates["households"]

    plain = drafted()
    assert (plain.k, plain.reidentifications, plain.linkage, plain.loss) == (5, None, None, None)
    policy = drafted(reidentifications=30, linkage=10, loss=15)
    assert (policy.reidentifications, policy.linkage) == (30, 10)
    # At k = 5 nobody expects to find more than a fifth; whoever knows the weights, too, links more.
    with pytest.raises(
        shoal.InputError, match="a limit of 600 on reidentifications cannot fail, since k = 5"
    ):
        drafted(reidentifications=600)
    assert drafted(linkage=20).linkage == 20
    frame.drop("weight").write_csv(tmp_path / "people.csv")
    with pytest.raises(shoal.InputError, match="a limit of 20 on linkage cannot fail, since k = 5"):
        drafted(linkage=20)
    with pytest.raises(shoal.InputError, match=r"linkages.*linkage"):
        drafted(linkages=20)


def test_the_command_takes_a_policy(tmp_path: Path):
    pl.DataFrame({"age": [31, 40, 31, 40] * 5, "sex": list("ffmm") * 5}).write_csv(tmp_path / "people.csv")
    done = command("plan", tmp_path / "people.csv", "--policy", "linkage=15,loss=20")
    assert done.code == 0 and "linkage = 15" in done.out and "\n# reidentifications =" in done.out
    refused = command("plan", tmp_path / "people.csv", "--policy", "linkage")
    assert refused.code == 2 and "--policy needs name=number" in refused.err


def _guarantees(folder: Path) -> list[str]:
    return json.loads((folder / "public" / "manifest.json").read_text())["guarantees"]


def test_a_draft_without_weights_can_be_released(tmp_path: Path):
    """As many records are expected to be found as there are classes: a gate on that says no more than k, and is left out."""
    rng = np.random.default_rng(0)
    pl.DataFrame({"age": rng.integers(20, 80, 600), "sex": rng.choice(["f", "m"], 600)}).write_csv(
        tmp_path / "people.csv"
    )
    (tmp_path / "plan.toml").write_text(draft_plan(str(tmp_path / "people.csv"), folder=tmp_path))
    done = shoal.release(tmp_path / "plan.toml", tmp_path / "out")
    assert {gate.name for gate in done.gates} == {"k"}
    assert not any("expected to be found" in text for text in _guarantees(done.folder))


def test_a_limit_that_nothing_exceeds_is_no_promise(tmp_path: Path):
    plan = survey(tmp_path, SURVEY.replace("reidentifications = 60", "risk = 1\nattacks = 100"))
    done = shoal.release(plan, tmp_path / "out")
    assert {"risk", "attacks"} <= {gate.name for gate in done.gates}
    assert not any("attack" in text or "chance" in text for text in _guarantees(done.folder))


def test_a_limit_above_the_number_of_records_is_no_promise(tmp_path: Path):
    for limit, promised in ((60, True), (4000, False)):
        (tmp_path / str(limit)).mkdir()
        text = SURVEY.replace("reidentifications = 60", f"reidentifications = {limit}")
        plan = survey(tmp_path / str(limit), text.replace("loss = 90", "loss = 100"))
        done = shoal.release(plan, plan.parent / "out")
        told = " ".join(_guarantees(done.folder))
        assert ("expected to be found" in told) is promised and "were lost" not in told
        assert shoal.verify_release(done.folder, originals=plan.parent).verified


def test_drafts_of_tables_and_appointments_run(tmp_path: Path):
    from tests.release.firms import firms

    firms().write_csv(tmp_path / "firms.csv")
    done = command(
        "plan", tmp_path / "firms.csv", "--dimensions", "region,sector", "--value", "turnover",
        "--type", "public", "-o", tmp_path / "table.toml",
    )  # fmt: skip
    assert done.code == 0
    table = shoal.release(tmp_path / "table.toml", tmp_path / "table")
    assert [(gate.name, gate.value) for gate in table.gates] == [("safe", True)]
    people = pl.DataFrame(
        {"person": range(24), "born": [1960, 1970] * 12, "quarter": ["hill", "hill", "sea"] * 8}
    )
    people.write_csv(tmp_path / "people.csv")
    pl.DataFrame({"slot": ["a", "b", "c"], "capacity": [8, 8, 8]}).write_csv(tmp_path / "slots.csv")
    done = command(
        "plan", tmp_path / "people.csv", "--slots", tmp_path / "slots.csv", "-o", tmp_path / "seats.toml"
    )
    assert done.code == 0
    seats = shoal.release(tmp_path / "seats.toml", tmp_path / "seats")
    assert [gate.name for gate in seats.gates] == ["k"]
    assert (seats.folder / "internal" / "appointments.csv").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--name", "firms 2026!"], "name"),
        (["--dimensions", "regoin"], "did you mean 'region'"),
        (["--value", "turnover"], "--dimensions"),
        (["--dimensions", "region", "--slots", "x.csv"], "do not go together"),
    ],
)
def test_drafts_that_cannot_be(tmp_path: Path, options: list[str], message: str):
    from tests.release.firms import firms

    firms().write_csv(tmp_path / "firms.csv")
    refused = command("plan", tmp_path / "firms.csv", *options)
    assert refused.code == 2 and message in refused.err


def test_one_name_where_a_list_belongs():
    with pytest.raises(shoal.InputError, match=r'must be a list: write \["person"\]'):
        parse_plan(PLAN.replace('columns = ["person"]', 'columns = "person"'), Path())


def test_a_draft_of_columns_with_signs_that_mean_something(tmp_path: Path):
    """What a column is called is never a line of the plan."""
    odd = "weight\nseed = 7\x7f"
    pl.DataFrame({"age": [31, 40] * 20, odd: [1.0 + number / 7 for number in range(40)]}).write_csv(
        tmp_path / "people.csv"
    )
    text = draft_plan(str(tmp_path / "people.csv"), folder=tmp_path)
    assert parse_plan(text, tmp_path).sources["data"].roles[odd] == "weight"
    assert "goes out as it is" in text and "\nseed = 7" not in text
