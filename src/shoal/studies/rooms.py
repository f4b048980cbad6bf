"""The experiments of Moro Lías (2024) on seating groups in rooms: exhaustive search, genetic algorithm, constraints."""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from shoal.appointments.api import assign_sizes
from shoal.appointments.problem import Problem
from shoal.appointments.published.branch_and_bound import nodes
from shoal.appointments.published.genetic import Evolved, GeneticOptions, evolve
from shoal.generate.families import FIXED, Instance, family
from shoal.search import Seeds
from shoal.studies.study import Row, Scope, Step, Study

# Nodes of the exhaustive search on family 4, read off a plot: K → thousands of nodes.
_PLOTTED_NODES = {20: 43, 25: 129, 30: 286, 35: 557, 38: 786, 40: 979, 43: 1336, 45: 1621}

# K at the right end of the ablation plots as a share of the best K there, by family and version, where it can be read.
_ABLATION = {
    "f1": ("0.14", "0.62–0.98", "0.08"),
    "f6n": ("0.03–0.04", "0.50–0.98", "0.70–0.91"),
    "f7": ("0.12–0.32", "up to 1.3 (breaks rules)", "0.14"),
    "f7n": ("0.08–0.2", "0.4–1", "0.9–1"),
    "f8": ("0.2", "meaningless", "0.16"),
    "f8n": ("0.08–0.13", "meaningless", "0.8–1"),
}
_PAIRS = (6100, 3900, 5400, 4600, 7200, 2800, 6600, 3400)


def _problem(one: Instance) -> Problem:
    return Problem(one.groups, one.capacities)


def _evolved(
    one: Instance, options: GeneticOptions, generations: int, places: Iterable[Seeds]
) -> list[Evolved]:
    """What the genetic algorithm ends with, from each of these places."""
    return [evolve(_problem(one), options, seeds, generations) for seeds in places]


def _nodes(scope: Scope) -> Sequence[Row]:
    row = partial(Row, "Nodes of the exhaustive search")
    rows = []
    for name in ("f5", "f5n"):
        for size in (10, 100, 10_000):
            _, k, count = nodes(_problem(family(name, size)))
            rows.append(row(f"{name}, X = {size:,}", "nodes", 8, count, f"K = {k}"))
    for k, thousands in _PLOTTED_NODES.items():
        if scope.quick and k > 30:
            continue
        _, found, count = nodes(_problem(family("f4", k + 2)), limit=10**8)
        note = f"K = {found}; the plot differs from the published program, whose count this is"
        rows.append(row(f"f4, X = {k + 2}", "thousands of nodes", thousands, round(count / 1000, 1), note))
    return rows


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
        rows.append(row(name, "K", there, plan.k, note or "proved"))
    for name, formula in {"f4": "X − 2", "f4n": "X − 1", "f5": "X", "f5n": "X"}.items():
        for size in (10, 10_000, 30_000, 10**6, 10**9):
            one = family(name, size)
            plan = assign_sizes(one.groups, one.capacities)
            seconds = f"{plan.assignment.seconds:.2g} s"
            if (name, size) == ("f4", 30_000):
                seconds += "; published about 275 s with Gecode"
            proof = "proved" if plan.optimal else "not proved"
            case = f"{name}, X = {size:,}"
            rows.append(row(case, f"K ({formula})", one.best, plan.k, f"{proof}, {seconds}"))
    wrong = assign_sizes([10], [4, 4, 4])
    note = "the published bound stops the search too early"
    return [*rows, row("one group of 10, rooms 4, 4, 4", "K", 2, wrong.k, note)]


def _ablation(scope: Scope) -> Sequence[Row]:
    runs, generations, size = (2, 60_000, 10_000) if scope.quick else (10, 750_000, 10_000)
    cases = {
        "f1": family("f1", size),
        "f6n": family("f6n", size),
        "f7": Instance("f7", _PAIRS, (size,) * 4, 2800),
        "f7n": Instance("f7n", _PAIRS, (size,) * 5, 2800),
        "f8": Instance("f8", (size,) * 4, _PAIRS, 2800),
        "f8n": Instance("f8n", (size,) * 4, (*_PAIRS, size // 2, size // 2), 3900),
    }
    row = partial(Row, "Genetic algorithm, three versions")
    rows = []
    for name, one in cases.items():
        for version, there in zip(("random", "guided", "repairing"), _ABLATION[name], strict=True):
            options = GeneticOptions(version=version, crossover="columns")  # type: ignore[arg-type]
            places = (scope.seeds("ablation", name, version, run) for run in range(runs))
            found = _evolved(one, options, generations, places)
            share = float(np.mean([item.k for item in found])) / (one.best or 1)
            broken = float(np.mean([item.violations for item in found]))
            note = f"mean violations {broken:.2g}; {runs} runs of {generations:,} generations"
            rows.append(row(f"{name}, {version}", "mean K / best K", there, round(share, 3), note))
    return rows


def _mutation(scope: Scope) -> Sequence[Row]:
    runs, generations = (2, 100_000) if scope.quick else (10, 2_000_000)
    published = {0.4: (12, 46), 0.5: (14, 46), 0.6: (28, 100), 0.7: (None, 36), 0.8: (4, 45)}
    rows = []
    for rate, there in published.items():
        for name, figure in zip(("t1", "t2"), there, strict=True):
            options = GeneticOptions(crossover="columns", population=400, mutation=rate)
            places = (scope.seeds("mutation", name, run, int(100 * rate)) for run in range(runs))
            found = [item.k for item in _evolved(FIXED[name], options, generations, places)]
            hits = sum(k == FIXED[name].best for k in found)
            note = f"mean of {runs} runs, {hits} at the optimum; published is a single run"
            mean = round(float(np.mean(found)), 1)
            rows.append(Row("Mutation rate", f"{name}, {rate:.0%}", "K", figure, mean, note))
    return rows


def _comparison(scope: Scope) -> Sequence[Row]:
    runs, generations = (2, 60_000) if scope.quick else (10, 750_000)
    sizes = (10, 1000) if scope.quick else (10, 100, 1000, 10_000)
    published = {"f4": "about 1/3", "f4n": "0.44–0.92", "f5": "about 1/2", "f5n": "0.73–1"}
    rows = []
    for name, there in published.items():
        for size in sizes:
            one = family(name, size)
            for crossover in ("columns", "rows"):
                options = GeneticOptions(crossover=crossover)
                places = (scope.seeds("comparison", name, size, crossover, run) for run in range(runs))
                found = _evolved(one, options, generations, places)
                valid = [item.k for item in found if not item.violations]
                share = round(float(np.mean(valid)) / (one.best or 1), 3) if valid else None
                case = f"{name}, X = {size:,}, crossing {crossover}"
                printed = there if crossover == "columns" else None
                note = (
                    f"{len(valid)} of {runs} runs obey the rules; best K {one.best} is proved by constraints"
                )
                rows.append(Row("Three solvers compared", case, "genetic K / best K", printed, share, note))
    return rows


def _steps(scope: Scope) -> Sequence[Step]:
    return [
        Step("nodes", "nodes of the exhaustive search", _nodes),
        Step("best", "the best K", _best),
        Step("ablation", "three versions of the genetic algorithm", _ablation),
        Step("mutation", "the mutation rate", _mutation),
        Step("comparison", "three solvers compared", _comparison),
    ]


STUDY = Study(
    name="rooms",
    title="Seating groups in rooms: exhaustive search, genetic algorithm and constraints",
    source="T. Moro Lías, Complexity and resolution of the K-anonymity problem, bachelor's thesis, "
    "Universidad Complutense de Madrid, 2024",
    steps=_steps,
    remarks=(
        "Published figures of the genetic algorithm are read off plots of single runs or means of about ten.",
        "Crossing columns is what the published program does; its text describes crossing rows, which does better.",
        "Times are of this machine and no measure of the published programs.",
    ),
)
