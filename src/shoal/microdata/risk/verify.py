"""Counting some records again, straight from the keys: no groups, no tables, no packed numbers."""

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.microdata.risk.counts import Hiding

# Comparing a record with all others costs as much as a look at every value, so a few are taken.
RECOUNTED = 5


def recount(
    columns: Sequence[np.ndarray],
    missing: Sequence[int],
    records: np.ndarray,
    weights: np.ndarray,
    *,
    claimed: Hiding,
    class_of: np.ndarray,
    wildcard: bool,
) -> None:
    """Raise ``AssertionError`` unless the totals are right, and what a few records are hidden in, the least hidden among them.

    ``records`` and ``weights`` are what every row of the columns stands for; rows of the sample come first.
    """
    size = int(records.sum())
    assert int(claimed.records.sum()) == size, "the classes hold other records than the sample"
    own = class_of[:size]
    positions = np.linspace(0, size - 1, RECOUNTED - 1).astype(np.int64)
    for i in {int(claimed.counts[own].argmin()), *positions.tolist()}:
        alike = np.ones(columns[0].size, dtype=bool)
        for column, gone in zip(columns, missing, strict=True):
            value = column[i]
            if wildcard and value == gone:
                continue
            same = column == value
            alike &= (same | (column == gone)) if wildcard and gone >= 0 else same
        count, people = int(records[alike].sum()), float(weights[alike].sum())
        claim, estimated = int(claimed.counts[own[i]]), float(claimed.populations[own[i]])
        assert count == claim, f"record {i + 1} is like {count} records, not {claim}"
        assert abs(people - estimated) <= 1e-9 * people, (
            f"record {i + 1} stands for other people than claimed"
        )


def recount_matches(
    claimed: Hiding,
    class_of: np.ndarray,
    household_of: np.ndarray | None,
    *,
    units: np.ndarray,
    risks: tuple[np.ndarray, np.ndarray, np.ndarray],
    figures: Mapping[str, tuple[float, float, float]],
) -> None:
    """Raise ``AssertionError`` unless an estimate of expected matches agrees with what the sample says for certain.

    ``units`` is what was counted in each class, ``risks`` are those of a record of each class with the ends of their intervals,
    and ``figures`` the expected matches, those among sample uniques, and the population uniques among these, with theirs.
    Units and sample uniques are counted again, the risks add up, and nothing is above what is known from the sample.
    """
    alone = np.array(
        [own == 1 and count == 1 for own, count in zip(claimed.records, claimed.counts, strict=True)]
    )
    for i in {0, int(claimed.counts.argmin()), int(claimed.records.argmax()), claimed.counts.size - 1}:
        members = np.flatnonzero(class_of == i)
        count = claimed.records[i] if household_of is None else len(set(household_of[members].tolist()))
        assert units[i] == count, f"class {i} holds {count} units, not {units[i]}"
    risk, low, high = risks
    slack = 1.0 + 1e-9
    assert (low > 0).all() and (low <= risk * slack).all() and (risk <= high * slack).all(), (
        "the interval of a risk does not hold it"
    )
    assert (high * claimed.counts <= slack).all(), "a risk is above 1/f"
    uniques = float(alone.sum())
    sums = float((claimed.records * risk).sum()), float(risk[alone].sum())
    limits = float((claimed.records / claimed.counts).sum()), uniques, uniques
    for (name, (value, least, most)), limit in zip(figures.items(), limits, strict=True):
        assert 0.0 <= least <= value * slack and value <= most * slack, (
            f"the interval of {name} does not hold it"
        )
        assert most <= limit * slack, f"{name} may be {most}, but no more than {limit} are possible"
    values = [value for value, _, _ in figures.values()]
    for total, value in zip(sums, values, strict=False):
        assert abs(total - value) <= 1e-9 * total, "the risks of the records add up to something else"
    assert values[2] <= values[1] * slack <= values[0] * slack**2, "more uniques than matches"
