"""Addresses of data: a file with a known ending, ``file.xlsx::sheet``, or ``URL::table`` for a table of a database."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qsl, unquote

from shoal.errors import InputError, parameter, unknown

#: The format that each ending of a file stands for.
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".xlsx": "excel",
    ".sav": "spss",
    ".dta": "stata",
    ".sas7bdat": "sas",
}

#: The endings of files that can be written.
WRITTEN = tuple(ending for ending, kind in FORMATS.items() if kind != "sas")

#: What to do with several files that are one table.
SEVERAL_FILES = (
    f"commands with {parameter('engine')} read those with {parameter('engine', 'stream')} or "
    f"{parameter('engine', 'spark')}; otherwise name one file"
)

_SCHEMES = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "postgresql+psycopg": "postgresql",
    "mysql": "mariadb",
    "mariadb": "mariadb",
    "mysql+pymysql": "mariadb",
    "mariadb+pymysql": "mariadb",
}

# The name of a sheet holds no colon and no slash.
_SHEET = re.compile(rf"(?si)(?P<path>.*[^/\\:](?:{'|'.join(map(re.escape, FORMATS))}))::(?P<sheet>[^:/\\]*)")
# The password may hold any character, an unescaped @ included: the last @ ends it.
_URL = re.compile(r"(?s)(?P<scheme>[^:/]+)://(?:(?P<user>[^:/@]*)(?::(?P<password>.*))?@)?(?P<place>[^@]*)")
_PLACE = re.compile(
    r"(?s)(?P<host>\[[^\]]*\]|[^:/?]*)(?::(?P<port>\d*))?(?:/(?P<database>[^?]*))?(?:\?(?P<query>.*))?"
)


@dataclass(frozen=True)
class Database:
    """A database and how to reach it. Neither its text nor its representation ever holds the password.

    Messages say what it is ``called``, where its address is nothing to its user.

    >>> parse_database("postgresql://ann:secret@db.example.org/clinic")
    Database(postgresql://ann:***@db.example.org/clinic)
    """

    kind: str
    database: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    host: str | None = None
    port: int | None = None
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    called: str = field(default="", compare=False)

    def __str__(self) -> str:
        if self.called:
            return f"'{self.called}'"
        if self.kind == "sqlite":
            return f"sqlite:///{self.database}"
        user = self.user or ""
        secret = ":***" if self.password is not None else ""
        at = "@" if user or secret else ""
        port = f":{self.port}" if self.port else ""
        return f"{self.kind}://{user}{secret}{at}{self.host or ''}{port}/{self.database}"

    def __repr__(self) -> str:
        return f"Database({self})"


@dataclass(frozen=True)
class FileAddress:
    """A file; its ending says the format. Of a workbook ``sheet`` names one sheet."""

    path: Path
    sheet: str | None = None

    @property
    def format(self) -> str:
        """One of the formats of ``FORMATS``."""
        return FORMATS[self.path.suffix.lower()]

    def with_suffix_number(self, index: int) -> "FileAddress":
        """``tabla.csv`` becomes ``tabla3.csv``."""
        return replace(self, path=self.path.with_stem(f"{self.path.stem}{index}"))

    def __str__(self) -> str:
        return str(self.path) if self.sheet is None else f"{self.path}::{self.sheet}"


def sheet_in(name: str) -> tuple[str, str | None]:
    """The file that a name is of, and the sheet if it names one.

    >>> sheet_in("last.xlsx::Table"), sheet_in("last.html")
    (('last.xlsx', 'Table'), ('last.html', None))
    """
    found = _SHEET.fullmatch(name)
    return (name, None) if found is None else (found["path"], found["sheet"] or None)


@dataclass(frozen=True)
class TableAddress:
    """A table of a database. The name is as the user wrote it, with a schema before a dot if there is one."""

    database: Database
    table: str

    def with_suffix_number(self, index: int) -> "TableAddress":
        """``…::tabla`` becomes ``…::tabla3``."""
        return replace(self, table=f"{self.table}{index}")

    def __str__(self) -> str:
        return f"{self.database}::{self.table}"


Address: TypeAlias = FileAddress | TableAddress


def parse(address: "str | PathLike[str] | Address", *, known: Iterable[str] = tuple(FORMATS)) -> Address:
    """What an address names; an ``InputError`` says what is wrong with it, and which endings are ``known`` where it is used.

    >>> parse("people.csv").format
    'csv'
    >>> parse("survey.xlsx::answers").sheet
    'answers'
    >>> print(parse("mysql://ann:secret@localhost/clinic::people"))
    mariadb://ann:***@localhost/clinic::people
    """
    if isinstance(address, FileAddress | TableAddress):
        return address
    text = fspath(address)
    if isinstance(address, str) and "://" in text:
        return _parse_table(text)
    if isinstance(address, str) and (parts := _SHEET.fullmatch(text)):
        return _parse_sheet(Path(parts["path"]), parts["sheet"])
    path = Path(text)
    if path.suffix.lower() not in FORMATS:
        if path.suffix.lower().partition("::")[0] in (".db", ".sqlite", ".sqlite3"):
            name, _, table = text.partition("::")
            raise InputError(f"'{name}' looks like a database; write sqlite:///{name}::{table or 'TABLE'}")
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError(f"'{path}' is a device or a pipe, not a file")
        if path.is_dir() and any(path.glob("*.parquet")):
            raise InputError(f"'{path.name}' is a folder of Parquet files; {SEVERAL_FILES}")
        if not path.name and text:
            raise InputError(f"'{path}' is a folder, not a file")
        ending = f"ending '{path.suffix}'" if path.suffix else "no ending"
        raise InputError(
            f"'{path.name}' has {ending}; known are {' '.join(known)}, or URL::table for a database"
        )
    return FileAddress(path)


def beside(path: "str | PathLike[str]", what: str) -> Path:
    """The file that belongs to another one: it has its name with an ending of its own.

    >>> beside("out/cells.csv", "structure.json").name
    'cells.structure.json'
    """
    place = Path(path)
    return place.with_name(f"{place.stem}.{what}")


def names_sheet(text: str) -> bool:
    """Whether a text is a file with a sheet.

    >>> names_sheet("survey.xlsx::answers"), names_sheet("survey.xlsx")
    (True, False)
    """
    return _SHEET.fullmatch(text) is not None


def _parse_sheet(path: Path, sheet: str) -> FileAddress:
    if FORMATS[path.suffix.lower()] != "excel":
        raise InputError(f"'{path.name}' has no sheets: only a workbook (.xlsx) is addressed as FILE::SHEET")
    if not sheet.strip():
        raise InputError(
            f"'{path.name}::' names no sheet; write {path.name}::SHEET, or {path.name} for the first"
        )
    return FileAddress(path, sheet)


def parse_database(url: str) -> Database:
    """The database of a URL without a table; ``InputError`` when it cannot be one."""
    match = _URL.fullmatch(url)
    scheme = url.partition("://")[0].lower()
    if scheme not in _SCHEMES:
        raise unknown("database", scheme, ("sqlite", "postgresql", "mariadb", "mysql"), where="supported")
    if _SCHEMES[scheme] == "sqlite":
        return _sqlite(url.partition("://")[2])
    place = _PLACE.fullmatch(match["place"]) if match else None
    if not match or not place:
        raise InputError(f"the {scheme} URL cannot be read; write {scheme}://user@host:port/database::table")
    if not place["database"]:
        raise InputError(f"the {scheme} URL names no database; write {scheme}://user@host/database::table")
    query = parse_qsl(place["query"] or "", keep_blank_values=True)
    secrets = [value for key, value in query if key in ("password", "passwd")]
    password = unquote(match["password"]) if match["password"] is not None else None
    return Database(
        kind=_SCHEMES[scheme],
        database=unquote(place["database"]),
        user=unquote(match["user"]) if match["user"] else None,
        password=password if password is not None else (secrets[0] if secrets else None),
        host=unquote(place["host"]).strip("[]") or None,
        port=int(place["port"]) if place["port"] else None,
        query=tuple((key, value) for key, value in query if key not in ("password", "passwd", "user")),
    )


def _parse_table(text: str) -> TableAddress:
    parts = re.fullmatch(r"(?s)(?P<url>.*[^:])::(?P<table>.*)", text)
    # An IPv6 address has colons of its own: postgresql://[::1]/clinic names no table.
    if not parts or re.match(r"[0-9A-Fa-f:.]*\]", parts["table"]):
        database = parse_database(text)
        raise InputError(f"'{database}' names no table; write {database}::TABLE")
    database, table = parse_database(parts["url"]), parts["table"]
    if not table:
        raise InputError(f"'{database}::' names no table; write {database}::TABLE")
    return TableAddress(database, table)


def _sqlite(path_part: str) -> Database:
    path = path_part[1:] if path_part.startswith("/") else ""
    if not path or path.strip(":") == "memory":
        raise InputError("a SQLite database is a file: write sqlite:///FILE.db::TABLE")
    return Database(kind="sqlite", database=path)
