"""Who gets in, from where, and what never leaves: one test for each promise."""

import base64
import contextlib
import json
import os
import re
import socket
import sqlite3
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.waiting import GUARD, until
from tests.web.serving import Served, finished, served

from shoal.errors import InputError
from shoal.web.connections import Connections
from shoal.web.entry import SECONDS, Entry
from shoal.web.workspace import Workspace, plain_name

pytestmark = pytest.mark.xdist_group("web")


def _paths(workbench: Served) -> list[str]:
    page = httpx.get(workbench.root + "/", headers=workbench.headers, timeout=GUARD).text
    static = re.findall(r'(?:src|href)="(/_nicegui/[^"]+)"', page)
    assert static, "the page names no static file"
    return ["/", "/data", "/records", "/reports", "/api/data", "/api/jobs", "/api/openapi.json", static[0]]


def test_no_request_without_the_token(workbench: Served) -> None:
    for path in _paths(workbench):
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": "shoal-1=wrong"}):
            answer = httpx.get(workbench.root + path, headers=headers, timeout=GUARD)
            assert answer.status_code == 401, path
            assert workbench.token not in answer.text
        answer = httpx.get(workbench.root + path, headers=workbench.headers, timeout=GUARD)
        assert answer.status_code == 200, path
    for code in ("wrong", "", workbench.token):
        assert httpx.get(f"{workbench.root}/?code={code}", timeout=GUARD).status_code == 401
    # A cookie is another secret than the token, and each stays in its place.
    name, _, session = workbench.cookie().partition("=")
    assert session != workbench.token
    for wrong in ({"Cookie": f"{name}={workbench.token}"}, {"Authorization": f"Bearer {session}"}):
        assert httpx.get(workbench.root, headers=wrong, timeout=GUARD).status_code == 401


def test_a_code_works_once_and_becomes_a_cookie(workbench: Served) -> None:
    address = workbench.fresh()
    with httpx.Client(timeout=GUARD) as browser, httpx.Client(timeout=GUARD) as other:
        answer = browser.get(address.replace("/?", "/data?name=x&amp=1&"))
        assert answer.status_code == 200
        assert 'content="0; url=/data?name=x&amp;amp=1"' in answer.text
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert browser.get(workbench.root + "/data").status_code == 200
        # Whoever reads the address later, in a history or a log, has nothing; who came in by it is not locked out.
        used = other.get(address)
        assert used.status_code == 401
        assert "was used already" in used.text
        assert "set-cookie" not in used.headers
        assert other.get(workbench.root + "/data").status_code == 401
        again = browser.get(address)
        assert again.status_code == 200
        assert "set-cookie" not in again.headers
        for text in (answer.text, browser.get(workbench.root + "/data").text):
            assert workbench.token not in text
            assert cookie.partition(";")[0].partition("=")[2] not in text


def test_a_code_is_short_lived() -> None:
    now = [100.0]
    entry = Entry(clock=lambda: now[0])
    first, second = entry.code(), entry.code()
    now[0] += SECONDS
    session = entry.redeem(first)
    assert session is not None
    assert entry.knows(session)
    now[0] += 1
    assert entry.redeem(second) is None


def test_a_code_leads_nowhere_else(workbench: Served) -> None:
    code = workbench.fresh().partition("=")[2]
    answer = httpx.get(f"{workbench.root}//example.org/%22%3E%3Cscript%3E?code={code}", timeout=GUARD)
    assert 'content="0; url=/example.org/%22%3E%3Cscript%3E"' in answer.text


def test_the_token_is_refused_in_an_address_and_never_logged(api: httpx.Client, workbench: Served) -> None:
    for path in ("/", "/api/data", "/api/unknown", "/unknown"):
        for headers in ({}, workbench.headers):
            answer = httpx.get(
                f"{workbench.root}{path}?token={workbench.token}", headers=headers, timeout=GUARD
            )
            assert answer.status_code == 400
            assert "does not belong in an address" in answer.text
    for verb in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        answer = api.request(verb, "/api/unknown/path", params={"secret": "planted-secret"})
        assert answer.status_code == 404
        assert answer.json()["kind"] == "missing"
    log = (workbench.folder.parent / f"{workbench.folder.name}.log").read_text()
    assert workbench.token not in log
    assert "planted-secret" not in log


def test_the_token_is_in_a_file_for_its_owner_alone(tmp_path: Path) -> None:
    with served(tmp_path / "bench") as bench:
        file = bench.folder / "authorization"
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.read_text() == f"Authorization: Bearer {bench.token}\n"
        assert bench.token not in bench.address
    assert not file.exists()


def test_no_key_is_on_a_command_line(tmp_path: Path) -> None:
    """A browser is started with the name of a file; code and token are on no command line and in no output but one line."""
    script = tmp_path / "browser"
    script.write_text(
        f'#!/bin/sh\necho "$@" > "{tmp_path}/asked.part"; mv "{tmp_path}/asked.part" "{tmp_path}/asked"\n'
    )
    script.chmod(0o700)
    environment = {**os.environ, "BROWSER": f"{script} %s"}
    with served(tmp_path / "bench", browser=True, environment=environment) as bench:
        until((tmp_path / "asked").exists, "the browser to be started")
        address = (tmp_path / "asked").read_text().strip()
        door = Path(urlsplit(address).path)
        assert address == (bench.folder / "open.html").as_uri()
        assert door.stat().st_mode & 0o777 == 0o600
        lead = re.search(r"url=(http[^\"]+)", door.read_text())
        assert lead is not None
        assert httpx.get(lead[1], timeout=GUARD).status_code == 200
        assert httpx.get(lead[1], timeout=GUARD).status_code == 401
        for words in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                assert bench.token.encode() not in words.read_bytes()
                assert lead[1].partition("code=")[2].encode() not in words.read_bytes()
    assert not door.exists()


def test_only_this_machine_listens(workbench: Served) -> None:
    port = int(workbench.root.rpartition(":")[2])
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    own = [
        fields[1] for fields in listening if fields[3] == "0A" and int(fields[1].split(":")[1], 16) == port
    ]
    assert own == [f"0100007F:{port:04X}"]


def test_a_foreign_name_for_this_machine_is_refused(workbench: Served) -> None:
    # DNS rebinding: the browser believes it speaks to evil.example, which now points here.
    port = workbench.root.rpartition(":")[2]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port}.evil.example"):
        answer = httpx.get(
            workbench.root + "/api/data", headers={**workbench.headers, "Host": host}, timeout=GUARD
        )
        assert answer.status_code == 400, host
    assert httpx.get(
        workbench.root + "/api/data",
        headers={**workbench.headers, "Host": f"localhost:{port}"},
        timeout=GUARD,
    ).is_success


def test_another_page_cannot_change_anything(workbench: Served) -> None:
    headers = {**workbench.headers, "Origin": "http://evil.example"}
    assert (
        httpx.post(workbench.root + "/api/data/samples/people", headers=headers, timeout=GUARD).status_code
        == 403
    )
    assert (
        httpx.delete(workbench.root + "/api/data/people", headers=headers, timeout=GUARD).status_code == 403
    )


def _handshake(workbench: Served, **headers: str) -> int:
    """Ask for a web socket as a browser does; the status of the answer."""
    host, port = workbench.host.split(":")
    lines = {
        "Host": workbench.host,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": base64.b64encode(b"0123456789abcdef").decode(),
        "Sec-WebSocket-Version": "13",
        **{key.replace("_", "-"): value for key, value in headers.items()},
    }
    text = "GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n"
    text += "".join(f"{key}: {value}\r\n" for key, value in lines.items() if value) + "\r\n"
    with socket.create_connection((host, int(port)), timeout=GUARD) as line:
        line.sendall(text.encode())
        answer = line.recv(200).decode("latin-1")
    return int(answer.split()[1])


def test_a_busy_page_is_not_taken_for_gone(workbench: Served) -> None:
    """What is written into one reaches nobody until it is connected again."""
    headers = {"Origin": workbench.root, "Cookie": workbench.cookie()}
    where = f"{workbench.root}/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    answer = httpx.get(where, headers=headers, timeout=GUARD)
    assert answer.is_success and json.loads(answer.text[1:])["pingTimeout"] >= 600_000


def test_the_web_socket_wants_token_origin_and_host(workbench: Served) -> None:
    cookie = workbench.cookie()
    assert _handshake(workbench, Origin=workbench.root, Cookie=cookie) == 101
    assert _handshake(workbench, Origin=workbench.root) == 403
    assert _handshake(workbench, Origin="http://evil.example", Cookie=cookie) == 403
    assert _handshake(workbench, Origin="null", Cookie=cookie) == 403
    assert _handshake(workbench, Cookie=cookie) == 403
    evil = "evil.example:" + workbench.root.rpartition(":")[2]
    assert _handshake(workbench, Origin=f"http://{evil}", Host=evil, Cookie=cookie) == 403


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..", "a/b", "/etc/passwd", "a\\b", "", ".hidden", "a\0b", "x" * 200]
)
def test_no_path_outside_the_workspace(tmp_path: Path, name: str) -> None:
    workspace = Workspace(tmp_path / "bench")
    with pytest.raises(InputError):
        workspace.path("data", name)
    with pytest.raises(InputError):
        workspace.path("runs", "0123456789ab", name)
    assert workspace.incoming(name).parent == workspace.shelf("incoming")
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", plain_name(name))


def test_a_workspace_is_for_its_owner_only(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "bench")
    for folder in (workspace.folder, *(path for path in workspace.folder.iterdir())):
        assert folder.stat().st_mode & 0o077 == 0, folder.name


def test_no_link_leads_out_of_the_workspace(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "bench")
    (tmp_path / "secret.parquet").write_text("secret")
    (workspace.shelf("data") / "innocent.parquet").symlink_to(tmp_path / "secret.parquet")
    with pytest.raises(InputError, match="out of the workspace"):
        workspace.path("data", "innocent.parquet")
    (workspace.folder / "outside.db").symlink_to(tmp_path / "secret.parquet")
    assert Connections(workspace).sqlite_files() == []


def test_no_path_outside_through_the_api(api: httpx.Client, workbench: Served) -> None:
    for name in ("..%2f..%2fetc%2fpasswd", "%2e%2e", "..%5c..%5cx", ".%2e/x"):
        assert api.get(f"/api/data/{name}").status_code in (404, 422), name
        assert api.get(f"/api/jobs/0123456789ab/files/{name}").status_code in (404, 422), name
        assert api.get(f"/runs/0123456789ab/{name}").status_code in (404, 422), name
    before = {path for path in workbench.folder.parent.rglob("*") if path.is_file()}
    answer = api.post("/api/data", files={"file": ("../../../evil.csv", b"a,b\n1,2\n")})
    run = finished(api, answer.json()["run"])
    assert run["state"] == "done"
    made = {path for path in workbench.folder.parent.rglob("*") if path.is_file()} - before
    assert all(path.is_relative_to(workbench.folder) for path in made)
    assert api.get(f"/api/jobs/{answer.json()['run']}/result").json()["data"] == "evil"


def test_only_files_that_a_run_offers(api: httpx.Client) -> None:
    run = api.post("/api/data/samples/people").json()["run"]
    finished(api, run)
    assert api.get(f"/api/jobs/{run}/files/run.json").status_code == 404
    assert api.get(f"/runs/{run}/run.json").status_code == 404


def test_no_statements_from_the_page(tmp_path: Path) -> None:
    """Whatever is typed as a table or database is a name, never a statement."""
    workspace = Workspace(tmp_path / "bench")
    file = workspace.shelf("databases") / "clinic.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE people (zip TEXT)")
        database.execute("INSERT INTO people VALUES ('28040')")
    database.close()
    connections = Connections(workspace)
    connection = connections.connect("sqlite", database="clinic.db")
    assert connection.tables == ("people",)

    from shoal import sources

    for table in ('people"; DROP TABLE people; --', "people; DROP TABLE people", "(SELECT * FROM people)"):
        with pytest.raises(InputError, match=r"not in|cannot|names no"):
            sources.read(f"{connection.url}::{table}")
    assert sources.read(f"{connection.url}::people").frame.height == 1
    for host in ("h/x?password=", "a@b", "h#x"):
        with pytest.raises(InputError, match="the host is a name or a number"):
            connections.connect("postgresql", database="d", host=host, user="u", password="p")
    for database in ("../clinic.db", "/etc/passwd", "clinic.db?mode=rwc"):
        with pytest.raises(InputError, match="not in the workspace"):
            connections.connect("sqlite", database=database)


def test_passwords_are_nowhere(tmp_path: Path) -> None:
    secret = "hunter2-Öx@:/"
    workspace = Workspace(tmp_path / "bench")
    connections = Connections(workspace)
    with pytest.raises(InputError) as raised:
        connections.connect("postgresql", database="d", host="127.0.0.1", port=1, user="ann", password=secret)
    assert "hunter2" not in str(raised.value)
    from shoal.web.connections import Connection
    from shoal.web.jobs.task import Task

    connection = Connection("n", "postgresql", "PostgreSQL d", (), f"postgresql://ann:{secret}@h/d")
    assert "hunter2" not in repr(connection)
    task = Task("0" * 12, "load", {}, tmp_path, tmp_path, {"n": connection.url})
    assert "hunter2" not in repr(task)
    connections.disconnect()
    assert connections.secrets() == {}


def test_confidential_values_stay_out_of_messages_and_run_files(api: httpx.Client, workbench: Served) -> None:
    text = (
        "age,income\n"
        + "\n".join(f"{20 + place % 5},{1000 + place}.5" for place in range(40))
        + "\n31,SECRETVALUE\n"
    )
    run = api.post("/api/data", files={"file": ("wages.csv", text.encode())}).json()["run"]
    finished(api, run)
    name = api.get(f"/api/jobs/{run}/result").json()["data"]
    sent = api.post(
        "/api/jobs/microaggregate", json={"data": name, "columns": ["income"], "k": 3, "method": "mdav"}
    )
    assert sent.status_code == 422
    assert "income" in sent.json()["error"] and "SECRETVALUE" not in sent.text
    for path in workbench.folder.glob("runs/*/run.json"):
        assert "SECRETVALUE" not in path.read_text()
    assert "SECRETVALUE" not in (workbench.folder.parent / f"{workbench.folder.name}.log").read_text()


def test_an_upload_over_the_limit_is_refused(api: httpx.Client, workbench: Served) -> None:
    big = b"a,b\n" + b"1,2\n" * (5 * 2**20 // 4)
    answer = api.post("/api/data", files={"file": ("big.csv", big)})
    assert answer.status_code == 413
    assert "limit of" in answer.text

    def pieces():  # a body without a declared length
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="b.csv"\r\n\r\n'
        yield b"a,b\n"
        for _ in range(80):
            yield b"1,2\n" * 2**14
        yield b"\r\n--x--\r\n"

    before = len(api.get("/api/jobs").json())
    try:
        answer = api.post(
            "/api/data", content=pieces(), headers={"Content-Type": "multipart/form-data; boundary=x"}
        )
        assert answer.status_code >= 400
    except httpx.HTTPError:
        pass  # the line was cut, which is as good
    assert len(api.get("/api/jobs").json()) == before
    assert api.get("/api/data").is_success
    assert not list((workbench.folder / "incoming").iterdir())


def test_headers_keep_the_page_to_itself(api: httpx.Client) -> None:
    headers = api.get("/").headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    scripts = policy.partition("script-src ")[2].partition(";")[0]
    assert re.fullmatch(r"'self' 'nonce-[\w-]{24}' 'unsafe-eval'", scripts)
    # The word is another one for every answer, and is not given to scripts of anybody else.
    assert api.get("/").headers["content-security-policy"] != policy
    assert "'nonce-" not in policy.replace(scripts, "")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert "server" not in headers


def test_a_temporary_workspace_is_private_and_goes_away(tmp_path: Path) -> None:
    import sys

    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = "import sys, typer; from shoal.cli import serve; app = typer.Typer(); serve.register(app); app(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", command, "--no-browser", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline()
        assert address.startswith("http://127.0.0.1:")
        (folder,) = tmp_path.glob("shoal-workbench-*")
        assert folder.stat().st_mode & 0o077 == 0
        process.send_signal(2)
        out, errors = process.communicate(timeout=GUARD)
    finally:
        process.kill()
        process.communicate()
    assert not folder.exists()
    assert "Traceback" not in errors + out


def test_a_taken_port_is_told(workbench: Served, tmp_path: Path) -> None:
    from shoal.web.server import serve

    with pytest.raises(InputError, match="cannot be used"):
        serve(port=int(workbench.root.rpartition(":")[2]), workspace=tmp_path / "w", announce=print)


def test_two_workbenches_do_not_share_a_key(workbench: Served, tmp_path: Path) -> None:
    with served(tmp_path / "other") as other:
        assert other.token != workbench.token
        assert (
            httpx.get(other.root + "/api/data", headers=workbench.headers, timeout=GUARD).status_code == 401
        )
