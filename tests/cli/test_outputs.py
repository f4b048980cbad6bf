"""What commands write appears together or not at all, whatever fails; with the rights it should have."""

import errno
import itertools
import os
import stat
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal

from shoal import sources
from shoal.report.page import Page
from shoal.sources import atomic

COMMANDS = {
    "microaggregate": (
        "microaggregate survey.csv -k 5 --columns income,rent --method mdav",
        {
            "-o": "safe.csv",
            "--labels": "labels.txt",
            "--record-links": "links.csv",
            "--report": "report.html",
        },
    ),
    "microaggregate to a table": (
        "microaggregate survey.csv -k 5 --columns income,rent --method mdav -o sqlite:///clinic.db::safe",
        {"--labels": "labels.txt", "--report": "report.html"},
    ),
    "suppress": (
        "suppress table.csv --sensitive cells.csv",
        {"-o": "pattern.csv", "--published": "public.csv", "--report": "report.html"},
    ),
    "suppress to jj": (
        "suppress table.csv --sensitive cells.csv",
        {"-o": "pattern.jj", "--published": "public.xlsx"},
    ),
    "audit": ("audit table.csv hidden.csv --sensitive cells.csv", {"-o": "intervals.csv"}),
    "tabulate": ("tabulate survey.csv --dimensions region,sex --value income", {"-o": "list.csv"}),
    "assign": (
        "assign people.csv slots.csv --quasi sex --seed 1 --method greedy",
        {"-o": "plan.csv", "--calendar": "calendars", "--fhir": "bundle.json", "--report": "report.html"},
    ),
    "assign, updating": (
        "assign sqlite:///clinic.db::people slots.csv --quasi sex --seed 1 --method greedy --update",
        {"--report": "report.html"},
    ),
    "group": ("group survey.csv -k 5 --columns income,rent --iterations 20", {"--report": "report.html"}),
    "hierarchy": (
        "hierarchy survey.csv --columns region,income",
        {"-o": "drafts", "--report": "report.html"},
    ),
    "compare": ("compare survey.csv other.csv --columns income,rent --key id", {"--report": "report.html"}),
    "anonymity": ("anonymity survey.csv --quasi region,sex", {"--report": "report.html"}),
    "risk": (
        "risk survey.csv --quasi region,sex --population 900",
        {"--risks": "risks.csv", "--report": "report.html"},
    ),
    "generate people": ("generate people --tables 3", {"-o": "made.csv"}),
    "generate slots": ("generate slots --tables 2", {"-o": "sqlite:///clinic.db::made"}),
    "generate table": ("generate table --rows 4 --columns 4 --sensitive 2", {"-o": "new.csv"}),
    "generate instance": ("generate instance f4", {"-o": "instance.json"}),
}

# Readable by their owner alone, since they are internal.
INTERNAL = {
    "labels.txt",
    "links.csv",
    "risks.csv",
    "report.html",
    "pattern.csv",
    "pattern.jj",
    "intervals.csv",
    "list.csv",
    "list.structure.json",
    "list.contributions.csv",
    "plan.csv",
    "A.ics",
    "B.ics",
    "bundle.json",
    "region.csv",
    "income.csv",
    "rules.txt",
}
# Those whose format has no room for a word of ours.
UNMARKED = {"plan.csv", "bundle.json", "region.csv", "income.csv"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    draw = np.random.default_rng(3)
    monkeypatch.chdir(tmp_path)
    survey = pl.DataFrame(
        {
            "id": range(60),
            "region": draw.choice(["n", "s"], 60),
            "sex": draw.choice(["f", "m"], 60),
            "income": draw.normal(100, 20, 60).round(2),
            "rent": draw.normal(50, 9, 60).round(2),
        }
    )
    survey.write_csv("survey.csv")
    survey.with_columns(pl.col("income") + 1).write_csv("other.csv")
    Path("table.csv").write_text("row,a,b,total\nr,20,50,70\ns,10,50,60\ntotal,30,100,130\n")
    Path("cells.csv").write_text("row,column\ns,b\n")
    Path("hidden.csv").write_text("row,column\ns,b\ns,a\nr,a\nr,b\n")
    people = survey.select("sex", ID="id", REC_RAND=pl.lit(0), REC_INTELLIGENT=pl.lit(0))
    people.write_csv("people.csv")
    sources.write(people, "sqlite:///clinic.db::people")
    Path("slots.csv").write_text(
        "slot,capacity,centre,start,end\n1,40,A,2026-03-02T09:00:00,2026-03-02T10:00:00\n"
        "2,40,B,2026-03-02T09:00:00,2026-03-02T10:00:00\n"
    )
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def line(name: str, *extra: str) -> list[str]:
    words, outputs = COMMANDS[name]
    return [*words.split(), *itertools.chain.from_iterable(outputs.items()), *extra]


@pytest.mark.parametrize("name", COMMANDS)
def test_everything_is_written_with_its_rights(folder, name):
    before = content(folder)
    mask = os.umask(0o022)
    try:
        told = shoal(*line(name))
    finally:
        os.umask(mask)
    assert told.code == 0, told.err
    new = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".db"]
    new = [path for path in new if str(path.relative_to(folder)) not in before]
    for path in new:
        wanted = 0o600 if path.name in INTERNAL else 0o644
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path
        if path.name in INTERNAL - UNMARKED:
            assert "internal" in path.read_text().lower(), path
    assert not any("shoal-unfinished" in path.name for path in folder.rglob("*"))


FAILURES = ("disk", "report", "place")


@pytest.mark.parametrize("there", [True, False], ids=["replacing", "new"])
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("name", COMMANDS)
def test_exit_2_means_that_nothing_was_written(folder, monkeypatch, name, failure, there):
    if failure == "report" and "--report" not in COMMANDS[name][1]:
        pytest.skip("writes no report")
    if name == "generate slots" and failure != "disk":
        pytest.skip("writes no file")
    if there:
        assert shoal(*line(name)).code == 0
    before = content(folder)
    full = OSError(errno.ENOSPC, "No space left on device")

    def refuse(*_, **__):
        raise full

    if failure == "disk":
        monkeypatch.setattr("shoal.sources.files.write_frame", refuse)
        monkeypatch.setattr(Path, "write_bytes", refuse)
        monkeypatch.setattr("shoal.sources.databases.writing.load", refuse_load)
        monkeypatch.setattr("shoal.sources.databases.updating.load", refuse_load)
    elif failure == "report":
        monkeypatch.setattr(Page, "html", refuse_report)
    else:
        _refuse_the_last(monkeypatch)
    told = shoal(*line(name, "--force"))
    assert told.code == 2, told
    assert told.err.splitlines()[-1].startswith("shoal: ")
    monkeypatch.undo()
    assert content(folder) == before


def refuse_load(*_):
    from shoal import InputError

    raise InputError("the disk is full")


def refuse_report(_):
    from shoal import InputError

    raise InputError("the report cannot be made")


def _refuse_the_last(monkeypatch):
    """Let the last file of all refuse to take its place."""
    every = []
    make, put = atomic.Beside.__init__, atomic.Beside.put

    def remember(self, *given, **named):
        make(self, *given, **named)
        every.append(self)

    def refuse(self):
        if self is every[-1]:
            raise atomic.InputError("it cannot be renamed")
        put(self)

    monkeypatch.setattr(atomic.Beside, "__init__", remember)
    monkeypatch.setattr(atomic.Beside, "put", refuse)


PAIRS = [
    (name, one, other)
    for name, (_, outputs) in COMMANDS.items()
    for one, other in itertools.combinations(outputs, 2)
    if "--calendar" not in (one, other)
]


@pytest.mark.parametrize(("name", "one", "other"), PAIRS)
def test_two_outputs_in_one_file_are_refused(folder, name, one, other):
    words, outputs = COMMANDS[name]
    told = shoal(*words.split(), one, outputs[one], other, f"./{outputs[one]}", "--force", "--json")
    assert told.code == 2
    assert "name the same file" in told.json["error"] or "ending" in told.json["error"], told.json
    assert not (folder / outputs[one]).exists()


@pytest.mark.parametrize(
    "arguments",
    [
        "microaggregate survey.csv -k 5 --columns income,rent --method mdav -o survey.csv",
        "suppress table.csv --sensitive cells.csv -o table.csv",
        "suppress table.csv --sensitive cells.csv -o cells.csv",
        "audit table.csv hidden.csv --sensitive cells.csv -o hidden.csv",
        "tabulate survey.csv --dimensions region,sex --value income -o survey.csv",
        "suppress table.csv --sensitive cells.csv --published cells.csv",
        "suppress table.csv --sensitive cells.csv --previous hidden.csv -o hidden.csv",
        "round table.csv --sensitive cells.csv --base 5 -o table.csv",
        "adjust table.csv --sensitive cells.csv -o cells.csv",
        "perturb-table survey.csv --dimensions region,sex --record id -o survey.csv",
        "perturb-table survey.csv --dimensions region,sex --record id --secret key.txt -o counts.csv --report key.txt",
        "tabulate survey.csv --dimensions region --hierarchy region=tree.csv --value income -o tree.csv",
        "assign people.csv slots.csv --quasi sex --seed 1 --method greedy -o people.csv",
        "assign people.csv slots.csv --quasi sex --seed 1 --method greedy -o slots.csv",
        "assign people.csv slots.csv --quasi sex --method greedy --eligible tree.csv -o tree.csv",
        "microaggregate sqlite:///clinic.db::people -k 5 --columns ID --method mdav -o sqlite:///clinic.db::people",
        "microaggregate sqlite:///clinic.db::people -k 5 --columns ID --method mdav -o sqlite:///./link.db::main.people",
        "microaggregate survey.csv -k 5 --columns income --method mdav -o symbolic.csv",
        "microaggregate survey.csv -k 5 --columns income --method mdav -o hard.csv",
        "microaggregate survey.csv -k 5 --columns income --method mdav -o safe.csv --record-links hard.csv",
        "microaggregate survey.csv -k 5 --columns income --start labels.txt -o safe.csv --labels labels.txt",
        "microaggregate parts --engine stream -k 5 --columns income -o safe --report parts/one.parquet",
        "microaggregate parts/*.parquet --engine stream -k 5 --columns income -o safe --report parts/one.parquet",
        "recode survey.csv --quasi region --hierarchy region=tree.csv -k 5 -o tree.csv",
        "recode survey.csv --quasi region --apply mapping.txt -o safe.csv --report mapping.txt",
        "recode survey.csv --quasi region --population-file other.csv -k 5 -o safe.csv --method lattice --mapping other.csv",
        "perturb survey.csv --columns income --method noise -o survey.csv",
        "perturb survey.csv --columns income --method noise --secret key.txt -o safe.csv --report key.txt",
        "compare survey.csv other.csv --columns income,rent --key id --report other.csv",
        "anonymity survey.csv --quasi sex --report survey.csv",
        "risk survey.csv --quasi region,sex --population 900 --risks survey.csv",
        "hierarchy region.csv --columns region -o .",
        "plan survey.csv -o survey.csv",
        "plan people.csv --slots slots.csv -o slots.csv",
        "sweep plan.toml --set microaggregate.k=3 --report survey.csv",
        "sweep plan.toml --set microaggregate.k=3 --report plan.toml",
    ],
)
def test_an_input_is_never_replaced(folder, arguments):
    for name in ("key.txt", "tree.csv", "labels.txt", "mapping.txt", "region.csv"):
        Path(name).write_text(Path("survey.csv").read_text())
    Path("symbolic.csv").symlink_to("survey.csv")
    Path("hard.csv").hardlink_to("survey.csv")
    Path("link.db").hardlink_to("clinic.db")
    Path("parts").mkdir()
    pl.read_csv("survey.csv").write_parquet("parts/one.parquet")
    Path("plan.toml").write_text(PLAN)
    before = content(folder)
    for force in ((), ("--force",)):
        told = shoal(*arguments.split(), *force)
        assert told.code == 2
        assert "names the input" in told.err and "never replaced; give it a place of its own" in told.err
        assert content(folder) == before


PLAN = """\
[release]
name = "safe"
[sources.survey]
data = "survey.csv"
roles = {region = "quasi-identifier"}
[[steps]]
do = "microaggregate"
columns = ["income"]
k = 5
[outputs]
"safe.csv" = "microaggregate"
"""


def test_calendars_are_refused_before_any_work(folder, monkeypatch):
    Path("busy").write_text("x")
    Path("full").mkdir()
    Path("full/A.ics").write_text("old")
    before = content(folder)
    monkeypatch.setattr("shoal.appointments.api.assign", lambda *_, **__: pytest.fail("work was done"))
    plan = ["assign", "people.csv", "slots.csv", "--quasi", "sex", "-o", "plan.csv", "--calendar"]
    for place, words in (("busy", "is a file, not a folder"), ("full", "exists already")):
        told = shoal(*plan, place)
        assert told.code == 2 and words in told.err, told
    assert content(folder) == before


def test_what_is_marked_internal_is_read_again(folder):
    assert shoal(*line("suppress")).code == 0
    assert shoal("audit", "table.csv", "pattern.csv", "--sensitive", "cells.csv").code == 0
    again = shoal("suppress", "table.csv", "--sensitive", "cells.csv", "--previous", "pattern.csv", "--json")
    assert again.code == 0
    assert shoal(*line("suppress to jj", "--force")).code == 0
    assert shoal("audit", "pattern.jj").code == 0
    assert shoal(*line("tabulate")).code == 0
    assert shoal("suppress", "list.csv", "--json").json["safe"]
    first = shoal(*line("microaggregate", "--json", "--force"))
    start = ["microaggregate", "survey.csv", "-k", 5, "--columns", "income,rent", "--start", "labels.txt"]
    second = shoal(*start, "--method", "ils", "--iterations", 20, "--json")
    assert second.json["loss_percent"] <= first.json["loss_percent"] + 1e-9


@pytest.mark.parametrize("quiet", [True, False])
@pytest.mark.parametrize("extra", [[], ["--json"]], ids=["text", "json"])
def test_warnings_are_always_said_and_notes_are_not(folder, quiet, extra):
    options = [*extra, *(["--quiet"] if quiet else [])]
    told = shoal("microaggregate", "survey.csv", "-k", 5, "--columns", "income", "--method", "mdav", *options)
    assert told.code == 0
    assert "warning: " in told.err
    assert ("note: " in told.err) == (not options)
    assert "note: " not in told.out.replace('"notes": ', "")
    assert shoal(*line("tabulate")).code == 0
    Path("list.contributions.csv").unlink()
    told = shoal("suppress", "list.csv", "-o", "away.csv", *options)
    assert told.code == 0
    assert "warning: list.contributions.csv is not there" in told.err
    told = shoal("audit", "list.csv", "away.csv", *options)
    assert told.code == 0
    assert "warning: list.contributions.csv is not there" in told.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("microaggregate survey.csv -k 5 --columns income,rent", "the protected records were not written"),
        ("suppress table.csv --sensitive cells.csv", "the hidden cells were not written"),
        ("tabulate survey.csv --dimensions region,sex --value income", "the cells were not written"),
        ("assign people.csv slots.csv --quasi sex --seed 1", "the appointments were not written"),
    ],
)
def test_a_forgotten_output_is_said(folder, arguments, words):
    told = shoal(*arguments.split())
    assert told.code == 0
    assert words in told.out and "-o" in told.out
    if not arguments.startswith("tabulate"):
        assert "nothing will be written: -o names a place for" in told.err
    for silent in ("--quiet", "--json"):
        again = shoal(*arguments.split(), silent)
        assert "written" not in again.err and "not written" not in again.out


def test_a_workbook_is_the_same_every_time_and_leaves_nothing(folder, monkeypatch):
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    elsewhere.chmod(0o500)
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    frame = pl.DataFrame({"a": range(2000), "b": ["text"] * 2000})
    seen = []
    move = os.utime

    def watch(path, *given, **named):
        seen.append(Path(path).parent)
        return move(path, *given, **named)

    monkeypatch.setattr(os, "utime", watch)
    made = []
    for day in (1_000_000_000, 1_700_000_000):
        monkeypatch.setattr("time.time", lambda day=day: float(day))
        sources.write(frame, folder / "x.xlsx", force=True)
        made.append((folder / "x.xlsx").read_bytes())
    assert made[0] == made[1]
    with zipfile.ZipFile(folder / "x.xlsx") as book:
        assert b">1980-01-01T00:00:00Z<" in book.read("docProps/core.xml")
    assert seen and all(place.parent == folder and place.name.endswith(".parts") for place in seen)
    assert [path.name for path in elsewhere.iterdir()] == []


def test_cells_of_a_release_that_a_spreadsheet_would_run(folder):
    survey = pl.read_csv("survey.csv").with_columns(name=pl.lit("=HYPERLINK(1)"), change=pl.lit(-1))
    survey.write_csv("survey.csv")
    command = "microaggregate survey.csv -k 5 --columns income,rent --method mdav -o safe.csv"
    assert shoal(*command.split()).code == 0
    assert ",=HYPERLINK(1)," in Path("safe.csv").read_text()
    assert shoal(*command.split(), "--safe-csv", "--force").code == 0
    text = Path("safe.csv").read_text()
    assert ",'=HYPERLINK(1),-1" in text and ",=" not in text


def test_every_command_that_writes_text_files_can_make_them_safe(folder):
    for name in COMMANDS:
        words = COMMANDS[name][0].split()
        command = words[:2] if words[0] == "generate" else words[:1]
        # A hierarchy must hold the values as they are, or it is none of the data; its files are internal.
        writes_data = "-o" in COMMANDS[name][1] and name not in ("generate instance", "hierarchy")
        if writes_data:
            assert "--safe-csv" in shoal(*command, "--help").out, name
