"""Appointments, the whole way over a database: connect, generate, measure, assign, write back, close."""

import json
import sqlite3
import zipfile
from pathlib import Path

import polars as pl
import pytest
from tests.browser.visitor import Visitor

import shoal

pytestmark = pytest.mark.xdist_group("browser")
QUASI = ["CP", "SEX"]


def test_the_whole_way_over_a_database(visitor: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "clinic.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE staff (name TEXT)")
    database.close()
    visitor.open("/data")
    visitor.upload(file)
    visitor.see("connect to it under Database")
    visitor.tab("Database")
    assert not [item for item in visitor.all("button") if item.text.strip() in ("Load tables", "Disconnect")]
    visitor.press("Connect")
    visitor.see("Connected: SQLite clinic.db", "Tables (1)")
    visitor.shot("data-database")
    # Generate people and slots, and write them to the database.
    visitor.tab("Generate")
    visitor.fill("Number of people", "120")
    visitor.press("Also write to the database")  # only if asked for
    visitor.press("Generate")
    visitor.see("Columns of tabla", "REC_INTELLIGENT", "also in the database")
    visitor.press("Slots")
    visitor.press("Also write to the database")
    visitor.press("Generate")
    visitor.see("Columns of tabla_resource", "CAPACITY")
    visitor.press("Write to database")
    visitor.see("5 records written to table 'tabla_resource'")
    # Read them back from the database, as another user would.
    visitor.remove("tabla")
    visitor.tab("Database")
    visitor.press("List the tables again")
    visitor.see("Tables (3)")
    visitor.choose("Tables (3)", "tabla")
    visitor.press("Load tables")
    visitor.see("Columns of tabla", "sqlite: clinic.db::tabla")
    visitor.open("/appointments?people=tabla")
    visitor.choose("Quasi-identifiers", "AGE")  # switched off
    visitor.choose("Aim", "the whole anonymity vector")
    visitor.press("Assign")
    visitor.state("done")
    visitor.see("best K possible", "Crowds by slots", "at random")
    visitor.whole("appointments")
    visitor.press("At random")
    visitor.whole("appointments-random")
    visitor.offered()
    visitor.press("Write back REC_RAND and REC_INTELLIGENT")
    visitor.see("120 records written to table 'tabla'")
    stored = next((visitor.served.folder / "databases").glob("clinic*.db"))
    with sqlite3.connect(stored) as database:
        rows = database.execute("SELECT CP, SEX, REC_RAND, REC_INTELLIGENT FROM tabla").fetchall()
    database.close()
    people = pl.DataFrame(rows, schema=["CP", "SEX", "REC_RAND", "REC_INTELLIGENT"], orient="row")
    clever = shoal.anonymity(people, [*QUASI, "REC_INTELLIGENT"])
    assert people["REC_INTELLIGENT"].min() >= 0
    assert clever.vector <= shoal.anonymity(people, [*QUASI, "REC_RAND"]).vector
    assert f"{clever.k}\nK with these appointments" in visitor.text
    # Closing forgets everything, and offers to remove what came from there.
    visitor.open("/data?tab=database")
    visitor.press("Disconnect")
    visitor.until(lambda: "Connected" not in visitor.text, what="the end of the connection")
    assert not [item for item in visitor.all("button") if item.text.strip() == "Load tables"]
    visitor.see("loaded from a database that is closed: tabla")
    visitor.press("Remove it")
    visitor.mean_it()
    visitor.until(lambda: not visitor.all("[data-dataset=tabla]"), what="removal")
    visitor.open("/appointments")
    assert "Write to database" not in visitor.text


def test_sample_people_in_a_timetable(visitor: Visitor, downloads: Path) -> None:
    visitor.have("people")
    visitor.open("/data")
    visitor.tab("Sample")
    visitor.press("Load slots")
    visitor.see("Columns of slots")
    visitor.open("/appointments?people=people")
    visitor.choose("Slots", "slots")
    visitor.choose("Quasi-identifiers", "AGE")
    visitor.fill("Time limit", "4")
    visitor.press("Assign")
    visitor.state("done")
    visitor.whole("appointments-sample")
    visitor.offered()
    visitor.click(lambda: visitor.one("[data-file='calendars.zip']"))
    visitor.until((downloads / "calendars.zip").exists, what="the calendars")
    with zipfile.ZipFile(downloads / "calendars.zip") as archive:
        texts = [archive.read(name).decode() for name in archive.namelist()]
    assert len(texts) == 4
    assert sum(text.count("BEGIN:VEVENT") for text in texts) == 2000
    visitor.click(lambda: visitor.one("[data-file='appointments.fhir.json']"))
    visitor.until((downloads / "appointments.fhir.json").exists, what="the FHIR bundle")
    kinds = [
        entry["resource"]["resourceType"]
        for entry in json.loads((downloads / "appointments.fhir.json").read_text())["entry"]
    ]
    assert kinds.count("Appointment") == 2000
    assert kinds.count("Slot") == 40


def test_several_tables_at_once(visitor: Visitor) -> None:
    visitor.open("/data")
    visitor.tab("Generate")
    visitor.fill("Table name", "ward")
    visitor.fill("Tables", "3")
    visitor.press("Generate")
    visitor.see("Columns of ward0")
    visitor.open("/risk?data=ward0")
    visitor.press("All 3 tables ward…")
    visitor.press("Measure risk")
    visitor.state("done")
    visitor.see("K, mean", "K, smallest", "ward2")
    visitor.choose("Show table", "ward2")
    visitor.see("50 records of ward2 in the smallest crowds")
    visitor.whole("risk-several")
