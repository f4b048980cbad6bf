"""Connections: drivers, passwords, and transactions that really begin."""

import getpass
import os
import sqlite3
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import SAWarning
from sqlalchemy.pool import NullPool

from shoal.errors import InputError, needs_extra
from shoal.sources.address import Database
from shoal.sources.databases.failures import asks_for_password, connection_failure

_DRIVERS = {"postgresql": ("psycopg", "postgresql+psycopg"), "mariadb": ("pymysql", "mysql+pymysql")}
_SECONDS = 10
_ATTEMPTS = 3

# Passwords typed in this process, so that a command on several tables asks once.
_typed: dict[tuple[str, str | None, int | None, str | None], str] = {}


@contextmanager
def connected(database: Database, *, writing: bool = False) -> Iterator[sa.Connection]:
    """A connection with a transaction that is rolled back unless the block commits it.

    A SQLite file is made only when ``writing``.
    """
    with warnings.catch_warnings():
        # Types that SQLAlchemy does not know are read as text.
        warnings.simplefilter("ignore", SAWarning)
        embedded = database.kind == "sqlite"
        connection = _open_sqlite(database, writing=writing) if embedded else _open_server(database)
        try:
            yield connection
        finally:
            connection.close()
            connection.engine.dispose()


def _open_sqlite(database: Database, *, writing: bool) -> sa.Connection:
    path = Path(database.database)
    if path.is_dir():
        raise InputError(f"'{path}' is a folder, not a SQLite database")
    if not path.exists() and not writing:
        raise InputError(f"database '{path}' does not exist")
    if not path.parent.is_dir():
        raise InputError(f"folder '{path.parent}' does not exist")
    address = f"file:{quote(str(path.absolute()))}?mode={'rwc' if writing else 'rw'}"

    def connect() -> sqlite3.Connection:
        # Without isolation level sqlite3 begins no transactions of its own: it would do so only before changes of
        # rows, and leave a new or dropped table outside.
        return sqlite3.connect(address, uri=True, timeout=_SECONDS, isolation_level=None)

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)
    begin = "BEGIN IMMEDIATE" if writing else "BEGIN"

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(begin)

    with ExitStack() as stack:
        try:
            connection = stack.enter_context(engine.connect())
            connection.exec_driver_sql("SELECT count(*) FROM sqlite_master")
        except Exception as error:
            raise connection_failure(database, error, with_password=False) from None
        stack.pop_all()
    return connection


def _open_server(database: Database) -> sa.Connection:
    driver, _ = _DRIVERS[database.kind]
    if find_spec(driver) is None:
        raise needs_extra(database.kind, "databases")
    key = (database.kind, database.host, database.port, database.user)
    password = database.password
    if password is None:
        password = _typed.get(key, os.environ.get("SHOAL_DB_PASSWORD"))
    for _ in range(_ATTEMPTS):
        try:
            return _engine(database, password).connect()
        except Exception as error:
            # The server asks, nothing was given beforehand, and somebody is there to answer.
            given = database.password is not None or "SHOAL_DB_PASSWORD" in os.environ
            refused = asks_for_password(error) or (key in _typed)
            _typed.pop(key, None)
            if given or not refused or not _somebody_there():
                raise connection_failure(database, error, with_password=password is not None) from None
            password = _typed[key] = getpass.getpass(f"Password for {database}: ")
    _typed.pop(key, None)
    raise InputError(f"user '{database.user}' or the password was refused by {database}")


def _somebody_there() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _engine(database: Database, password: str | None) -> sa.Engine:
    _, name = _DRIVERS[database.kind]
    arguments: dict[str, Any] = {"connect_timeout": _SECONDS}
    if database.kind == "mariadb":
        # PyMySQL would send the password in Latin-1, where the servers expect UTF-8.
        arguments |= {"password": (password or "").encode("utf-8"), "charset": "utf8mb4"}
        # Without it some servers cut what does not fit.
        arguments |= {"init_command": "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')"}
    elif password is not None:
        arguments |= {"password": password}
    url = sa.URL.create(
        name,
        username=database.user,
        host=database.host,
        port=database.port,
        database=database.database,
        query={key: value for key, value in database.query if key not in arguments},
    )
    arguments |= {
        key: int(value) for key, value in database.query if key == "connect_timeout" and value.isdecimal()
    }
    return sa.create_engine(url, connect_args=arguments, poolclass=NullPool, hide_parameters=True)
