"""The figures Cabana Ramírez (2016) gives for anonymity vectors: counts, positions, distances, worked examples."""

from collections.abc import Sequence

from shoal.anonymity.measure import anonymity
from shoal.anonymity.partitions import hardy_ramanujan, partition_count
from shoal.anonymity.vector import AnonymityVector
from shoal.studies.study import Row, Scope, Step, Study


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


def _positions(scope: Scope) -> Sequence[Row]:
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
    return rows


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


STUDY = Study(
    name="anonymity-vectors",
    title="Anonymity vectors: counts, positions and worked examples",
    source="R. J. Cabana Ramírez, master's thesis, Complutense University of Madrid, 2016",
    steps=lambda scope: [
        Step("counts", "how many vectors there are", _counts),
        Step("positions", "positions by the exact rank", _positions),
        Step("improvements", "improvements over a random assignment", _improvements),
        Step("examples", "worked examples", _examples),
    ],
    remarks=(
        "The thesis found positions by enumeration, which ends near N = 50; here they are computed exactly for any N.",
        "Its positions mix counting from 0 and from 1; the ratios do not depend on that.",
    ),
)
