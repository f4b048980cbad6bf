"""Databases the user is connected to. Passwords live here, in memory, and nowhere else."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from shoal.errors import InputError, unknown
from shoal.web.workspace import Workspace

KINDS = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "mariadb": "MariaDB / MySQL"}
_ENDINGS = (".db", ".sqlite", ".sqlite3")


@dataclass(frozen=True)
class Connection:
    """A database that answered, with its tables."""

    name: str
    kind: str
    shown: str
    tables: tuple[str, ...]
    url: str = field(repr=False)


class Connections:
    """Connect, list, and forget."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._open: dict[str, Connection] = {}

    def sqlite_files(self) -> list[str]:
        """The SQLite files of the workspace: those received, and those that lie in its folder."""
        places = [*self._workspace.shelf("databases").iterdir(), *self._workspace.folder.iterdir()]
        return sorted(
            {
                path.name
                for path in places
                if path.suffix.lower() in _ENDINGS and path.is_file() and not path.is_symlink()
            }
        )

    def connect(
        self,
        kind: str,
        *,
        database: str,
        host: str = "",
        port: int | None = None,
        user: str = "",
        password: str = "",
    ) -> Connection:
        """Reach a database and list its tables; an ``InputError`` says why not, without the password."""
        from shoal import sources

        if kind not in KINDS:
            raise unknown("database", kind, KINDS, where="supported")
        if not database:
            raise InputError("name the database")
        if kind == "sqlite":
            url = f"sqlite:///{self._sqlite(database)}"
            shown = f"SQLite {database}"
        else:
            host = host.strip() or "127.0.0.1"
            if any(sign in host for sign in "/@?#: \\") and not host.startswith("["):
                raise InputError("the host is a name or a number, such as db.example.org")
            if not user:
                raise InputError("name the user")
            where = f"{host}:{port}" if port else host
            # An empty password is a password too: without one the server process would ask at its terminal.
            url = f"{kind}://{quote(user, safe='')}:{quote(password, safe='')}@{where}/{quote(database, safe='')}"
            shown = f"{KINDS[kind]} {database} on {where} as {user}"
        # The user knows a file by its name, not by its place in the workspace.
        tables = sources.list_tables(url, called=database if kind == "sqlite" else "")
        found = Connection(secrets.token_hex(6), kind, shown, tables, url)
        self._open = {found.name: found}
        return found

    def refresh(self, name: str) -> Connection:
        """The connection with its tables as they are now."""
        from dataclasses import replace

        from shoal import sources

        old = self[name]
        found = replace(old, tables=sources.list_tables(old.url))
        if name in self._open:
            self._open[name] = found
        return found

    def __getitem__(self, name: str) -> Connection:
        if name not in self._open:
            raise InputError("this connection is closed; connect again")
        return self._open[name]

    @property
    def current(self) -> Connection | None:
        """The one connection, if there is one."""
        return next(iter(self._open.values()), None)

    def secrets(self) -> dict[str, str]:
        """The addresses with passwords, for a worker process."""
        return {name: connection.url for name, connection in self._open.items()}

    def disconnect(self) -> None:
        """Forget everything."""
        self._open.clear()

    def file(self) -> Path | None:
        """The file of the connected database, if it is one of the workspace."""
        current = self.current
        return (
            None
            if current is None or current.kind != "sqlite"
            else Path(current.url.removeprefix("sqlite:///"))
        )

    def _sqlite(self, name: str) -> str:
        if name not in self.sqlite_files():
            raise unknown("database", name, self.sqlite_files(), where="in the workspace")
        received = self._workspace.shelf("databases") / name
        return str(received if received.is_file() else self._workspace.folder / name)
