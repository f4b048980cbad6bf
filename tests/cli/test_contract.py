"""What holds for every command: exit codes, JSON alone on standard output, errors in one line, quick start."""

import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli.running import shoal

COMMANDS = [
    "anonymity",
    "risk",
    "microaggregate",
    "compare",
    "group",
    "hierarchy",
    "assign",
    "tabulate",
    "suppress",
    "audit",
    "generate people",
    "generate slots",
    "generate table",
    "generate instance",
    "study",
    "serve",
    "demo",
]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    pl.DataFrame(
        {
            "zip": ["02139", "02139", "10001", "10001", "10001"],
            "age": [30, 30, 41, 41, 41],
            "sex": ["f", "f", "m", "m", "m"],
        }
    ).write_csv(path)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    outcome = shoal(*command.split(), "--help")
    assert outcome.code == 0
    assert "Example: shoal " + command.split()[0] in outcome.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_only_options_that_there_are(command):
    # Lines are broken after hyphens, too.
    text = re.sub(r"-\n\s+", "-", shoal(*command.split(), "--help").out)
    declared = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= declared


def test_help_and_import_are_quick():
    # Counted in modules, since seconds would say more about the machine; the command line is allowed half of
    # what its library needs once more.
    def loaded(statement: str) -> int:
        code = f"import sys; {statement}; print(len(sys.modules))"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        return int(done.stdout)

    library = loaded("import typer")
    assert loaded("import shoal") < library
    assert loaded("import shoal.cli.main") < 1.5 * library


def test_importing_shoal_loads_nothing_heavy():
    heavy = "numpy numba polars pandas scipy sqlalchemy altair pydantic ortools highspy narwhals"
    code = f"import sys, shoal, shoal.cli.main; print([m for m in '{heavy}'.split() if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_all_solvers_can_be_loaded_together_in_both_orders():
    for order in ("highspy, ortools.sat.python.cp_model", "ortools.sat.python.cp_model, highspy"):
        code = f"import {order}; import highspy; solver = highspy.Highs(); solver.setOptionValue('output_flag', False)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_version_is_told_from_one_place():
    import shoal as package

    assert shoal("--version").out.strip() == f"shoal {package.__version__}"


def test_json_says_how_long_each_phase_took(people, tmp_path):
    search = shoal(
        "microaggregate", people, "-k", "2", "--columns", "age", "--json", "-o", tmp_path / "out.csv"
    )
    assert list(search.json["phases"]) == ["reading", "search", "verification", "writing"]
    assert all(seconds >= 0 for seconds in search.json["phases"].values())
    assert list(shoal("anonymity", people, "--quasi", "age", "--json").json["phases"]) == [
        "reading",
        "search",
        "writing",
    ]


def test_json_is_alone_on_standard_output(people):
    outcome = shoal("anonymity", people, "--quasi", "zip,age,sex", "--json")
    assert outcome.code == 0
    assert outcome.json["k"] == 2
    assert outcome.json["vector"] == {"2": 1, "3": 1}
    assert outcome.json["rank"] == "5" and outcome.json["vectors"] == "7"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["anonymity", "nowhere.csv", "--quasi", "a"], "nowhere.csv"),
        (["anonymity", "PEOPLE", "--quasi", "agee"], "did you mean 'age'"),
        (["anonymity", "PEOPLE", "--quasi", "age", "--tables", "0"], "--tables must be at least 1"),
        (["anonymity", "PEOPLE", "--quasi", "age", "--null", "skip"], "own"),
        (["anonymity", "PEOPLE"], "--quasi"),
        (["anonymity", "PEOPLE", "--quasi", "age", "--no-such-option"], "--no-such-option"),
        (["anonymity", "people.docx", "--quasi", "age"], ".docx"),
        (["microaggregate", "PEOPLE", "--method", "mdva"], "did you mean 'mdav'"),
        (["microaggregate", "PEOPLE", "-k", "1", "--columns", "age"], "k must be at least 2"),
        (["microaggregate", "PEOPLE", "-k", "6", "--columns", "age"], "only 5 records"),
        (["microaggregate", "PEOPLE", "--columns", "zip"], "not numeric"),
        (["microaggregate", "PEOPLE", "--option", "oops", "--columns", "age"], "NAME=VALUE"),
        (
            ["microaggregate", "PEOPLE", "--time-limit", "0", "--columns", "age"],
            "--time-limit must be above 0",
        ),
        (["study", "no-such-study"], "no-such-study"),
        (["generate", "people", "--population", "0", "-o", "out.csv"], "0"),
        (["generate", "people", "--tables", "0", "-o", "out.csv"], "--tables must be at least 1"),
        (["anonymity", "EMPTY", "--quasi", "age"], "no records"),
        (["suppress"], "TABLE"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(people, tmp_path, monkeypatch, arguments, part):
    monkeypatch.chdir(tmp_path)
    empty = tmp_path / "empty.csv"
    empty.write_text("zip,age\n")
    arguments = [{"PEOPLE": str(people), "EMPTY": str(empty)}.get(word, word) for word in arguments]
    before = sorted(path.name for path in tmp_path.iterdir())
    outcome = shoal(*arguments)
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("shoal: ") and outcome.err.count("\n") == 1
    assert part in outcome.err
    told = shoal(*arguments, "--json")
    assert told.code == 2
    assert told.json["kind"] == "input" and part in told.json["error"]
    assert sorted(path.name for path in tmp_path.iterdir()) == before, "nothing may be written"


def test_a_gate_that_fails_is_exit_3(people):
    outcome = shoal("anonymity", people, "--quasi", "zip,age,sex", "--require-k", 3)
    assert outcome.code == 3 and "K is 2, below the required 3" in outcome.err
    told = shoal("anonymity", people, "--quasi", "zip,age,sex", "--require-k", 3, "--json")
    assert told.code == 3 and told.json["k"] == 2


def test_an_unexpected_error_shows_no_traceback_and_no_value(people, monkeypatch):
    from shoal.microdata.anonymity import api

    def broken(*arguments, **keywords):
        raise RuntimeError("the secret value 4711")

    monkeypatch.setattr(api, "anonymity", broken)
    outcome = shoal("anonymity", people, "--quasi", "age")
    assert outcome.code == 1
    assert "4711" not in outcome.err and "Traceback" not in outcome.err
    assert outcome.err.count("\n") == 1 and "RuntimeError" in outcome.err
    assert shoal("anonymity", people, "--quasi", "age", "--json").json["kind"] == "internal"


def test_names_that_look_like_markup_are_shown_as_they_are(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("[/b],[red]\n" + "1,2\n" * 3)
    outcome = shoal("anonymity", path, "--quasi", "[/b],[red]", "--show-values")
    assert outcome.code == 0, outcome.err
    assert "[/b]" in outcome.out and "[red]" in outcome.out


def test_the_chart_of_class_sizes_names_whole_ranges(tmp_path):
    path, report = tmp_path / "crowds.csv", tmp_path / "report.html"
    path.write_text("zip\n" + "1\n" * 13 + "2\n" * 30 + "3\n" * 4 + "4\n" * 4 + "5\n" * 4)
    assert shoal("anonymity", path, "--quasi", "zip", "--report", report).code == 0
    html = report.read_text(encoding="utf-8")
    assert all(f">{name}</text>" in html for name in ("4", "10–19", "20–39"))


def test_an_interrupted_study_says_what_is_kept(tmp_path, monkeypatch):
    from shoal import studies

    def interrupted(*arguments: object, **keywords: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(studies, "run", interrupted)
    arguments = ["study", "anonymity-vectors", "--results", tmp_path]
    told = shoal(*arguments)
    assert told.code == 130 and "goes on from there" in told.err and "nothing was written" not in told.err
    told = shoal(*arguments, "--json")
    assert told.code == 130 and told.json["kind"] == "interrupt" and "are kept in" in told.json["error"]


def test_existing_outputs_are_refused_before_any_work(people, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("mine")
    for arguments in (
        ["generate", "people", "-o", out],
        ["generate", "slots", "-o", out],
        ["microaggregate", people, "-k", 2, "--columns", "age", "--method", "mdav", "-o", out],
        ["anonymity", people, "--quasi", "age", "--report", out],
        ["microaggregate", people, "-k", 2, "--columns", "age", "--method", "mdav", "--report", out],
        ["microaggregate", people, "-k", 2, "--columns", "age", "--method", "mdav", "--labels", out],
    ):
        outcome = shoal(*arguments)
        assert outcome.code == 2 and "--force" in outcome.err, outcome
        assert out.read_text() == "mine"


def test_broken_pipe_is_no_error(people):
    command = f"{sys.executable} -m shoal anonymity {people} --quasi age | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr


@pytest.mark.parametrize("more", [[], ["--json"], ["--json", "-q", "-q"]])
def test_a_gate_that_fails_is_told_by_the_exit_code_also_where_nobody_reads(people, more):
    read, write = os.pipe()
    os.close(read)
    try:
        command = [
            sys.executable,
            "-m",
            "shoal",
            "anonymity",
            people,
            "--quasi",
            "age",
            "--require-k",
            "999999",
        ]
        done = subprocess.run([*command, *more], stdout=write, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(write)
    assert done.returncode == 3 and "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_an_option_that_counts_once_is_refused_where_it_is_given_twice(people):
    outcome = shoal("anonymity", people, "--quasi", "age", "--quasi", "sex")
    assert outcome.code == 2 and "--quasi is given twice; give it once" in outcome.err
    assert shoal("anonymity", people, "--quasi", "age", "--quiet", "--quiet").code == 0
    assert shoal("anonymity", people, "--quasi", "age", "--quasi", "sex", "--help").code == 0


def test_nothing_typed_gives_help():
    outcome = shoal()
    assert outcome.code == 0 and "Usage: shoal" in outcome.out and "suppress" in outcome.out


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(content=st.binary(max_size=400), quasi=st.text("abc,;\"'\n ", max_size=6))
def test_broken_bytes_never_give_a_traceback(tmp_path, content, quasi):
    path = tmp_path / "broken.csv"
    path.write_bytes(content)
    outcome = shoal("anonymity", path, "--quasi", quasi or "a", "--json")
    assert outcome.code in (0, 2), outcome
    if outcome.code == 2:
        assert outcome.json["kind"] == "input"


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    rows=st.lists(
        st.tuples(st.integers(-5, 5), st.sampled_from(["x", "y", "é", ""]), st.booleans()),
        min_size=1,
        max_size=20,
    )
)
def test_random_frames_are_measured_as_a_plain_count_would(tmp_path, rows):
    path = tmp_path / "random.parquet"
    pl.DataFrame(rows, schema=["a", "b", "c"], orient="row").write_parquet(path)
    outcome = shoal("anonymity", path, "--quasi", "a,b,c", "--json")
    counts: dict[tuple, int] = {}
    for row in rows:
        counts[row] = counts.get(row, 0) + 1
    assert outcome.code == 0
    assert outcome.json["k"] == min(counts.values())
    assert sum(int(size) * number for size, number in outcome.json["vector"].items()) == len(rows)


def test_the_tour_runs(tmp_path):
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-m", "shoal", "demo", "--folder", str(tmp_path / "tour")],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tour" / "people.csv").exists()
    assert "proved optimal" in done.stdout and "K: mean" in done.stdout


def test_postcodes_years_and_codes_have_no_separators_of_thousands(tmp_path):
    path, slots = tmp_path / "people.csv", tmp_path / "slots.csv"
    lines = [f"{28013 + number % 2},{1995 + number % 2},{9000 + number}" for number in range(1200)]
    path.write_text("postcode,year,income\n" + "\n".join(lines) + "\n")
    told = shoal("anonymity", path, "--quasi", "postcode,year", "--show-values").out
    assert "28013" in told and "1995" in told
    assert "28,013" not in told and "1,995" not in told
    assert "1,200" in told  # people are counted
    means = shoal(
        "microaggregate", path, "-k", "600", "--columns", "year,income,postcode", "--iterations", "5"
    ).out
    assert "1995.5" in means and "28013.5" in means and "9599.5" in means
    assert "1,200" in means
    slots.write_text("slot,capacity\n2024,700\n10001,700\n")
    plan = shoal("assign", path, slots, "--quasi", "year", "--iterations", "5").out
    assert "10001" in plan and "10,001" not in plan
