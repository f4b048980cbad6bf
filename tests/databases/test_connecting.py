import os
import pty
import subprocess
import sys
import traceback

import polars as pl
import pytest
from tests.databases import servers

from shoal import InputError, sources
from shoal.sources.address import parse_database

SERVERS = [
    pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql")),
    pytest.param("mariadb", marks=pytest.mark.xdist_group("mariadb")),
]
FRAME = pl.DataFrame({"id": [1]})


@pytest.fixture(params=SERVERS)
def server(request):
    return request.getfixturevalue(f"{request.param}_database")


def without_password(url: str) -> str:
    database = parse_database(url)
    return f"{database.kind}://{database.user}@{database.host}:{database.port}/{database.database}"


def secret(text: str) -> bool:
    return any(part in text for part in (servers.PASSWORD, "s3cret", "wörd"))


def refusal(address: str) -> str:
    """The one line that a refused address gets; no password is in it nor in the traceback that led to it."""
    with pytest.raises(InputError) as caught:
        sources.read(address)
    message = str(caught.value)
    assert "\n" not in message
    assert not secret(message)
    assert not secret("".join(traceback.format_exception(caught.value)))
    return message


def test_wrong_password_host_and_database_are_one_line(server, monkeypatch):
    monkeypatch.delenv("SHOAL_DB_PASSWORD", raising=False)
    plain = without_password(server.url)
    assert "password was refused" in refusal(plain.replace("@", ":s3cret-but-wrong@") + "::people")
    assert "asks for a password; give it in SHOAL_DB_PASSWORD" in refusal(plain + "::people")
    assert "database 'nowhere' does not exist" in refusal(server.url.rpartition("/")[0] + "/nowhere::people")
    assert "host 'nowhere.invalid' is unknown" in refusal(
        server.url.replace("127.0.0.1", "nowhere.invalid") + "::t"
    )
    closed = servers.free_port()
    port = str(parse_database(server.url).port)
    assert "cannot connect" in refusal(server.url.replace(f":{port}/", f":{closed}/") + "::t")
    monkeypatch.setenv("SHOAL_DB_PASSWORD", "s3cret-but-wrong")
    assert "password was refused" in refusal(plain + "::people")


def test_password_from_the_environment(server, monkeypatch):
    sources.write(FRAME, server("people"))
    monkeypatch.setenv("SHOAL_DB_PASSWORD", servers.PASSWORD)
    data = sources.read(without_password(server.url) + "::people")
    assert data.frame.rows() == FRAME.rows()
    assert not secret(str(data.address) + repr(data) + repr(data.address))


def test_password_with_an_unescaped_at_sign(server):
    url = without_password(server.url).replace("@", f":{servers.PASSWORD.replace('%', '%25')}@")
    sources.write(FRAME, f"{url}::people")
    assert not secret(str(sources.parse(f"{url}::people")))


def test_password_is_asked_for_on_a_terminal_and_not_echoed(server):
    sources.write(FRAME, server("people"))
    program = "import sys; from shoal import sources; a, b = sys.argv[1:]; sources.read(a); print(sources.read(b).frame)"
    address = without_password(server.url) + "::people"
    environment = {key: value for key, value in os.environ.items() if key != "SHOAL_DB_PASSWORD"}
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", program, address, address],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
        env=environment,
    ) as reader:
        os.close(follower)
        shown = b""
        while b"Password for" not in shown or not shown.rstrip().endswith(b":"):
            shown += os.read(leader, 1000)
        os.write(leader, servers.PASSWORD.encode() + b"\n")
        try:
            while chunk := os.read(leader, 1000):
                shown += chunk
        except OSError:
            pass  # the other end was closed
        os.close(leader)
    assert reader.returncode == 0
    assert shown.count(b"Password for") == 1  # for two reads
    assert b"id" in shown
    assert not secret(shown.decode())


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_a_missing_driver_says_what_to_install(kind, monkeypatch):
    from shoal.sources.databases import connecting

    monkeypatch.setattr(connecting, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="install Shoal with its extra 'databases'"):
        sources.read(f"{kind}://ann@localhost/clinic::people")


def test_sqlite_files_that_are_missing_or_damaged(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        sources.read(f"sqlite:///{tmp_path}/clinic.db::people")
    assert not (tmp_path / "clinic.db").exists()
    with pytest.raises(InputError, match="folder"):
        sources.check_writable(f"sqlite:///{tmp_path}/nowhere/clinic.db::people")
    with pytest.raises(InputError, match="folder"):
        sources.write(FRAME, f"sqlite:///{tmp_path}/nowhere/clinic.db::people")
    (tmp_path / "clinic.db").write_bytes(b"certainly no database" * 100)
    for attempt in (sources.read, lambda address: sources.write(FRAME, address)):
        with pytest.raises(InputError, match="not a SQLite database"):
            attempt(f"sqlite:///{tmp_path}/clinic.db::people")
    sources.check_writable(f"sqlite:///{tmp_path}/new.db::people")
    assert not (tmp_path / "new.db").exists()
    with pytest.raises(InputError):
        sources.write(pl.DataFrame({"a": [[1]]}), f"sqlite:///{tmp_path}/new.db::people")
    assert not (tmp_path / "new.db").exists()
    sources.write(FRAME, f"sqlite:///{tmp_path}/n e?w%20.db::people")
    assert (tmp_path / "n e?w%20.db").exists()
    assert sources.read(f"sqlite:///{tmp_path}/n e?w%20.db::people").frame.rows() == [(1,)]
