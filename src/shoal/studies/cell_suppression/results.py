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

# What stands beside a printed column: the method with either kind of rectangles.
_PUBLISHED = {
    "hypercube": "hypercube",
    "hypercube, split": "hypercube",
    "heurgene": "heurgene",
    "heurgene, joint": "heurgene",
    "gensup": "gensup",
    "gensup, joint": "gensup",
}
_CONTROLS = {"heurgene": "hypercube, split, best of ten", "heurgene, joint": "hypercube, best of ten"}
_PRELIMINARY_TABLES = {"10000Cells0.5": 2, "10000Cells1": 3, "10000Cells3": 4}
_ORDER = sorted(SETS, key=lambda data: COSTS[data.name][0])
_NONE: Five = (None,) * 5


def closing(findings: Findings) -> list[Row]:
    """All rows that need several runs, for the sets that were run."""
    measured = Measurements(findings.curves)
    rows: list[Row] = []
    for data in _ORDER:
        rows += _preliminary(measured, data.name)
    for data in _ORDER:
        rows += _costs(measured, data.name) + _seconds(measured, data.name)
    for data in _ORDER:
        rows += _ratio(measured, data.name)
    for data in _ORDER:
        rows += _percentages(measured, data.name)
    return rows


def _five_rows(table: str, case: str, printed: Five, values: Sequence[float], note: str = "") -> list[Row]:
    return [
        Row(table, case, measure, published, round(figure, 4), note if measure == "average" else "")
        for measure, published, figure in zip(MEASURES, printed, five_numbers(values), strict=True)
    ]


def _extent(measured: Measurements, data: str, label: str) -> str:
    numbers = measured.tables(data, label)
    failures = sum(len(measured.of("failed", data, label, number)) for number in numbers)
    runs = failures + sum(len(figures) for figures in measured.by_table("cost", data, label).values())
    return (
        f"{runs} run{'s' * (runs != 1)} on {len(numbers)} table{'s' * (len(numbers) != 1)}, {failures} failed"
    )


def _preliminary(measured: Measurements, data: str) -> list[Row]:
    if data not in PRELIMINARY:
        return []
    rows = []
    for shown, printed in zip(CONFIGURATIONS, PRELIMINARY[data], strict=True):
        label = "heurgene" if shown == "Probabilistic" else shown
        if costs := measured.means("cost", data, label):
            table = f"Table {_PRELIMINARY_TABLES[data]}: six configurations, {data}"
            rows += _five_rows(table, shown, printed, [*costs.values()], _extent(measured, data, label))
    return rows


def _compared(measured: Measurements, data: str) -> list[str]:
    return [label for label in measured.labels(data) if label not in CONFIGURATIONS]


def _costs(measured: Measurements, data: str) -> list[Row]:
    number, printed = COSTS[data]
    table = f"Table {number}: cost, {data}"
    rows = []
    for label in _compared(measured, data):
        costs = measured.by_table("cost", data, label)
        if not costs:
            rows.append(Row(table, label, "average", None, None, _extent(measured, data, label)))
            continue
        usual = [mean(figures) for figures in costs.values()]
        column = printed.get(_PUBLISHED.get(label, ""), _NONE)
        rows += _five_rows(table, label, column, usual, _extent(measured, data, label))
        if founders := measured.means("best_founder", data, label) if label in _CONTROLS else {}:
            note = f"the cheapest founder of each run of {label}: the control the work lacks"
            rows += _five_rows(table, _CONTROLS[label], _NONE, [*founders.values()], note)
        if (
            best := [min(figures) for figures in costs.values() if len(figures) > 1]
            if label in _CONTROLS
            else []
        ):
            note = "what the printed column is, at least at 10,000 cells and 1 %"
            shown = f"{label}, best run of each table"
            rows += _five_rows(table, shown, printed["heurgene"], best, note)
        if bounds := measured.means("bound", data, label):
            gaps = [
                100.0 * (1.0 - bounds[table] / mean(costs[table])) for table in bounds if mean(costs[table])
            ]
            gap = round(mean(gaps), 3) if gaps else 0.0
            rows.append(Row(table, label, "mean gap to the bound, %", None, gap))
    return rows


def _seconds(measured: Measurements, data: str) -> list[Row]:
    number, printed = TIMES[data]
    rows = []
    for label in _compared(measured, data):
        if seconds := measured.means("seconds", data, label):
            method = _PUBLISHED.get(label, "")
            column = printed.get(method, _NONE)
            if method == "hypercube":
                usual, middle, deviation = HYPERCUBE_SECONDS[data]
                column = (usual, middle, None, None, deviation)
            table = f"Table {number}: CPU seconds, {data}"
            rows += _five_rows(table, label, column, [*seconds.values()])
    return rows


def _ratio(measured: Measurements, data: str) -> list[Row]:
    number, *printed = RATIOS[data]
    rows = []
    for label, figure in zip(
        ("gensup", "heurgene", "gensup, joint", "heurgene, joint"), 2 * printed, strict=True
    ):
        base = measured.means("cost", data, "hypercube" if label.endswith("joint") else "hypercube, split")
        costs, seconds = (measured.means(measure, data, label) for measure in ("cost", "seconds"))
        common = on_common_tables(base, costs, seconds)
        if common[0] and mean(common[2]) > 0:
            ratio = improvement_ratio(*map(mean, common))
            table = f"Table {number}: cost saved over HyperCube per CPU second"
            rows.append(Row(table, f"{label} {data}", "ratio", figure, round(ratio, 4)))
    return rows


def _percentages(measured: Measurements, data: str) -> list[Row]:
    """The percentages of the text, of what was measured here."""
    table = "Percentages of the text, measured"
    rows = []
    for suffix, hypercube in (("", "hypercube, split"), (", joint", "hypercube")):
        base = measured.means("cost", data, hypercube)
        for i, method in enumerate(("gensup", "heurgene")):
            common = on_common_tables(base, measured.means("cost", data, f"{method}{suffix}"))
            if common[0] and mean(common[0]) > 0:
                below = round(100.0 * (1.0 - mean(common[1]) / mean(common[0])), 2)
                shown = f"{method}{suffix} below {hypercube}, %"
                rows.append(Row(table, data, shown, PERCENTAGES[data][i], below))
        spent = on_common_tables(
            *(measured.means("seconds", data, f"{method}{suffix}") for method in ("heurgene", "gensup"))
        )
        if spent[0] and mean(spent[1]) > 0:
            share = round(100.0 * mean(spent[0]) / mean(spent[1]), 2)
            rows.append(Row(table, data, f"CPU of heurgene / gensup{suffix}, %", PERCENTAGES[data][2], share))
    return rows


def charts(findings: Findings) -> dict[str, Picture]:
    """The figures of the work: costs and CPU seconds by table, and ratios by share of sensitive cells."""
    from shoal.report import charts as draw

    measured = Measurements(findings.curves)
    drawn = {}
    for number, data in enumerate([data for data in _ORDER if data.name in PRELIMINARY], start=7):
        labels = [
            label for label in measured.labels(data.name) if label in CONFIGURATIONS or label == "heurgene"
        ]
        if len(labels) > 1:
            drawn[f"figure-{number:02}-configurations-{data.name}"] = Picture(
                _picture(draw, measured, "cost", data.name, labels),
                f"Figure {number}: average cost of six configurations on each table of {data.name}.",
            )
    for i, data in enumerate(_ORDER):
        labels = _compared(measured, data.name)
        for offset, measure in enumerate(("cost", "seconds")):
            if labels:
                number = 10 + 2 * i + offset
                what = "average cost" if measure == "cost" else "CPU seconds"
                drawn[f"figure-{number}-{measure}-{data.name}"] = Picture(
                    _picture(draw, measured, measure, data.name, labels),
                    f"Figure {number}: {what} on each table of {data.name}.",
                )
    ratios: dict[str, list[tuple[float, float]]] = {}
    for data in _ORDER:
        if data.rows > 100:
            for row in _ratio(measured, data.name):
                share = 100.0 * data.sensitive / (data.rows * data.columns)
                ratios.setdefault(row.case.rpartition(" ")[0], []).append((share, float(row.measured or 0.0)))
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


def _picture(draw: ModuleType, measured: Measurements, measure: str, data: str, labels: Sequence[str]) -> str:
    y = "average cost" if measure == "cost" else "CPU seconds"
    curves = {label: measured.means(measure, data, label) for label in labels}
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
    measured = Measurements(findings.curves)
    written = {}
    for data in _ORDER:
        for label in measured.labels(data.name):
            summaries = [
                Summary.of(
                    f"{file_stem(data)}_{number - 1}.txt",
                    measured.of("seconds", data.name, label, number),
                    measured.of("cost", data.name, label, number),
                    measured.of("last_improvement", data.name, label, number),
                    len(measured.of("failed", data.name, label, number)),
                )
                for number in measured.tables(data.name, label)
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
