"""The command as a user meets it: outputs, exit codes, one line per error, nothing half written."""

import json
import sqlite3

import polars as pl
import pytest
from tests.appointments.people.test_rows import PEOPLE, SLOTS

from shoal.cli.main import main


@pytest.fixture
def files(tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    SLOTS.write_csv(tmp_path / "slots.csv")
    return tmp_path


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return left.value.code, captured.out, captured.err


def as_json(capsys, *arguments):
    code, out, err = run(capsys, *arguments, "--json")
    assert len(out.splitlines()) == 1
    return code, json.loads(out), err


def test_sizes(capsys):
    code, out, _ = as_json(capsys, "assign", "--group-sizes", "28,72,44,56", "--capacities", "100,100,50")
    assert code == 0
    assert out["k"] == out["k_bound"] == 28
    assert out["optimal"]
    matrix = out["matrix"]
    assert [sum(row) for row in matrix] == [28, 72, 44, 56]
    assert {"method", "objective", "k", "k_bound", "vector", "optimal", "matrix", "seconds"} <= set(out)
    code, out, _ = as_json(
        capsys,
        "assign",
        "--group-sizes",
        "4,4,5,2",
        "--capacities",
        "4,2,4,3,2",
        "--objective",
        "vector",
        "--level",
        "1",
    )
    assert (code, out["method"]) == (0, "lexicographic")
    assert "1" not in out["vector"]


def test_files(capsys, files):
    target = files / "appointments.csv"
    code, out, err = as_json(
        capsys, "assign", files / "people.csv", files / "slots.csv", "--quasi", "zip,gender", "--objective", "vector",
        "-o", target, "--report", files / "report.html", "--seed", "1",
    )  # fmt: skip
    assert code == 0, err
    assert out["vector"] == {"2": 2, "3": 1, "4": 2}
    assert out["vector_before"] == {"2": 1, "4": 2, "5": 1}
    assert out["optimal"] and out["k_before"] == 2 and out["exposed_before"] == 10
    assert sum(slot["load"] for slot in out["slots"]) == 15
    written = pl.read_csv(target)
    assert written.columns == ["id", "zip", "gender", "slot", "centre", "hour"]
    assert written.height == 15
    assert "Appointments and anonymity" in (files / "report.html").read_text()
    code, _, err = run(
        capsys, "assign", files / "people.csv", files / "slots.csv", "--quasi", "zip", "-o", target
    )
    assert code == 2
    assert "exists" in err
    code, out, err = run(capsys, "assign", files / "people.csv", files / "slots.csv", "--quasi", "zip,gender")
    assert code == 0
    assert "proved optimal" in out


def test_columns_that_may_be_known_and_are_not_counted_are_named_even_if_quiet(capsys, files):
    people, slots = files / "people.csv", files / "slots.csv"
    code, out, err = as_json(capsys, "assign", people, slots, "--quasi", "zip", "--quiet")
    assert code == 0
    assert out["warnings"] == [
        "K is counted over zip; 'gender' may be known of a person, too: name them in --quasi if so, or K is lower than stated"
    ]
    assert err == f"warning: {out['warnings'][0]}\n"
    code, out, err = as_json(capsys, "assign", people, slots, "--quasi", "zip,gender")
    assert (code, out["warnings"], err) == (0, [], "")


def test_attendance_of_an_old_plan(capsys, files):
    target = files / "appointments.csv"
    run(
        capsys,
        "assign",
        files / "people.csv",
        files / "slots.csv",
        "--quasi",
        "zip,gender",
        "-o",
        target,
        "--seed",
        "1",
    )
    table = pl.read_csv(target).with_columns(came=pl.Series(["yes", "no", "yes"] * 5))
    table.write_csv(files / "after.csv")
    code, out, err = as_json(
        capsys, "assign", files / "after.csv", files / "slots.csv", "--quasi", "zip,gender",
        "--pinned", "slot", "--attended", "came",
    )  # fmt: skip
    assert code == 0, err
    assert out["attended"] == 10
    assert (
        out["k_attended"]
        == table.filter(pl.col("came") == "yes").group_by("zip", "gender", "slot").len()["len"].min()
    )


def test_eligible_file_and_known(capsys, files):
    pl.DataFrame({"zip": [88888, 88888, 11111, 11111, 11111], "centre": ["A", "B", "A", "B", "C"]}).write_csv(
        files / "near.csv"
    )
    code, out, err = as_json(
        capsys, "assign", files / "people.csv", files / "slots.csv", "--quasi", "zip,gender", "--eligible", files / "near.csv",
        "--known", "centre", "--seed", "0",
    )  # fmt: skip
    assert code == 0, err
    assert out["known"] == ["centre"]


def test_exchange(capsys, files):
    pytest.importorskip("icalendar")
    pytest.importorskip("fhir.resources")
    SLOTS.with_columns(date=pl.lit("2026-03-02")).write_csv(files / "dated.csv")
    code, _, err = run(
        capsys, "assign", files / "people.csv", files / "dated.csv", "--quasi", "zip,gender", "--key", "id",
        "--calendar", files / "calendars", "--fhir", files / "bundle.json", "--seed", "1",
    )  # fmt: skip
    assert code == 0, err
    assert sorted(path.name for path in (files / "calendars").iterdir()) == ["A.ics", "B.ics", "C.ics"]
    text = (files / "bundle.json").read_text() + "".join(
        p.read_text() for p in (files / "calendars").iterdir()
    )
    assert "88888" not in text
    free = SLOTS["capacity"].sum() - len(PEOPLE)
    code, out, _ = as_json(
        capsys, "assign", files / "people.csv", files / "bundle.json", "--quasi", "zip,gender", "--seed", "1"
    )
    assert code == 3, "seats given already must not be given again"
    assert f"and {free} seats" in out["error"]

    from shoal.appointments.exchange.fhir import slots_bundle

    (files / "slots.json").write_text(slots_bundle(pl.read_csv(files / "dated.csv")))
    code, out, err = as_json(
        capsys, "assign", files / "people.csv", files / "slots.json", "--quasi", "zip,gender", "--seed", "1"
    )
    assert code == 0, err
    assert out["people"] == 15
    code, _, err = run(
        capsys,
        "assign",
        files / "people.csv",
        files / "slots.csv",
        "--quasi",
        "zip",
        "--calendar",
        files / "none",
    )
    assert code == 2
    assert not (files / "none").exists()


def database(path, tables, people=20, broken=None):
    with sqlite3.connect(path) as connection:
        for index in range(tables):
            name = "tabla" if tables == 1 else f"tabla{index}"
            connection.execute(
                f"CREATE TABLE {name} (ID INTEGER PRIMARY KEY, CP INTEGER, SEX TEXT, REC_RAND INTEGER, REC_INTELLIGENT INTEGER)"
            )
            connection.executemany(
                f"INSERT INTO {name} VALUES (?, ?, ?, -1, -1)",
                [(i, 28000 + i % 3, "man" if i % 2 else "woman") for i in range(people)],
            )
            connection.execute(f"CREATE TABLE {name}_resource (RESOURCE INTEGER, CAPACITY INTEGER)")
            seats = [4, 5, 4, 3, 4] if index != broken else [4, 5, 4, 3, 3]
            connection.executemany(
                f"INSERT INTO {name}_resource VALUES (?, ?)", list(enumerate(seats, start=1))
            )
    connection.close()
    return f"sqlite:///{path}::tabla"


def rows(path, table):
    connection = sqlite3.connect(path)
    found = connection.execute(f"SELECT * FROM {table} ORDER BY ID").fetchall()
    connection.close()
    return found


def test_database_tables_get_both_columns(capsys, tmp_path):
    path = tmp_path / "clinic.db"
    address = database(path, 2)
    code, out, err = as_json(
        capsys, "assign", address, "--tables", "2", "--quasi", "CP,SEX", "--update", "--objective", "vector"
    )
    assert code == 0, err
    assert [item["table"].rsplit("::")[-1] for item in out["tables"]] == ["tabla0", "tabla1"]
    for index, item in enumerate(out["tables"]):
        found = rows(path, f"tabla{index}")
        for column in (3, 4):
            load = [sum(row[column] == slot for row in found) for slot in range(1, 6)]
            assert load == [4, 5, 4, 3, 4]
        crowds = (
            pl.DataFrame(found, schema=["ID", "CP", "SEX", "R", "I"], orient="row")
            .group_by("CP", "SEX", "I")
            .len()
        )
        assert crowds["len"].min() == item["k"]
        assert item["optimal"]


@pytest.mark.parametrize("more", [[], ["--diverse", "ILL"]], ids=["", "diverse"])
def test_figures_at_random_are_those_of_the_column_that_is_written(capsys, tmp_path, more):
    path = tmp_path / "clinic.db"
    address = database(path, 1)
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE tabla ADD COLUMN ILL INTEGER")
        connection.execute("UPDATE tabla SET ILL = ID / 2 % 2")
    connection.close()
    columns = []
    for _ in range(2):
        code, out, err = as_json(
            capsys, "assign", address, "--quasi", "SEX", "--update", "--seed", "4", *more
        )
        assert code == 0, err
        columns.append([row[3] for row in rows(path, "tabla")])
        code, found, _ = as_json(capsys, "anonymity", address, "--quasi", "SEX,REC_RAND")
        assert found["vector"] == out["vector_random"]
        assert found["k"] == out["k_random"]
    assert columns[0] == columns[1]  # what an earlier plan left there changes nothing


@pytest.mark.parametrize("option", ["--calendar", "--fhir"])
def test_calendars_and_bundles_are_of_one_table(capsys, tmp_path, option):
    address = database(tmp_path / "clinic.db", 2)
    arguments = ["assign", address, "--tables", "2", "--quasi", "CP,SEX", "--update", option, tmp_path / "to"]
    code, _, err = run(capsys, *arguments)
    assert (code, err) == (2, f"shoal: {option} is for one table, not for several\n")
    assert all(row[3:] == (-1, -1) for row in rows(tmp_path / "clinic.db", "tabla0"))


def test_a_report_of_several_tables_tells_of_all(capsys, tmp_path):
    address = database(tmp_path / "clinic.db", 2)
    report = tmp_path / "report.html"
    code, _, err = run(
        capsys, "assign", address, "--tables", "2", "--quasi", "CP,SEX", "--update", "--report", report
    )
    assert code == 0, err
    assert "Appointments of 2 tables" in report.read_text() and "tabla1" in report.read_text()


def test_a_column_may_be_called_like_the_way_to_ask_for_diversity(capsys, files):
    ill = pl.int_range(pl.len()).over("gender") % 3
    PEOPLE.with_columns(ill.alias("ill=3")).write_csv(files / "ill.csv")
    pl.DataFrame({"slot": ["a", "b"], "capacity": [9, 9]}).write_csv(files / "wide.csv")
    named = ["assign", files / "ill.csv", files / "wide.csv", "--quasi", "gender", "--seed", "1", "--diverse"]
    for asked, values in (("ill=3", 2), ("ill=3=3", 3)):
        target = files / f"{values}.csv"
        code, _, err = as_json(capsys, *named, asked, "-o", target)
        assert code == 0, err
        found = pl.read_csv(target).group_by("gender", "slot").agg(pl.col("ill=3").n_unique())
        assert found["ill=3"].min() >= values


def test_a_database_is_whole_or_untouched(capsys, tmp_path):
    path = tmp_path / "clinic.db"
    address = database(path, 3, broken=2)
    code, out, _ = as_json(capsys, "assign", address, "--tables", "3", "--quasi", "CP,SEX", "--update")
    assert code == 3
    assert out["kind"] == "infeasible"
    assert "1 seats are missing" in out["error"]
    assert "tabla2: " in out["error"]
    for index in range(3):
        assert all(row[3:] == (-1, -1) for row in rows(path, f"tabla{index}"))


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--group-sizes", "5,5", "--capacities", "4,4"], 3, "2 seats are missing"),
        (["--group-sizes", "5,0", "--capacities", "4,4"], 2, "1 or more"),
        (["--group-sizes", "5,-1", "--capacities", "4,4"], 2, "1 or more"),
        (["--group-sizes", "5", "--capacities", "9,0"], 2, "1 or more"),
        (["--group-sizes", "5,x", "--capacities", "4,4"], 2, "whole numbers"),
        (["--group-sizes", "5"], 2, "together"),
        ([], 2, "name the people"),
        (["people.csv", "slots.csv"], 2, "--quasi"),
        (["people.csv", "slots.csv", "--quasi", "zipp"], 2, "did you mean 'zip'"),
        (["people.csv", "twice.csv", "--quasi", "zip"], 2, "listed twice"),
        (["people.csv", "slots.csv", "--quasi", "zip", "--known", "doctor"], 2, "slot attribute 'doctor'"),
        (["people.csv", "slots.csv", "--quasi", "zip", "--method", "best"], 2, "method 'best'"),
        (["people.csv", "slots.csv", "--quasi", "zip", "--objective", "size"], 2, "objective"),
        (["people.csv", "few.csv", "--quasi", "zip"], 3, "6 seats are missing"),
        (
            ["people.csv", "slots.csv", "--quasi", "zip", "--eligible", "near.csv"],
            3,
            "9 of 15 people have no slot",
        ),
        (
            ["people.csv", "slots.csv", "--quasi", "zip,gender", "--require-k", "3", "-o", "out.csv"],
            3,
            "below the required 3",
        ),
        (["people.csv", "missing.csv", "--quasi", "zip"], 2, "missing.csv"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(capsys, files, monkeypatch, arguments, code, text):
    pl.concat([SLOTS, SLOTS[:1]]).write_csv(files / "twice.csv")
    SLOTS[2:].write_csv(files / "few.csv")
    pl.DataFrame({"zip": [88888], "centre": ["A"]}).write_csv(files / "near.csv")
    monkeypatch.chdir(files)
    before = sorted(files.iterdir())
    found, _, err = run(capsys, "assign", *arguments)
    assert found == code
    message = [line for line in err.splitlines() if line.startswith("shoal:")]
    assert len(message) == 1
    assert text in message[0]
    assert "88888" not in err
    assert sorted(files.iterdir()) == before


def test_instances(capsys, tmp_path):
    path = tmp_path / "hard.json"
    code, out, err = as_json(
        capsys, "generate", "instance", "partition", "--numbers", "1,2,3,3,3", "-o", path
    )
    assert code == 0, err
    assert out["k_asked"] == 11
    code, out, _ = as_json(capsys, "assign", "--instance", path)
    assert (code, out["k"]) == (0, 11)
    for also in (["--group-sizes", "3,4"], ["--capacities", "9"]):
        code, _, err = run(capsys, "assign", "--instance", path, *also)
        assert (code, "--instance holds the sizes" in err) == (2, True)
    code, out, _ = as_json(capsys, "generate", "instance", "f4", "--size", "10")
    assert (out["groups"], out["k_best"]) == ([12, 20, 28], 8)
    code, _, err = run(capsys, "generate", "instance", "f99")
    assert code == 2
    code, _, err = run(capsys, "generate", "instance", "f2", "--size", "5")
    assert (code, "even" in err) == (2, True)


def test_methods_are_listed(capsys):
    code, out, _ = as_json(capsys, "assign", "--method", "list")
    assert code == 0
    assert {"auto", "random", "greedy", "genetic", "branch-and-bound", "constraint", "lexicographic"} <= set(
        out["methods"]
    )


def test_an_interrupted_search_keeps_and_writes_the_best(capsys, tmp_path, monkeypatch):
    from contextlib import contextmanager

    import numpy as np
    from tests.appointments.test_targets import drawn

    sizes, seats = drawn(40, 25, 60, 119, 1.0, 1)
    pl.DataFrame({"q": np.repeat(np.arange(40), sizes)}).write_csv(tmp_path / "people.csv")
    pl.DataFrame({"slot": range(25), "capacity": seats}).write_csv(tmp_path / "slots.csv")

    @contextmanager
    def impatient(title, budget, **keywords):
        def observe(progress):
            if progress.value is not None:
                budget.control.cancel()

        yield observe

    monkeypatch.setattr("shoal.cli.progress.watched", impatient)
    code, out, _ = as_json(
        capsys,
        "assign",
        tmp_path / "people.csv",
        tmp_path / "slots.csv",
        "--quasi",
        "q",
        "-o",
        tmp_path / "out.csv",
    )
    assert code == 130
    assert out["stopped_by"] == "interrupt"
    written = pl.read_csv(tmp_path / "out.csv")
    assert written.group_by("q", "slot").len()["len"].min() == out["k"]
    assert (
        (
            written.group_by("slot")
            .len()
            .join(pl.read_csv(tmp_path / "slots.csv"), on="slot")
            .select(pl.col("len") <= pl.col("capacity"))
        )
        .to_series()
        .all()
    )


# The published table of 20 people after assignment: age, postcode, sex.
TWENTY = """52 28003 woman|51 28002 man|57 28000 woman|59 28002 man|52 28003 man|52 28003 woman|56 28003 man|57 28000 woman
45 28000 man|47 28002 man|47 28002 man|48 28003 woman|49 28000 woman|50 28001 man|46 28001 woman|50 28001 man|48 28003 woman
58 28001 man|52 28003 man|47 28002 woman"""


def test_the_published_table_of_twenty_keeps_its_anonymity(capsys, tmp_path):
    path = tmp_path / "clinic.db"
    people = [line.split() for line in TWENTY.replace("\n", "|").split("|")]
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TABLE tabla (ID INTEGER PRIMARY KEY, AGE INTEGER, CP INTEGER, SEX TEXT, "
        "REC_RAND INTEGER, REC_INTELLIGENT INTEGER)"
    )
    connection.executemany(
        "INSERT INTO tabla VALUES (?, ?, ?, ?, -1, -1)", [(i, *person) for i, person in enumerate(people)]
    )
    connection.execute("CREATE TABLE tabla_resource (RESOURCE INTEGER, CAPACITY INTEGER)")
    connection.executemany(
        "INSERT INTO tabla_resource VALUES (?, ?)", list(enumerate([4, 5, 4, 3, 4], start=1))
    )
    connection.commit()
    connection.close()
    address = f"sqlite:///{path}::tabla"
    code, out, err = as_json(
        capsys, "assign", address, "--quasi", "CP,SEX", "--objective", "vector", "--update"
    )
    assert code == 0, err
    assert out["vector_before"] == out["vector"] == {"1": 3, "3": 3, "4": 2}
    assert out["optimal"]
    assert [slot["load"] for slot in out["slots"]] == [4, 5, 4, 3, 4]
    code, out, _ = as_json(capsys, "anonymity", address, "--quasi", "CP,SEX,REC_INTELLIGENT")
    assert out["vector"] == {"1": 3, "3": 3, "4": 2}
    code, out, _ = as_json(capsys, "anonymity", address, "--quasi", "AGE,CP,SEX,REC_RAND")
    assert out["k"] == 1
