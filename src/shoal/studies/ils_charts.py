"""The figures of Bierman (2020), drawn from what was measured."""

from typing import Literal

from shoal.studies.ils_published import CASES, TUNED
from shoal.studies.study import Findings, Picture


def charts(found: Findings) -> dict[str, Picture]:
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
                for curve, points in found.curves.items()
                if curve.startswith(prefix) and points
            }
            if series:
                drawn[f"{kind}-{name.lower()}-{k}"] = Picture(
                    draw.lines(series, x=x, y=y, steps=False, log=log),  # type: ignore[arg-type]
                    f"{caption}, {case}.",
                )
    growth = {
        name.removeprefix("growth "): points
        for name, points in found.curves.items()
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
            for name, points in found.curves.items()
            if name.startswith("tuning ") and name.endswith(f"|{what}")
        }
        if series:
            drawn[f"tuning-{what.split()[0]}"] = Picture(
                draw.lines(series, x=what, y="loss / least loss", steps=False, log=scale),
                f"Tuning: {what}; the work chose {chosen:g}.",
            )
    return drawn
