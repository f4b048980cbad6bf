"""Readers of a table that is being replaced see the old rows or the new ones, never none and never a mixture."""

import threading

import polars as pl
import pytest
import sqlalchemy as sa

from shoal import sources

OLD = pl.DataFrame({"id": range(3_000), "x": ["old"] * 3_000})
ROUNDS = 4


class Readers:
    """Threads that count the rows of a table by their text for as long as the block lasts."""

    def __init__(self, database, number=3):
        self._database = database
        self._done = threading.Event()
        self.seen: set[tuple[tuple[str, int], ...]] = set()
        self.read_again = threading.Event()
        self.failures: list[str] = []
        self._threads = [threading.Thread(target=self._read) for _ in range(number)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _read(self):
        with self._database.connect() as connection:
            while not self._done.is_set():
                try:
                    rows = connection.exec_driver_sql("SELECT x, count(*) FROM people GROUP BY x").all()
                    connection.rollback()
                except sa.exc.OperationalError as error:
                    connection.rollback()
                    # SQLite tells a reader to come again while pages are being replaced.
                    if "locked" not in str(error):
                        self.failures.append(str(error))
                    continue
                except Exception as error:
                    self.failures.append(str(error))
                    self.read_again.set()
                    return
                self.seen.add(tuple((str(text), int(count)) for text, count in rows))
                self.read_again.set()


@pytest.mark.parametrize("columns", ["the same", "others"])
def test_readers_see_old_or_new_rows(database, columns):
    sources.write(OLD, database("people"))
    allowed = {(("old", 3_000),)}
    with Readers(database) as readers:
        for number in range(ROUNDS):
            new = pl.DataFrame({"id": range(2_000 + number)}).with_columns(x=pl.lit(f"new{number}"))
            if columns == "others":
                new = new.with_columns(pl.lit(number).alias(f"y{number}"))
            allowed.add(((f"new{number}", 2_000 + number),))
            sources.write(new, database("people"), force=True)
            # Somebody reads between two replacements.
            readers.read_again.clear()
            readers.read_again.wait()
    assert readers.failures == []
    assert readers.seen <= allowed
    assert len(readers.seen) > 1


@pytest.mark.xdist_group("postgresql")
def test_readers_who_began_before_a_replacement_do_not_find_the_table_empty(postgresql_database):
    """A reader whose view of the database is older than the replacement: TRUNCATE would show it nothing."""
    database = postgresql_database
    sources.write(OLD, database("people"))
    database.run("CREATE TABLE other (a integer)")
    with database.connect() as connection:
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.exec_driver_sql(
            "SELECT count(*) FROM other"
        ).all()  # the view is taken, without a lock on people
        sources.write(OLD.with_columns(x=pl.lit("new")), database("people"), force=True)
        rows = connection.exec_driver_sql("SELECT x, count(*) FROM people GROUP BY x").all()
        assert [tuple(row) for row in rows] == [("old", 3_000)]
    assert database.run("SELECT x, count(*) FROM people GROUP BY x") == [("new", 3_000)]


@pytest.mark.xdist_group("postgresql")
def test_what_belongs_to_a_kept_table_stays(postgresql_database):
    database = postgresql_database
    sources.write(OLD, database("people"))
    database.run(
        "CREATE VIEW seen AS SELECT x FROM people",
        "CREATE ROLE reader_of_people",
        "GRANT SELECT ON people TO reader_of_people",
    )
    try:
        sources.write(OLD.head(5), database("people"), force=True)
        assert database.run("SELECT count(*) FROM seen") == [(5,)]
        assert database.run("SELECT has_table_privilege('reader_of_people', 'people', 'SELECT')") == [(True,)]
    finally:
        database.run("DROP OWNED BY reader_of_people", "DROP ROLE reader_of_people")


@pytest.mark.xdist_group("postgresql")
def test_two_replacements_at_once_leave_the_rows_of_one(postgresql_database):
    database = postgresql_database
    sources.write(OLD, database("people"))
    start = threading.Barrier(2)
    failures = []

    def replace(text):
        try:
            start.wait()
            sources.write(OLD.with_columns(x=pl.lit(text)), database("people"), force=True)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=replace, args=(text,)) for text in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert database.run("SELECT count(*), count(DISTINCT x) FROM people") == [(3_000, 1)]
