"""What the work says of its methods, as rules for what was measured: the verdicts follow from the figures."""

from collections.abc import Iterator
from statistics import mean, median

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
from shoal.studies.claims import Claim, Rule
from shoal.studies.study import Findings

# Where few cells are sensitive, by the words of the work.
_FEW = ("10000Cells0.5", "100000CellsRC", "100000Cells0.5")


def claims(findings: Findings) -> list[Claim]:
    """Every claim that what was measured so far can settle."""
    return list(_claims(Measurements(findings.curves)))


def _claims(found: Measurements) -> Iterator[Claim]:
    for data in SETS:
        yield from _level(found, data)
    yield from _scaling(found)
    for data in SETS:
        yield from _population(found, data)
        yield from _infeasible(found, data)
        yield from _cheaper(found, data)
        yield from _shortest_path(found, data)
        yield from _configurations(found, data)
    yield from _equal(found)


def _on(tables: int) -> str:
    return f"on {tables} table{'s' * (tables != 1)}"


def _level(found: Measurements, data: DataSet) -> Iterator[Claim]:
    costs = found.means("cost", data.name, "hypercube")
    if not costs:
        return
    printed, measured = average(COSTS[data.name][1]["hypercube"]), mean(costs.values())
    if data.name == "100000Cells3":
        # A few cells decide; the work itself ranges from 0 to 298.
        rule = Rule("below", 400)
        yield Claim(data.name, "cost of HyperCube", rule, measured, printed, _on(len(costs)))
        return
    away = 100.0 * abs(measured - printed) / printed
    figure = "percent between HyperCube's cost and the published"
    yield Claim(data.name, figure, Rule("at most", 15), away, 0.0, _on(len(costs)))


def _scaling(found: Measurements) -> Iterator[Claim]:
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
        growth, printed = (seconds[1] / max(seconds[0], 1e-9) / more for seconds in (ours, theirs))
        figure = "how many times CPU of HyperCube per sensitive cell grows"
        yield Claim(case, figure, Rule("at most", most), growth, printed, _on(min(map(len, spent))))


def _population(found: Measurements, data: DataSet) -> Iterator[Claim]:
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
    figure = "runs of HeurGene that end above their best founder"
    yield Claim(name, figure, Rule("exactly", 0), float(worse), 0.0, _on(len(finals)))
    cheapest = found.means("best_founder", name, "heurgene")
    common = on_common_tables(plain, evolved, cheapest)
    if not common[0]:
        return
    start, end, best = map(mean, common)
    tables = _on(len(common[0]))
    if name == "10000Cells1" and start > 0:
        below, printed = 100.0 * (1.0 - end / start), 100.0 * (1.0 - 6778.6 / 6885.0)
        yield Claim(name, "HeurGene below HyperCube, %", Rule("at least", 1.5), below, printed, tables)
    if start > end:
        by_starts = 100.0 * (start - best) / (start - end)
        figure = "percent of HeurGene's gain that ten starts bring alone"
        yield Claim(name, figure, Rule("above", 50), by_starts, None, tables)


def _infeasible(found: Measurements, data: DataSet) -> Iterator[Claim]:
    """RQ1: whether crossover and mutation make few or no infeasible children; the work reports no counts."""
    name = data.name
    for label, shown, rule in (
        ("heurgene", "RQ1: percent of HeurGene's children that are unsafe", Rule("exactly", 0)),
        ("gensup", "percent of GenSup's children that are unsafe before repair", Rule("above", 0)),
    ):
        born, broken = (
            sum(map(sum, found.by_table(measure, name, label).values()))
            for measure in ("children", "infeasible")
        )
        if born:
            tables = len(found.by_table("children", name, label))
            extent = f"in {broken:g} of {born:g} children {_on(tables)}"
            yield Claim(name, shown, rule, 100.0 * broken / born, None, extent)
    slow, fast = (found.means("seconds", name, label) for label in ("gensup", "heurgene"))
    both = on_common_tables(slow, fast)
    if both[0]:
        printed = average(TIMES[name][1]["gensup"]) / average(TIMES[name][1]["heurgene"])
        times = mean(both[0]) / max(mean(both[1]), 1e-9)
        # The work's own exception is the set with 3 % of 100,000 cells.
        rule = Rule("at least", 5.0 if data.rows == 100 else 1.0)
        yield Claim(name, "CPU of GenSup over CPU of HeurGene", rule, times, printed, _on(len(both[0])))


def _cheaper(found: Measurements, data: DataSet) -> Iterator[Claim]:
    """RQ2: whether HeurGene is cheaper than its rivals, by averages and medians as the work compares them."""
    name = data.name
    few = name in _FEW
    ours = found.means("cost", name, "heurgene")
    for rival, rule in (
        ("hypercube", Rule("below", 1)),
        ("gensup", Rule("below" if few else "above", 1)),
        ("shortest-path", Rule("below", 1)),
    ):
        both = on_common_tables(ours, found.means("cost", name, rival))
        if not both[0]:
            continue
        column = COSTS[name][1]
        for place, (what, middle) in enumerate((("average", mean), ("median", median))):
            base = middle(both[1])
            if base <= 0:
                continue
            printed = None
            if rival in column:
                theirs, others = column["heurgene"][place], column[rival][place]
                printed = theirs / others if theirs is not None and others else None
            figure = f"RQ2: {what} cost of HeurGene over that of {rival}"
            yield Claim(name, figure, rule, middle(both[0]) / base, printed, _on(len(both[0])))


def _shortest_path(found: Measurements, data: DataSet) -> Iterator[Claim]:
    """Whether shortest paths are worse than HyperCube in cost and in time, for which the work withholds them."""
    for measure, what in (("cost", "cost"), ("seconds", "CPU")):
        both = on_common_tables(
            *(found.means(measure, data.name, label) for label in ("shortest-path", "hypercube"))
        )
        if both[0] and mean(both[1]) > 0:
            figure = f"{what} of shortest paths over that of HyperCube"
            ratio = mean(both[0]) / mean(both[1])
            yield Claim(data.name, figure, Rule("above", 1), ratio, None, _on(len(both[0])))


def _configurations(found: Measurements, data: DataSet) -> Iterator[Claim]:
    labels = ["heurgene" if shown == "Probabilistic" else shown for shown in CONFIGURATIONS]
    costs = [found.means("cost", data.name, label) for label in labels]
    common = on_common_tables(*costs)
    if data.name not in PRELIMINARY or not common[0]:
        return
    ours = [mean(figures) for figures in common]
    theirs = [average(column) for column in PRELIMINARY[data.name]]
    if min(ours) <= 0:
        return
    spread, printed = (100.0 * (max(means) / min(means) - 1.0) for means in (ours, theirs))
    figure = "percent between the dearest and the cheapest configuration"
    yield Claim(data.name, figure, Rule("below", 5), spread, printed, _on(len(common[0])))


def _equal(found: Measurements) -> Iterator[Claim]:
    name = "100000Cells3"
    costs = [found.means("cost", name, label) for label in ("hypercube", "heurgene", "gensup")]
    common = set(costs[0]).intersection(*costs[1:])
    if common:
        same = sum(max(c[place] for c in costs) - min(c[place] for c in costs) < 0.5 for place in common)
        figure = "tables on which all three cost the same"
        yield Claim(name, figure, Rule("at least", 1), float(same), 7.0, _on(len(common)))
