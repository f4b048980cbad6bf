"""The experiments of Cabana Ramírez (2016) on screening appointments: gains over random, mean K, and a real case."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

import numpy as np

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.api import assign_sizes
from shoal.appointments.counting import count_plans
from shoal.errors import InputError
from shoal.generate.instances import Ranges, instance
from shoal.runtime import Budget
from shoal.runtime.compilation import working_cpu_time
from shoal.studies.claims import Claim, Rule
from shoal.studies.proofs import proof
from shoal.studies.study import Findings, Picture, Row, Scope, Step, Study, benchmark_file

# Mean gains over 100 runs as printed (optimal over random, heuristic over random, optimal over heuristic); None: not computed.
_GAINS: dict[int, tuple[Ranges, tuple[float | None, float | None, float | None]]] = {
    5: (Ranges(0, 2, 0, 2), (0.3815, 0.3681666666666667, 0.013333333333333332)),
    10: (Ranges(0, 3, 0, 3), (0.6484488727858294, 0.6034437490850536, 0.045005123700775876)),
    25: (Ranges(3, 7, 3, 7), (0.880872186821432, 0.7105770931283475, 0.1702950936930843)),
    50: (Ranges(5, 8, 5, 8), (None, 0.7727358356488846, None)),
    100: (Ranges(0, 30, 10, 20), (None, None, None)),
    1000: (Ranges(0, 200, 50, 100), (None, None, None)),
}

# Mean K as printed: random, optimal, heuristic.
_MEAN_K: list[tuple[int, Ranges, tuple[float | None, float | None, float | None], str]] = [
    (5, Ranges(0, 2, 1, 3), (1.01, 1.05, 1.05), ""),
    (10, Ranges(0, 3, 3, 7), (1.0, 1.07, 1.06), ""),
    (25, Ranges(0, 7, 5, 10), (1.0, 1.43, 1.26), ""),
    (100, Ranges(0, 30, 10, 20), (1.01, None, 2.16), ""),
    (1000, Ranges(0, 300, 100, 200), (1.02, None, 6.82), ""),
    (1000, Ranges(0, 200, 50, 100), (1.02, None, 6.82), "ranges that come nearer to the printed figures"),
    (10_000, Ranges(0, 200, 500, 1000), (1.15, None, 17.31), ""),
    (10_000, Ranges(0, 3000, 1000, 2000), (1.15, None, 17.31), "ranges of an earlier state of the program"),
    (
        10_000,
        Ranges(0, 1000, 500, 1000),
        (1.15, None, 17.31),
        "ranges that come nearer to the printed figures",
    ),
]

# Work allowed for each instance, and for large ones in a quick run; small ones need a fraction of it.
_UNITS, _QUICK_UNITS = 2_000, 50


@dataclass(frozen=True)
class _Solved:
    """The vectors of one instance, and whether the best found is proved to be the best, as a vector and in K."""

    before: AnonymityVector
    random: AnonymityVector
    heuristic: AnonymityVector
    optimal: AnonymityVector
    proved: bool
    k_proved: bool


def _solved(population: int, ranges: Ranges, scope: Scope, run: int) -> _Solved | None:
    made = instance(population, ranges, seeds=scope.seeds("screening", population, ranges.max_group, run))
    groups = [size for size in made.groups if size]
    seats = [size for size in made.capacities if size]
    if not groups:
        return None
    solve = partial(assign_sizes, groups, seats, objective="vector", seed=run)
    best = solve(iterations=_QUICK_UNITS if scope.quick and population >= 1000 else _UNITS)
    return _Solved(
        before=best.vector_before,
        random=solve(method="random", options={"draw": "probe"}).vector,
        heuristic=solve(method="greedy", options={"rule": "published"}).vector,
        optimal=best.vector,
        proved=best.optimal,
        k_proved=best.k == best.k_bound,
    )


def _gain(population: int, scope: Scope) -> Findings:
    ranges, published = _GAINS[population]
    runs = _runs(population, scope)
    gains: list[list[float]] = []
    proved = 0
    for run in range(runs):
        found = _solved(population, ranges, scope, run)
        if not found:
            continue
        best, rule, chance = found.optimal, found.heuristic, found.random
        proved += found.proved
        compared = ((best, chance), (rule, chance), (best, rule))
        gains.append([one.improvement_counted_from_one(other, found.before) for one, other in compared])
    means = np.array(gains).mean(axis=0)
    note = f"{runs} runs, {proved} proved optimal"
    names = ("optimal over random", "heuristic over random", "optimal over heuristic")
    rows = [
        Row("Mean gain (Table 7)", f"N = {population}", name, there, round(float(here), 4), note)
        for name, there, here in zip(names, published, means, strict=True)
    ]
    curves = {}
    for name, there, here in zip(names, published, means, strict=True):
        curves[f"gain {population}|{name}, measured"] = [(float(population), float(here))]
        if there is not None:
            curves[f"gain {population}|{name}, published"] = [(float(population), there)]
    return Findings(rows, curves)


def _mean_k(place: int, scope: Scope) -> Findings:
    population, ranges, published, remark = _MEAN_K[place]
    runs = _runs(population, scope)
    found = [item for run in range(runs) if (item := _solved(population, ranges, scope, run))]
    proved, k_proved = sum(item.proved for item in found), sum(item.k_proved for item in found)
    case = f"N = {population:,}, groups {ranges.min_group}–{ranges.max_group}, slots {ranges.min_capacity}–{ranges.max_capacity}"
    note = "; ".join(
        part for part in (f"{runs} runs, vector proved in {proved}, K in {k_proved}", remark) if part
    )
    names = {
        "random": "random",
        "optimal": "optimal",
        "heuristic": "heuristic",
        "before": "before any appointment",
    }
    means = [round(float(np.mean([getattr(item, key).k for item in found])), 3) for key in names]
    rows = [
        Row("Mean K (Table 8)", case, name, there, mean, note)
        for name, there, mean in zip(names.values(), (*published, None), means, strict=True)
    ]
    curves = {
        f"k {place}|{name}": [(float(population), mean)] for name, mean in zip(names, means, strict=True)
    }
    return Findings(rows, curves)


def _shares(scope: Scope) -> Sequence[Row]:
    """How many of all random assignments of the worked example single somebody out."""
    from shoal.appointments.counting import count_assignments

    groups, seats = [4, 4, 5, 2], [4, 2, 4, 3, 2]
    every, safe = (count_assignments(groups, seats, k) for k in (1, 2))
    table = "All seats of the worked example"
    return [
        Row(table, "15 people", "assignments", None, float(every)),
        Row(
            table,
            "15 people",
            "of them with K = 1, %",
            99.94,
            round(100.0 * (1 - safe / every), 5),
            "counted, not drawn",
        ),
        Row(table, "15 people", "matrices", None, count_plans(groups, seats, 1)),
        Row(table, "15 people", "of them with K = 2 or more", None, count_plans(groups, seats, 2)),
    ]


def _one_shot(scope: Scope) -> Findings:
    """The whole vector in one constraint model beside the search level by level, on the same instances."""
    sizes = (5, 10, 20) if scope.quick else (5, 10, 20, 25, 30, 40)
    runs, limit = (3, 10.0) if scope.quick else (20, 120.0)
    printed = {20: 0.33, 30: 0.33, 40: 0.48}
    rows, curves = [], {}
    for population in sizes:
        spent: dict[str, list[float]] = {"levels": [], "one-shot": []}
        proved = dict.fromkeys(spent, 0)
        for run in range(runs):
            made = instance(population, Ranges(1, 7, 2, 8), seeds=scope.seeds("one-shot", population, run))
            for model, seconds in spent.items():
                began = working_cpu_time()
                plan = assign_sizes(
                    made.groups,
                    made.capacities,
                    objective="vector",
                    method="lexicographic",
                    options={"model": model},
                    budget=Budget(seconds=limit, clock=working_cpu_time),
                )
                seconds.append(working_cpu_time() - began)
                proved[model] += plan.optimal
        ratio = fmean(spent["one-shot"]) / max(fmean(spent["levels"]), 1e-9)
        note = (
            f"{runs} instances, optimal for {proved['levels']} by levels and {proved['one-shot']} in one model, time-out "
            f"{limit:g} s; published: ratios of two models of its own"
        )
        case = f"N = {population}"
        rows.append(
            Row(
                "One model beside level by level",
                case,
                "CPU one model / CPU levels",
                printed.get(population),
                round(ratio, 3),
                note,
            )
        )
        for model, seconds in spent.items():
            curves[f"one-shot {population}|{model}"] = [(float(population), float(np.mean(seconds)))]
    return Findings(rows, curves)


def _runs(population: int, scope: Scope) -> int:
    if scope.quick:
        return 10 if population <= 100 else 3 if population <= 1000 else 1
    return 100 if population <= 1000 else 20


def _example(scope: Scope) -> Sequence[Row]:
    best = assign_sizes([4, 4, 5, 2], [4, 2, 4, 3, 2], objective="vector")
    rule = assign_sizes(
        [4, 4, 5, 2], [4, 2, 4, 3, 2], objective="vector", method="greedy", options={"rule": "published"}
    )
    return [
        Row("Worked example, 15 people", "before", "vector", "(0, 1, 0, 2, 1)", str(best.vector_before)),
        Row("Worked example, 15 people", "optimal", "vector", "(0, 2, 1, 2)", str(best.vector), proof(best)),
        Row("Worked example, 15 people", "heuristic", "vector", None, str(rule.vector)),
    ]


def _real(scope: Scope) -> Sequence[Row]:
    try:
        data = json.loads(benchmark_file("appointments/norway_1992-01-15.json").read_text(encoding="utf-8"))
    except InputError as reason:
        return [Row("A real screening programme", "4,541 women", "unique women", 227, None, str(reason))]
    given = AnonymityVector.from_sizes(data["actual_class_sizes"])
    plan = assign_sizes(data["group_sizes"], [data["slot_capacity"]] * data["slots"], objective="vector")
    note = proof(plan)
    table = "A real screening programme (Caballero, Sen and Nygård 2017)"
    return [
        Row(
            table, f"{plan.problem.people:,} women, appointments really given", "unique women", 227, given[1]
        ),
        Row(table, "before any appointment", "unique women", 24, plan.vector_before[1]),
        Row(table, "this plan", "unique women", 24, plan.vector[1], note),
        Row(table, "this plan", "pairs", 36, plan.vector[2], note),
        Row(table, "seats drawn at random", "unique women", None, plan.random[1]),
    ]


def _steps(scope: Scope) -> Sequence[Step]:
    steps = [
        Step("example", "the worked example", _example, 0.1),
        Step("shares", "all assignments of the worked example", _shares, 0.1),
        Step("real", "a real programme", _real),
        Step("one-shot", "the vector in one model", _one_shot, 5.0),
    ]
    steps += [
        Step(f"gain-{population}", f"gain at N = {population}", partial(_gain, population), population / 100)
        for population in _GAINS
    ]
    steps += [
        Step(f"k-{place}", f"mean K at N = {case[0]}", partial(_mean_k, place), case[0] / 100)
        for place, case in enumerate(_MEAN_K)
    ]
    return steps


def _claims(found: Findings) -> list[Claim]:
    """What the work reads from its tables, on what was measured."""
    rows = {(row.table, row.case, row.measure): row.measured for row in found.rows}
    claims = []
    for population in _GAINS:
        case = f"N = {population}"
        gained = rows.get(("Mean gain (Table 7)", case, "heuristic over random"))
        lost = rows.get(("Mean gain (Table 7)", case, "optimal over heuristic"))
        if isinstance(gained, float):
            claims.append(
                Claim(case, "mean gain of the heuristic over random seats", Rule("above", 0), gained)
            )
        if isinstance(lost, float):
            claims.append(
                Claim(case, "mean gain of the optimum over the heuristic", Rule("at least", 0), lost)
            )
    for table, case, measure in rows:
        if table == "Mean K (Table 8)" and measure == "heuristic":
            ours, chance = rows[table, case, "heuristic"], rows[table, case, "random"]
            if isinstance(ours, float) and isinstance(chance, float):
                figure = "mean K of the heuristic minus that of random seats"
                claims.append(Claim(case, figure, Rule("at least", 0), ours - chance))
    share = rows.get(("All seats of the worked example", "15 people", "of them with K = 1, %"))
    if isinstance(share, float):
        claims.append(
            Claim("15 people", "percent of random assignments with K = 1", Rule("above", 99.5), share, 99.94)
        )
    return claims


def _charts(found: Findings) -> dict[str, Picture]:
    from shoal.report import charts

    drawn = {}
    for kind, y, caption, log in (
        ("gain", "mean gain", "Table 7: mean gain by population, published and measured.", "x"),
        ("k", "mean K", "Table 8: mean K by population.", "xy"),
        ("one-shot", "CPU seconds", "The vector in one constraint model beside level by level.", "y"),
    ):
        series: dict[str, list[tuple[float, float]]] = {}
        for name, points in found.curves.items():
            first, _, label = name.partition("|")
            if first.rpartition(" ")[0] == kind:
                series.setdefault(label, []).extend(points)
        if series:
            ordered = {name: sorted(points) for name, points in series.items()}
            svg = charts.lines(ordered, x="people", y=y, steps=False, log=log)  # type: ignore[arg-type]
            drawn[f"{kind}-by-population"] = Picture(svg, caption)
    return drawn


STUDY = Study(
    name="screening",
    title="Screening appointments: optimal, greedy and random",
    source="R. J. Cabana Ramírez, Anonimización de citas médicas mediante programación con restricciones, "
    "master's thesis, Universidad Complutense de Madrid, 2016",
    steps=_steps,
    claims=_claims,
    charts=_charts,
    remarks=(
        "The optimum beyond N = 25 was not computed in the published experiments; here it is, with its proof counted.",
        "Gains divide ranks counted from 1, as the published program does; for large crowds the rank gain goes blind, so K "
        "is shown beside it.",
        "The ranges of group sizes and capacities are not printed; those of the published program are used, and others where "
        "the note says so.",
    ),
)
