"""What is reported of special uniques: figures, facts, tables, a section of the report, and the scores of every record."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.microdata.risk.special_uniques.scores import SAMPLED
from shoal.numbers import counted
from shoal.operation import Rows
from shoal.report import charts
from shoal.report.page import Page

if TYPE_CHECKING:
    import polars as pl

    from shoal.microdata.risk.special_uniques.search import SpecialUniques

_KEYS = ["key", "part of the score, %"]
_SIZES = ["keys in the set", "minimal uniques", "records that need no more"]
#: What the scores are worth.
WORTH = (
    "A minimal unique is a set of keys that singles a record out while no part of it does. The score is larger the fewer keys "
    "are needed and the more such sets there are; it ranks records, and is no chance. DIS-SUDA spreads the chance that a match "
    f"is right over the records by their scores, for a sample of {100 * SAMPLED:g} % of the population: it ranks them, too, and "
    "is no bound. Weights and households do not change either; a missing value matches nothing."
)


def figures(uniques: "SpecialUniques", names: Sequence[str]) -> dict[str, Any]:
    """Everything in numbers."""
    return {
        "max_size": uniques.max_size,
        "asked_size": uniques.asked_size,
        "sizes_not_looked_at": list(uniques.not_looked_at),
        "records": uniques.records,
        "minimal_uniques": {str(size): number for size, number in uniques.by_size.items()},
        "records_by_fewest_keys": {str(size): number for size, number in _by_fewest(uniques).items()},
        "score_sum": float(uniques.scores.sum()),
        "largest_score": float(uniques.scores.max()),
        "dis_sum": float(uniques.dis_scores.sum()),
        "largest_dis": float(uniques.dis_scores.max()),
        "contributions": [
            {"column": name, "percent": float(part)}
            for name, part in zip(names, uniques.contributions, strict=True)
        ],
    }


def facts(uniques: "SpecialUniques") -> list[tuple[str, Any]]:
    """What a person wants to know first."""
    fewest = next((size for size, number in _by_fewest(uniques).items() if number), None)
    text = counted(uniques.records, "record")
    if fewest is not None:
        text += f" (by {counted(fewest, 'key')} in the worst case)"
    missed = (
        [("sets of keys not looked at, since there was no time", _missed(uniques))]
        if uniques.not_looked_at
        else []
    )
    if uniques.max_size == 0:
        return missed
    return [
        (f"singled out by at most {counted(uniques.max_size, 'key')}", text),
        ("minimal uniques", f"{sum(uniques.by_size.values()):,}"),
        *missed,
    ]


def _missed(uniques: "SpecialUniques") -> str:
    """The sizes of sets that were not looked at."""
    first, last = uniques.not_looked_at[0], uniques.not_looked_at[-1]
    return f"of {counted(first, 'key')}" if first == last else f"of {first} to {last} keys"


def tables(uniques: "SpecialUniques", names: Sequence[str], number: int) -> list[Rows]:
    """Minimal uniques by size, what each key adds to the scores, and the most special records."""
    if not uniques.records:
        return []
    listed = [Rows(_SIZES, _sizes(uniques), title="Special uniques"), Rows(_KEYS, _keys(uniques, names))]
    if number:
        listed.append(_most_special(uniques, number))
    return listed


def section(out: Page, uniques: "SpecialUniques", names: Sequence[str], number: int) -> None:
    """The section of the report."""
    out.section("Special uniques")
    out.facts(facts(uniques))
    out.text(WORTH)
    if not uniques.records:
        return
    out.table(_SIZES, _sizes(uniques))
    out.table(_KEYS, _keys(uniques, names))
    out.chart(
        charts.bars(
            list(names), [float(part) for part in uniques.contributions], x="key", y="part of the score, %"
        ),
        "Which part of all scores comes from minimal uniques with a key. The parts add up to more than 100 %, since a set of "
        "several keys counts for each of them.",
    )
    if number:
        rows = _most_special(uniques, number)
        out.table(rows.header, rows.body)
        out.note("Records are named by their position in the data.")


def frame(uniques: "SpecialUniques", names: Sequence[str]) -> "pl.DataFrame":
    """A row for each record, numbered from 1: its minimal uniques and scores, and the part of each key in its score."""
    import polars as pl

    own = {
        "record": np.arange(1, uniques.scores.size + 1),
        "minimal_uniques": uniques.minimal_uniques.sum(axis=1),
        "fewest_keys": uniques.smallest,
        "score": uniques.scores,
        "dis_score": uniques.dis_scores,
    }
    parts = {f"contribution of {name}": uniques.shares[:, position] for position, name in enumerate(names)}
    return pl.DataFrame({**own, **parts})


def _by_fewest(uniques: "SpecialUniques") -> dict[int, int]:
    """How many records are singled out by so many keys, and by no fewer."""
    numbers = np.bincount(uniques.smallest, minlength=uniques.max_size + 1)
    return {size: int(numbers[size]) for size in range(1, uniques.max_size + 1)}


def _sizes(uniques: "SpecialUniques") -> list[tuple[Any, ...]]:
    fewest = _by_fewest(uniques)
    return [(size, number, fewest[size]) for size, number in uniques.by_size.items()]


def _keys(uniques: "SpecialUniques", names: Sequence[str]) -> list[tuple[Any, ...]]:
    return [(name, f"{part:.4g}") for name, part in zip(names, uniques.contributions, strict=True)]


def _most_special(uniques: "SpecialUniques", number: int) -> Rows:
    order = np.argsort(-uniques.scores, kind="stable")[: min(number, uniques.records)]
    body = [
        (
            f"{position + 1}",
            int(uniques.smallest[position]),
            int(uniques.minimal_uniques[position].sum()),
            f"{uniques.scores[position]:.6g}",
            f"{uniques.dis_scores[position]:.4g}",
        )
        for position in order
    ]
    return Rows(
        ["record", "fewest keys", "minimal uniques", "score", "DIS-SUDA"],
        body,
        title="The most special records",
    )
