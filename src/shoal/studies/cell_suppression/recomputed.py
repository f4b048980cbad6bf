"""What the printed figures themselves say when they are recomputed: no run of any method."""

from collections.abc import Sequence

from shoal.generate.table import SETS
from shoal.studies.cell_suppression.measurements import instance
from shoal.studies.cell_suppression.published import (
    APPENDIX,
    COSTS,
    PERCENTAGES,
    PRELIMINARY,
    RATIOS,
    TIMES,
    Five,
)
from shoal.studies.cell_suppression.statistics import MEASURES, five_numbers, improvement_ratio
from shoal.studies.study import Row, Scope


def sets(scope: Scope) -> list[Row]:
    """Table 1, on the first table of each set."""
    rows = []
    for number, data in enumerate(SETS, 1):
        problem = instance(scope, data, 1)
        printed = 201.0 if data.rows == 100 else 1101.0
        totals = float((~problem.table.internal).sum())
        note = "" if printed == totals else "m + n + 1; the printed figure fits a table of 1000 × 100"
        case = f"{number} {data.name}"
        sensitive = float(problem.sensitive.size)
        rows.append(Row("Table 1", case, "totals", printed, totals, note))
        rows.append(Row("Table 1", case, "sensitive", float(data.sensitive), sensitive))
    return rows


def recomputed(scope: Scope) -> list[Row]:
    """Tables 3, 7 and 8 from the appendix, the ratios and the percentages from the other tables."""
    later = APPENDIX[1:]
    rows = _column(
        "Table 3 from the appendix",
        "Probabilistic",
        PRELIMINARY["10000Cells1"][5],
        [row[5] for row in APPENDIX],
        "",
    )
    rows += _column(
        "Table 7 from the appendix",
        "heurgene",
        COSTS["10000Cells1"][1]["heurgene"],
        [row[4] for row in later],
        "best of ten runs, first table left out; the average over all is 6778.6",
    )
    rows += _column(
        "Table 8 from the appendix",
        "heurgene",
        TIMES["10000Cells1"][1]["heurgene"],
        [row[1] for row in later],
        "slowest of ten runs, first table left out; the average over all is 13.37",
    )
    return rows + _ratios() + _percentages()


def _column(table: str, case: str, printed: Five, values: Sequence[float], note: str) -> list[Row]:
    return [
        Row(table, case, measure, published, round(figure, 4), note)
        for measure, published, figure in zip(MEASURES, printed, five_numbers(values), strict=True)
    ]


def average(column: Five) -> float:
    """The average of a printed column, which is always there."""
    assert column[0] is not None
    return float(column[0])


def _ratios() -> list[Row]:
    rows = []
    for name, (number, *printed) in RATIOS.items():
        base = average(COSTS[name][1]["hypercube"])
        for method, figure in zip(("gensup", "heurgene"), printed, strict=True):
            cost, seconds = average(COSTS[name][1][method]), average(TIMES[name][1][method])
            ratio = improvement_ratio(base, cost, seconds)
            wrong = abs(ratio - figure) > 0.01 * abs(figure) + 0.0003
            note = "does not follow from the tables" if wrong else ""
            table = f"Table {number} from the other tables"
            rows.append(Row(table, f"{method} {name}", "ratio", figure, round(ratio, 4), note))
    return rows


def _percentages() -> list[Row]:
    rows = []
    for name, stated in PERCENTAGES.items():
        costs = {method: average(column) for method, column in COSTS[name][1].items()}
        seconds = {method: average(column) for method, column in TIMES[name][1].items()}
        figures = (
            100.0 * (1.0 - costs["gensup"] / costs["hypercube"]),
            100.0 * (1.0 - costs["heurgene"] / costs["hypercube"]),
            100.0 * seconds["heurgene"] / seconds["gensup"],
        )
        names = ("gensup below hypercube, %", "heurgene below hypercube, %", "CPU of heurgene / gensup, %")
        for measure, text, figure in zip(names, stated, figures, strict=True):
            rows.append(Row("Percentages of the text from its tables", name, measure, text, round(figure, 2)))
    return rows
