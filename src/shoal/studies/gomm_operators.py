"""Chapter 4 and appendix B of GOMM: how the genetic operators serve, together and each alone, generation by generation.

The curves of the work are lost; what its text says of them is asked again in the claims.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.studies.claims import Claim, Rule
from shoal.studies.study import Findings, Picture, Row

if TYPE_CHECKING:
    from shoal.microdata.grouping.result import AttributeGrouping
    from shoal.runtime.evolution import OperatorStatistics

#: Data and k of the three analyses: the main text, B.1 and B.2; and where only the best cost is followed.
CASES = (("Water-treatment", 25), ("Census", 25), ("Water-treatment", 100))
TABLE = "Chapter 4 and appendix B, operators"
_MEASURES = (
    "unused, %",
    "lifetime",
    "improved",
    "worse",
    "mean gain, %",
    "mean loss, %",
    "highest, %",
    "lowest, %",
)
_SHORT = {
    "crossover": "X",
    "group create": "GC",
    "group eliminate": "GE",
    "group split": "GS",
    "element swap": "ES",
    "element move": "EM",
}


def analysed(data: str, k: int, grouping: "AttributeGrouping") -> Findings:
    """Rows and curves of a search with all operators and of searches with each alone."""
    case = f"{data}, k = {k}"
    rows: list[Row] = []
    curves: dict[str, list[tuple[float, float]]] = {}
    together = grouping.solution
    if together.statistics is not None:
        rows += _summary(f"{case}, together", together.statistics)
        curves |= _curves(f"{case}|together", together.statistics)
    for name, own in grouping.alone.items():
        if own.statistics is None:
            continue
        rows += _summary(f"{case}, {_SHORT[name]} alone", own.statistics)
        curves |= _curves(f"{case}|alone", own.statistics)
        ratio = [
            (float(generation), mine / all_)
            for generation, (mine, all_) in enumerate(
                zip(own.course.best, together.course.best, strict=False)
            )
        ]
        curves[f"operators|{case}|best|{name}"] = ratio
        rows.append(
            Row(
                "Best cost of an operator alone",
                f"{case}, {_SHORT[name]}",
                "score reached",
                None,
                round(own.course.best[-1], 4),
                f"{ratio[-1][1]:.3f} of all together" if ratio else "",
            )
        )
    curves[f"operators|{case}|groups|all"] = [
        (float(generation), mean) for generation, mean in enumerate(together.course.groups)
    ]
    return Findings(rows, curves)


def _measured(statistics: "OperatorStatistics") -> dict[str, np.ndarray]:
    made = statistics.made
    share = np.divide(100.0 * statistics.unused, made, out=np.full(made.shape, np.nan), where=made > 0)
    return dict(
        zip(
            _MEASURES,
            (
                share,
                statistics.lifetime,
                np.where(made > 0, statistics.improved, np.nan),
                np.where(made > 0, statistics.worse, np.nan),
                statistics.gain,
                statistics.loss,
                statistics.highest,
                statistics.lowest,
            ),
            strict=True,
        )
    )


def _summary(case: str, statistics: "OperatorStatistics") -> list[Row]:
    """Utilisation, lifetime, efficacy and efficiency of each operator over the whole search, extremes included."""
    rows = []
    extremes: Mapping[str, Callable[[np.ndarray], Any]] = {"highest, %": np.max, "lowest, %": np.min}
    totals: Mapping[str, Callable[[np.ndarray], Any]] = {"improved": np.sum, "worse": np.sum}
    for measure, values in _measured(statistics).items():
        for place, name in enumerate(statistics.operators):
            known = values[place][~np.isnan(values[place])]
            over = extremes.get(measure) or totals.get(measure) or np.mean
            figure = round(float(over(known)), 3) if known.size else None
            shown = f"{_SHORT[name]} {measure}"
            rows.append(Row(TABLE, case, shown, None, figure))
    return rows


def _curves(prefix: str, statistics: "OperatorStatistics") -> dict[str, list[tuple[float, float]]]:
    return {
        f"operators|{prefix}|{measure}|{name}": [
            (float(generation), float(value))
            for generation, value in enumerate(values[row])
            if not np.isnan(value)
        ]
        for measure, values in _measured(statistics).items()
        for row, name in enumerate(statistics.operators)
    }


def _by_case(findings: Findings) -> dict[tuple[str, ...], list[tuple[float, float]]]:
    """The curves of this chapter by case, how, measure and operator."""
    parted = {tuple(name.split("|")): points for name, points in findings.curves.items()}
    return {name[1:]: points for name, points in parted.items() if name[0] == "operators"}


def charts(findings: Findings) -> dict[str, Picture]:
    """The figures of chapter 4 and appendix B: one for each measure, together and alone."""
    from shoal.report import charts as draw

    curves = _by_case(findings)
    drawn: dict[str, Picture] = {}
    for data, k in CASES:
        case = f"{data}, k = {k}"
        key = f"{data.lower()}-{k}"
        for how in ("together", "alone"):
            for measure in _MEASURES:
                series = {
                    place[3]: points
                    for place, points in curves.items()
                    if place[:3] == (case, how, measure) and len(place) == 4 and points
                }
                if series:
                    slug = measure.split(",")[0].replace(" ", "-")
                    drawn[f"operators-{key}-{how}-{slug}"] = Picture(
                        draw.lines(series, x="generation", y=measure, steps=False),
                        f"{case}, operators {how}: {measure}, by the generation of birth.",
                    )
        best = {place[2]: points for place, points in curves.items() if place[:2] == (case, "best")}
        if any(best.values()):
            drawn[f"operators-{key}-best"] = Picture(
                draw.lines(best, x="generation", y="best score / that of all", steps=False),
                f"{case}: best score of each operator alone, divided by that of all together.",
            )
    groups = {place[0]: points for place, points in curves.items() if place[1:] == ("groups", "all")}
    if groups:
        drawn["figure-4-11-groups"] = Picture(
            draw.lines(groups, x="generation", y="mean number of groups", steps=False),
            "Figure 4.11: first the number of groups adapts, then attributes are exchanged.",
        )
    return drawn


def claims(findings: Findings) -> Iterator[Claim]:
    """What survives of the chapter's statements, on what was measured."""
    curves = _by_case(findings)
    water = "Water-treatment, k = 25"

    def later(operator: str, measure: str, after: int, how: str = "together") -> list[float]:
        points = curves.get((water, how, measure, operator), [])
        # Children of the last generations can never be used.
        last = max((generation for generation, _ in points), default=0.0)
        return [value for generation, value in points if after <= generation < last - 2]

    claim = partial(Claim, water)
    for name in ("group create", "group eliminate", "group split"):
        if values := later(name, "unused, %", 25):
            shown = f"together, percent of children of {_SHORT[name]} unused after generation 25"
            yield claim(shown, Rule("at least", 100), float(np.mean(values)), 100.0)
    if values := later("crossover", "unused, %", 0):
        yield claim(
            "together, percent of children of X unused", Rule("at least", 75), float(np.mean(values)), 75.0
        )
    if values := later("crossover", "unused, %", 0, "alone"):
        yield claim("X alone, percent of children unused", Rule("at least", 70), float(np.mean(values)), 70.0)
    if values := [value for _, value in curves.get((water, "alone", "highest, %", "group create"), [])]:
        yield claim("GC alone, highest gain of a child, %", Rule("at least", 20), max(values), 20.0)
    yield from _best_costs(curves)
    for case, start in ((water, 30), ("Census, k = 25", 20)):
        if values := [mean for at, mean in curves.get((case, "groups", "all"), []) if at >= start]:
            shown = f"change of the mean number of groups from generation {start} on"
            yield Claim(case, shown, Rule("at most", 0.1), max(values) - min(values), 0.0)


def _best_costs(curves: Mapping[tuple[str, ...], Sequence[tuple[float, float]]]) -> Iterator[Claim]:
    near = {
        "Water-treatment, k = 25": ("group create",),
        "Census, k = 25": ("group create", "group eliminate", "element move"),
        "Water-treatment, k = 100": ("group create", "group eliminate"),
    }
    for case, close in near.items():
        for place, points in curves.items():
            if place[:2] != (case, "best") or not points:
                continue
            rule = Rule("at most", 1.1) if place[2] in close else Rule("above", 1.1)
            words = "is near all together" if place[2] in close else "stays in a local optimum"
            shown = f"{_SHORT[place[2]]} alone {words}, its last best score over that of all"
            yield Claim(case, shown, rule, points[-1][1])
