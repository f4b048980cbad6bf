"""What databases complain about, in one line of our own: their words may quote a password or a record."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from shoal.errors import InputError
from shoal.sources.address import Database

_REASONS = {
    # PostgreSQL, by SQLSTATE
    "0A000": "other tables refer to it, or the server cannot do it",
    "22001": "a text is too long for its column",
    "22003": "a number is out of range for its column",
    "22008": "a date is out of range",
    "22P02": "a value does not fit its column",
    "23502": "a column that must not be empty would be",
    "23503": "a foreign key would be broken",
    "23505": "a key would not be unique",
    "23514": "a check of the table fails",
    "2BP01": "other objects depend on it",
    "40001": "another session changed the same data; try again",
    "40P01": "another session changed the same data; try again",
    "42501": "permission denied",
    "42P07": "it was made by somebody else in the meantime",
    "53100": "the disk is full",
    "55P03": "it is locked by another session",
    "57014": "the server cancelled the statement",
    # MariaDB and MySQL, by number
    "1021": "the disk is full",
    "1044": "permission denied",
    "1048": "a column that must not be empty would be",
    "1050": "it was made by somebody else in the meantime",
    "1062": "a key would not be unique",
    "1118": "a record is too long",
    "1142": "permission denied",
    "1143": "permission denied",
    "1205": "it is locked by another session",
    "1213": "another session changed the same data; try again",
    "1227": "permission denied",
    "1264": "a number is out of range for its column",
    "1265": "a value does not fit its column",
    "1292": "a value does not fit its column",
    "1366": "a value does not fit its column",
    "1406": "a text is too long for its column",
    "1451": "a foreign key would be broken",
    "1452": "a foreign key would be broken",
    "2006": "the connection was lost",
    "2013": "the connection was lost",
    "4025": "a check of the table fails",
    # SQLite, by name
    "SQLITE_BUSY": "it is locked by another process",
    "SQLITE_CANTOPEN": "the file cannot be opened",
    "SQLITE_CORRUPT": "the file is damaged",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk cannot be read or written",
    "SQLITE_LOCKED": "it is locked by another session",
    "SQLITE_NOTADB": "the file is not a SQLite database",
    "SQLITE_READONLY": "the file is read-only",
    "SQLITE_CONSTRAINT": "a key or another constraint of the table would be broken",
}


@contextmanager
def one_line(doing: str) -> Iterator[None]:
    """Turn the failure of a statement into an ``InputError`` such as "table 'people' cannot be read: …"."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if not _is_of_the_database(error):
            raise
        raise InputError(f"{doing}: {_reason(error)}") from None


def connection_failure(database: Database, error: Exception, *, with_password: bool) -> InputError:
    """Why no connection came about, without a word from the driver."""
    cause = getattr(error, "orig", None) or error
    words = str(cause)
    if asks_for_password(error) and not with_password:
        return InputError(f"{database} asks for a password; give it in SHOAL_DB_PASSWORD")
    code = _code(cause)
    if "cryptography" in words:
        return InputError(f'{database} needs a further package: pip install "pymysql[rsa]"')
    if any(
        sign in words for sign in ("resolve host", "not known", "translate host", "getaddrinfo", "No address")
    ):
        return InputError(f"host '{database.host}' is unknown")
    if code == "1049" or ("database" in words and "does not exist" in words):
        return InputError(
            f"database '{database.database}' does not exist on {database.host or 'this machine'}"
        )
    if code == "1044":
        return InputError(f"user '{database.user}' may not use database '{database.database}'")
    if code in ("1045", "1698") or getattr(getattr(cause, "pgconn", None), "used_password", False):
        return InputError(f"user '{database.user}' or the password was refused by {database}")
    if code in _REASONS:
        return InputError(f"cannot open {database}: {_REASONS[code]}")
    return InputError(f"cannot connect to {database}: no answer, or the server refused")


def asks_for_password(error: Exception) -> bool:
    """Whether the server would let us in with a password that we did not give."""
    cause = getattr(error, "orig", None) or error
    connection = getattr(cause, "pgconn", None)
    if connection is not None:
        return bool(connection.needs_password)
    return _code(cause) == "1045"


def _is_of_the_database(error: Exception) -> bool:
    family = type(error).__module__.partition(".")[0]
    return isinstance(error, SQLAlchemyError) or family in ("psycopg", "pymysql", "sqlite3")


def _reason(error: Exception) -> str:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    code = _code(cause)
    if code in _REASONS:
        return _REASONS[code]
    return f"the database refused ({type(cause).__name__}{f' {code}' if code else ''})"


def _code(cause: Any) -> str:
    """SQLSTATE of PostgreSQL, number of MariaDB, name of SQLite."""
    name = getattr(cause, "sqlite_errorname", None)
    if name:
        return "_".join(name.split("_")[:2])  # SQLITE_BUSY_SNAPSHOT is SQLITE_BUSY to a user
    if type(cause).__module__.startswith("pymysql"):
        return str(cause.args[0]) if cause.args else ""
    return getattr(cause, "sqlstate", None) or ""
