"""``shoal perturb`` on the command line: fields, exit codes, secrets, files."""

import re
import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "job": rng.choice(["clerk", "nurse", "smith"], 300),
            "sex": rng.choice(["f", "m"], 300),
            "pay": rng.random(300),
        }
    )
    path = tmp_path / "people.csv"
    frame.write_csv(path)
    return path


def test_fields_and_files(data: Path, tmp_path: Path):
    out, secret, matrices = tmp_path / "safe.csv", tmp_path / "secret.txt", tmp_path / "m.json"
    published, links = tmp_path / "p.json", tmp_path / "links.csv"
    wanted = ["-o", out, "--secret", secret, "--matrices", matrices, "--published-matrices", published]
    found = shoal(
        "perturb", data, "--method", "pram", "--columns", "job", "--change", 0.3, "--by", "sex", "--json", *wanted,
        "--record-links", links,
    )  # fmt: skip
    assert found.code == 0
    assert {"method", "changed", "promises", "verified", "for_release"} <= set(found.json)
    assert found.json["verified"] is True and found.json["for_release"] is True
    assert all(promise["kept"] for promise in found.json["promises"])
    for internal in (secret, matrices, links):
        assert stat.S_IMODE(internal.stat().st_mode) == 0o600
        assert "internal" in internal.read_text()
    assert stat.S_IMODE(published.stat().st_mode) != 0o600
    key = secret.read_text().splitlines()[0].split()[-1]
    for written in (out, matrices, published, links):
        assert key not in written.read_text()
    assert key not in found.out + found.err


def test_a_secret_repeats_a_release(data: Path, tmp_path: Path):
    secret = tmp_path / "secret.txt"
    outs = [tmp_path / f"{name}.csv" for name in "abc"]
    method = ["--method", "pram", "--columns", "job,sex"]
    for out in outs[:2]:
        assert shoal("perturb", data, *method, "-o", out, "--secret", secret).code == 0
    assert shoal("perturb", data, *method, "-o", outs[2]).code == 0
    assert outs[0].read_bytes() == outs[1].read_bytes() != outs[2].read_bytes()


def test_what_is_no_secret_is_refused_and_kept(data: Path, tmp_path: Path):
    secret, out = tmp_path / "secret.txt", tmp_path / "a.csv"
    secret.write_text("something dear\n")
    secret.chmod(0o600)
    found = shoal("perturb", data, "--method", "pram", "--columns", "job", "-o", out, "--secret", secret)
    assert found.code == 2
    assert "is no secret that Shoal wrote" in found.err
    assert secret.read_text() == "something dear\n" and not out.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "pram"], "--columns"),
        (["--method", "pram", "--columns", "job", "--window", "3"], "--window does nothing with method 'pram'"),
        (["--method", "pram", "--columns", "job", "--change", "0"], "--change must be above 0"),
        (["--method", "pram", "--columns", "job", "--change", "0.1", "--option", "change=0.2"], "--change is given twice"),
        (["--method", "pram", "--columns", "job", "--matrix", "nowhere.csv"], "nowhere.csv"),
        (["--method", "pram", "--columns", "job", "--seed", "1", "--secret", "s"], "--secret and --seed"),
        (["--method", "pram", "--columns", "pay", "--forbid", "pay=0..0.1,sex=f"], "rules out what is in the data"),
        (["--method", "pram", "--columns", "job", "--matrices", "m.csv"], "--matrices is written as JSON; give it a name in"),
        (["--method", "pram", "--columns", "job", "--published-matrices", "p.txt"], "--published-matrices is written as JSON"),
        (["--method", "none"], "method 'none'"),
        ([], "--method"),
    ],
)  # fmt: skip
def test_what_is_refused_in_one_line(data: Path, tmp_path: Path, options: list[str], message: str):
    out = tmp_path / "safe.csv"
    found = shoal("perturb", data, *options, "-o", out)
    assert found.code == 2
    assert message in found.err
    assert len(found.err.strip().splitlines()) == 1
    assert not out.exists()


def test_a_seed_marks_the_output(data: Path, tmp_path: Path):
    found = shoal("perturb", data, "--method", "pram", "--columns", "job", "--seed", 1, "--json")
    assert found.json["for_release"] is False
    assert any("not for release" in text for text in found.json["warnings"])
    out, report = tmp_path / "safe.csv", tmp_path / "page.html"
    shown = shoal(
        "perturb", data, "--method", "pram", "--columns", "job", "--seed", 1, "-o", out, "--report", report
    )
    assert "not for release" in shown.out + shown.err
    assert "not for release" in report.read_text()
    # The help says that the records themselves are not marked.
    assert "not for release" not in out.read_text()
    assert "the records do not" in " ".join(shoal("perturb", "--help").out.split())


def test_methods_are_listed():
    found = shoal("perturb", "--method", "list")
    assert found.code == 0
    assert "pram" in found.out


def test_the_examples_of_the_manual_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs/commands/perturb.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, "perturb.md", "exec"), {})
    assert (tmp_path / "safe.csv").exists()
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if "±" in line]
    assert {tuple(line[:2]) for line in lines} == {
        ("north", "clerk"),
        ("north", "smith"),
        ("south", "clerk"),
        ("south", "nurse"),
    }
    # Each estimate is near the count before, 100 of each: within six of its own standard errors.
    assert all(abs(float(count) - 100) <= 6 * float(error) for _, _, count, _, error in lines)
