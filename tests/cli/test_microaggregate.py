"""``shoal microaggregate`` as a user runs it: files, databases, gates, Ctrl-C, report."""

import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal
from tests.waiting import GUARD


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    draw = np.random.default_rng(1)
    path = tmp_path / "survey.csv"
    pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(120)],
            "income": draw.lognormal(8, 0.4, 120).round(2),
            "rent": draw.normal(900, 200, 120).round(1),
            "region": draw.choice(["north", "south"], 120),
        }
    ).write_csv(path)
    return path


def test_the_contract_fields_are_there_and_true(survey, tmp_path):
    out = tmp_path / "safe.csv"
    told = shoal(
        "microaggregate", survey, "-k", 4, "--iterations", 200, "--drop", "name", "-o", out, "--json"
    )
    assert told.code == 0, told.err
    found = told.json
    figures = "sse sst loss_percent bound_percent iterations seconds clusters min_cluster max_cluster"
    assert set(
        f"method k k_release k_protected quasi quasi_guessed records stopped_by {figures}".split()
    ) <= set(found)
    before, after = pl.read_csv(survey), pl.read_csv(out)
    assert after.columns == ["income", "rent", "region"]
    sizes = after.group_by("income", "rent").len()["len"]
    assert (found["clusters"], found["min_cluster"], found["max_cluster"]) == (
        sizes.len(),
        sizes.min(),
        sizes.max(),
    )
    assert found["k_protected"] == sizes.min() >= 4
    assert found["quasi"] == ["income", "rent", "region"] and found["quasi_guessed"]
    assert found["k_release"] == after.group_by(found["quasi"]).len()["len"].min() < 4
    loss = sum(
        float((((before[name] - after[name]) / before[name].std()) ** 2).sum()) for name in ("income", "rent")
    )
    assert found["sse"] == pytest.approx(loss, rel=1e-9)
    assert found["loss_percent"] == pytest.approx(100 * loss / (119 * 2), rel=1e-9)
    assert 0 < found["bound_percent"] <= found["loss_percent"]
    assert found["iterations"] <= 200 and found["stopped_by"] == "iterations"


def test_the_same_seed_gives_the_same_file_with_one_thread_or_two(survey, tmp_path):
    outs = []
    for threads in (1, 2):
        out = tmp_path / f"safe{threads}.csv"
        assert (
            shoal(
                "microaggregate", survey, "-k", 5, "--iterations", 300, "--threads", threads, "-o", out
            ).code
            == 0
        )
        outs.append(out.read_bytes())
    assert outs[0] == outs[1]


def test_labels_can_be_written_and_started_from(survey, tmp_path):
    labels = tmp_path / "labels.txt"
    first = shoal("microaggregate", survey, "-k", 5, "--method", "mdav", "--labels", labels, "--json").json
    *lines, last = labels.read_text().splitlines()
    assert len(lines) == 120
    assert last.startswith("# internal")
    assert stat.S_IMODE(labels.stat().st_mode) == 0o600
    second = shoal(
        "microaggregate",
        survey,
        "-k",
        5,
        "--method",
        "ilsmc",
        "--iterations",
        50,
        "--start",
        labels,
        "--json",
    ).json
    assert second["loss_percent"] <= first["loss_percent"] + 1e-9
    labels.write_text("1\n2\n")
    wrong = shoal("microaggregate", survey, "-k", 5, "--start", labels, "--json")
    assert wrong.code == 2 and "2 labels" in wrong.json["error"]


def test_a_gate_writes_nothing(survey, tmp_path):
    out = tmp_path / "safe.csv"
    outcome = shoal(
        "microaggregate",
        survey,
        "-k",
        4,
        "--method",
        "mdav",
        "--quasi",
        "income,rent,region",
        "--require-k",
        4,
        "-o",
        out,
    )
    assert outcome.code == 3 and "nothing was written" in outcome.err
    assert not out.exists()


@pytest.mark.parametrize("groups", ["income;rent", "auto"])
def test_labels_of_several_groups_of_columns_are_refused(survey, tmp_path, groups):
    labels = tmp_path / "labels.txt"
    told = shoal("microaggregate", survey, "--groups", groups, "--labels", labels, "--json")
    assert told.code == 2 and "one partition" in told.json["error"] and not labels.exists()


def test_two_results_do_not_share_a_file(survey, tmp_path):
    out = tmp_path / "safe.csv"
    told = shoal(
        "microaggregate", survey, "--method", "mdav", "-o", out, "--labels", out, "--force", "--json"
    )
    assert told.code == 2 and "-o and --labels name the same file" in told.json["error"] and not out.exists()


def test_a_file_that_cannot_hold_the_release_is_not_left_behind(tmp_path):
    data, out = tmp_path / "grades.parquet", tmp_path / "safe.csv"
    pl.DataFrame({"grade": ["1.0", "2.0", "2.5"] * 4}).write_parquet(data)
    told = shoal(
        "microaggregate",
        data,
        "-k",
        3,
        "--method",
        "mdav",
        "--ordinal",
        "grade=1.0<2.0<2.5",
        "-o",
        out,
        "--json",
    )
    assert told.code == 3 and "so nothing was written" in told.json["error"]
    assert not out.exists()


def test_a_password_in_an_address_is_not_shown(survey, monkeypatch):
    address = "postgresql://ann:hush@localhost/clinic::safe"

    class Server:
        """Stands in for the server: keeps the table that is written."""

        def __init__(self, database, *, internal):
            self.tables = {}

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def write(self, frame, name, *, force):
            self.tables[name] = frame

        def read(self, name):
            return self.tables[name]

        def commit(self):
            pass

    monkeypatch.setattr("shoal.sources.read_write.check_writable", lambda place, force: None)
    monkeypatch.setattr("shoal.sources.databases.TableWriter", Server)
    for extra in ([], ["--json"]):
        told = shoal("microaggregate", survey, "--method", "mdav", "-o", address, *extra)
        assert told.code == 0, told.err
        assert "hush" not in told.out + told.err and "ann:***@localhost" in told.out


def test_a_database_table_is_protected_into_another(survey, tmp_path):
    from shoal import sources

    url = f"sqlite:///{tmp_path}/clinic.db"
    sources.write(pl.read_csv(survey), f"{url}::visits")
    outcome = shoal(
        "microaggregate",
        f"{url}::visits",
        "-k",
        3,
        "--method",
        "mdav",
        "-o",
        f"{url}::safe",
        "--order",
        "sorted",
        "--json",
    )
    assert outcome.code == 0, outcome
    safe = sources.read(f"{url}::safe").frame
    assert safe.height == 120
    assert safe.group_by("income", "rent").len()["len"].min() >= 3


def test_the_report_names_what_must_be_there_and_no_record(survey, tmp_path):
    page = tmp_path / "report.html"
    outcome = shoal("microaggregate", survey, "-k", 4, "--iterations", 200, "--report", page)
    assert outcome.code == 0, outcome.err
    html = page.read_text(encoding="utf-8")
    for words in (
        "K of the release",
        "below 3, 5, 10",
        "no grouping can lose less than",
        "seed",
        "software",
        "checked by",
    ):
        assert words in html
    before = pl.read_csv(survey)
    assert not any(name in html for name in before["name"])
    assert not any(f"{value:.2f}" in html for value in before["income"] if value > 1000)


def test_methods_are_listed():
    assert {"auto", "mdav", "ilsmc", "ils", "blocks"} <= set(
        shoal("microaggregate", "x.csv", "--method", "list", "--json").json["methods"]
    )


# The command, which says when its search is under way. A shell that starts the tests in the background lets its
# children ignore Ctrl-C; the command must not inherit that.
SEARCHING = """
import signal, sys
from shoal.cli.main import main
from shoal.runtime.budget import Run

spend = Run.spend

def telling(run, *arguments):
    spend(run, *arguments)
    if run.work > 100 and Run.spend is not spend:
        Run.spend = spend
        print("searching", file=sys.stderr, flush=True)

Run.spend = telling
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def test_interrupting_keeps_the_best_found(tmp_path):
    draw = np.random.default_rng(2)
    path, out = tmp_path / "large.csv", tmp_path / "safe.csv"
    pl.DataFrame({f"x{i}": draw.normal(size=3000) for i in range(6)}).write_csv(path)
    command = [
        sys.executable,
        "-c",
        SEARCHING,
        "microaggregate",
        str(path),
        "-k",
        "4",
        "--method",
        "ilsmc",
        "-o",
        str(out),
        "--json",
    ]
    process = subprocess.Popen(
        [*command, "--iterations", "100000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        while process.stderr.readline() not in ("searching\n", ""):
            pass
        process.send_signal(signal.SIGINT)
        told, err = process.communicate(timeout=GUARD)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130, err
    assert '"stopped_by": "interrupt"' in told
    assert pl.read_csv(out).group_by(pl.all()).len()["len"].min() >= 4


@pytest.mark.parametrize(("command", "method"), [("microaggregate", "mdav"), ("group", "gomm")])
def test_methods_are_listed_without_data(command, method):
    assert method in shoal(command, "--method", "list", "--json").json["methods"]
    told = shoal(command, "--method", method)
    assert told.code == 2 and "Missing argument 'DATA'" in told.err


@pytest.mark.parametrize("records", [9, 10, 11, 12, 14, 15])
def test_few_records_need_no_options(records, tmp_path):
    table = pl.DataFrame(
        {"a": [i * 7 % 11 for i in range(records)], "b": [i * 5 % 13 for i in range(records)]}
    )
    table.write_csv(tmp_path / "few.csv")
    told = shoal("microaggregate", tmp_path / "few.csv", "-k", 5, "--columns", "a,b", "--json")
    assert told.code == 0, told.out + told.err
    assert told.json["clusters"] == records // 5 and told.json["min_cluster"] >= 5


def test_strata_of_every_small_size_are_grouped(tmp_path):
    sizes = [5, 6, 9, 10, 12, 14, 15, 17]
    rows = [(f"part {size}", i * 7 % 11, i * 5 % 13) for size in sizes for i in range(size)]
    pl.DataFrame(rows, schema=["part", "a", "b"], orient="row").write_csv(tmp_path / "parts.csv")
    told = shoal(
        "microaggregate", tmp_path / "parts.csv", "-k", 5, "--columns", "a,b", "--by", "part", "--json"
    )
    assert told.code == 0, told.out + told.err
    assert told.json["min_cluster"] >= 5 and told.json["records"] == sum(sizes)


def test_k_of_what_could_be_known_is_said_beside_that_of_the_protected_columns(survey, tmp_path):
    out = tmp_path / "safe.csv"
    asked = ["microaggregate", survey, "-k", 4, "--method", "mdav", "--drop", "name"]
    told = shoal(*asked, "-o", out)
    assert told.code == 0, told.err
    after = pl.read_csv(out)
    low = after.group_by("income", "rent", "region").len()["len"].min()
    text = " ".join(told.out.split())
    assert f"K of the release {low} over income, rent, region, all that could be known" in text
    assert "K over the protected columns alone 4" in text
    assert f"is {low}, below k = 4" in told.err
    # The gate judges the K that counts, and says over which columns.
    refused = shoal(*asked, "-o", tmp_path / "no.csv", "--require-k", 4)
    assert refused.code == 3 and "over income, rent, region is" in refused.err
    assert not (tmp_path / "no.csv").exists()
    named = shoal(*asked, "-o", tmp_path / "yes.csv", "--require-k", 4, "--quasi", "income,rent", "--json")
    assert named.code == 0
    assert (named.json["k_release"], named.json["quasi_guessed"]) == (4, False)


def test_identifiers_that_are_released_lead_the_warnings(survey):
    told = shoal("microaggregate", survey, "-k", 4, "--method", "mdav", "--json")
    assert told.json["k_release"] == 1 and "name" in told.json["quasi"]
    assert told.json["warnings"][0].startswith(
        "column 'name' is released as it is and looks like an identifier"
    )


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    draw = np.random.default_rng(1)
    turnover = [f"{amount:.2f}" for amount in draw.lognormal(8, 1, 200)]
    for place in (15, 40, 60, 61):
        turnover[place] = "SECRET?"
    path = tmp_path / "firms.csv"
    pl.DataFrame({"turnover": turnover, "staff": draw.integers(1, 500, 200)}).write_csv(path)
    return path


def test_a_text_among_numbers_is_told_as_what_it_is(faulty, tmp_path):
    told = shoal("microaggregate", faulty, "-k", 5, "-o", tmp_path / "safe.csv", "--quiet")
    assert told.code == 0
    assert (
        "warning: column 'turnover' is numbers but for record 16 and 3 more, so it was not protected"
        in told.err
    )
    assert "identifier" not in told.err and "SECRET" not in told.out + told.err
    told = shoal("microaggregate", faulty, "-k", 5, "-o", tmp_path / "other.csv")
    assert "left out: turnover (numbers but for record 16 and 3 more)" in told.err


def test_several_columns_with_texts_among_numbers_are_one_line(faulty, tmp_path):
    frame = pl.read_csv(faulty).with_columns(pl.col("turnover").alias("cost"))
    frame.write_csv(faulty)
    told = shoal("microaggregate", faulty, "-k", 5, "-o", tmp_path / "safe.csv", "--json")
    (line,) = [line for line in told.json["warnings"] if "numbers but for" in line]
    assert "2 columns" in line and "'turnover' (record 16 and 3 more), 'cost' (record 16 and 3 more)" in line


def test_a_column_of_numbers_asked_for_by_name_is_refused_with_what_to_do(faulty, tmp_path):
    for arguments in (["--columns", "turnover"], ["--drop", "staff"]):
        told = shoal("microaggregate", faulty, "-k", 5, *arguments, "-o", tmp_path / "safe.csv")
        assert told.code == 2
        assert "numbers but for record 16 and 3 more" in told.err and "SECRET" not in told.err


@pytest.mark.parametrize("values", [[[1], [2]] * 10, [{"a": 1}, {"a": 2}] * 10, [b"a", b"b"] * 10])
def test_no_order_is_asked_for_where_there_is_none(values, tmp_path):
    path = tmp_path / "data.parquet"
    pl.DataFrame({"x": range(20), "c": values}).write_parquet(path)
    told = shoal("microaggregate", path, "-k", 5, "--columns", "x,c")
    assert told.code == 2
    assert "leave it out of --columns" in told.err and "--ordinal" not in told.err
