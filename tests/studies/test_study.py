import csv
from dataclasses import replace

import pytest

from shoal import InputError, studies
from shoal.studies import Findings, Picture, Row, Scope, Standing, Step, Study
from shoal.studies.claims import Claim, Rule
from shoal.studies.study import benchmark_file


class Counting:
    """A study of three steps that counts how often each really runs."""

    def __init__(self, fail_at: str | None = None) -> None:
        self.runs: list[str] = []
        self.fail_at = fail_at

    def study(self) -> Study:
        return Study(
            "toy", "A toy", "nobody, never", lambda scope: [self.step(key) for key in ("a", "b", "c")]
        )

    def step(self, key: str) -> Step:
        def run(scope: Scope):
            if key == self.fail_at:
                raise KeyboardInterrupt
            self.runs.append(key)
            return [Row("Table 1", key, "mean", 1.5, scope.seeds(key).generator().random(), "a note")]

        return Step(key, f"step {key}", run)


def test_a_study_keeps_rows_as_csv_and_markdown(tmp_path):
    rows = studies.run(Counting().study(), Scope(), tmp_path)
    assert [row.case for row in rows] == ["a", "b", "c"]
    kept = list(csv.DictReader((tmp_path / "rows.csv").read_text().splitlines()))
    assert [float(row["measured"]) for row in kept] == [row.measured for row in rows]
    table = (tmp_path / "table.md").read_text()
    assert "| a | mean | 1.5 |" in table and "nobody, never" in table


def test_an_interrupted_study_goes_on_where_it_stopped(tmp_path):
    broken = Counting(fail_at="c")
    with pytest.raises(KeyboardInterrupt):
        studies.run(broken.study(), Scope(), tmp_path)
    assert broken.runs == ["a", "b"]
    second = Counting()
    resumed = studies.run(second.study(), Scope(), tmp_path)
    assert second.runs == ["c"]
    fresh = studies.run(Counting().study(), Scope(), tmp_path / "other")
    assert resumed == fresh


def test_closing_rows_and_files_are_made_of_what_is_done_also_when_interrupted(tmp_path):
    def interrupted(scope: Scope):
        raise KeyboardInterrupt

    def closing(found: Findings):
        return [Row("Means", "all", "mean", None, sum(y for _, y in found.curves["a"]) / 2)]

    study = Study(
        "toy",
        "A toy",
        "nobody, never",
        lambda scope: [
            Step("a", "first", lambda scope: Findings([], {"a": [(1.0, 3.0), (2.0, 5.0)]})),
            Step("b", "second", interrupted),
        ],
        closing=closing,
        files=lambda found: {"means.txt": f"{found.rows[-1].measured}\n"},
    )
    with pytest.raises(KeyboardInterrupt):
        studies.run(study, Scope(), tmp_path)
    assert "| all | mean | – | 4 |" in (tmp_path / "table.md").read_text()
    assert (tmp_path / "means.txt").read_text() == "4.0\n"


def test_a_study_that_was_stopped_is_not_called_done(tmp_path):
    told: list[str] = []
    counting = Counting()

    def tell(standing) -> None:
        told.append(standing.title)

    rows = studies.run(counting.study(), Scope(), tmp_path, tell=tell, stop=lambda: len(counting.runs) == 2)
    assert len(rows) == 2 and "done" not in told
    studies.run(counting.study(), Scope(), tmp_path, tell=tell)
    assert told[-1] == "done"


def test_a_place_that_can_hold_no_results_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be kept"):
        studies.run(Counting().study(), Scope(), tmp_path / "file" / "results")


def test_another_seed_scope_or_broken_file_runs_again(tmp_path):
    for scope in (Scope(), Scope(seed=1), Scope(seed=1, quick=True)):
        counting = Counting()
        studies.run(counting.study(), scope, tmp_path)
        assert counting.runs == ["a", "b", "c"]
    (tmp_path / "steps" / "b.json").write_text('{"made"')
    counting = Counting()
    studies.run(counting.study(), Scope(seed=1, quick=True), tmp_path)
    assert counting.runs == ["b"]
    counting = Counting()
    studies.run(counting.study(), Scope(seed=1, quick=True), tmp_path, again=True)
    assert counting.runs == ["a", "b", "c"]


def test_progress_is_told_and_a_stop_is_obeyed(tmp_path):
    told = []
    counting = Counting()
    rows = studies.run(
        counting.study(),
        Scope(),
        tmp_path,
        tell=told.append,
        stop=lambda: len(counting.runs) == 2,
    )
    assert counting.runs == ["a", "b"] and len(rows) == 2
    assert told[0] == Standing(0, 3, "step a")
    assert (told[1].done, told[1].total, told[1].title) == (1, 3, "step b")


def test_what_is_left_is_estimated_from_what_was_spent_across_runs(tmp_path, monkeypatch):
    clock = iter([0.0, 10.0, 10.0, 40.0])
    monkeypatch.setattr("shoal.studies.study.time.monotonic", lambda: next(clock))
    weights = {"a": 1.0, "b": 3.0, "c": 2.0}

    def steps(scope):
        return [
            Step(key, key, lambda scope: [Row("T", "x", "y", None, 1.0)], weight)
            for key, weight in weights.items()
        ]

    study = Study("toy", "A toy", "nobody", steps)
    stops = iter([False, False, True])
    told = []
    studies.run(study, Scope(), tmp_path, tell=told.append, stop=lambda: next(stops))
    # Ten seconds for a weight of one, then forty for four: two more are worth twenty.
    assert [(one.spent, one.left) for one in told] == [(0.0, None), (10.0, 50.0), (40.0, 20.0)]
    assert str(told[1]) == "[1/3] b, about 50 s left"
    # Another process, which has run nothing, knows it too.
    assert studies.standing(study, Scope(), tmp_path) == Standing(2, 3, "c", 40.0, 20.0)
    assert studies.standing(study, Scope(seed=1), tmp_path) == Standing(0, 3, "a")


def test_the_page_of_a_study_needs_no_other_file(tmp_path):
    def drawn(found):
        return {"figure-1": Picture("<svg><text>a curve</text></svg>", "Figure 1: a curve.")}

    plain = Counting().study()
    study = replace(
        plain,
        charts=drawn,
        remarks=("A remark.",),
        claims=lambda found: [
            Claim("all", "mean of the figures", Rule("below", 1), float(found.rows[0].measured))
        ],
    )
    studies.run(study, Scope(quick=True), tmp_path)
    page = (tmp_path / "study.html").read_text()
    for words in ("A toy", "nobody, never", "Figure 1: a curve.", "A remark.", "holds here", "3 of 3"):
        assert words in page
    assert "shoal study toy --quick" in page and "1 of 1 claims hold" in page
    assert "<script" not in page and "src=" not in page and "Internal: for those who decide" not in page
    assert (tmp_path / "figure-1.svg").read_text().startswith("<svg>")


def test_unknown_studies_and_missing_files_are_said(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="did you mean 'anonymity-vectors'"):
        studies.load("anonymity-vector")
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"casc/tarragona\.csv is not in the folder"):
        benchmark_file("casc/tarragona.csv")
    monkeypatch.delenv("SHOAL_DATA")
    with pytest.raises(InputError, match="set SHOAL_DATA"):
        benchmark_file("casc/tarragona.csv")


def test_every_registered_study_loads_and_has_steps():
    for name in studies.STUDIES:
        study = studies.load(name)
        assert study.name == name
        keys = [step.key for step in study.steps(Scope(quick=True))]
        assert keys and len(keys) == len(set(keys))


def test_the_study_of_anonymity_vectors_agrees_with_what_was_published(tmp_path):
    rows = studies.run(studies.load("anonymity-vectors"), Scope(), tmp_path)
    by_case = {(row.table, row.case): row for row in rows}
    assert by_case["Positions, N = 30", "(2, 3, 2, 4)"].measured == 3157
    assert by_case["15 people", "random appointments"].measured == "(9, 3)"
    same = [row for row in rows if not row.note and isinstance(row.published, str)]
    assert same and all(row.published == row.measured for row in same)
