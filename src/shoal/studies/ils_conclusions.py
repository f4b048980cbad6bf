"""The three research questions on iterated local search, as rules for what was measured, and the figures of Bierman (2020)."""

import math
from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Literal

from shoal.studies.claims import Claim, Rule
from shoal.studies.ils_published import CASES, LISTS, SEARCHES, SIZES, TUNED
from shoal.studies.study import Findings, Picture

Curve = Sequence[tuple[float, float]]


def claims(findings: Findings) -> list[Claim]:
    """Every claim that what was measured so far can settle."""
    return [
        *_lists(findings),
        *_growth(findings),
        *_biased(findings),
        *_dynamic(findings),
        *_latent(findings),
        *_quality(findings),
    ]


def _of(count: int) -> str:
    return f"on {count} case{'s' * (count != 1)}"


def _ratios(findings: Findings, measure: str) -> list[float]:
    return [
        float(row.measured) for row in findings.rows if row.measure == measure and row.measured is not None
    ]


def _lists(findings: Findings) -> Iterator[Claim]:
    """RQ1: how well changed clusters spare pair tests."""
    if ratios := _ratios(findings, "CPU ILSM / CPU ILSMC"):
        yield Claim(
            "RQ1", "least of CPU ILSM / CPU ILSMC", Rule("at least", 4), min(ratios), 4.6, _of(len(ratios))
        )
        more = 100.0 * sum(ratio > 10 for ratio in ratios) / len(ratios)
        shown = "percent of cases ten times faster or more"
        yield Claim("RQ1", shown, Rule("above", 50), more, 100.0 * 11 / 15, _of(len(ratios)))
    if ratios := _ratios(findings, "CPU LS / CPU LSC"):
        shown = "least reduction of the CPU time of a restart, %"
        spared = 100.0 * (1.0 - 1.0 / max(min(ratios), 1e-9))
        yield Claim("RQ1", shown, Rule("at least", 30), spared, 30.4, _of(len(ratios)))
    for name, (cap, _) in LISTS.items():
        curve = findings.curves.get(f"lists {name} 3 ILSMC, after a perturbation")
        if curve:
            longest = max(size for _, size in curve)
            yield Claim(
                f"RQ1, {name} 3", "longest mean list after a perturbation", Rule("at most", cap), longest
            )
        gone = {"Tarragona": 75, "Census": 80, "EIA": 85}[name]
        passes = dict(findings.curves.get(f"pairs {name} 3 lsc", ()))
        if 7.0 in passes:
            share = 100.0 * (1.0 - passes[7.0] / max(passes[1.0], 1e-9))
            shown = "percent of pairs gone from the list of LSC by pass 7"
            yield Claim(f"RQ1, {name} 3", shown, Rule("above", gone), share, float(gone))


def _growth(findings: Findings) -> Iterator[Claim]:
    """§4: an iteration looks at a number of pairs that grows as n², or as n."""
    for method, power in (("ilsm", Rule("at least", 2)), ("ilsmc", Rule("at most", 1))):
        points = findings.curves.get(f"growth {method}")
        if points:
            (a, first), (b, last) = points[0], points[-1]
            exponent = math.log(max(last, 1e-9) / max(first, 1e-9)) / math.log(b / a)
            shown = f"power of n by which pairs of an iteration of {method} grow"
            yield Claim("EIA, k = 3", shown, power, exponent, power.limit)


def _curves(findings: Findings, variant: str) -> dict[tuple[str, int], Curve]:
    named = {(name, k): findings.curves.get(f"loss {name} {k} {variant}") for name, k in CASES}
    return {case: curve for case, curve in named.items() if curve}


def _early(curve: Curve) -> int:
    """A fifth of the way, where the work looks: iteration 1,000 of 5,000."""
    return max(0, len(curve) // 5 - 1)


def _biased(findings: Findings) -> Iterator[Claim]:
    """RQ2: how a biased choice of the cluster to dissolve compares with a uniform one."""
    plain, biased = _curves(findings, "ilsmc"), _curves(findings, "biased dissolve")
    both = [case for case in plain if case in biased]
    if not both:
        return
    # As Table 7 compares them: averages with two decimals.
    lower = 100.0 * mean(round(biased[case][-1][1], 2) <= round(plain[case][-1][1], 2) for case in both)
    shown = "percent of cases in which the mean loss of biased dissolving is not higher in the end"
    yield Claim("RQ2", shown, Rule("at least", 93.3), lower, 100.0 * 14 / 15, _of(len(both)))
    needed = {case: _iterations(plain[case], biased[case]) for case in both}
    by_data = {
        name: [share for case, share in needed.items() if case[0] == name]
        for name in ("Tarragona", "EIA", "Census")
    }
    shown = "iterations biased dissolving needs over those of uniform, for its loss a fifth of the way"
    for name in ("Tarragona", "EIA"):
        if shares := by_data[name]:
            yield Claim(f"RQ2, {name}", shown, Rule("at most", 0.5), mean(shares), 0.5, _of(len(shares)))
    if all(by_data.values()):
        most = max(mean(by_data[name]) for name in ("Tarragona", "EIA"))
        compared = "iterations biased dissolving needs on Census over those it needs on the other data"
        ratio = mean(by_data["Census"]) / max(most, 1e-9)
        yield Claim("RQ2, Census", compared, Rule("above", 1), ratio, None, _of(len(by_data["Census"])))
    if ("Census", 10) in needed:
        yield Claim("RQ2, Census 10", shown, Rule("at least", 1), needed["Census", 10], 1.0)


def _iterations(plain: Curve, other: Curve) -> float:
    """How many iterations another search needs for the loss of the plain one a fifth of the way, as a share of that."""
    at, goal = plain[_early(plain)]
    met = [x for x, loss in other if loss <= goal]
    return (met[0] if met else other[-1][0]) / at


def _latent(findings: Findings) -> Iterator[Claim]:
    """The percentages: how much lower the loss is that remains above the lowest known, early in the search."""
    losses = {
        variant: _curves(findings, variant)
        for variant in ("ilsmc", "biased dissolve", "dynamic acceptance", "both")
    }
    for question, variant, base, printed, spread in (
        ("RQ2", "biased dissolve", "ilsmc", (15.0, 60.0), "15–60"),
        ("RQ3", "dynamic acceptance", "ilsmc", (None, 30.0), "up to 30"),
        ("RQ2 and RQ3", "both", "biased dissolve", (None, 20.0), "up to 20"),
    ):
        spared = {}
        for case, curve in losses[variant].items():
            if case not in losses[base]:
                continue
            least = min(points[case][-1][1] for points in losses.values() if case in points)
            lost = [
                (after - least) / (before - least)
                for (x, before), (_, after) in zip(losses[base][case], curve, strict=False)
                if 250 <= x <= 500 and before > least
            ]
            if lost:
                spared[case] = 100.0 * (1.0 - mean(lost))
        if not spared:
            continue
        shown = f"percent by which {variant} lowers the remaining loss of {base} at iterations 250 to 500"
        extent = _of(len(spared))
        least_printed, most_printed = printed
        if least_printed is not None:
            least_spared = min(spared.values())
            yield Claim(
                question, f"least {shown}", Rule("at least", least_printed), least_spared, spread, extent
            )
        yield Claim(
            question, f"most {shown}", Rule("at least", most_printed), max(spared.values()), spread, extent
        )
        yield Claim(
            question, f"mean {shown}", Rule("above", 0), mean(spared.values()), spread, extent, own=True
        )


def _dynamic(findings: Findings) -> Iterator[Claim]:
    """RQ3: how a dynamic acceptance compares with a fixed chance, alone and with biased dissolving."""
    plain, dynamic = _curves(findings, "ilsmc"), _curves(findings, "dynamic acceptance")
    biased, both = _curves(findings, "biased dissolve"), _curves(findings, "both")
    small = [case for case in plain if case[1] != 10]
    two = [case for case in small if case[0] != "Tarragona"]
    # The work calls the effect mixed in two of the twelve cases, and there alone.
    yield from _lower_early("RQ3", dynamic, plain, small, "with k < 10", "the fixed chance", 83.3)
    data = "of Census and EIA with k < 10"
    yield from _lower_early("RQ3", both, plain, two, data, "neither, both together", 100)
    yield from _lower_early("RQ3", both, biased, two, data, "biased dissolving alone, both together", 100)
    yield from _lower_early("RQ3", both, dynamic, two, data, "dynamic acceptance alone, both together", 100)
    tarragona = [case for case in both if case[0] == "Tarragona" and case in biased]
    if tarragona:
        better = 100.0 * mean(_at(both[case]) < _at(biased[case]) for case in tarragona)
        shown = "percent of cases in which both together are lower a fifth of the way than biased dissolving alone"
        yield Claim("RQ3, Tarragona", shown, Rule("at most", 0), better, 0.0, _of(len(tarragona)))
    case = ("Tarragona", 10)
    if case in dynamic and case in plain:
        worse = dynamic[case][-1][1] - plain[case][-1][1]
        shown = "final mean loss of dynamic acceptance minus that of the fixed chance"
        yield Claim("RQ3, Tarragona 10", shown, Rule("above", 0), worse)


def _at(curve: Curve) -> float:
    return curve[_early(curve)][1]


def _lower_early(
    question: str,
    curves: dict[tuple[str, int], Curve],
    others: dict[tuple[str, int], Curve],
    cases: Sequence[tuple[str, int]],
    which: str,
    rival: str,
    least: float,
) -> Iterator[Claim]:
    settled = [case for case in cases if case in curves and case in others]
    if settled:
        share = 100.0 * mean(_at(curves[case]) < _at(others[case]) for case in settled)
        shown = f"percent of cases {which} that are lower a fifth of the way than with {rival}"
        yield Claim(question, shown, Rule("at least", least), share, None, _of(len(settled)))


def _quality(findings: Findings) -> Iterator[Claim]:
    """That neither lists of changed pairs nor their naive form change the quality by iteration."""
    plain = _curves(findings, "ilsmc")
    printed = mean(
        100.0 * abs(SEARCHES["ilsm"][name][i][1] / SEARCHES["ilsmc"][name][i][1] - 1.0)
        for name in SEARCHES["ilsm"]
        for i in range(len(SIZES))
    )
    for variant in ("ilsm", "naive ilsmc"):
        curves = _curves(findings, variant)
        apart = [
            100.0 * abs(curves[case][-1][1] / max(plain[case][-1][1], 1e-9) - 1.0)
            for case in curves
            if case in plain
        ]
        if apart:
            shown = f"mean difference of the final loss of {variant} and ILSMC, % of it"
            own = variant != "ilsm"
            rule = Rule("at most", 2 if own else round(printed, 2))
            yield Claim("quality", shown, rule, mean(apart), None if own else printed, _of(len(apart)), own)
    if ratios := _ratios(findings, "pairs ILSM / pairs naive ILSMC"):
        shown = "least of pairs ILSM / pairs naive ILSMC"
        yield Claim("quality", shown, Rule("above", 1), min(ratios), "clearly faster", _of(len(ratios)))
    for method in ("ilsmc", "ilsm", "biased dissolve"):
        finals = _curves(findings, method)
        above = [
            100.0 * (curve[-1][1] / SEARCHES[method][name][SIZES.index(k)][1] - 1.0)
            for (name, k), curve in finals.items()
        ]
        if above:
            shown = f"mean percent by which the average loss of {method} is above the printed one"
            yield Claim(
                "Tables 6 and 7", shown, Rule("at most", 1), mean(above), 0.0, _of(len(above)), own=True
            )


def charts(findings: Findings) -> dict[str, Picture]:
    """Every figure that what was measured so far can fill."""
    from shoal.report import charts as draw

    drawn: dict[str, Picture] = {}
    kinds = {
        "loss": ("iterations", "mean of the best loss, %", "", "Figures 12–34: mean loss by iteration"),
        "time": ("CPU seconds", "mean of the best loss, %", "x", "Figures 4–8: mean loss over time"),
        "lists": ("pass of the local search", "mean pairs in the list", "y", "Figures 9–11: pairs by pass"),
        "pairs": ("pass of the local search", "mean pairs in the list", "y", "Figures 1–3: pairs by pass"),
    }
    for name, k in CASES:
        case = f"{name} {k}"
        for kind, (x, y, log, caption) in kinds.items():
            prefix = f"{kind} {case} "
            series = {
                curve.removeprefix(prefix): points
                for curve, points in findings.curves.items()
                if curve.startswith(prefix) and points
            }
            if series:
                drawn[f"{kind}-{name.lower()}-{k}"] = Picture(
                    draw.lines(series, x=x, y=y, steps=False, log=log),  # type: ignore[arg-type]
                    f"{caption}, {case}.",
                )
    growth = {
        name.removeprefix("growth "): points
        for name, points in findings.curves.items()
        if name.startswith("growth ")
    }
    if growth:
        drawn["growth"] = Picture(
            draw.lines(growth, x="records", y="pairs of an iteration", steps=False, log="xy"),
            "Pairs looked at in an iteration by the number of records: EIA, k = 3.",
        )
    for what, (_, _, values, chosen) in TUNED.items():
        # Zero has no place on a logarithmic axis.
        scale: Literal["", "x"] = "x" if min(values) > 0 else ""
        series = {
            name.removeprefix("tuning ").split("|")[0]: [
                (x, y / min(b for _, b in points)) for x, y in points
            ]
            for name, points in findings.curves.items()
            if name.startswith("tuning ") and name.endswith(f"|{what}")
        }
        if series:
            drawn[f"tuning-{what.split()[0]}"] = Picture(
                draw.lines(series, x=what, y="loss / least loss", steps=False, log=scale),
                f"Tuning: {what}; the work chose {chosen:g}.",
            )
    return drawn
