"""Appointments of several tables over a real MariaDB server: connect, generate, assign, write back, disconnect."""

from collections.abc import Iterator
from contextlib import ExitStack

import polars as pl
import pytest
import sqlalchemy as sa
from tests.browser.visitor import Visitor
from tests.databases import servers

import shoal

pytestmark = pytest.mark.xdist_group("browser")
DATABASE = "clinic"


@pytest.fixture(scope="module")
def clinic() -> Iterator[tuple[servers.Server, sa.Engine]]:
    with ExitStack() as stack:
        try:
            server = stack.enter_context(servers.mariadb())
        except servers.MissingError as error:
            pytest.skip(str(error))
        with servers.home(server).connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {DATABASE}")
        yield server, servers.engine(server, DATABASE)


def test_several_tables_from_generating_to_writing_back(
    visitor: Visitor, clinic: tuple[servers.Server, sa.Engine]
) -> None:
    server, engine = clinic
    visitor.open("/data?tab=database")
    # Before connecting there is nothing but the connection.
    assert not [item for item in visitor.all("button") if item.text.strip() in ("Load tables", "Disconnect")]
    visitor.choose("Kind", "MariaDB")
    visitor.fill("Port", str(server.port))
    visitor.fill("Database", DATABASE)
    visitor.fill("User", servers.USER)
    visitor.fill("Password", servers.PASSWORD)
    visitor.press("Connect")
    visitor.see("Connected: MariaDB")
    assert servers.PASSWORD not in visitor.driver.page_source
    visitor.tab("Generate")
    visitor.fill("Table name", "cohort")
    visitor.fill("Tables", "2")
    visitor.fill("Number of people", "80")
    visitor.press("Also write to the database")
    visitor.press("Generate")
    visitor.see("160 records in 2 tables, 'cohort0' to 'cohort1', also in the database")
    visitor.press("Slots")
    visitor.press("Generate")
    visitor.see("'cohort0_resource' to 'cohort1_resource', also in the database")
    visitor.open("/data?tab=database")
    visitor.see("Tables (4)")
    visitor.open("/appointments?people=cohort0")
    visitor.press("All 2 tables cohort…")
    visitor.see("Each table has its own slots: cohort0_resource, cohort1_resource")
    visitor.choose("Quasi-identifiers", "AGE")  # switched off
    visitor.press("Assign")
    visitor.state("done")
    visitor.see("K before", "best K possible", "K at random", "Show table")
    visitor.whole("appointments-several")
    visitor.offered()
    visitor.press("Write back REC_RAND and REC_INTELLIGENT")
    visitor.see("160 records written to tables 'cohort0', 'cohort1'")
    rows = [
        item.text.split() for item in visitor.all(".shoal-table")[0].find_elements("css selector", "tbody tr")
    ]
    for name, row in zip(("cohort0", "cohort1"), rows, strict=True):
        with engine.connect() as connection:
            stored = connection.exec_driver_sql(
                f"SELECT CP, SEX, REC_RAND, REC_INTELLIGENT FROM {name}"
            ).fetchall()
        people = pl.DataFrame(stored, schema=["CP", "SEX", "REC_RAND", "REC_INTELLIGENT"], orient="row")
        assert people.height == 80
        # What the page says of K before, now and at random is what the tables in the database have.
        before, now, random = (
            shoal.anonymity(people, ["CP", "SEX", *more]).k
            for more in ([], ["REC_INTELLIGENT"], ["REC_RAND"])
        )
        assert row[:4] == [name, "80", str(before), str(now)]
        assert row[5] == str(random)
        assert now >= random
    visitor.open("/data?tab=database")
    visitor.press("Disconnect")
    visitor.until(lambda: "Connected" not in visitor.text, what="the end of the connection")
    assert servers.PASSWORD not in visitor.driver.page_source
