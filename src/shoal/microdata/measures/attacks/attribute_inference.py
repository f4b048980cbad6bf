"""Attribute inference with a control group: what a release tells of a person beyond what it tells of anybody.

For each column in turn the intruder knows all the others that can be known, takes the nearest released record and reads the
value off it. That
is right for a share ``a`` of the people who were released, and ``b`` of those who were not: what statistics tell anyway. The
excess is (a − b)/(1 − b). Giomi and others, A unified framework for quantifying privacy risk in synthetic data, PoPETs 2023.
"""

import numpy as np

from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.attacks.batches import Look, go_on
from shoal.microdata.measures.attacks.halves import RELEASED, TARGETS, halves
from shoal.microdata.measures.attacks.mixed_distance import nearest, posed
from shoal.microdata.measures.mixed import MixedTables
from shoal.runtime import Seeds

#: A number is found out if it is missed by at most this many standard deviations.
NEAR = 0.1
# With many columns fewer people are looked for, so that the work does not grow with the square of the columns.
_PREDICTIONS, _FEWEST = 20_000, 100
# So many values are compared at most, if every one has to be looked at: of very many columns some are not tried.
_WORK = 40_000_000_000
#: The detail that names the columns which were not tried.
NOT_TRIED = "not_tried"


def attack(
    tables: MixedTables,
    *,
    seeds: Seeds,
    released: int = RELEASED,
    targets: int = TARGETS,
    work: int = _WORK,
    look: Look = go_on,
) -> Attack | None:
    """The largest excess over the columns, in percent, never below 0; ``None`` with one column, or too few people.

    Confidential columns come first; ``work`` bounds how many values are compared. ``look`` is called before each column, and may
    raise to give it up.

    >>> table = np.random.default_rng(0).normal(size=(60, 3))
    >>> found = attack(MixedTables.of_numbers(table, table), seeds=Seeds(0))
    >>> found.percent, dict(found.details)["by_column"][0]["released"]
    (100.0, 1.0)
    """
    columns, known = [*tables.first, *tables.unknown, *tables.columns], tables.known
    columns = list(dict.fromkeys(columns))
    targets = min(targets, max(_FEWEST, _PREDICTIONS // max(1, len(columns))))
    parts = halves(tables, seeds.child("inference"), released=released, targets=targets)
    if parts is None or len(columns) < 2 or not known:
        return None
    looked_at = (parts.inside.size + parts.outside.size) * parts.released.size * len(known)
    most = max(1, work // max(1, looked_at))
    everywhere = tables.select(known)
    shared = posed(everywhere)
    rows = []
    for name in columns[:most]:
        look()
        # A column that is not known stands beside those that are only while it is inferred.
        of_name = everywhere if name in known else tables.select([*known, name])
        before, after, fit = shared if name in known else posed(of_name)
        shown, place = after.take(parts.released), of_name.columns.index(name)
        a, b = (
            float(nearest(before.take(group), shown, fit, place, NEAR)[1].mean())
            for group in (parts.inside, parts.outside)
        )
        rows.append({"column": name, "released": a, "control": b, "excess": excess(a, b)})
    shares = [float(str(row["excess"])) for row in rows]
    worst = int(np.argmax(shares))
    return Attack(
        "attribute-inference",
        "inference of a value",
        "every value of a record that can be known, but one",
        100.0 * max(0.0, shares[worst]),
        int(parts.inside.size),
        parts.whole,
        (
            ("mean", float(np.mean(shares))),
            ("worst_column", rows[worst]["column"]),
            ("by_column", rows),
            *(((NOT_TRIED, columns[most:]),) if columns[most:] else ()),
        ),
    )


def excess(of_released: float, of_control: float) -> float:
    """What is found out of people in the release beyond others, as a share of what was left to find out.

    >>> excess(0.9, 0.5), excess(0.4, 1.0)
    (0.8, 0.0)
    """
    return (of_released - of_control) / (1.0 - of_control) if of_control < 1.0 else 0.0
