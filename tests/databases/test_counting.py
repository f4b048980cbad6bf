"""K counted by the database is K of the records read, whatever a database takes for equal."""

import json
import random

import polars as pl
import pytest

from shoal import sources
from shoal.cli.main import main
from shoal.microdata.anonymity.api import anonymity, anonymity_of_counts

WORDS = ["a", "A", "a ", "á", "ab", "AB", "", "1", "01", None]


def by_counts(address, quasi, null="own"):
    counted = sources.count(address, quasi).frame
    return anonymity_of_counts(counted, quasi, counted.columns[-1], null), counted


def same(address, quasi):
    records = sources.read(address).frame
    for null in ("own", "wildcard"):
        found, counted = by_counts(address, quasi, null)
        wanted = anonymity(records, quasi, null=null)
        assert (found.records, found.k, found.vector, found.people) == (
            wanted.records,
            wanted.k,
            wanted.vector,
            wanted.people,
        )
        assert found.smallest(5).to_dicts() == wanted.smallest(5).to_dicts()
    return counted, records


@pytest.mark.parametrize("seed", range(8))
def test_every_kind_of_value_is_counted_as_it_is_read(database, seed):
    draw = random.Random(seed)
    size = draw.randint(1, 60)
    frame = pl.DataFrame(
        {
            "word": [draw.choice(WORDS) for _ in range(size)],
            "whole": [draw.choice([1, 2, -3, None]) for _ in range(size)],
            "part": [draw.choice([0.5, 2.0, 1e300, None]) for _ in range(size)],
            "yes": [draw.choice([True, False, None]) for _ in range(size)],
            "records": [draw.randint(0, 2) for _ in range(size)],
        },
        schema_overrides={"word": pl.String, "whole": pl.Int64, "part": pl.Float64, "yes": pl.Boolean},
    ).with_columns(day=pl.date(2024, 1, pl.col("records") + 1))
    sources.write(frame, database("people"))
    names = draw.sample(frame.columns, draw.randint(1, 6))
    counted, records = same(database("people"), names)
    assert counted.width == len(names) + 1
    assert counted.height <= records.select(names).n_unique()


def test_what_a_collation_takes_for_equal_is_told_apart(database):
    kinds = {
        "sqlite": "TEXT COLLATE NOCASE",
        "postgresql": "VARCHAR(9)",
        "mariadb": "VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    }
    database.run(
        f"CREATE TABLE people (word {kinds[database.kind]})",
        "INSERT INTO people VALUES ('a'), ('A'), ('a '), ('é'), ('e'), ('a')",
    )
    counted, _ = same(database("people"), ["word"])
    assert counted.height == 5


def test_mixed_types_of_sqlite_are_told_apart_as_they_are_read(sqlite_database):
    sqlite_database.run(
        "CREATE TABLE people (anything, number)",
        "INSERT INTO people VALUES (1, 1), (1.0, 1.0), ('1', 2), (1, 2.5), ('1.0', 2.5), (NULL, NULL)",
    )
    for names in (["anything"], ["number"], ["anything", "number"]):
        same(sqlite_database("people"), names)


def test_an_index_is_suggested_where_none_helps(sqlite_database, monkeypatch):
    from shoal.sources.databases import counting

    monkeypatch.setattr(counting, "_LARGE", 3)
    sqlite_database.run(
        "CREATE TABLE people (a, b, c)", "INSERT INTO people VALUES (1, 2, 3), (1, 2, 3), (4, 5, 6)"
    )
    address = sqlite_database("people")
    assert "index on (a, b)" in sources.count(address, ["a", "b"]).notes[0]
    sqlite_database.run("CREATE INDEX wide ON people (b, a, c)")
    assert sources.count(address, ["a", "b"]).notes == ()
    assert sources.count(address, ["c"]).notes != ()


def test_the_command_reads_no_record_where_the_database_counts(
    sqlite_database, monkeypatch, capsys, tmp_path
):
    frame = pl.DataFrame({"zip": [1, 1, 2, 2, 2], "age": [30, 30, 40, 40, 41], "name": list("abcde")})
    sources.write(frame, sqlite_database("people"))
    sources.write(frame, tmp_path / "people.csv")

    def measured(place):
        with pytest.raises(SystemExit) as over:
            main(["anonymity", place, "--quasi", "zip,age", "--json"])
        assert not over.value.code
        found = json.loads(capsys.readouterr().out)
        return {
            name: value for name, value in found.items() if name not in ("phases", "data", "table", "tables")
        }

    wanted = measured(str(tmp_path / "people.csv"))
    monkeypatch.setattr("shoal.sources.databases.read_table", None)
    found = measured(sqlite_database("people"))
    assert found["k"] == wanted["k"] == 1
    assert found["vector"] == wanted["vector"]
