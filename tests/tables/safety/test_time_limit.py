"""An audit that is out of time names what it did not judge, and nothing is safe then."""

import os
import signal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.tables.oracle import cube, hierarchy, random_plane

import shoal
from shoal.runtime import Budget
from shoal.runtime.budget import StopReason
from shoal.tables import api
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import INSIDERS, audit
from shoal.tables.safety.watching import watched


def after_so_many_looks(looks: int) -> Budget:
    """A budget that is over at a look at its clock."""
    times = iter(range(10**7))
    return Budget(seconds=float(looks), clock=lambda: float(next(times)))


def audited(kind: str, budget: Budget | None) -> tuple[Problem, object]:
    rng = np.random.default_rng(5)
    problem = {
        "plane": lambda: random_plane(rng, 6, 7, 3),
        "cube": lambda: cube(rng),
        "tree": lambda: hierarchy(rng),
    }[kind]()
    alone = tuple(np.array([cell]) for cell in problem.sensitive[:2])
    problem = problem.with_changes(insiders=alone)
    others = np.flatnonzero(problem.candidates & ~problem.is_sensitive)[::2]
    watch = {} if budget is None else {"watch": watched(budget)}
    return problem, audit(problem, others, **watch)


@pytest.mark.parametrize("kind", ["plane", "cube", "tree"])
@pytest.mark.parametrize("looks", [1, 4, 9, 20, 50, 120, 400])
def test_what_was_judged_in_time_is_judged_as_without_a_limit(kind: str, looks: int) -> None:
    problem, whole = audited(kind, None)
    _, found = audited(kind, after_so_many_looks(looks))
    known = ~np.isin(found.cells, found.not_judged)
    assert (found.cells == whole.cells).all()
    assert np.isnan(found.low[~known]).all()
    assert np.isnan(found.high[~known]).all()
    assert np.allclose(found.low[known], whole.low[known], rtol=1e-9, atol=1e-9)
    assert np.allclose(found.high[known], whole.high[known], rtol=1e-9, atol=1e-9)
    assert set(found.unsafe.tolist()) == set(whole.unsafe.tolist()) - set(found.not_judged)
    if found.complete:
        assert found.safe == whole.safe
        assert found.insider == whole.insider
        assert found.stopped_by is None
    else:
        assert not found.safe
        assert found.stopped_by == StopReason.TIME
    # The sensitive cells come first.
    if np.isin(problem.sensitive, found.not_judged).any():
        assert set(found.cells[known].tolist()) <= set(problem.sensitive.tolist())


TABLE = pl.DataFrame({"row": ["a", "b", "c"], "x": [10, 40, 70], "y": [20, 50, 80], "z": [30, 60, 90]})
HIDDEN = pl.DataFrame({"row": ["a", "a", "b", "b"], "column": ["x", "y", "x", "y"]})
SENSITIVE = pl.DataFrame({"row": ["b"], "column": ["y"]})


def test_without_any_time_nothing_is_safe_and_no_figure_is_made_up() -> None:
    found = shoal.audit(TABLE, HIDDEN, sensitive=SENSITIVE, budget=Budget(seconds=1e-9))
    assert not found.safe
    assert len(found.not_judged) == 4
    assert found.smallest_margin is None
    assert found.narrowest is None
    assert shoal.audit(
        TABLE, HIDDEN, sensitive=SENSITIVE, budget=Budget(seconds=100.0, clock=lambda: 0.0)
    ).safe


def test_insiders_that_nobody_asked_about_are_named() -> None:
    for looks in range(1, 400):
        _, found = audited("plane", after_so_many_looks(looks))
        if not found.not_judged and found.not_looked_at:
            break
    assert found.not_looked_at == (INSIDERS,)
    assert not found.safe


def test_tables_beside_it_that_there_is_no_time_for_are_not_judged() -> None:
    beside = TABLE.with_columns(z=pl.Series([None, 60, 90]))
    found = shoal.audit(TABLE, HIDDEN, sensitive=SENSITIVE, beside=beside, budget=Budget(seconds=1e-9))
    assert [item.discloses for item in found.together] == [None]
    assert "what tables beside it give away" in found.not_looked_at


def test_the_command_leaves_with_3_and_says_what_was_not_judged(tmp_path: Path) -> None:
    for name, frame in {"table": TABLE, "hidden": HIDDEN, "sensitive": SENSITIVE}.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    asked = [
        "audit",
        tmp_path / "table.csv",
        tmp_path / "hidden.csv",
        "--sensitive",
        tmp_path / "sensitive.csv",
    ]
    assert command(*asked, "--json").code == 0
    late = command(*asked, "--time-limit", "1e-9", "--json", "-o", tmp_path / "intervals.csv")
    assert late.code == 3
    assert not late.json["safe"]
    assert late.json["unsafe"] == []
    assert late.json["not_judged"] == 4
    assert late.json["stopped_by"] == "time"
    assert late.json["narrowest"] is None
    assert any("not judged" in text for text in late.json["warnings"])
    listed = pl.read_csv(tmp_path / "intervals.csv", comment_prefix="#")
    assert listed["safe"].null_count() == listed.height == 4
    assert listed["min"].null_count() == 4
    told = command(*asked, "--time-limit", "1e-9", "--report", tmp_path / "page.html")
    assert "not judged" in told.out
    assert "no time to judge" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("when", "code"), [("before", 130), ("after", 0)])
def test_ctrl_c_is_told_only_where_something_was_broken_off(
    when: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = api.audit_pattern

    def interrupted(*arguments: object, **keywords: object) -> object:
        found = judge(*arguments, **keywords) if when == "after" else None
        os.kill(os.getpid(), signal.SIGINT)
        return found or judge(*arguments, **keywords)

    monkeypatch.setattr(api, "audit_pattern", interrupted)
    for name, frame in {"table": TABLE, "hidden": HIDDEN, "sensitive": SENSITIVE}.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    # Whatever started the tests may ignore Ctrl-C.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        told = command(
            "audit",
            tmp_path / "table.csv",
            tmp_path / "hidden.csv",
            "--sensitive",
            tmp_path / "sensitive.csv",
            "--json",
        )
    finally:
        signal.signal(signal.SIGINT, usual)
    assert told.code == code
    assert told.json["safe"] == (code == 0)


@pytest.mark.parametrize("seconds", [None, 1e9])
@pytest.mark.parametrize("make", [lambda rng: random_plane(rng, 6, 7, 3), cube])
def test_whoever_looks_is_told_how_far_it_is(make, seconds: float | None) -> None:
    """With a limit or without one."""
    problem = make(np.random.default_rng(5))
    told = []
    audit(
        problem,
        np.flatnonzero(problem.candidates),
        watch=watched(Budget(seconds=seconds), told.append),
    )
    assert told and told[-1].work == told[-1].total
