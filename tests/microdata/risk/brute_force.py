"""Risk as it is defined, record by record and with as many digits as one likes: slow, and plain to read."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

Row = tuple[Any, ...]


def exact_risk(count: int, population: Fraction, digits: int = 80) -> Decimal:
    """The risk of Benedetti and Franconi: by its recurrence where that is stable, by its series elsewhere."""
    if population <= count:
        return Decimal(1) / count
    return (
        by_recurrence(count, population, digits)
        if population > 2 * count
        else by_series(count, population, digits)
    )


def by_recurrence(count: int, population: Fraction, digits: int) -> Decimal:
    with localcontext() as context:
        context.prec = digits
        p = Decimal(count) * population.denominator / population.numerator
        odds = p / (1 - p)
        risk = -odds * p.ln()
        for f in range(1, count):
            risk = odds * (Decimal(1) / f - risk)
        return +risk


def by_series(count: int, population: Fraction, digits: int) -> Decimal:
    with localcontext() as context:
        context.prec = digits
        p = Decimal(count) * population.denominator / population.numerator
        q, total, term, j = 1 - p, Decimal(1), Decimal(1), 0
        while term > Decimal(10) ** -digits:
            j += 1
            term *= q * j / (count + j)
            total += term
        return p / count * total


def by_definition(count: int, population: Fraction, terms: int) -> Fraction:
    """E 1/F when F − f has the negative binomial distribution with f successes of chance f/F̂; the first terms."""
    p = Fraction(count) / population
    chance, total = p**count, Fraction(0)
    for more in range(terms):
        total += chance / (count + more)
        chance *= (1 - p) * (count + more) / (more + 1)
    return total


def alike(one: Row, other: Row, null: str) -> bool:
    if null == "own":
        return one == other
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def counts(rows: Sequence[Row], weights: Sequence[Fraction], null: str) -> tuple[list[int], list[Fraction]]:
    found = [[place for place, other in enumerate(rows) if alike(row, other, null)] for row in rows]
    return [len(own) for own in found], [sum((weights[i] for i in own), Fraction(0)) for own in found]


def household_risk(risks: Sequence[Decimal], households: Sequence[Any]) -> dict[Any, Decimal]:
    with localcontext() as context:
        context.prec = 60
        safe: dict[Any, Decimal] = {}
        for risk, household in zip(risks, households, strict=True):
            safe[household] = safe.get(household, Decimal(1)) * (1 - risk)
        return {household: 1 - value for household, value in safe.items()}


def two_way_fit(
    rows: Sequence[tuple[int, ...]], sizes: Sequence[int], rounds: int
) -> dict[tuple[int, ...], float]:
    """Iterative proportional fitting to all pairs, cell by cell."""
    cells = list(product(*map(range, sizes)))
    table = dict.fromkeys(cells, len(rows) / len(cells))
    pairs = [(a, b) for a in range(len(sizes)) for b in range(a + 1, len(sizes))]
    for _ in range(rounds):
        for a, b in pairs:
            observed: dict[tuple[int, int], float] = {}
            fitted: dict[tuple[int, int], float] = {}
            for row in rows:
                observed[row[a], row[b]] = observed.get((row[a], row[b]), 0.0) + 1.0
            for cell, value in table.items():
                fitted[cell[a], cell[b]] = fitted.get((cell[a], cell[b]), 0.0) + value
            for cell in cells:
                at = cell[a], cell[b]
                table[cell] *= observed.get(at, 0.0) / fitted[at] if fitted[at] else 0.0
    return table
