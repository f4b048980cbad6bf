"""A short run of the fuzzer, and that it sees what is wrong: a judge that finds nothing proves nothing."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fuzz.case import Case, Outcome
from tests.fuzz.judging import Snapshot, defects
from tests.fuzz.running import Runner
from tests.fuzz.session import Tally, attempt, made, play

SEED = 0
EMPTY = Snapshot({})


def test_a_few_runs_are_clean(tmp_path):
    tally = play(SEED, iter(range(48)), tmp_path)
    assert not tally.failures, "\n".join(map(str, tally.failures))
    assert tally.runs == 48 and sum(tally.checked.values()) >= 8
    assert {code for _, code in tally.codes} >= {0, 2}
    assert list(tmp_path.iterdir()) == []


def test_a_number_gives_the_same_case_again(tmp_path):
    for number in range(12):
        folders = tmp_path / f"{number}a", tmp_path / f"{number}b"
        for folder in folders:
            folder.mkdir()
        one, other = (made(SEED, number, folder) for folder in folders)
        assert one.arguments == other.arguments
        # A database holds the time of its making; everything else is the same to the byte.
        files = [
            {
                name: found
                for name, found in Snapshot.of(folder).files.items()
                if not name.endswith((".db", ".xlsx"))
            }
            for folder in folders
        ]
        assert files[0] == files[1]


def _judged(
    outcome: Outcome, after: Snapshot = EMPTY, leftovers: list[str] | None = None, **case: object
) -> str:
    usual = Case(
        "anonymity",
        ("anonymity", "in.csv"),
        shown_in=lambda text: [word for word in ("secret",) if word in text],
    )
    return "; ".join(defects(replace(usual, **case), outcome, EMPTY, after, leftovers or []))


FINE = Outcome(2, "", "shoal: a column is missing\n")


def test_what_is_right_is_let_pass():
    assert _judged(FINE) == ""
    assert _judged(Outcome(0, "K 3\n", "a note\n"), Snapshot({"out.csv": "1"}), writes=("out.csv",)) == ""
    assert (
        _judged(Outcome(2, '{"error": "x", "kind": "input"}\n', ""), arguments=("anonymity", "--json")) == ""
    )


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (replace(FINE, code=1), "exit code 1"),
        (replace(FINE, code=-6), "exit code -6"),
        (replace(FINE, err="Traceback (most recent call last):\n  File\nshoal: x\n"), "traceback"),
        (replace(FINE, err=""), "0 error lines"),
        (replace(FINE, err="shoal: a\nshoal: b\n"), "2 error lines"),
        (replace(FINE, err="shoal: a\nmore\n"), "error lines"),
        (replace(FINE, err="shoal: column of secret\n"), "shows the value secret"),
        (replace(FINE, code=0, out="secret\n", err=""), "shows the value secret"),
        (replace(FINE, err="shoal: \x1b[31m\n"), "control characters"),
        (replace(FINE, megabytes=1e6), "MB"),
    ],
)
def test_what_is_wrong_with_a_run_is_seen(outcome, words):
    assert words in _judged(outcome)


@pytest.mark.parametrize("out", ["", "{}\n{}\n", '{"k": NaN}\n', "[]\n", "K 3\n", '{"error": "x"}\n'])
def test_what_is_wrong_with_json_is_seen(out):
    assert _judged(Outcome(2, out, ""), arguments=("anonymity", "--json"))


def test_files_that_should_not_be_there_are_seen():
    assert "left with 2" in _judged(FINE, Snapshot({"out.csv": "1"}), writes=("out.csv",))
    assert "nobody asked for" in _judged(
        Outcome(0, "", ""), Snapshot({"other.csv": "1"}), writes=("out.csv",)
    )
    assert "left behind" in _judged(
        Outcome(0, "", ""), Snapshot({".out.1.shoal-unfinished.csv": "1"}), writes=("*",)
    )
    assert "temporary" in _judged(FINE, leftovers=["records.tmp"])
    assert "removed" in "; ".join(defects(Case("group", ()), FINE, Snapshot({"in.csv": "1"}), EMPTY, []))


def test_a_release_that_was_tampered_with_is_seen(tmp_path):
    runner = Runner()
    try:
        number, case, outcome = next(
            (number, case, outcome)
            for number in range(0, 400, 4)
            if (case := made(SEED, number, _folder(tmp_path, number))).name == "microaggregate"
            and (outcome := runner.run(case.arguments, tmp_path / str(number), tmp_path)).code == 0
        )
    finally:
        runner.close()
    folder = tmp_path / str(number)
    assert case.check is not None
    case.check(folder, outcome.figures)
    for field in ("k_release", "clusters", "sse", "sst", "loss_percent", "min_cluster"):
        with pytest.raises(AssertionError, match="is told as"):
            case.check(folder, {**outcome.figures, field: outcome.figures[field] + 1})
    with (folder / "out.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    column = rows[0].index(outcome.figures["columns"][0])
    rows[1][column] = str(float(rows[1][column]) + 1)
    with (folder / "out.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with pytest.raises(AssertionError):
        case.check(folder, outcome.figures)


def _folder(place: Path, number: int) -> Path:
    folder = place / str(number)
    folder.mkdir()
    return folder


def test_a_failure_is_told_with_fewer_arguments(tmp_path, monkeypatch):
    # The defect is one exit code; what it takes is the missing file alone.
    number = next(
        n
        for n in range(1, 400)
        if (c := made(SEED, n, _folder(tmp_path, n))).name == "anonymity" and len(c.arguments) > 9
    )
    monkeypatch.setattr("tests.fuzz.judging._CODES", ())
    runner = Runner()
    try:
        failure = attempt(SEED, number, tmp_path / "failed", runner, Tally())
    finally:
        runner.close()
    assert failure is not None and failure.defects[0].startswith("exit code")
    assert len(failure.case.arguments) < len(made(SEED, number, _folder(tmp_path, 1000)).arguments)
    assert (tmp_path / "failed" / "arguments.txt").read_text().startswith("shoal anonymity")


def test_a_run_that_kills_its_process_is_told_and_the_next_one_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.fuzz.running._line", lambda process: None)
    failure = attempt(SEED, 2, tmp_path / "dead", Runner(), Tally())
    assert (
        failure is not None
        and "exit code -1" in str(failure)
        and (tmp_path / "dead" / "arguments.txt").exists()
    )
