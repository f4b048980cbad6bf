"""What Moro Lías (2024) concludes, as rules for what was measured, and the figures of the work."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from shoal.studies.claims import Claim, Rule
from shoal.studies.study import Findings, Picture, Row

_FAMILIES = ("f4", "f4n", "f5", "f5n")
_GROWING = ("f1", "f6n", "f7", "f7n", "f8", "f8n")
Curves = Mapping[tuple[str, ...], Sequence[tuple[float, float]]]

# What is read off the plots near X = 10,000: the genetic K over the best.
_SHARES = {
    "f4": (Rule("at most", 0.334), 1 / 3),
    "f4n": (Rule("at least", 0.44), 0.44),
    "f5": (Rule("at most", 0.5), 0.5),
    "f5n": (Rule("at least", 0.73), 0.73),
}
# K of the repairing version over the best, at the right end of the plots or where the text gives it.
_REPAIRED = {
    "f1": (Rule("at most", 0.08), 0.08),
    "f6n": (Rule("at least", 0.7), 0.7),
    "f7": (Rule("at most", 0.14), 0.14),
    "f7n": (Rule("at least", 0.9), 0.9),
    "f8": (Rule("at most", 0.16), 0.16),
    "f8n": (Rule("at least", 0.8), 0.8),
}
# Figures 5.1 to 5.8: what is tuned, on which instance, which of the values are drawn, and up to which generation.
_COARSE = tuple(f"{size} members" for size in (200, 400, 600, 800))
_FINE = tuple(f"{size} members" for size in (300, 400, 500, 600, 700))
_TUNING: tuple[tuple[str, str, tuple[str, ...] | None, float], ...] = (
    ("mutation rate", "t1", None, math.inf),
    ("mutation rate", "t2", None, math.inf),
    ("mutation rate", "t3", None, math.inf),
    ("population", "t1", _COARSE, math.inf),
    ("population", "t1", _FINE, math.inf),
    ("population", "t2", _FINE, math.inf),
    ("population", "t2", _FINE, 500_000),
    ("population", "t3", _FINE, math.inf),
)


def _parted(findings: Findings) -> dict[tuple[str, ...], Sequence[tuple[float, float]]]:
    return {tuple(name.split("|")): points for name, points in findings.curves.items() if points}


def claims(findings: Findings) -> list[Claim]:
    """Every claim that what was measured so far can settle."""
    curves = _parted(findings)
    return [
        *_linking(findings.rows),
        *_exhaustive(curves),
        *_tuning(findings.rows),
        *_versions(curves),
        *_solvers(curves),
        *_counts(findings.rows),
    ]


def _linking(rows: Sequence[Row]) -> Iterator[Claim]:
    for row in rows:
        if row.measure == "records that fit" and isinstance(row.measured, int | float):
            figure = "records that a voter of a list is linked to"
            yield Claim(row.case, figure, Rule("exactly", 1), float(row.measured), 1.0)
        if "after recode" in row.case and isinstance(row.measured, int | float):
            figure = "people a list re-identifies"
            yield Claim(row.case, figure, Rule("exactly", 0), float(row.measured), own=True)


def _exhaustive(curves: Curves) -> Iterator[Claim]:
    """Chapters 4 and 7: the exhaustive search takes the same time for all X, or grows with X."""
    for name in ("f1", "f2", "f3"):
        points = curves.get(("exhaustive small", name, "measured"))
        if points and len(points) > 1:
            figure = "power of X by which the time of the exhaustive search grows"
            yield Claim(name, figure, Rule("at most", 0.1), _power(points), 0.0)
    for name in ("f5", "f5n"):
        visited = curves.get(("compared nodes", name, "branch and bound"))
        if visited:
            for shown, pick in (("most", max), ("fewest", min)):
                count = pick(value for _, value in visited)
                yield Claim(name, f"{shown} nodes for any X", Rule("exactly", 8), count, 8.0)


def _power(points: Sequence[tuple[float, float]]) -> float:
    (a, first), (b, last) = points[0], points[-1]
    return math.log(max(last, 1e-9) / max(first, 1e-9)) / math.log(b / a)


def _tuning(rows: Sequence[Row]) -> Iterator[Claim]:
    """§5.4.1: 60 % mutation, 500 members, and nothing new after 500,000 generations."""
    for kind, chosen, table in (
        ("mutation rate", "60%", "Figures 5.1–5.3, mutation rate"),
        ("population", "500 members", "Figures 5.4–5.8, population"),
    ):
        for name in ("t1", "t2", "t3"):
            ks = {
                row.case.partition(", ")[2]: float(row.measured)
                for row in rows
                if row.table == table
                and row.case.startswith(f"{name}, ")
                and isinstance(row.measured, int | float)
            }
            others = [k for value, k in ks.items() if value != chosen]
            if chosen in ks and others:
                figure = f"mean K at {chosen} over that of the best other {kind}"
                yield Claim(name, figure, Rule("at least", 1), ks[chosen] / max(*others, 1e-9), None)
    for row in rows:
        if row.measure == "generation of the last improvement" and isinstance(row.measured, int | float):
            yield Claim(row.case, row.measure, Rule("at most", 500_000), float(row.measured), row.published)


def _versions(curves: Curves) -> Iterator[Claim]:
    """§5.4.2: only repair obeys the rules, at the cost of K where rooms are tight."""
    for name in _GROWING:
        for version, rule in (("repairing", Rule("exactly", 0)), ("random", Rule("above", 0))):
            broken = curves.get(("ablation violations", name, version))
            if broken:
                figure = f"mean violations of the {version} version"
                printed = 0.0 if version == "repairing" else None
                yield Claim(name, figure, rule, mean(value for _, value in broken), printed)
        share = curves.get(("ablation share", name, "repairing"))
        if share:
            rule, printed = _REPAIRED[name]
            yield Claim(
                name, "K share of the repairing version at the largest X", rule, share[-1][1], printed
            )
    for version, printed, least in (("random", 2.0, 1.5), ("guided", 0.5, 0.45)):
        broken = curves.get(("ablation violations", "f1", version))
        if broken:
            figure = f"mean violations of the {version} version at the largest X"
            yield Claim("f1", figure, Rule("at least", least), broken[-1][1], printed)
    for version in ("random", "guided"):
        broken = curves.get(("ablation violations", "f7", version))
        if broken:
            figure = f"least mean violations of the {version} version for any X"
            yield Claim("f7", figure, Rule("above", 0), min(value for _, value in broken), 0.9)


def _solvers(curves: Curves) -> Iterator[Claim]:
    """Chapters 7 and 8: three solvers beside one another."""
    shares = {}
    for name in _FAMILIES:
        share = curves.get(("compared share", name, "genetic, crossing columns"))
        if share:
            rule, printed = _SHARES[name]
            shares[name] = share[-1][1]
            yield Claim(name, "genetic K / best K at the largest X", rule, share[-1][1], printed)
        broken = curves.get(("compared violations", name, "genetic"))
        if broken:
            figure = "mean violations of the repairing version"
            yield Claim(name, figure, Rule("exactly", 0), mean(value for _, value in broken), 0.0)
    for tight, loose in (("f4", "f4n"), ("f5", "f5n")):
        if tight in shares and loose in shares:
            figure = "genetic K / best K with all seats needed over that with seats to spare"
            ratio = shares[tight] / max(shares[loose], 1e-9)
            yield Claim(f"{tight} over {loose}", figure, Rule("below", 1), ratio)
    exhaustive = curves.get(("compared seconds", "f4", "branch and bound"))
    constraints = curves.get(("compared seconds", "f4", "constraint model"))
    if exhaustive and constraints:
        figure = "seconds of branch and bound over those of the constraint model, largest X"
        yield Claim("f4", figure, Rule("above", 1), exhaustive[-1][1] / max(constraints[-1][1], 1e-9))
    for name in ("f5", "f5n"):
        points = curves.get(("compared seconds", name, "constraint model"))
        if points and len(points) > 1:
            figure = "power of X by which the time of the constraint model grows"
            yield Claim(name, figure, Rule("at most", 0.1), _power(points), 0.0)


def _counts(rows: Sequence[Row]) -> Iterator[Claim]:
    for row in rows:
        if row.table.startswith("Appendix E") and isinstance(row.measured, int | float) and row.published:
            figure = f"{row.measure} over those counted in the work"
            yield Claim(row.case, figure, Rule("exactly", 1), row.measured / float(row.published), 1.0)


def charts(findings: Findings) -> dict[str, Picture]:
    """The figures of the work, drawn from what was measured."""
    from shoal.report import charts as draw

    curves = _parted(findings)
    drawn: dict[str, Picture] = {}

    def picture(
        key: str,
        start: tuple[str, ...],
        x: str,
        y: str,
        caption: str,
        log: str = "",
        *,
        steps: bool = False,
        among: tuple[str, ...] | None = None,
        until: float = math.inf,
    ) -> None:
        series = {
            ", ".join(name[len(start) :]): [point for point in points if point[0] <= until]
            for name, points in curves.items()
            if name[: len(start)] == start and (among is None or name[-1] in among)
        }
        if any(series.values()):
            svg = draw.lines(series, x=x, y=y, steps=steps, log=log)  # type: ignore[arg-type]
            drawn[key] = Picture(svg, caption)

    for number, name in enumerate(("f1", "f2", "f3"), start=2):
        caption = f"Figure 4.{number}: time of the exhaustive search on {name.upper()}."
        picture(
            f"figure-4-{number}-{name}", ("exhaustive small", name), "X", "CPU milliseconds", caption, "xy"
        )
    picture(
        "figure-4-6-nodes", ("nodes",), "K", "nodes", "Figure 4.6: nodes of the exhaustive search on F4.", "y"
    )
    picture("figure-4-5-time", ("exhaustive time",), "K", "CPU seconds", "Figure 4.5: its time on F4.", "y")
    by_generation = (("", "K", "K"), (" violations", "violations", "violations"))
    for number, (tuned, name, among, until) in enumerate(_TUNING, start=1):
        kind = tuned.split()[0]
        part = "" if until == math.inf else ", the beginning"
        for suffix, y, what in by_generation:
            caption = (
                f"Figure 5.{number}: {what} by generation on {name.upper()}, one run for each {tuned}{part}."
            )
            key = f"figure-5-{number:02}-{kind}-{name}{suffix.replace(' ', '-')}"
            start = (f"{kind}{suffix}", name)
            picture(key, start, "generation", y, caption, steps=True, among=among, until=until)
    for number, name in ((9, "t1"), (10, "t2")):
        for suffix, y, what in by_generation:
            caption = f"Figure 5.{number}: {what} by generation on {name.upper()}, final configuration."
            key = f"figure-5-{number:02}-generations-{name}{suffix.replace(' ', '-')}"
            picture(key, (f"generations{suffix}",), "generation", y, caption, steps=True, among=(name,))
    for number, name in enumerate(_GROWING, start=11):
        for measure, y in (
            ("share", "mean K / best K"),
            ("violations", "mean violations"),
            ("seconds", "CPU seconds"),
        ):
            caption = f"Figure 5.{number}: {y} of three versions on {name.upper()}."
            picture(f"figure-5-{number}-{measure}", (f"ablation {measure}", name), "X", y, caption, "x")
    for number, name in enumerate(("f1", "f2", "f3", "f4"), start=1):
        caption = f"Figure 6.{number}: time of the constraint model on {name.upper()}."
        picture(f"figure-6-{number}-{name}", ("constraint", name), "X", "seconds", caption, "xy")
    for family, name in enumerate(_FAMILIES):
        number = 2 + 3 * family
        shown = name.upper()
        picture(
            f"figure-7-{number:02}-{name}-seconds",
            ("compared seconds", name),
            "X",
            "CPU seconds",
            f"Figure 7.{number}: CPU seconds of three solvers on {shown}.",
            "xy",
        )
        if name in ("f4", "f4n"):
            picture(
                f"figure-7-{number + 1:02}-{name}-alone",
                ("compared seconds", name),
                "X",
                "CPU seconds",
                f"Figure 7.{number + 1}: CPU seconds of the constraint model alone on {shown}.",
                "x",
                among=("constraint model",),
            )
        nodes = f"Figure 7.{number + 1}: n" if name in ("f5", "f5n") else "N"
        picture(
            f"nodes-{name}",
            ("compared nodes", name),
            "X",
            "nodes",
            f"{nodes}odes of branch and bound on {shown}.",
            "xy",
        )
        for measure, y in (("share", "genetic K / best K"), ("violations", "violations")):
            picture(
                f"figure-7-{number + 2:02}-{name}-{measure}",
                (f"compared {measure}", name),
                "X",
                y,
                f"Figure 7.{number + 2}: {y} on {shown}.",
                "x",
            )
    return drawn
