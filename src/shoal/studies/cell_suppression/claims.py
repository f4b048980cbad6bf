"""The claims of the work, with its figure and ours and whether they hold here."""

from collections.abc import Iterator
from statistics import mean

from shoal.generate.table import SETS, DataSet
from shoal.studies.cell_suppression.measurements import Measurements, on_common_tables
from shoal.studies.cell_suppression.published import (
    CONFIGURATIONS,
    COSTS,
    HYPERCUBE_SECONDS,
    PRELIMINARY,
    TIMES,
)
from shoal.studies.cell_suppression.recomputed import average
from shoal.studies.study import Row


def claims(found: Measurements) -> Iterator[Row]:
    """Every claim that what was measured so far can settle."""
    for data in SETS:
        yield from _level(found, data)
    yield from _scaling(found)
    for data in SETS:
        yield from _population(found, data)
        yield from _repair(found, data)
        yield from _configurations(found, data)
    yield from _equal(found)


def _claim(
    case: str, measure: str, published: float | None, measured: float, tables: int, *, holds: bool
) -> Row:
    printed = None if published is None else round(published, 4)
    verdict = "holds" if holds else "does not hold"
    note = f"{verdict} here on {tables} table{'s' * (tables != 1)}"
    return Row("Claims", case, measure, printed, round(measured, 4), note)


def _level(found: Measurements, data: DataSet) -> Iterator[Row]:
    costs = found.means("cost", data.name, "hypercube")
    if not costs:
        return
    printed, measured = average(COSTS[data.name][1]["hypercube"]), mean(costs.values())
    if data.name == "100000Cells3":
        # A few cells decide; the work itself ranges from 0 to 298.
        yield _claim(
            data.name, "HyperCube costs less than 400", printed, measured, len(costs), holds=measured < 400
        )
        return
    near = abs(measured - printed) <= 0.15 * printed
    yield _claim(
        data.name,
        "HyperCube's cost is within 15 % of the published",
        printed,
        measured,
        len(costs),
        holds=near,
    )


def _scaling(found: Measurements) -> Iterator[Row]:
    sensitive = {data.name: data.sensitive for data in SETS}
    for case, first, second, most in (
        ("10,000 cells, most over fewest sensitive", "10000Cells0.5", "10000Cells3", 1.25),
        ("100,000 cells, most over fewest sensitive", "100000CellsRC", "100000Cells3", 1.25),
        ("0.5 % sensitive, 100,000 over 10,000 cells", "10000Cells0.5", "100000Cells0.5", 16.0),
    ):
        spent = [found.means("seconds", name, "hypercube") for name in (first, second)]
        if not all(spent):
            continue
        ours = [mean(by_table.values()) for by_table in spent]
        theirs = [HYPERCUBE_SECONDS[name][0] for name in (first, second)]
        more = sensitive[second] / sensitive[first]
        growth, printed = (seconds[1] / seconds[0] / more for seconds in (ours, theirs))
        measure = f"CPU of HyperCube per sensitive cell grows at most {most:g} times"
        yield _claim(case, measure, printed, growth, min(map(len, spent)), holds=growth <= most)


def _population(found: Measurements, data: DataSet) -> Iterator[Row]:
    name = data.name
    plain, evolved = (found.means("cost", name, label) for label in ("hypercube", "heurgene"))
    if not plain or not evolved:
        return
    founders, finals = (found.by_table(measure, name, "heurgene") for measure in ("best_founder", "cost"))
    worse = sum(
        final > founder * (1.0 + 1e-9)
        for place, mine in founders.items()
        for founder, final in zip(mine, finals[place], strict=True)
    )
    tables = len(finals)
    measure = "runs of HeurGene that end above their best founder"
    yield _claim(name, measure, 0.0, worse, tables, holds=worse == 0)
    cheapest = found.means("best_founder", name, "heurgene")
    common = on_common_tables(plain, evolved, cheapest)
    if not common[0]:
        return
    start, end, best = map(mean, common)
    tables = len(common[0])
    if name == "10000Cells1":
        below = 100.0 * (1.0 - end / start)
        measure = "HeurGene below HyperCube, %: at least 1.5"
        yield _claim(name, measure, 100.0 * (1.0 - 6778.6 / 6885.0), below, tables, holds=below >= 1.5)
    if start > end:
        by_starts = 100.0 * (start - best) / (start - end)
        measure = "percent of HeurGene's gain that ten starts bring alone: more than half"
        yield _claim(name, measure, None, by_starts, tables, holds=by_starts > 50.0)


def _repair(found: Measurements, data: DataSet) -> Iterator[Row]:
    name = data.name
    born, broken = (
        sum(map(sum, found.by_table(measure, name, "gensup").values()))
        for measure in ("children", "infeasible")
    )
    slow, fast = (found.means("seconds", name, label) for label in ("gensup", "heurgene"))
    if born:
        measure = "percent of GenSup's children that are unsafe before repair: not 0"
        yield _claim(name, measure, None, 100.0 * broken / born, len(slow), holds=broken > 0)
    both = on_common_tables(slow, fast)
    if both[0]:
        printed = average(TIMES[name][1]["gensup"]) / average(TIMES[name][1]["heurgene"])
        times = mean(both[0]) / mean(both[1])
        # The work's own exception is the set with 3 % of 100,000 cells.
        least = 5.0 if data.rows == 100 else 1.0
        measure = f"CPU of GenSup over CPU of HeurGene: at least {least:g}"
        yield _claim(name, measure, printed, times, len(both[0]), holds=times >= least)


def _configurations(found: Measurements, data: DataSet) -> Iterator[Row]:
    labels = ["heurgene" if shown == "Probabilistic" else shown for shown in CONFIGURATIONS]
    costs = [found.means("cost", data.name, label) for label in labels]
    common = on_common_tables(*costs)
    if data.name not in PRELIMINARY or not common[0]:
        return
    ours = [mean(figures) for figures in common]
    theirs = [average(column) for column in PRELIMINARY[data.name]]
    spread, printed = (100.0 * (max(means) / min(means) - 1.0) for means in (ours, theirs))
    measure = "percent between the dearest and the cheapest configuration: below 5"
    yield _claim(data.name, measure, printed, spread, len(common[0]), holds=spread < 5.0)


def _equal(found: Measurements) -> Iterator[Row]:
    name = "100000Cells3"
    costs = [found.means("cost", name, label) for label in ("hypercube", "heurgene", "gensup")]
    common = set(costs[0]).intersection(*costs[1:])
    if common:
        same = sum(max(c[place] for c in costs) - min(c[place] for c in costs) < 0.5 for place in common)
        measure = "tables on which all three cost the same: at least one"
        yield _claim(name, measure, 7.0, same, len(common), holds=same > 0)
