"""Real database servers for the tests: started in a folder of their own by an unprivileged user, stopped after."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from tests.waiting import GUARD, until

USER = "shoal_tester"
PASSWORD = "s3cret:p@ss/wörd%"


class MissingError(Exception):
    """The server is not installed here; the message says what to install."""


@dataclass(frozen=True)
class Server:
    """A running server and how to reach it."""

    kind: str
    port: int
    folder: Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find(*names: str) -> str:
    """The path of a program, also where Debian keeps the programs of a server."""
    folders = [
        *os.environ.get("PATH", "").split(os.pathsep),
        "/usr/sbin",
        "/usr/local/sbin",
        *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)),
    ]
    for name in names:
        if path := shutil.which(name, path=os.pathsep.join(folders)):
            return path
    raise MissingError(f"no {names[0]} here; tools/system-packages.sh installs it as root on Debian")


def unprivileged(account: str) -> list[str]:
    """What to put before a command so that the server does not run as root."""
    if os.geteuid() != 0:
        return []
    return [find("setpriv"), f"--reuid={account}", f"--regid={account}", "--clear-groups", "--"]


@contextmanager
def own_folder(account: str) -> Iterator[Path]:
    """A short-lived folder that the server's account owns (socket paths must be short, so not pytest's)."""
    folder = Path(tempfile.mkdtemp(prefix="shoal-db-"))
    try:
        if os.geteuid() == 0:
            record = pwd.getpwnam(account)
            os.chown(folder, record.pw_uid, record.pw_gid)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def account_of(*names: str) -> str:
    for name in names:
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise MissingError(f"no account to run the server as: {', '.join(names)}")


@contextmanager
def running(command: list[str], server: Server) -> Iterator[Server]:
    """Start a server, wait until it answers a query, and stop it in the end."""
    log = server.folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=server.folder)
        try:
            until(
                lambda: process.poll() is not None or answers(server),
                "the server to answer",
                otherwise=lambda: f":\n{log.read_text(errors='replace')[-2000:]}",
            )
            if process.poll() is not None:
                raise RuntimeError(f"the server did not start:\n{log.read_text(errors='replace')[-2000:]}")
            yield server
        finally:
            process.terminate()
            try:
                process.wait(GUARD)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def engine(server: Server, database: str) -> sa.Engine:
    """A way into a database of a server for the tests themselves, without pooled connections."""
    driver = "postgresql+psycopg" if server.kind == "postgresql" else "mysql+pymysql"
    url = sa.URL.create(driver, USER, None, "127.0.0.1", server.port, database)
    # PyMySQL sends a text as Latin-1; the server has it as UTF-8.
    password = PASSWORD if server.kind == "postgresql" else PASSWORD.encode()
    return sa.create_engine(url, connect_args={"password": password}, poolclass=sa.NullPool)


def home(server: Server) -> sa.Engine:
    """A way into the database that every server has."""
    return engine(server, "postgres" if server.kind == "postgresql" else "mysql")


def answers(server: Server) -> bool:
    """Whether a query gets an answer: a server listens before it is ready."""
    try:
        with home(server).connect() as connection:
            return bool(connection.exec_driver_sql("SELECT 1").scalar() == 1)
    except sa.exc.OperationalError:
        return False


@contextmanager
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server that asks for a password."""
    initdb, postgres = find("initdb"), find("postgres")
    account = account_of("postgres", "nobody")
    before = unprivileged(account)
    with own_folder(account) as folder:
        (folder / "password").write_text(PASSWORD, encoding="utf-8")
        (folder / "password").chmod(0o644)
        subprocess.run(
            [*before, initdb, "-D", f"{folder}/data", "-U", USER, "-A", "scram-sha-256", "-E", "UTF8"]
            + ["--locale=C", "--no-sync", f"--pwfile={folder}/password"],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        port = free_port()
        # Durability is not under test, the atomicity of transactions is: without fsync the tests are quicker.
        settings = ["fsync=off", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}"]
        command = [*before, postgres, "-D", f"{folder}/data", "-p", str(port)]
        for setting in settings:
            command += ["-c", setting]
        with running(command, Server("postgresql", port, folder)) as server:
            yield server


@contextmanager
def mariadb() -> Iterator[Server]:
    """A MariaDB server that asks for a password."""
    install = find("mariadb-install-db", "mysql_install_db")
    daemon = find("mariadbd", "mysqld")
    account = account_of("mysql", "nobody")
    before = unprivileged(account)
    with own_folder(account) as folder:
        command = [*before, install, "--no-defaults", f"--datadir={folder}/data", "--skip-test-db"]
        command += ["--auth-root-authentication-method=normal"]
        # It is a script that starts a server for a moment, and on a busy machine that fails now and then.
        for _ in range(3):
            done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
            if done.returncode == 0:
                break
            shutil.rmtree(folder / "data", ignore_errors=True)
        else:
            raise RuntimeError(f"MariaDB's tables cannot be made:\n{(done.stdout + done.stderr)[-2000:]}")
        start = folder / "start.sql"
        start.write_text(
            f"CREATE USER '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';\n"
            f"GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'%' WITH GRANT OPTION;\n"
            "DROP USER IF EXISTS ''@'localhost';\n",
            encoding="utf-8",
        )
        start.chmod(0o644)
        port = free_port()
        command = [*before, daemon, "--no-defaults", f"--datadir={folder}/data", f"--port={port}"]
        command += [f"--socket={folder}/s", "--bind-address=127.0.0.1", f"--pid-file={folder}/pid"]
        command += [f"--init-file={start}", "--innodb-flush-log-at-trx-commit=0", "--skip-name-resolve"]
        command += ["--character-set-server=utf8mb4"]
        with running(command, Server("mariadb", port, folder)) as server:
            yield server
