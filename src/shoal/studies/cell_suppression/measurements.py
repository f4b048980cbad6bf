"""Running a method on a table of a set, and what is kept of each run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from statistics import mean
from typing import Any

from shoal.generate.table import SETS, DataSet, table
from shoal.runtime import Budget, Seeds, silent
from shoal.runtime.compilation import working_cpu_time
from shoal.studies.study import Findings, Scope, Step
from shoal.tables.methods import METHODS
from shoal.tables.problem import Problem

Curves = Mapping[str, Sequence[tuple[float, float]]]

# About how many seconds a run takes for a hundred sensitive cells in ten thousand.
_WORK = {"gensup": 8.0, "heurgene": 1.5, "hypercube": 0.2, "shortest-path": 0.5}

# What is kept of a run besides its cost and its CPU seconds, where the method records it.
_RECORDED = ("last_improvement", "best_founder", "children", "infeasible", "crossovers")


@dataclass(frozen=True)
class Plan:
    """A method under the name it has in the tables, how often it is run on a table, and on how many tables.

    ``seconds`` limits the CPU time; the published methods end by themselves.
    """

    label: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 1
    tables: int = 10
    seconds: float | None = None


def instance(scope: Scope, data: DataSet, number: int) -> Problem:
    """A table of a set; numbered from 1."""
    return table(data.rows, data.columns, data.sensitive, scope.seeds("table", data.name, number))


def first_run(data: DataSet, plan: Plan, number: int) -> Step:
    """The first run of a method on one table: a step of its own, so that little is lost when a study is interrupted."""
    return _step(data, plan, number, range(1, 2), "")


def further_runs(data: DataSet, plan: Plan, number: int) -> Step:
    """The other runs of a method on one table."""
    return _step(data, plan, number, range(2, plan.runs + 1), "-again")


def _step(data: DataSet, plan: Plan, number: int, turns: range, suffix: str) -> Step:
    key = plan.label.replace("/", "-").replace(" ", "-").replace(",", "")
    work = _WORK.get(plan.method, 1.0) * data.sensitive * data.rows * data.columns / 1e6
    return Step(
        f"{data.name}-{key}-{number}{suffix}",
        f"{data.name}, {plan.label}, table {number}",
        partial(measure, data=data, plan=plan, number=number, turns=turns),
        weight=len(turns) * work if plan.seconds is None else plan.seconds,
    )


def measure(scope: Scope, data: DataSet, plan: Plan, number: int, turns: Sequence[int]) -> Findings:
    """Run; every pattern is audited. Seconds are of CPU and leave out the founders of a population, as published."""
    from shoal.errors import Infeasible
    from shoal.tables.safety.audit import audit

    _warm(plan.method)
    problem = instance(scope, data, number)
    curves: dict[str, list[tuple[float, float]]] = {}

    def enter(measure: str, turn: int, figure: float) -> None:
        curves.setdefault(_name(measure, data.name, plan.label, number), []).append((turn, figure))

    for turn in turns:
        try:
            pattern = METHODS[plan.method].solve(
                problem,
                dict(plan.options),
                budget=Budget(seconds=plan.seconds, clock=working_cpu_time),
                seeds=scope.seeds("run", data.name, number, turn),
                observer=silent,
            )
        except Infeasible:
            enter("failed", turn, 1.0)
            continue
        if not audit(problem, pattern.complementary, all_cells=False).safe:
            raise AssertionError(f"{plan.method} returned an unsafe pattern")
        enter("cost", turn, float(pattern.value))
        enter("seconds", turn, pattern.seconds)
        if pattern.bound is not None:
            enter("bound", turn, float(pattern.bound))
        for name in _RECORDED:
            if name in pattern.record:
                enter(name, turn, float(pattern.record[name]))
    return Findings([], curves)


@cache
def _warm(method: str) -> None:
    # The first call loads compiled code, which is no part of a run.
    METHODS[method].solve(
        table(8, 8, 3, Seeds(0)), {}, budget=Budget(iterations=2), seeds=Seeds(0), observer=silent
    )


def _name(measure: str, data: str, label: str, number: int) -> str:
    return f"{measure}|{data}|{label}|{number}"


@dataclass(frozen=True)
class Measurements:
    """The figures of all runs so far, by measure, data set, method and table."""

    curves: Curves

    def labels(self, data: str) -> list[str]:
        """The methods run on a set, in the order they were run."""
        names = [name.split("|") for name in self.curves]
        return list(dict.fromkeys(label for _, name, label, _ in names if name == data))

    def tables(self, data: str, label: str) -> list[int]:
        """The tables of a set a method was run on."""
        names = [name.split("|") for name in self.curves]
        return sorted({int(number) for _, name, method, number in names if (name, method) == (data, label)})

    def of(self, measure: str, data: str, label: str, number: int) -> list[float]:
        """A figure of every run on a table that found something."""
        return [figure for _, figure in self.curves.get(_name(measure, data, label, number), ())]

    def by_table(self, measure: str, data: str, label: str) -> dict[int, list[float]]:
        """The same for all tables that have some."""
        every = {number: self.of(measure, data, label, number) for number in self.tables(data, label)}
        return {number: figures for number, figures in every.items() if figures}

    def means(self, measure: str, data: str, label: str) -> dict[int, float]:
        """The average over the runs on each table."""
        return {number: mean(figures) for number, figures in self.by_table(measure, data, label).items()}


def on_common_tables(*by_table: Mapping[int, float]) -> list[list[float]]:
    """The figures of several methods on the tables all of them were run on: only those may be compared."""
    common = sorted(set(by_table[0]).intersection(*by_table[1:]))
    return [[figures[number] for number in common] for figures in by_table]


__all__ = [
    "SETS",
    "DataSet",
    "Measurements",
    "Plan",
    "first_run",
    "further_runs",
    "instance",
    "measure",
    "on_common_tables",
]
