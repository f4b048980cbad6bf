"""Tables 2 to 20 from what was measured, the figures of the work and its summary files."""

from collections.abc import Sequence
from statistics import mean
from types import ModuleType

from shoal.generate.table import SETS, DataSet
from shoal.studies.cell_suppression import summary_file
from shoal.studies.cell_suppression.measurements import Measurements, on_common_tables
from shoal.studies.cell_suppression.published import (
    CONFIGURATIONS,
    COSTS,
    HYPERCUBE_SECONDS,
    PERCENTAGES,
    PRELIMINARY,
    RATIOS,
    TIMES,
    Five,
)
from shoal.studies.cell_suppression.statistics import MEASURES, five_numbers, improvement_ratio
from shoal.studies.cell_suppression.summary_file import Summary
from shoal.studies.study import Findings, Picture, Row

CONTROL = "hypercube, best of ten"
_PRELIMINARY_TABLES = {"10000Cells0.5": 2, "10000Cells1": 3, "10000Cells3": 4}
_ORDER = sorted(SETS, key=lambda data: COSTS[data.name][0])
_NONE: Five = (None,) * 5


def closing(findings: Findings) -> list[Row]:
    """All rows that need several runs, for the sets that were run."""
    found = Measurements(findings.curves)
    rows: list[Row] = []
    for data in _ORDER:
        rows += _preliminary(found, data.name)
    for data in _ORDER:
        rows += _costs(found, data.name) + _seconds(found, data.name)
    for data in _ORDER:
        rows += _ratio(found, data.name)
    for data in _ORDER:
        rows += _percentages(found, data.name)
    return rows


def _five_rows(table: str, case: str, printed: Five, values: Sequence[float], note: str = "") -> list[Row]:
    return [
        Row(table, case, measure, published, round(figure, 4), note if measure == "average" else "")
        for measure, published, figure in zip(MEASURES, printed, five_numbers(values), strict=True)
    ]


def _extent(found: Measurements, data: str, label: str) -> str:
    places = found.tables(data, label)
    failures = sum(len(found.of("failed", data, label, place)) for place in places)
    runs = failures + sum(len(figures) for figures in found.by_table("cost", data, label).values())
    return (
        f"{runs} run{'s' * (runs != 1)} on {len(places)} table{'s' * (len(places) != 1)}, {failures} failed"
    )


def _preliminary(found: Measurements, data: str) -> list[Row]:
    if data not in PRELIMINARY:
        return []
    rows = []
    for shown, printed in zip(CONFIGURATIONS, PRELIMINARY[data], strict=True):
        label = "heurgene" if shown == "Probabilistic" else shown
        if costs := found.means("cost", data, label):
            table = f"Table {_PRELIMINARY_TABLES[data]}: six configurations, {data}"
            rows += _five_rows(table, shown, printed, [*costs.values()], _extent(found, data, label))
    return rows


def _compared(found: Measurements, data: str) -> list[str]:
    return [label for label in found.labels(data) if label not in CONFIGURATIONS]


def _costs(found: Measurements, data: str) -> list[Row]:
    number, printed = COSTS[data]
    table = f"Table {number}: cost, {data}"
    rows = []
    for label in _compared(found, data):
        costs = found.by_table("cost", data, label)
        if not costs:
            rows.append(Row(table, label, "average", None, None, _extent(found, data, label)))
            continue
        usual = [mean(figures) for figures in costs.values()]
        rows += _five_rows(table, label, printed.get(label, _NONE), usual, _extent(found, data, label))
        if label == "heurgene" and max(map(len, costs.values())) > 1:
            best = [min(figures) for figures in costs.values()]
            note = "what the printed column is, at least at 10,000 cells and 1 %"
            rows += _five_rows(table, "heurgene, best run of each table", printed[label], best, note)
            founders = found.means("best_founder", data, label)
            note = "the cheapest founder of each run of heurgene: the control the work lacks"
            rows += _five_rows(table, CONTROL, _NONE, [*founders.values()], note)
        if bounds := found.means("bound", data, label):
            gaps = [
                100.0 * (1.0 - bounds[place] / mean(costs[place])) for place in bounds if mean(costs[place])
            ]
            gap = round(mean(gaps), 3) if gaps else 0.0
            rows.append(Row(table, label, "mean gap to the bound, %", None, gap))
    return rows


def _seconds(found: Measurements, data: str) -> list[Row]:
    number, printed = TIMES[data]
    rows = []
    for label in _compared(found, data):
        if seconds := found.means("seconds", data, label):
            column = printed.get(label, _NONE)
            if label == "hypercube":
                usual, middle, deviation = HYPERCUBE_SECONDS[data]
                column = (usual, middle, None, None, deviation)
            table = f"Table {number}: CPU seconds, {data}"
            rows += _five_rows(table, label, column, [*seconds.values()])
    return rows


def _ratio(found: Measurements, data: str) -> list[Row]:
    number, *printed = RATIOS[data]
    base = found.means("cost", data, "hypercube")
    rows = []
    for method, figure in zip(("gensup", "heurgene"), printed, strict=True):
        costs, seconds = (found.means(measure, data, method) for measure in ("cost", "seconds"))
        common = on_common_tables(base, costs, seconds)
        if common[0] and mean(common[2]) > 0:
            ratio = improvement_ratio(*map(mean, common))
            table = f"Table {number}: cost saved over HyperCube per CPU second"
            rows.append(Row(table, f"{method} {data}", "ratio", figure, round(ratio, 4)))
    return rows


def _percentages(found: Measurements, data: str) -> list[Row]:
    """The percentages of the text, of what was measured here."""
    base, gensup, heurgene = (found.means("cost", data, name) for name in ("hypercube", "gensup", "heurgene"))
    seconds = [found.means("seconds", data, name) for name in ("heurgene", "gensup")]
    rows = []
    for name, costs, stated in (("gensup", gensup, 0), ("heurgene", heurgene, 1)):
        common = on_common_tables(base, costs)
        if common[0] and mean(common[0]) > 0:
            below = 100.0 * (1.0 - mean(common[1]) / mean(common[0]))
            rows.append(
                Row(
                    "Percentages of the text, measured",
                    data,
                    f"{name} below hypercube, %",
                    PERCENTAGES[data][stated],
                    round(below, 2),
                )
            )
    spent = on_common_tables(*seconds)
    if spent[0] and mean(spent[1]) > 0:
        share = round(100.0 * mean(spent[0]) / mean(spent[1]), 2)
        rows.append(
            Row(
                "Percentages of the text, measured",
                data,
                "CPU of heurgene / gensup, %",
                PERCENTAGES[data][2],
                share,
            )
        )
    return rows


def charts(findings: Findings) -> dict[str, Picture]:
    """The figures of the work: costs and CPU seconds by table, and ratios by share of sensitive cells."""
    from shoal.report import charts as draw

    found = Measurements(findings.curves)
    drawn = {}
    for number, data in enumerate([data for data in _ORDER if data.name in PRELIMINARY], start=7):
        labels = [
            label for label in found.labels(data.name) if label in CONFIGURATIONS or label == "heurgene"
        ]
        if len(labels) > 1:
            drawn[f"figure-{number:02}-configurations-{data.name}"] = Picture(
                _picture(draw, found, "cost", data.name, labels),
                f"Figure {number}: average cost of six configurations on each table of {data.name}.",
            )
    for place, data in enumerate(_ORDER):
        labels = _compared(found, data.name)
        for offset, measure in enumerate(("cost", "seconds")):
            if labels:
                number = 10 + 2 * place + offset
                what = "average cost" if measure == "cost" else "CPU seconds"
                drawn[f"figure-{number}-{measure}-{data.name}"] = Picture(
                    _picture(draw, found, measure, data.name, labels),
                    f"Figure {number}: {what} on each table of {data.name}.",
                )
    ratios: dict[str, list[tuple[float, float]]] = {}
    for data in _ORDER:
        if data.rows > 100:
            for row in _ratio(found, data.name):
                share = 100.0 * data.sensitive / (data.rows * data.columns)
                ratios.setdefault(row.case.split()[0], []).append((share, float(row.measured or 0.0)))
    if any(len(points) > 1 for points in ratios.values()):
        drawn["figure-24-ratios"] = Picture(
            draw.lines(
                {method: sorted(points) for method, points in ratios.items()},
                x="percent of cells that are sensitive",
                y="cost saved per CPU second",
                steps=False,
            ),
            "Figure 24: cost saved over HyperCube per CPU second, 100,000 cells.",
        )
    return drawn


def _picture(draw: ModuleType, found: Measurements, measure: str, data: str, labels: Sequence[str]) -> str:
    y = "average cost" if measure == "cost" else "CPU seconds"
    curves = {label: found.means(measure, data, label) for label in labels}
    curves = {label: points for label, points in curves.items() if points}
    if max(map(len, curves.values()), default=0) < 2:
        return draw.bars(list(curves), [mean(points.values()) for points in curves.values()], x="method", y=y)
    return draw.lines(
        {label: [*points.items()] for label, points in curves.items()},
        x="table",
        y=y,
        steps=False,
        log="y" if measure == "seconds" else "",
    )


def files(findings: Findings) -> dict[str, str]:
    """The summary file of every method on every set."""
    found = Measurements(findings.curves)
    written = {}
    for data in _ORDER:
        for label in found.labels(data.name):
            summaries = [
                Summary.of(
                    f"{file_stem(data)}_{place - 1}.txt",
                    found.of("seconds", data.name, label, place),
                    found.of("cost", data.name, label, place),
                    found.of("last_improvement", data.name, label, place),
                    len(found.of("failed", data.name, label, place)),
                )
                for place in found.tables(data.name, label)
            ]
            name = label.replace("/", "-").replace(", ", "-").replace(" ", "-").lower()
            written[f"summary-{data.name}-{name}.txt"] = summary_file.write(summaries)
    return written


def file_stem(data: DataSet) -> str:
    """What the tables of a set are called in a summary file: cells and percent of sensitive ones.

    >>> file_stem(SETS[1])
    'ds10000cells01'
    """
    cells = data.rows * data.columns
    share = 100.0 * data.sensitive / cells
    return f"ds{cells}cells{share:02.0f}" if share >= 1 else f"ds{cells}cells{share:g}"
