"""The experiments of Moro Lías (2024) on seating groups in rooms: exhaustive search, genetic algorithm, constraints."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from shoal.appointments.api import assign_sizes
from shoal.appointments.counting import count_plans
from shoal.appointments.from_papers.branch_and_bound import nodes
from shoal.appointments.from_papers.genetic import GeneticOptions
from shoal.appointments.problem import Problem
from shoal.generate import minizinc
from shoal.generate.families import FIXED, Instance, family
from shoal.runtime import Budget
from shoal.runtime.compilation import working_cpu_time
from shoal.studies import rooms_conclusions, rooms_examples, rooms_tuning
from shoal.studies.claims import proof
from shoal.studies.rooms_tuning import evolved
from shoal.studies.study import Findings, Row, Scope, Step, Study

# Nodes of the exhaustive search on family 4, read off a plot: K → thousands of nodes.
_PLOTTED_NODES = {20: 43, 25: 129, 30: 286, 35: 557, 38: 786, 40: 979, 43: 1336, 45: 1621}
# Its seconds there; what is drawn on the axis cannot be read.
_PLOTTED_SECONDS = {30: 400, 35: 1600, 38: 3100, 40: 4600, 43: 8100, 45: 11_600}

# K at the right end of the ablation plots as a share of the best K there, by family and version, where it can be read.
_ABLATION = {
    "f1": ("0.14", "0.62–0.98", "0.08"),
    "f6n": ("0.03–0.04", "0.50–0.98", "0.70–0.91"),
    "f7": ("0.12–0.32", "up to 1.3 (breaks rules)", "0.14"),
    "f7n": ("0.08–0.2", "0.4–1", "0.9–1"),
    "f8": ("0.2", "meaningless", "0.16"),
    "f8n": ("0.08–0.13", "meaningless", "0.8–1"),
}
VERSIONS = ("random", "guided", "repairing")
# What is plotted of the comparison: time-out or seconds by solver, and the genetic K as a share of the best.
_COMPARED = {"f4": "about 1/3", "f4n": "0.44–0.92", "f5": "about 1/2", "f5n": "0.73–1"}
_TIMES = {
    "f4": ("times out from X = 30 on", "up to 30 s", "1.3 s"),
    "f4n": ("183 s at X = 10,000", "0.28–0.6 s", "1.35–1.77 s"),
    "f5": ("about 0 s", "0.28–0.53 s", "1.17–1.54 s"),
    "f5n": ("about 0 s", "0.27–0.55 s", "1.15–1.58 s"),
}
# The same quoted for chapters 4 and 6.
_CHAPTER_4 = {"f1": 0.003, "f2": 0.013, "f3": 0.005}
_CHAPTER_4_SIZES = (10, 100, 1_000, 10_000, 100_000)
_CHAPTER_6 = {
    "f1": "0.31–0.56",
    "f2": "0.34–0.73",
    "f3": "0.34–0.80",
    "f4": "0.4 at small X, 27–34 at 10,000",
}

# Sizes at which the best K is computed.
LARGE = (10, 10_000, 30_000, 10**6, 10**9)


def _problem(one: Instance) -> Problem:
    return Problem(one.groups, one.capacities)


def _timed(one: Instance) -> tuple[float, int, int]:
    """CPU seconds, K and nodes of the exhaustive search."""
    began = working_cpu_time()
    _, k, count = nodes(_problem(one), limit=10**8)
    return working_cpu_time() - began, k, count


def _nodes(scope: Scope) -> Findings:
    """Chapter 4: nodes and time of the exhaustive search, Figures 4.2 to 4.6."""
    row = partial(Row, "Chapter 4, exhaustive search")
    rows: list[Row] = []
    curves: dict[str, list[tuple[float, float]]] = {}
    # Compiling is no part of the search.
    nodes(_problem(family("f1", 10)))
    for name, seconds in _CHAPTER_4.items():
        for size in _CHAPTER_4_SIZES:
            spent, k, count = min(_timed(family(name, size)) for _ in range(5))
            note = f"K = {k}, {1000 * spent:.2g} ms of CPU; published {1000 * seconds:g} ms"
            rows.append(row(f"{name}, X = {size:,}", "nodes", None, count, note))
            curves.setdefault(f"exhaustive small|{name}|measured", []).append((float(size), 1000 * spent))
            curves.setdefault(f"exhaustive small|{name}|published", []).append((float(size), 1000 * seconds))
    for name in ("f5", "f5n"):
        for size in (10, 100, 10_000):
            _, k, count = nodes(_problem(family(name, size)))
            rows.append(row(f"{name}, X = {size:,}", "nodes", 8, count, f"K = {k}"))
    times = []
    for k, thousands in _PLOTTED_NODES.items():
        spent, reached, count = _timed(family("f4", k + 2))
        times.append((float(k), spent))
        note = f"K = {reached}; the plot differs from the published program, whose count this is"
        rows.append(row(f"f4, X = {k + 2}", "thousands of nodes", thousands, round(count / 1000, 1), note))
    curves["nodes|published plot"] = [
        (float(k), 1000.0 * thousands) for k, thousands in _PLOTTED_NODES.items()
    ]
    curves["nodes|measured"] = [
        (float(r.case.rsplit(" ", 1)[1]) - 2, 1000.0 * float(r.measured or 0))
        for r in rows
        if "f4," in r.case
    ]
    curves["exhaustive time|published plot"] = [
        (float(k), seconds) for k, seconds in _PLOTTED_SECONDS.items()
    ]
    curves["exhaustive time|measured"] = times
    return Findings(rows, curves)


def _best(scope: Scope) -> Sequence[Row]:
    row = partial(Row, "Best K")
    rows = []
    published: dict[str, tuple[int | None, str]] = {
        "t1": (28, ""),
        "t2": (100, ""),
        "t3": (36, "the printed maximum is not the maximum"),
    }
    for name, (there, note) in published.items():
        plan = assign_sizes(FIXED[name].groups, FIXED[name].capacities)
        rows.append(row(name, "K", there, plan.k, "; ".join(part for part in (proof(plan), note) if part)))
    for name, formula in {"f4": "X − 2", "f4n": "X − 1", "f5": "X", "f5n": "X"}.items():
        for size in LARGE:
            one = family(name, size)
            plan = assign_sizes(one.groups, one.capacities)
            seconds = f"{plan.assignment.seconds:.2g} s"
            if (name, size) == ("f4", 30_000):
                seconds += "; published about 275 s with Gecode"
            case = f"{name}, X = {size:,}"
            rows.append(row(case, f"K ({formula})", one.best, plan.k, f"{proof(plan)}, {seconds}"))
    wrong = assign_sizes([10], [4, 4, 4])
    note = "the published bound stops the search too early"
    return [*rows, row("one group of 10, rooms 4, 4, 4", "K", 2, wrong.k, note)]


def _optima(scope: Scope) -> Sequence[Row]:
    """Appendix E: how many matrices are best."""
    rows = []
    for name, printed in (("f4", 6), ("f4n", 30), ("f5", 33), ("f5n", 207)):
        for size in (5, 10):
            one = family(name, size)
            plan = assign_sizes(one.groups, one.capacities)
            count = count_plans(one.groups, one.capacities, plan.k)
            note = f"K = {plan.k}, {proof(plan)}"
            rows.append(
                Row("Appendix E, best matrices", f"{name}, X = {size}", "matrices", printed, count, note)
            )
    return rows


def _ablation(name: str, scope: Scope) -> Findings:
    """§5.4.2, Figures 5.11 to 5.16: three versions on growing families."""
    runs, generations = (2, 60_000) if scope.quick else (10, 750_000)
    sizes = (1_000, 10_000) if scope.quick else (500, 5_000, 10_000, 50_000, 100_000)
    row = partial(Row, "Figures 5.11–5.16, three versions")
    rows: list[Row] = []
    curves: dict[str, list[tuple[float, float]]] = {}
    for size in sizes:
        one = family(name, size, seeds=scope.seeds("ablation", name, size))
        best = one.best or assign_sizes(one.groups, one.capacities).k
        for version, there in zip(VERSIONS, _ABLATION[name], strict=True):
            options = GeneticOptions(version=version, crossover="columns")  # type: ignore[arg-type]
            streams = (scope.seeds("ablation", name, size, version, run) for run in range(runs))
            began = working_cpu_time()
            ends = evolved(one, options, generations, streams)
            seconds = (working_cpu_time() - began) / runs
            share = float(np.mean([item.k for item in ends])) / best
            broken = float(np.mean([item.violations for item in ends]))
            note = f"mean violations {broken:.2g}, {seconds:.2g} s of CPU; {runs} runs of {generations:,} generations"
            rows.append(
                row(f"{name}, X = {size:,}, {version}", "mean K / best K", there, round(share, 3), note)
            )
            for measure, value in (("share", share), ("violations", broken), ("seconds", seconds)):
                curves.setdefault(f"ablation {measure}|{name}|{version}", []).append((float(size), value))
    return Findings(rows, curves)


def _constraints(scope: Scope) -> Findings:
    """Chapter 6, Figures 6.1 to 6.3: the constraint model by CP-SAT, and by MiniZinc with Gecode where that is installed."""
    sizes = (10, 1_000) if scope.quick else (10, 100, 1_000, 4_000, 10_000)
    limit = 20.0 if scope.quick else 300.0
    rows: list[Row] = []
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, printed in _CHAPTER_6.items():
        for size in sizes:
            one = family(name, size)
            began = working_cpu_time()
            plan = assign_sizes(
                one.groups, one.capacities, method="constraint", options={"search": "maximise"}
            )
            seconds = working_cpu_time() - began
            curves.setdefault(f"constraint|{name}|CP-SAT", []).append((float(size), seconds))
            case = f"{name}, X = {size:,}"
            row = partial(Row, "Figures 6.1–6.4, constraint model", case)
            rows.append(row("seconds, CP-SAT", printed, round(seconds, 3), f"K {plan.k}, {proof(plan)}"))
            if minizinc.installed():
                answer = minizinc.solve(one.groups, one.capacities, seconds=limit)
                curves.setdefault(f"constraint|{name}|Gecode", []).append((float(size), answer.seconds))
                shown = proof(_Answer(optimal=answer.proved))
                note = f"K {answer.k}, {shown}; time-out {limit:g} s, with the start of MiniZinc"
                rows.append(row("seconds, MiniZinc with Gecode", printed, round(answer.seconds, 3), note))
    return Findings(rows, curves)


class _Answer:
    """What another program says of its own result."""

    def __init__(self, *, optimal: bool) -> None:
        self.optimal = optimal


def _comparison(name: str, scope: Scope) -> Findings:
    """§7.2, Figures 7.2 to 7.13: three solvers over X, each with a time-out."""
    runs, generations = (2, 60_000) if scope.quick else (10, 750_000)
    sizes = (10, 30, 100, 1000) if scope.quick else (10, 30, 100, 300, 1000, 3000, 10_000)
    limit = 5.0 if scope.quick else 300.0
    rows: list[Row] = []
    curves: dict[str, list[tuple[float, float]]] = {}

    def keep(measure: str, solver: str, size: int, value: float) -> None:
        curves.setdefault(f"compared {measure}|{name}|{solver}", []).append((float(size), value))

    exhaustive, by_constraints, by_genes = _TIMES[name]
    for size in sizes:
        one = family(name, size)
        row = partial(Row, "Chapter 7, three solvers", f"{name}, X = {size:,}")
        budget = Budget(seconds=limit, clock=working_cpu_time)
        plan = assign_sizes(
            one.groups,
            one.capacities,
            method="branch-and-bound",
            options={"bound": "published"},
            budget=budget,
        )
        spent = plan.assignment.seconds
        ended = "time-out" if spent >= limit else "ended"
        note = f"{plan.assignment.nodes:,} nodes, {ended}; K {plan.k}"
        rows.append(row("seconds, branch and bound", exhaustive, round(spent, 4), note))
        keep("seconds", "branch and bound", size, max(spent, 1e-4))
        keep("nodes", "branch and bound", size, float(plan.assignment.nodes or 0))
        began = working_cpu_time()
        plan = assign_sizes(one.groups, one.capacities, method="constraint", budget=budget)
        spent = working_cpu_time() - began
        rows.append(
            row("seconds, constraint model", by_constraints, round(spent, 4), f"K {plan.k}, {proof(plan)}")
        )
        keep("seconds", "constraint model", size, max(spent, 1e-4))
        best = plan.k
        for crossover in ("columns", "rows"):
            options = GeneticOptions(crossover=crossover)
            streams = (scope.seeds("comparison", name, size, crossover, run) for run in range(runs))
            began = working_cpu_time()
            ends = evolved(one, options, generations, streams)
            spent = (working_cpu_time() - began) / runs
            valid = [item.k for item in ends if not item.violations]
            share = round(float(np.mean(valid)) / best, 3) if valid else None
            printed = _COMPARED[name] if crossover == "columns" else None
            note = f"{len(valid)} of {runs} runs of {generations:,} generations obey the rules; best K {best}, {proof(plan)}"
            rows.append(row(f"genetic K / best K, crossing {crossover}", printed, share, note))
            if crossover == "columns":
                rows.append(
                    row("seconds, genetic", by_genes, round(spent, 4), f"{generations:,} generations")
                )
                keep("seconds", "genetic", size, max(spent, 1e-4))
                keep("violations", "genetic", size, float(np.mean([item.violations for item in ends])))
            if share is not None:
                keep("share", f"genetic, crossing {crossover}", size, share)
    return Findings(rows, curves)


def _steps(scope: Scope) -> Iterator[Step]:
    yield Step("linking", "a list linked to released records", rooms_examples.linking, 0.1)
    yield Step("nodes", "nodes of the exhaustive search", _nodes)
    yield Step("best", "the best K", _best)
    yield Step("optima", "how many plans are best", _optima, 0.2)
    yield Step("generations", "K by generation", rooms_tuning.generations, 0.5)
    for name in _COMPARED:
        yield Step(f"comparison-{name}", f"three solvers on {name}", partial(_comparison, name), 5.0)
    yield Step("constraints", "the constraint model", _constraints, 2.0)
    for name in _ABLATION:
        yield Step(f"ablation-{name}", f"three versions on {name}", partial(_ablation, name), 4.0)
    yield Step("mutation", "the mutation rate", rooms_tuning.mutation, 10.0)
    yield Step("population", "the size of the population", rooms_tuning.population, 12.0)


STUDY = Study(
    name="rooms",
    title="Seating groups in rooms: exhaustive search, genetic algorithm and constraints",
    source="T. Moro Lías, Complexity and resolution of the K-anonymity problem, bachelor's thesis, "
    "Universidad Complutense de Madrid, 2024",
    steps=lambda scope: list(_steps(scope)),
    claims=rooms_conclusions.claims,
    charts=rooms_conclusions.charts,
    remarks=(
        "The work prints no table of results: published figures are read off plots of single runs or means of about ten.",
        "Crossing columns is what the published program does; its text describes crossing rows, which does better.",
        "Seconds are of CPU on this machine and no measure of the published programs; MiniZinc's are by the wall clock.",
        "The published growth is called exponential; with a fixed number of groups and rooms it is polynomial in X.",
    ),
)
