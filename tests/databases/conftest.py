"""One fresh database per test, on SQLite and on real servers; a server starts once and only when it is needed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa
from tests.databases import servers


@dataclass(frozen=True)
class Database:
    """A database for one test: its URL for Shoal, and a connection of the test's own."""

    kind: str
    url: str
    connect: Callable[[], sa.Connection]

    def __call__(self, table: str) -> str:
        return f"{self.url}::{table}"

    def run(self, *statements: str) -> list[tuple[object, ...]]:
        """Run statements as they stand and give back the rows of the last."""
        rows: list[tuple[object, ...]] = []
        with self.connect() as connection:
            for statement in statements:
                result = connection.exec_driver_sql(statement)
                rows = [tuple(row) for row in result] if result.returns_rows else []
            connection.commit()
        return rows


@pytest.fixture(scope="session")
def postgresql() -> Iterator[servers.Server]:
    with ExitStack() as stack:
        try:
            server = stack.enter_context(servers.postgresql())
        except servers.MissingError as error:
            pytest.skip(str(error))
        yield server


@pytest.fixture(scope="session")
def mariadb() -> Iterator[servers.Server]:
    with ExitStack() as stack:
        try:
            server = stack.enter_context(servers.mariadb())
        except servers.MissingError as error:
            pytest.skip(str(error))
        yield server


def _url(server: servers.Server, database: str) -> str:
    password = quote(servers.PASSWORD, safe="")
    return f"{server.kind}://{servers.USER}:{password}@127.0.0.1:{server.port}/{database}"


_counter = iter(range(10**9))


def _on_server(server: servers.Server) -> Iterator[Database]:
    name = f"clinic{next(_counter)}"
    home = servers.home(server)
    with home.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine = servers.engine(server, name)
    yield Database(server.kind, _url(server, name), engine.connect)
    with home.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        force = " WITH (FORCE)" if server.kind == "postgresql" else ""
        connection.exec_driver_sql(f"DROP DATABASE {name}{force}")


@pytest.fixture
def sqlite_database(tmp_path: Path) -> Database:
    engine = sa.create_engine(f"sqlite:///{tmp_path}/clinic.db", poolclass=sa.NullPool)
    return Database("sqlite", f"sqlite:///{tmp_path}/clinic.db", engine.connect)


@pytest.fixture
def postgresql_database(postgresql: servers.Server) -> Iterator[Database]:
    yield from _on_server(postgresql)


@pytest.fixture
def mariadb_database(mariadb: servers.Server) -> Iterator[Database]:
    yield from _on_server(mariadb)


KINDS = [
    pytest.param("sqlite", marks=pytest.mark.xdist_group("sqlite")),
    pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql")),
    pytest.param("mariadb", marks=pytest.mark.xdist_group("mariadb")),
]


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest) -> Database:
    """Each of the three in turn."""
    found: Database = request.getfixturevalue(f"{request.param}_database")
    return found
