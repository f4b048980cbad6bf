"""Appointments of one table and of several: figures, files, what is written back, and requests that cannot be right."""

import json
import re
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.appointments.random_plan import with_random_plan
from shoal.errors import Infeasible, InputError
from shoal.runtime.control import Control
from shoal.web.activities import assign, generate, load, update, write
from shoal.web.jobs.context import Context
from shoal.web.jobs.task import Task
from shoal.web.workspace import Workspace

RUN = "0123456789ab"


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    """A worker's surroundings, without the process."""
    workspace = Workspace(tmp_path / "bench")
    folder = workspace.path("runs", RUN)
    folder.mkdir()
    control = Control.shared(folder)
    assert control.path is not None
    secrets = {"clinic": f"sqlite:///{tmp_path / 'clinic.db'}"}
    yield Context(Task(RUN, "assign", {}, workspace.folder, control.path, secrets), lambda message: None)
    control.close()


def _people(seed: int, count: int = 60) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "ID": np.arange(count) + 7000,
            "CP": random.integers(28000, 28003, count),
            "SEX": random.choice(["man", "woman"], count),
            "REC_RAND": np.full(count, -1),
            "REC_INTELLIGENT": np.full(count, -1),
        }
    )


def _slots() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "RESOURCE": [10, 11, 12, 13],
            "CAPACITY": [20, 20, 20, 20],
            "centre": ["north", "north", "south", "south"],
            "start": ["2027-03-01T09:00", "2027-03-01T10:00", "2027-03-01T09:00", "2027-03-01T10:00"],
        }
    )


def _run(context: Context, **request: Any) -> dict[str, Any]:
    asked = {"quasi": ["CP", "SEX"], "seed": 3, "time_limit": 20, **request}
    return assign.ACTIVITY.run(assign.ACTIVITY.request_model(**asked), context)


def _texts(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_several_tables(context: Context) -> None:
    people = {f"ward{place}": _people(place) for place in range(2)}
    for name, frame in people.items():
        context.datasets.add(frame, name, "test")
        context.datasets.add(_slots(), f"{name}_resource", "test")
    found = _run(context, people=list(people), key="ID", timezone="Europe/Madrid")
    assert found["can_update"]
    released = _texts(context.folder / "appointments.zip")
    calendars = _texts(context.folder / "calendars.zip")
    bundles = _texts(context.folder / "fhir.zip")
    assert [item["name"] for item in context.files] == [
        "appointments.zip",
        "calendars.zip",
        "fhir.zip",
        "report.html",
    ]
    for place, (name, table) in enumerate(zip(people, found["tables"], strict=True)):
        assert table["table"] == name
        release = pl.read_csv(released[f"{name}.csv"].encode())
        assert shoal.anonymity(release, ["CP", "SEX", "RESOURCE"]).k == table["k"] <= table["k_bound"]
        back = pl.read_parquet(context.folder / f"update-{place}.parquet")
        joined = people[name].drop("REC_RAND", "REC_INTELLIGENT").join(back, on="ID")
        assert shoal.anonymity(joined, ["CP", "SEX", "REC_INTELLIGENT"]).k == table["k"]
        assert shoal.anonymity(joined, ["CP", "SEX", "REC_RAND"]).k == table["k_random"]
        events = sum(
            text.count("BEGIN:VEVENT") for file, text in calendars.items() if file.startswith(f"{name}/")
        )
        assert events == 60
        kinds = [
            entry["resource"]["resourceType"] for entry in json.loads(bundles[f"{name}.fhir.json"])["entry"]
        ]
        assert kinds.count("Appointment") == 60
    report = (context.folder / "report.html").read_text()
    assert "Appointments of 2 tables" in report
    assert "7059" not in re.sub(r"\b[0-9a-f]{64}\b", "", report)  # nobody's number


def test_a_table_of_eligibility_is_kept(context: Context) -> None:
    context.datasets.add(_people(1, 30), "people", "test")
    context.datasets.add(_slots(), "slots", "test")
    where = {"28000": [10, 11], "28001": [12], "28002": [11, 12, 13]}
    rows = [(int(code), slot) for code, slots in where.items() for slot in slots]
    context.datasets.add(pl.DataFrame(rows, schema=["CP", "RESOURCE"], orient="row"), "may", "test")
    found = _run(context, people="people", slots="slots", eligible_table="may")
    released = pl.read_parquet(context.folder / "release.parquet")
    assert all(slot in where[str(code)] for code, slot in released.select("CP", "RESOURCE").iter_rows())
    assert found["table"] == "people"
    with pytest.raises(InputError, match="by a column or by a table"):
        _run(context, people="people", slots="slots", eligible="SEX", eligible_table="may")


def test_without_times_there_is_no_calendar_but_a_note(context: Context) -> None:
    context.datasets.add(_people(1, 30), "people", "test")
    context.datasets.add(_slots().drop("start"), "slots", "test")
    found = _run(context, people="people", slots="slots")
    assert len(found["notes"]) == 1 and found["notes"][0].startswith("no calendar: ")
    assert not [item for item in context.files if "calendar" in item["name"]]


def test_who_came_and_what_is_required(context: Context) -> None:
    came = _people(1, 30).with_columns(came=pl.Series(["yes", "no", "1"] * 10))
    context.datasets.add(came, "people", "test")
    context.datasets.add(_slots(), "slots", "test")
    found = _run(context, people="people", slots="slots", attended="came")
    released = pl.read_parquet(context.folder / "release.parquet").filter(pl.col("came") != "no")
    assert found["attended"] == released.height == 20
    assert found["k_attended"] == shoal.anonymity(released, ["CP", "SEX", "RESOURCE"]).k
    with pytest.raises(Infeasible, match="below the required 31; nothing was released"):
        _run(context, people="people", slots="slots", require_k=31)


def test_plans_of_diverse_crowds_are_written_back_beside_a_random_one(context: Context) -> None:
    people = _people(1, 30).with_columns(ill=pl.Series([1, 2, 3] * 10))
    context.datasets.add(people, "people", "test")
    context.datasets.add(_slots(), "slots", "test")
    found = _run(context, people="people", slots="slots", quasi=["SEX"], diverse="ill")
    back = people.drop("REC_RAND", "REC_INTELLIGENT").join(
        pl.read_parquet(context.folder / "update-0.parquet"), on="ID"
    )
    assert back.group_by("SEX", "REC_INTELLIGENT").agg(pl.col("ill").n_unique())["ill"].min() >= 2
    assert shoal.anonymity(back, ["SEX", "REC_RAND"]).k == found["k_random"]
    assert found["can_update"] and found["matrices"][0]["random"] is not None


def test_without_a_key_nothing_is_written_back(context: Context) -> None:
    context.datasets.add(_people(1, 30).with_columns(ID=pl.lit(7)), "people", "test")
    context.datasets.add(_slots(), "slots", "test")
    found = _run(context, people="people", slots="slots")
    assert not found["can_update"] and found["notes"] == []
    with pytest.raises(InputError, match="column 'IDD' is not in the people; did you mean 'ID'"):
        _run(context, people="people", slots="slots", key="IDD")


@pytest.mark.parametrize("codes", [3, 60])
def test_the_matrix_adds_up(codes: int) -> None:
    random = np.random.default_rng(8)
    people = pl.DataFrame({"zip": np.concatenate([np.arange(codes), random.integers(0, codes, 300)])})
    slots = pl.DataFrame({"slot": np.arange(50), "capacity": np.full(50, 12)})
    plan = with_random_plan(shoal.assign(people, slots, quasi="zip", method="greedy", seed=1), 1)
    found = assign.matrices(plan)
    assert [item["which"] for item in found] == (["all"] if codes == 3 else ["largest", "smallest"])
    # Counted anew, person by person: the largest crowds first.
    crowds = plan.population.crowd.tolist()
    sizes = Counter(crowds)
    order = sorted(sizes, key=lambda crowd: (-sizes[crowd], crowd))
    for item in found:
        rows = order[-40:] if item["which"] == "smallest" else order[:40]
        assert item["crowds"] == [sizes[crowd] for crowd in rows]
        assert len(item["slots"]) == 40
        for key, seats in (("plan", plan.slot_of), ("random", plan.random_slot_of)):
            together = Counter(zip(crowds, seats.tolist(), strict=True))
            assert item[key] == [[together[crowd, int(slot)] for slot in item["slots"]] for crowd in rows]
    assert found[0]["crowds"][0] == max(sizes.values())
    assert found[-1]["crowds"][-1] == min(sizes.values())


def test_requests_that_cannot_be_right() -> None:
    check = assign.ACTIVITY
    for wrong, words in (
        ({"people": ["a", "b"], "slots": ["s"]}, "2 tables of people need 2 tables of slots, not 1"),
        ({"people": ["a", "a"]}, "named twice"),
        ({"people": []}, "nothing is chosen"),
    ):
        with pytest.raises(InputError, match=words):
            check.title_of(check.check({"quasi": ["x"], **wrong}))
    assert check.title_of(check.check({"people": "a", "slots": "s", "quasi": ["x"]})) == "a in s: K, auto"


def test_generated_tables_go_to_the_database_and_are_not_overwritten(
    context: Context, tmp_path: Path
) -> None:
    request = generate.Generate(what="people", name="ward", tables=2, population=20, connection="clinic")
    assert generate.run(request, context)["written"] == ["ward0", "ward1"]
    with pytest.raises(InputError, match="exists already"):
        generate.run(request, context)
    generate.run(request.model_copy(update={"force": True}), context)
    with sqlite3.connect(tmp_path / "clinic.db") as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert sorted(names) == ["ward0", "ward1"]
        assert database.execute("SELECT count(*) FROM ward1").fetchone() == (20,)
    database.close()


def test_a_table_that_data_came_from_is_never_replaced(context: Context, tmp_path: Path) -> None:
    generate.run(generate.Generate(what="people", name="ward", population=20, connection="clinic"), context)
    load.run(load.Load(connection="clinic", table="ward"), context)
    _people(0).write_parquet(context.workspace.path("runs", RUN, "release.parquet"))
    for table in ("ward", "main.WARD"):
        with pytest.raises(InputError, match=r"names the input .*, which is never replaced"):
            write.run(write.Write(run=RUN, connection="clinic", table=table, force=True), context)
    again = generate.Generate(what="people", name="ward", connection="clinic", force=True)
    with pytest.raises(InputError, match=r"names the input .*, which is never replaced"):
        generate.run(again, context)
    write.run(write.Write(run=RUN, connection="clinic", table="safe"), context)
    with sqlite3.connect(tmp_path / "clinic.db") as database:
        counts = [database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("ward", "safe")]
    database.close()
    assert counts == [20, 60]


def test_several_tables_are_written_back_together(context: Context, tmp_path: Path) -> None:
    for place in range(2):
        frame = _people(place, 12)
        context.datasets.add(frame, f"ward{place}", "test")
        context.datasets.add(_slots(), f"ward{place}_resource", "test")
        frame.head(12 - place).write_database(
            f"ward{place}", f"sqlite:///{tmp_path / 'clinic.db'}", engine="sqlalchemy"
        )
    _run(context, people=["ward0", "ward1"])
    with sqlite3.connect(tmp_path / "clinic.db") as database:
        before = database.execute("SELECT * FROM ward0").fetchall()
        with pytest.raises(InputError, match=r"1 of 12 keys"):
            update.run(update.Update(run=RUN, connection="clinic", tables=["ward0", "ward1"]), context)
        assert database.execute("SELECT * FROM ward0").fetchall() == before
    database.close()
    with pytest.raises(InputError, match="more tables than are named"):
        update.run(update.Update(run=RUN, connection="clinic", tables=["ward0"]), context)
