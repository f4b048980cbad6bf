"""An experiment of one's own in the frame of Cabana Ramírez (2016): his ``test(n, runs, minQ, maxQ, minF, maxF)``."""

from collections.abc import Sequence
from functools import partial
from statistics import fmean

from shoal.errors import InputError, parameter
from shoal.generate.instances import Ranges
from shoal.studies.screening import solved
from shoal.studies.study import Findings, Row, Scope, Step, Study

# Runs that are made and kept together.
_RUNS_OF_A_STEP = 10
_GAINS = ("optimal over random", "heuristic over random", "optimal over heuristic")
_KS = {"random": "random", "optimal": "optimal", "heuristic": "heuristic", "before": "before any appointment"}


def own_experiment(
    population: int,
    runs: int,
    *,
    groups: tuple[int | None, int | None] = (None, None),
    capacities: tuple[int | None, int | None] = (None, None),
) -> Study:
    """The study of random instances with so many people: mean gains and mean K over all runs.

    ``groups`` and ``capacities`` are the least and the largest number that sizes are drawn from; without them, any below the
    population, as in the work.
    """
    usual = Ranges.unlimited(population)
    ranges = Ranges(
        *(
            own if own is not None else other
            for own, other in zip(
                (*groups, *capacities),
                (usual.min_group, usual.max_group, usual.min_capacity, usual.max_capacity),
                strict=True,
            )
        )
    )
    for names, least, most in (
        (("min_q", "max_q"), ranges.min_group, ranges.max_group),
        (("min_f", "max_f"), ranges.min_capacity, ranges.max_capacity),
    ):
        if least > most:
            low, high = map(parameter, names)
            raise InputError(f"{low} must not be above {high}")
    if ranges.max_capacity < 1:
        raise InputError(f"{parameter('max_f')} must be 1 or more: slots must be able to hold somebody")
    if ranges.max_group < 1:
        raise InputError(f"{parameter('max_q')} must be 1 or more: groups must be able to have somebody")
    case = (
        f"N = {population:,}, groups {ranges.min_group}–{ranges.max_group}, "
        f"slots {ranges.min_capacity}–{ranges.max_capacity}"
    )
    named = f"{population}-{ranges.min_group}-{ranges.max_group}-{ranges.min_capacity}-{ranges.max_capacity}"
    return Study(
        name="anonymity-vectors",
        title=f"An experiment of one's own: {case}, {runs} runs",
        source="after R. J. Cabana Ramírez, master's thesis, Complutense University of Madrid, 2016",
        steps=lambda scope: [
            Step(
                f"own-{named}-{first}-{last}",
                f"runs {first + 1} to {last}",
                partial(_runs, population, ranges, first, last),
                weight=last - first,
            )
            for first in range(0, runs, _RUNS_OF_A_STEP)
            for last in [min(runs, first + _RUNS_OF_A_STEP)]
        ],
        closing=partial(_means, case),
        remarks=(
            "Nothing is published for these sizes; gains count ranks from one, as the program of the work does.",
        ),
    )


def _runs(population: int, ranges: Ranges, first: int, last: int, scope: Scope) -> Findings:
    """What each of these runs gained, and its K."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for run in range(first, last):
        one = solved(population, ranges, scope, run)
        if one is None:
            continue
        best, rule, chance = one.optimal, one.heuristic, one.random
        for name, (better, other) in zip(_GAINS, ((best, chance), (rule, chance), (best, rule)), strict=True):
            gain = better.improvement_counted_from_one(other, one.before)
            curves.setdefault(name, []).append((float(run), float(gain)))
        for name in _KS:
            curves.setdefault(f"K {name}", []).append((float(run), float(getattr(one, name).k)))
        curves.setdefault("optimal", []).append((float(run), float(one.proved)))
    return Findings([], curves)


def _means(case: str, findings: Findings) -> Sequence[Row]:
    values = {name: [y for _, y in points] for name, points in findings.curves.items()}
    if not values:
        return []
    note = f"{len(values['optimal'])} runs, {int(sum(values['optimal']))} proved optimal"
    gains = [Row("Mean gain", case, name, None, round(fmean(values[name]), 4), note) for name in _GAINS]
    ks = [
        Row("Mean K", case, words, None, round(fmean(values[f"K {name}"]), 3), note)
        for name, words in _KS.items()
    ]
    return [*gains, *ks]
