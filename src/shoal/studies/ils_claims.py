"""The three research questions on iterated local search, put as rules for what was measured."""

import math
from collections.abc import Iterator, Sequence
from statistics import mean

from shoal.studies.claims import Claim, Rule
from shoal.studies.ils_published import CASES, LISTS
from shoal.studies.study import Findings

Curve = Sequence[tuple[float, float]]


def claims(found: Findings) -> list[Claim]:
    """Every claim that what was measured so far can settle."""
    return [*_lists(found), *_growth(found), *_biased(found), *_dynamic(found), *_quality(found)]


def _of(count: int) -> str:
    return f"on {count} case{'s' * (count != 1)}"


def _ratios(found: Findings, measure: str) -> list[float]:
    return [float(row.measured) for row in found.rows if row.measure == measure and row.measured is not None]


def _lists(found: Findings) -> Iterator[Claim]:
    """RQ1: how well changed clusters spare pair tests."""
    if ratios := _ratios(found, "CPU ILSM / CPU ILSMC"):
        yield Claim(
            "RQ1", "least of CPU ILSM / CPU ILSMC", Rule("at least", 4), min(ratios), 4.6, _of(len(ratios))
        )
        more = 100.0 * sum(ratio > 10 for ratio in ratios) / len(ratios)
        shown = "percent of cases ten times faster or more"
        yield Claim("RQ1", shown, Rule("above", 50), more, 100.0 * 11 / 15, _of(len(ratios)))
    if ratios := _ratios(found, "CPU LS / CPU LSC"):
        shown = "least reduction of the CPU time of a restart, %"
        spared = 100.0 * (1.0 - 1.0 / max(min(ratios), 1e-9))
        yield Claim("RQ1", shown, Rule("at least", 30), spared, 30.4, _of(len(ratios)))
    for name, (cap, _) in LISTS.items():
        curve = found.curves.get(f"lists {name} 3 ILSMC, after a perturbation")
        if curve:
            longest = max(size for _, size in curve)
            yield Claim(
                f"RQ1, {name} 3", "longest mean list after a perturbation", Rule("at most", cap), longest
            )
        gone = {"Tarragona": 75, "Census": 80, "EIA": 85}[name]
        passes = dict(found.curves.get(f"pairs {name} 3 lsc", ()))
        if 7.0 in passes:
            share = 100.0 * (1.0 - passes[7.0] / max(passes[1.0], 1e-9))
            shown = "percent of pairs gone from the list of LSC by pass 7"
            yield Claim(f"RQ1, {name} 3", shown, Rule("above", gone), share, float(gone))


def _growth(found: Findings) -> Iterator[Claim]:
    for method, power in (("ilsm", Rule("at least", 1.7)), ("ilsmc", Rule("at most", 1.4))):
        points = found.curves.get(f"growth {method}")
        if points:
            (a, first), (b, last) = points[0], points[-1]
            exponent = math.log(max(last, 1e-9) / max(first, 1e-9)) / math.log(b / a)
            printed = 2.0 if method == "ilsm" else 1.0
            shown = f"power of n by which pairs of an iteration of {method} grow"
            yield Claim("EIA, k = 3", shown, power, exponent, printed)


def _curves(found: Findings, variant: str) -> dict[tuple[str, int], Curve]:
    named = {(name, k): found.curves.get(f"loss {name} {k} {variant}") for name, k in CASES}
    return {case: curve for case, curve in named.items() if curve}


def _early(curve: Curve) -> int:
    """A fifth of the way, where the work looks: iteration 1,000 of 5,000."""
    return max(0, len(curve) // 5 - 1)


def _biased(found: Findings) -> Iterator[Claim]:
    """RQ2: how a biased choice of the cluster to dissolve compares with a uniform one."""
    plain, biased = _curves(found, "ilsmc"), _curves(found, "biased dissolve")
    both = [case for case in plain if case in biased]
    if not both:
        return
    lower = 100.0 * sum(biased[case][-1][1] <= plain[case][-1][1] for case in both) / len(both)
    shown = "percent of cases in which the mean loss of biased dissolving is not higher in the end"
    yield Claim("RQ2", shown, Rule("at least", 90), lower, 100.0 * 14 / 15, _of(len(both)))
    for name in ("Tarragona", "EIA", "Census"):
        shares = []
        for case in both:
            if case[0] != name:
                continue
            at, goal = plain[case][_early(plain[case])]
            met = [x for x, loss in biased[case] if loss <= goal]
            shares.append((met[0] if met else biased[case][-1][0]) / at)
        if shares:
            shown = (
                "iterations biased dissolving needs over those of uniform, for its loss a fifth of the way"
            )
            yield Claim(f"RQ2, {name}", shown, Rule("at most", 0.5), mean(shares), None, _of(len(shares)))


def _dynamic(found: Findings) -> Iterator[Claim]:
    """RQ3: how a dynamic acceptance compares with a fixed chance, alone and with biased dissolving."""
    plain = _curves(found, "ilsmc")
    for variant, cases, shown in (
        (
            "dynamic acceptance",
            [case for case in plain if case[1] != 10],
            "percent of cases with k < 10 in which dynamic acceptance is lower a fifth of the way",
        ),
        (
            "both",
            [case for case in plain if case[1] != 10 and case[0] != "Tarragona"],
            "percent of cases of Census and EIA with k < 10 in which both together are lower a fifth of the way",
        ),
    ):
        curves = _curves(found, variant)
        settled = [case for case in cases if case in curves]
        if settled:
            better = sum(
                curves[case][_early(curves[case])][1] < plain[case][_early(plain[case])][1]
                for case in settled
            )
            share = 100.0 * better / len(settled)
            yield Claim("RQ3", shown, Rule("above", 50), share, None, _of(len(settled)))
    curves = _curves(found, "dynamic acceptance")
    case = ("Tarragona", 10)
    if case in curves and case in plain:
        worse = curves[case][-1][1] - plain[case][-1][1]
        shown = "final mean loss of dynamic acceptance minus that of the fixed chance"
        yield Claim("RQ3, Tarragona 10", shown, Rule("above", 0), worse)


def _quality(found: Findings) -> Iterator[Claim]:
    """That neither lists of changed pairs nor their naive form change the quality by iteration."""
    plain = _curves(found, "ilsmc")
    for variant in ("ilsm", "naive ilsmc"):
        curves = _curves(found, variant)
        apart = [
            100.0 * abs(curves[case][-1][1] / max(plain[case][-1][1], 1e-9) - 1.0)
            for case in curves
            if case in plain
        ]
        if apart:
            shown = f"mean difference of the final loss of {variant} and ILSMC, % of it"
            yield Claim("quality", shown, Rule("at most", 2), mean(apart), None, _of(len(apart)))
