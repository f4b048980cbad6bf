"""A write that is killed in the middle leaves the old table whole. Nothing is simulated: a process is killed."""

import hashlib
import pathlib
import subprocess
import sys

import polars as pl
import pytest
from tests.waiting import until

from shoal import InputError, sources

OLD = pl.DataFrame({"id": [1, 2, 3], "x": [0.5, 1.5, 2.5]})

WRITER = """
import sys
import polars as pl
from shoal import sources

names = sys.argv[2].split(",")
count = int(sys.argv[3])
frame = pl.DataFrame({names[0]: range(count)}).with_columns((pl.col(names[0]) / 3).alias(names[1]))
print("writing", flush=True)
sources.write(frame, sys.argv[1], force=True)
print("written", flush=True)
"""


def under_way(database) -> bool:
    """Whether the records are being written right now, as the database itself shows it."""
    if database.kind == "sqlite":
        # SQLite keeps the old pages in a journal beside the file until the transaction ends; the file grows before.
        path = pathlib.Path(database.url.removeprefix("sqlite:///"))
        return path.with_name(path.name + "-journal").exists() and path.stat().st_size > 1_000_000
    if database.kind == "postgresql":
        return bool(
            database.run(
                "SELECT 1 FROM pg_stat_progress_copy WHERE datname = current_database() AND tuples_processed > 1000"
            )
        )
    rows = database.run(
        "SELECT table_name, table_rows FROM information_schema.tables "
        "WHERE table_schema = database() AND table_name LIKE '\\_shoal\\_new%%' AND table_rows > 0"
    )
    return bool(rows)


def _killed_while_writing(database, columns: str, count: int) -> bool:
    command = [sys.executable, "-c", WRITER, database("people"), columns, str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        until(lambda: under_way(database) or writer.poll() is not None, "the write to be under way")
        writer.kill()
        rest = writer.stdout.read()
    assert writer.returncode in (0, -9)
    # Killed between the end of the transaction and saying so, it has been written all the same.
    return rest == "" and sources.read(database("people")).frame.height != count


@pytest.mark.parametrize("columns", ["id,x", "id,y"], ids=["same columns", "other columns"])
def test_a_killed_write_leaves_the_old_table_whole(database, columns):
    sources.write(OLD, database("people"))
    for count in (1_000_000, 4_000_000, 16_000_000):
        if _killed_while_writing(database, columns, count):
            break
        # It was written before this process had its turn: once more from the start, with more to write.
        sources.write(OLD, database("people"), force=True)
    else:
        raise AssertionError("every write ended before it could be interrupted")
    assert sources.read(database("people")).frame.rows() == OLD.rows()
    assert sources.list_tables(database.url) == ("people",)

    sources.write(OLD.head(1), database("people"), force=True)
    assert sources.read(database("people")).frame.rows() == OLD.head(1).rows()
    if database.kind == "mariadb":
        assert database.run("SHOW TABLES") == [("people",)]  # what the killed write left is gone


@pytest.mark.xdist_group("mariadb")
def test_leftovers_after_the_rename_are_cleaned_too(mariadb_database):
    """Killed between the rename and the removal of the old table: the next write finds the backup."""
    database = mariadb_database
    sources.write(OLD, database("people"))
    digest = hashlib.sha256(b"people").hexdigest()[:16]
    database.run(
        f"CREATE TABLE _shoal_old_{digest} (id integer)", f"CREATE TABLE _shoal_new_{digest} (id integer)"
    )
    assert sources.list_tables(database.url) == ("people",)
    sources.write(OLD.head(2), database("people"), force=True)
    assert database.run("SHOW TABLES") == [("people",)]
    assert sources.read(database("people")).frame.height == 2


@pytest.mark.xdist_group("mariadb")
def test_two_replacements_at_once_are_told_apart_from_leftovers(mariadb_database, monkeypatch):
    from shoal.sources.databases import writing

    database = mariadb_database
    sources.write(OLD, database("people"))
    monkeypatch.setattr(writing, "LOCK_SECONDS", 0)
    load = writing.load

    def meanwhile(connection, table, records):
        with pytest.raises(InputError, match="being replaced by another process"):
            sources.write(OLD.head(1), database("people"), force=True)
        load(connection, table, records)

    monkeypatch.setattr(writing, "load", meanwhile)
    sources.write(OLD.head(2), database("people"), force=True)
    assert sources.read(database("people")).frame.height == 2


def test_a_failure_in_the_middle_leaves_the_old_table_whole(database, monkeypatch):
    from shoal.sources.databases import writing

    sources.write(OLD, database("people"))
    load = writing.load

    def failing(connection, table, records):
        load(connection, table, records)
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "load", failing)
    for frame in (OLD.head(1), OLD.rename({"x": "y"})):
        with pytest.raises(KeyboardInterrupt):
            sources.write(frame, database("people"), force=True)
        with pytest.raises(KeyboardInterrupt):
            sources.write(frame, database("new"))
    monkeypatch.undo()
    assert sources.read(database("people")).frame.rows() == OLD.rows()
    assert sources.list_tables(database.url) == ("people",)
    if database.kind == "mariadb":
        assert database.run("SHOW TABLES") == [("people",)]
