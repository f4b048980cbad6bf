"""A real PostgreSQL server behind the page: connect, load, protect, write back, and no trace of the password."""

from collections.abc import Iterator
from contextlib import ExitStack

import polars as pl
import pytest
import sqlalchemy as sa
from tests.browser.visitor import Visitor
from tests.databases import servers

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def clinic() -> Iterator[tuple[servers.Server, sa.Engine]]:
    with ExitStack() as stack:
        try:
            server = stack.enter_context(servers.postgresql())
        except servers.MissingError as error:
            pytest.skip(str(error))
        engine = servers.home(server)
        with engine.connect() as connection:
            connection.exec_driver_sql(
                "CREATE TABLE visits (id integer primary key, age integer, cost double precision)"
            )
            connection.exec_driver_sql(
                "INSERT INTO visits SELECT i, 20 + mod(i, 30), 10 + mod(i * 7919, 400) FROM generate_series(1, 300) AS i"
            )
            connection.commit()
        yield server, engine


def test_postgresql_from_connect_to_write(visitor: Visitor, clinic: tuple[servers.Server, sa.Engine]) -> None:
    server, engine = clinic
    visitor.open("/data?tab=database")
    visitor.choose("Kind", "PostgreSQL")
    visitor.fill("Port", str(server.port))
    visitor.fill("Database", "postgres")
    visitor.fill("User", servers.USER)
    visitor.fill("Password", "not-the-password")
    visitor.press("Connect")
    visitor.see("or the password was refused")
    assert "Connected" not in visitor.text
    visitor.fill("Password", servers.PASSWORD)
    visitor.press("Connect")
    visitor.see("Connected: PostgreSQL")
    visitor.choose("Tables (", "visits")
    visitor.press("Load tables")
    visitor.see("Columns of visits", "300 records")
    visitor.open("/records?data=visits")
    visitor.press("Protect")
    visitor.state("done")
    visitor.offered()
    visitor.press("Write to database")
    visitor.see("300 records written to table 'visits_release'")
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT cost FROM visits_release").fetchall()
    counts = pl.DataFrame(rows, schema=["cost"], orient="row")["cost"].value_counts()["count"]
    assert counts.sum() == 300
    assert counts.min() >= 5
    visitor.press("Write to database")
    visitor.see("exists already")  # nothing is replaced unless asked for
    # The password is nowhere: not on the page, not in the workspace, not in the log.
    secret = servers.PASSWORD
    assert secret not in visitor.driver.page_source
    folder = visitor.served.folder
    for path in [*folder.rglob("*.json"), *folder.rglob("*.html"), folder.parent / f"{folder.name}.log"]:
        text = path.read_text(errors="replace")
        assert secret not in text, path
        assert "not-the-password" not in text, path
    visitor.open("/data?tab=database")
    visitor.press("Disconnect")
    visitor.until(lambda: "Connected" not in visitor.text, what="the end of the connection")
    visitor.until(lambda: "Write to database" not in visitor.text, what="no button without a connection")
    visitor.choose("Kind", "PostgreSQL")
    assert all(not box.get_attribute("value") for box in visitor.all("input[type=password]"))
