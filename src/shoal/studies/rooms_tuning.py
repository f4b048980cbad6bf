"""How Moro Lías (2024) tunes the genetic algorithm for rooms, §5.4.1: mutation rate, population and generations."""

from collections.abc import Iterable
from functools import partial

import numpy as np

from shoal.appointments.from_papers.genetic import Evolution, Evolved, GeneticOptions, evolve
from shoal.appointments.problem import Problem
from shoal.generate.families import FIXED, Instance
from shoal.runtime import Seeds
from shoal.studies.study import Findings, Row, Scope, gathered

INSTANCES = ("t1", "t2", "t3")
# Final K of single runs, read off plots: mutation rate → T1, T2, T3; population → T1, T2, T3.
_MUTATION = {0.4: (12, 46, 3), 0.5: (14, 46, 3), 0.6: (28, 100, 4), 0.7: (None, 36, 4), 0.8: (4, 45, 3)}
_POPULATION = {
    200: (3, None, None),
    300: (17, 100, 3),
    400: (28, 100, 4),
    500: (28, 100, 8),
    600: (15, 100, 6),
    700: (11, 49, 5),
    800: (27, None, None),
}
# Generation at which a run of the final configuration is drawn at its last K.
_REACHED = {"t1": 215_000, "t2": 255_000, "t3": None}
# How often K and violations are looked at on the way.
_LOOKS = 100

Course = list[tuple[float, float]]


def evolved(
    one: Instance, options: GeneticOptions, generations: int, streams: Iterable[Seeds]
) -> list[Evolved]:
    """What the genetic algorithm ends with, from each of these random streams."""
    return [evolve(Problem(one.groups, one.capacities), options, seeds, generations) for seeds in streams]


def course(
    one: Instance, options: GeneticOptions, generations: int, seeds: Seeds
) -> tuple[Evolved, Course, Course]:
    """What a run ends with, K by generation, and violations; a matrix that breaks rules counts as K = 0."""
    search = Evolution(Problem(one.groups, one.capacities), options, seeds)
    ks: Course = []
    violations: Course = []
    done = 0
    for look in range(_LOOKS + 1):
        generation = look * generations // _LOOKS
        if generation > done:
            search.generations(generation - done)
            done = generation
        best = search.best
        ks.append((float(done), 0.0 if best.violations else float(best.k)))
        violations.append((float(done), float(best.violations)))
    return search.best, ks, violations


def _tuned(
    table: str, key: str, case: str, figure: float | None, name: str, options: GeneticOptions, scope: Scope
) -> Findings:
    """Mean K of runs, how many reach the best, and the course of the first run."""
    runs, generations = (2, 100_000) if scope.quick else (10, 2_000_000)
    value = int(100 * options.mutation) if key == "mutation" else options.population
    one = FIXED[name]
    first, *others = (scope.seeds(key, name, run, value) for run in range(runs))
    ended, points, violations = course(one, options, generations, first)
    ends = [ended, *evolved(one, options, generations, others)]
    ks = [item.k for item in ends if not item.violations]
    hits = sum(k == one.best for k in ks)
    note = (
        f"mean of {len(ends)} runs, {len(ks)} obey the rules, {hits} at the optimum {one.best}; "
        "published is a single run"
    )
    measured = round(float(np.mean(ks)), 1) if ks else None
    row = Row(table, f"{name}, {case}", "K", figure, measured, note)
    return Findings([row], {f"{key}|{name}|{case}": points, f"{key} violations|{name}|{case}": violations})


def mutation(scope: Scope) -> Findings:
    """Figures 5.1 to 5.3: five mutation rates in a population of 400."""
    tuned = partial(_tuned, "Figures 5.1–5.3, mutation rate", "mutation", scope=scope)
    return gathered(
        [
            tuned(
                f"{rate:.0%}",
                figure,
                name,
                GeneticOptions(crossover="columns", population=400, mutation=rate),
            )
            for rate, there in _MUTATION.items()
            for name, figure in zip(INSTANCES, there, strict=True)
        ]
    )


def population(scope: Scope) -> Findings:
    """Figures 5.4 to 5.8: seven sizes of the population."""
    tuned = partial(_tuned, "Figures 5.4–5.8, population", "population", scope=scope)
    return gathered(
        [
            tuned(f"{size} members", figure, name, GeneticOptions(crossover="columns", population=size))
            for size, there in _POPULATION.items()
            for name, figure in zip(INSTANCES, there, strict=True)
        ]
    )


def generations(scope: Scope) -> Findings:
    """Figures 5.9 and 5.10: K by generation in the final configuration; of T3 the work draws none."""
    number = 100_000 if scope.quick else 2_000_000
    rows, curves = [], {}
    for name, reached in _REACHED.items():
        options, seeds = GeneticOptions(crossover="columns"), scope.seeds("generations", name)
        _, points, violations = course(FIXED[name], options, number, seeds)
        curves[f"generations|{name}"] = points
        curves[f"generations violations|{name}"] = violations
        last = points[-1][1]
        at = next(x for x, k in points if k == last)
        note = f"K {last:g} of {FIXED[name].best} in one run of {number:,} generations"
        measure = "generation of the last improvement"
        rows.append(Row("Figures 5.9 and 5.10, generations", name, measure, reached, at, note))
    return Findings(rows, curves)
