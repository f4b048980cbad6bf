"""The figures Cabana Ramírez (2016) gives for anonymity vectors: counts, positions, distances, worked examples."""

from collections.abc import Sequence

from shoal.anonymity.partitions import hardy_ramanujan, partition_count
from shoal.anonymity.vector import AnonymityVector
from shoal.microdata.anonymity.api import anonymity
from shoal.studies.claims import Claim, Rule
from shoal.studies.study import Findings, Picture, Row, Scope, Step, Study


def _counts(scope: Scope) -> Sequence[Row]:
    exact = partition_count(1000)
    return [
        Row("How many vectors", "N = 4", "p(N)", "5", str(partition_count(4))),
        Row("How many vectors", "N = 100", "p(N)", "190569292", str(partition_count(100))),
        Row(
            "How many vectors",
            "N = 10,000",
            "p(N)",
            "3.61673e106",
            f"{float(partition_count(10_000)):.5e}".replace("e+", "e"),
        ),
        Row(
            "How many vectors",
            "N = 1000",
            "Hardy–Ramanujan estimate",
            "2.4402e31",
            f"{hardy_ramanujan(1000):.4e}".replace("e+", "e"),
        ),
        Row(
            "How many vectors",
            "N = 1000",
            "estimate above exact, %",
            1.415,
            round(100 * (float(hardy_ramanujan(1000)) / exact - 1), 3),
        ),
    ]


def _positions(scope: Scope) -> Findings:
    rows = []
    order = [(4,), (2, 1), (1, 0, 1), (0, 2), (0, 0, 0, 1)]
    for published, counts in enumerate(order, start=1):
        rows.append(
            Row(
                "Positions, N = 4",
                str(AnonymityVector(counts)),
                "position",
                published,
                AnonymityVector(counts).rank,
                "published from 1, ours from 0",
            )
        )
    published_30 = [
        ((2, 3, 2, 4), 3157, "published from 0"),
        ((24, 3), 8, "published from 1"),
        ((9, 4, 3, 1), 642, "published from 1"),
        ((2, 6, 4, 1), 3045, "published from 1"),
    ]
    for counts, published, note in published_30:
        rows.append(
            Row(
                "Positions, N = 30",
                str(AnonymityVector(counts)),
                "position",
                published,
                AnonymityVector(counts).rank,
                note,
            )
        )
    # Figures 4 and 5: the base, random seats and two plans on a line.
    line = {
        f"line|{name}": [(float(AnonymityVector(counts).rank), place)]
        for place, (name, counts) in enumerate(
            (
                ("random seats", (24, 3)),
                ("first plan", (9, 4, 3, 1)),
                ("second plan", (2, 6, 4, 1)),
                ("before any appointment", (2, 3, 2, 4)),
            ),
            start=1,
        )
    }
    return Findings(rows, {name: [(x, float(y)) for x, y in points] for name, points in line.items()})


def _improvements(scope: Scope) -> Sequence[Row]:
    base, chance = AnonymityVector((2, 3, 2, 4)), AnonymityVector((24, 3))
    return [
        Row(
            "Improvement over random, N = 30",
            str(AnonymityVector(counts)),
            "improvement",
            published,
            round(AnonymityVector(counts).improvement(chance, base), 4),
        )
        for counts, published in (((9, 4, 3, 1), 0.20), ((2, 6, 4, 1), 0.96))
    ]


# The 15 people of the worked example: postcode, sex, age, and the appointments of its random and its optimal table.
_PEOPLE = """
88888 male 20-25 A9 B9
11111 male 25-30 A9 A9
11111 female 25-30 A9 B13
88888 female 25-30 A9 A13
88888 male 20-25 A13 B9
11111 female 25-30 A13 B13
11111 female 25-30 B9 B13
11111 male 25-30 B9 A9
11111 female 25-30 B9 C13
88888 female 25-30 B9 A13
11111 male 25-30 B13 A9
11111 female 25-30 B13 C13
88888 male 20-25 C13 B9
88888 male 20-25 C13 B9
11111 male 25-30 B13 A9
"""


def _examples(scope: Scope) -> Sequence[Row]:
    import polars as pl

    names = ["zip", "sex", "age", "random", "optimal"]
    people = pl.DataFrame([line.split() for line in _PEOPLE.strip().splitlines()], schema=names, orient="row")
    cases = [
        ("before", [], "(0, 1, 0, 2, 1)", ""),
        ("random appointments", ["random"], "(11, 2)", "the printed rows hold three pairs, not two"),
        ("optimal appointments", ["optimal"], "(0, 2, 1, 2)", ""),
    ]
    return [
        Row(
            "15 people",
            case,
            "anonymity vector",
            published,
            str(anonymity(people, names[:3] + more).vector),
            note,
        )
        for case, more, published, note in cases
    ]


def _figure_19(scope: Scope) -> Sequence[Row]:
    """Figure 19: twenty people of the published program with their random and their intelligent appointments."""
    import polars as pl

    names = ["AGE", "CP", "SEX", "REC_RAND", "REC_INTELLIGENT"]
    lines = [line.split() for line in _TWENTY.strip().splitlines()]
    people = pl.DataFrame(lines, schema=names, orient="row")
    note = "the work prints the people, not their vectors"
    rows = []
    for keys in (["AGE", "CP", "SEX"], ["CP", "SEX"]):
        for more in ([], ["REC_RAND"], ["REC_INTELLIGENT"]):
            vector = str(anonymity(people, [*keys, *more]).vector)
            rows.append(
                Row(
                    "Figure 19, 20 people", " + ".join([*keys, *more]), "anonymity vector", None, vector, note
                )
            )
    return rows


_TWENTY = """
52 28003 woman 5 5
51 28002 man 3 2
57 28000 woman 5 1
59 28002 man 4 2
52 28003 man 2 3
52 28003 woman 2 5
56 28003 man 3 3
57 28000 woman 1 1
45 28000 man 1 3
47 28002 man 4 2
47 28002 man 1 2
48 28003 woman 1 5
49 28000 woman 2 1
50 28001 man 3 4
46 28001 woman 5 2
50 28001 man 2 4
48 28003 woman 2 5
58 28001 man 5 4
52 28003 man 4 3
47 28002 woman 3 1
"""


def _growth(scope: Scope) -> Findings:
    """How many vectors there are, as people grow in number, and the estimate beside it."""
    import math

    sizes = (5, 10, 25, 50, 100, 250, 500, 1000)
    exact = [(float(n), math.log10(partition_count(n))) for n in sizes]
    estimate = [(float(n), float(hardy_ramanujan(n).log10())) for n in sizes]
    return Findings([], {"vectors|exact": exact, "vectors|Hardy–Ramanujan": estimate})


def _charts(findings: Findings) -> dict[str, Picture]:
    from shoal.report import charts

    drawn = {}
    line = {
        name.partition("|")[2]: points[0][0]
        for name, points in findings.curves.items()
        if name.startswith("line|")
    }
    if line:
        svg = charts.bars(list(line), list(line.values()), x="", y="rank among the vectors of 30 people")
        drawn["figures-4-5-positions"] = Picture(
            svg, "Figures 4 and 5: positions of the base, of random seats and of two plans."
        )
    growth = {
        name.partition("|")[2]: points
        for name, points in findings.curves.items()
        if name.startswith("vectors|")
    }
    if growth:
        svg = charts.lines(
            growth, x="people", y="decimal digits of the number of vectors", steps=False, log="x"
        )
        drawn["vectors"] = Picture(svg, "How many anonymity vectors there are: exact, and the estimate.")
    return drawn


def _claims(findings: Findings) -> list[Claim]:
    """What the work computes from its positions, on ours."""
    rows = {(row.table, row.case): row.measured for row in findings.rows}
    claims = []
    for case, printed in (("(9, 4, 3, 1)", 0.20), ("(2, 6, 4, 1)", 0.96)):
        gain = rows.get(("Improvement over random, N = 30", case))
        if isinstance(gain, float):
            away = abs(gain - printed)
            claims.append(Claim(case, "improvement away from the printed", Rule("at most", 0.005), away, 0.0))
    estimate = rows.get(("How many vectors", "N = 1000"))
    if isinstance(estimate, float):
        claims.append(Claim("N = 1000", "estimate above exact, %", Rule("at most", 1.415), estimate, 1.415))
    return claims


STUDY = Study(
    name="anonymity-vectors",
    title="Anonymity vectors: counts, positions and worked examples",
    source="R. J. Cabana Ramírez, master's thesis, Complutense University of Madrid, 2016",
    steps=lambda scope: [
        Step("counts", "how many vectors there are", _counts),
        Step("positions", "positions by the exact rank", _positions),
        Step("improvements", "improvements over a random assignment", _improvements),
        Step("examples", "worked examples", _examples),
        Step("figure-19", "twenty people with their appointments", _figure_19),
        Step("growth", "the number of vectors as people grow", _growth),
    ],
    claims=_claims,
    charts=_charts,
    remarks=(
        "The thesis found positions by enumeration, which ends near N = 50; here they are computed exactly for any N.",
        "Its positions mix counting from 0 and from 1; the ratios do not depend on that.",
    ),
)
