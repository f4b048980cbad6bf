"""Every report names what somebody needs to sign it: data, command, settings, attacker, checks, and answers."""

import hashlib
import re
import shlex
import stat
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.running import shoal as run
from tests.report.commands import COMMANDS, prepare

import shoal
from shoal.operations import OPERATIONS
from shoal.report.provenance import as_typed, without_password
from shoal.sources.fingerprint import records_fingerprint


def words(html: str) -> str:
    """What a reader sees, in one line."""
    body = re.sub(r"<svg.*?</svg>", " ", html.split("<body>")[1], flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_report_names_all_that_a_signature_stands_for(name: str, folder: Path) -> None:
    arguments, read = COMMANDS[name]
    outcome = run(name, *arguments, "--report", "report.html", "--json")
    assert outcome.code in (0, 3), outcome.err
    path = folder / "report.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = words(path.read_text(encoding="utf-8"))
    assert text.startswith("Internal: ") and "mode 0600" in text
    for file in read:
        assert file in text and sha256(folder / file) in text
        frame = pl.read_csv(folder / file)
        assert f"records {frame.height:,} columns {frame.width}: {', '.join(frame.columns)}" in text
    assert shlex.join(["shoal", name, *arguments, "--report", "report.html", "--json"]) in text
    for item in OPERATIONS[name].fields("command"):
        assert item.name == "options" or item.label in text
    assert re.search(r"created 20\d\d-\d\d-\d\d \d\d:\d\d UTC", text)
    assert f"shoal {shoal.__version__}" in text and "checked by" in text
    for heading in ("The attacker assumed: ", "Singling out. ", "Linking. ", "Inference. "):
        answer = text.partition(heading)[2]
        assert len(answer.split(". ")[0]) > 20
    assert all(word in text for word in ("Signatures", "Name", "Role", "Date", "Signature"))
    if "out.csv" in arguments:
        assert sha256(folder / "out.csv") in text


def test_every_operation_on_data_answers() -> None:
    silent = {name for name in OPERATIONS if not hasattr(OPERATIONS[name].reporter_module, "assurances")}
    assert silent <= {"hierarchy"}


def test_of_a_secret_not_even_a_fingerprint_is_told(folder: Path) -> None:
    arguments, _ = COMMANDS["perturb"]
    for _ in range(2):  # the first run makes the secret, the second reads it
        assert run("perturb", *arguments, "--report", "report.html", "--force").code == 0
        text = (folder / "report.html").read_text(encoding="utf-8")
        secret = (folder / "secret.txt").read_text()
        assert "secret.txt" in text and sha256(folder / "secret.txt") not in text
        assert not any(line in text for line in secret.split() if len(line) > 12)


def test_a_table_of_a_database_is_known_by_its_records(folder: Path) -> None:
    frame = pl.read_csv(folder / "my survey.csv")
    shoal_sources = pytest.importorskip("shoal.sources")
    shoal_sources.write(frame, "sqlite:///clinic.db::people")
    outcome = run("anonymity", "sqlite:///clinic.db::people", "--quasi", "age,sex", "--report", "report.html")
    assert outcome.code == 0, outcome.err
    text = words((folder / "report.html").read_text(encoding="utf-8"))
    back = shoal_sources.read("sqlite:///clinic.db::people").frame
    assert "sqlite:///clinic.db::people (a table of a database)" in text
    assert records_fingerprint(back) in text
    assert records_fingerprint(back) == records_fingerprint(back.reverse())
    changed = back.with_columns(
        pl.when(pl.int_range(pl.len()) == 5).then(0).otherwise(pl.col("age")).alias("age")
    )
    assert records_fingerprint(changed) != records_fingerprint(back)


def test_a_refused_result_says_so_at_the_top(folder: Path) -> None:
    outcome = run(
        "microaggregate", "my survey.csv", "-k", "3", "--columns", "income", "--require-k", "5", "-o", "out.csv",
        "--report", "report.html", "--method", "mdav",
    )  # fmt: skip
    assert outcome.code == 3
    text = words((folder / "report.html").read_text(encoding="utf-8"))
    assert "Refused: K of the release" in text.partition("Result")[0]
    assert not (folder / "out.csv").exists() and "Written with this report" not in text


def test_a_frame_in_python_has_no_file(folder: Path) -> None:
    frame = pl.read_csv(folder / "my survey.csv")
    found = shoal.microaggregate(frame, k=3, columns=["income", "wealth"], method="mdav")
    text = words(found.report().html())
    assert "shoal.microaggregate(" in text and "a frame in memory" in text
    assert f"records 120 columns 6: {', '.join(frame.columns)}" in text
    assert not re.search(r"\b[0-9a-f]{64}\b", text)
    for label in ("k 3 no", "method mdav no", "order keep yes"):
        assert label in text
    assert "Singling out. " in text and "Signatures" in text


PASSWORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=4, max_size=12)


@given(PASSWORDS)
def test_no_password_is_repeated(password: str) -> None:
    address = f"postgresql://ann:{password}@db.example.org/clinic::people"
    told = without_password(address)
    assert told == "postgresql://ann:***@db.example.org/clinic::people"
    assert "***" in as_typed(["shoal", "anonymity", address])


def test_what_follows_a_question_mark_is_not_repeated() -> None:
    told = without_password("mysql://ann@db/clinic?password=hidden&ssl_key=there::people")
    assert told == "mysql://ann@db/clinic?…::people"
