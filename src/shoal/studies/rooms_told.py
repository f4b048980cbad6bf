"""What Moro Lías (2024) concludes, as rules for what was measured, and the figures of the work."""

from collections.abc import Iterator, Sequence
from statistics import mean

from shoal.studies.claims import Claim, Rule
from shoal.studies.study import Findings, Picture

_FAMILIES = ("f4", "f4n", "f5", "f5n")
# Figures 5.1 to 5.7: what is tuned, on which instance, and which of the sizes are drawn.
_COARSE = tuple(f"{size} members" for size in (200, 400, 600, 800))
_FINE = tuple(f"{size} members" for size in (300, 400, 500, 600, 700))
_TUNING: tuple[tuple[str, str, tuple[str, ...] | None], ...] = (
    ("mutation rate", "t1", None),
    ("mutation rate", "t2", None),
    ("mutation rate", "t3", None),
    ("population", "t1", _COARSE),
    ("population", "t1", _FINE),
    ("population", "t2", _FINE),
    ("population", "t3", _FINE),
)


def _parted(found: Findings) -> dict[tuple[str, ...], Sequence[tuple[float, float]]]:
    return {tuple(name.split("|")): points for name, points in found.curves.items() if points}


def claims(found: Findings) -> list[Claim]:
    """Every claim that what was measured so far can settle."""
    return list(_claims(found))


def _claims(found: Findings) -> Iterator[Claim]:
    curves = _parted(found)
    rows = {(row.table, row.case, row.measure): row for row in found.rows}
    for name in _FAMILIES:
        share = curves.get(("compared share", name, "genetic, crossing columns"))
        if share:
            restrictive = not name.endswith("n")
            rule = Rule("below", 0.7) if restrictive else Rule("at least", 0.4)
            printed = {"f4": 1 / 3, "f4n": 0.44, "f5": 0.5, "f5n": 0.73}[name]
            figure = "mean of genetic K / best K over X"
            yield Claim(name, figure, rule, mean(value for _, value in share), printed)
        broken = curves.get(("compared violations", name, "genetic"))
        if broken:
            figure = "mean violations of the repairing version"
            yield Claim(name, figure, Rule("exactly", 0), mean(value for _, value in broken), 0.0)
        yield from _times(curves, name)
    for name in ("f5", "f5n"):
        visited = curves.get(("compared nodes", name, "branch and bound"))
        if visited:
            yield Claim(
                name, "most nodes for any X", Rule("at most", 8), max(value for _, value in visited), 8.0
            )
    for (table, case, measure), row in rows.items():
        if table.startswith("Appendix E") and isinstance(row.measured, int | float) and row.published:
            yield Claim(
                case,
                f"{measure} over those counted in the work",
                Rule("exactly", 1),
                row.measured / float(row.published),
                1.0,
            )
    yield from _versions(curves)
    after = [row for row in found.rows if "after recode" in row.case]
    for row in after:
        yield Claim(
            row.case, "people a list re-identifies", Rule("exactly", 0), float(row.measured or 0), 0.0
        )


def _times(curves: dict[tuple[str, ...], Sequence[tuple[float, float]]], name: str) -> Iterator[Claim]:
    exhaustive = curves.get(("compared seconds", name, "branch and bound"))
    constraints = curves.get(("compared seconds", name, "constraint model"))
    if exhaustive and constraints and name == "f4":
        figure = "seconds of branch and bound over those of the constraint model, largest X"
        yield Claim(name, figure, Rule("above", 1), exhaustive[-1][1] / max(constraints[-1][1], 1e-9))


def _versions(curves: dict[tuple[str, ...], Sequence[tuple[float, float]]]) -> Iterator[Claim]:
    """§5.4.2: only repair obeys the rules, at the cost of K where rooms are tight."""
    for name in ("f1", "f6n", "f7", "f7n", "f8", "f8n"):
        for version, rule in (("repairing", Rule("exactly", 0)), ("random", Rule("above", 0))):
            broken = curves.get(("ablation violations", name, version))
            if broken:
                figure = f"mean violations of the {version} version"
                yield Claim(name, figure, rule, mean(value for _, value in broken))
    tight, loose = (curves.get(("ablation share", name, "repairing")) for name in ("f1", "f6n"))
    if tight and loose:
        ratio = mean(value for _, value in tight) / max(mean(value for _, value in loose), 1e-9)
        yield Claim("f1 over f6n", "mean K share of the repairing version", Rule("below", 0.5), ratio, 0.1)


def charts(found: Findings) -> dict[str, Picture]:
    """The figures of the work, drawn from what was measured."""
    from shoal.report import charts as draw

    curves = _parted(found)
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
    ) -> None:
        series = {
            ", ".join(place[len(start) :]): points
            for place, points in curves.items()
            if place[: len(start)] == start and (among is None or place[-1] in among)
        }
        if series:
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
    for number, (tuned, name, among) in enumerate(_TUNING, start=1):
        caption = f"Figure 5.{number}: K by generation on {name.upper()}, one run for each {tuned}."
        picture(
            f"figure-5-{number:02}-{tuned.split()[0]}-{name}",
            (tuned.split()[0], name),
            "generation",
            "K",
            caption,
            steps=True,
            among=among,
        )
    picture(
        "figures-5-8-generations",
        ("generations",),
        "generation",
        "K",
        "Figures 5.8–5.10: K by generation.",
        steps=True,
    )
    for number, name in enumerate(("f1", "f6n", "f7", "f7n", "f8", "f8n"), start=11):
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
    for place, name in enumerate(_FAMILIES):
        for offset, (measure, y, log) in enumerate(
            (
                ("seconds", "CPU seconds", "xy"),
                ("share", "genetic K / best K", "x"),
                ("violations", "violations", "x"),
            )
        ):
            caption = f"Figure 7.{2 + 3 * place + offset}: {y} on {name.upper()}."
            picture(
                f"figure-7-{2 + 3 * place + offset:02}-{name}-{measure}",
                (f"compared {measure}", name),
                "X",
                y,
                caption,
                log,
            )
        picture(
            f"nodes-{name}",
            ("compared nodes", name),
            "X",
            "nodes",
            f"Nodes of branch and bound on {name.upper()}.",
            "xy",
        )
    return drawn
