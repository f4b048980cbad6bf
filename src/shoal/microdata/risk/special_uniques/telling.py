"""How special uniques are told: figures, facts, tables, a section of the report, and the scores of every record."""

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


def figures(found: "SpecialUniques", names: Sequence[str]) -> dict[str, Any]:
    """Everything in numbers."""
    return {
        "max_size": found.max_size,
        "asked_size": found.asked_size,
        "sizes_not_looked_at": list(found.not_looked_at),
        "records": found.records,
        "minimal_uniques": {str(size): number for size, number in found.by_size.items()},
        "records_by_fewest_keys": {str(size): number for size, number in _by_fewest(found).items()},
        "score_sum": float(found.scores.sum()),
        "largest_score": float(found.scores.max()),
        "dis_sum": float(found.dis_scores.sum()),
        "largest_dis": float(found.dis_scores.max()),
        "contributions": [
            {"column": name, "percent": float(part)}
            for name, part in zip(names, found.contributions, strict=True)
        ],
    }


def facts(found: "SpecialUniques") -> list[tuple[str, Any]]:
    """What a person wants to know first."""
    fewest = next((size for size, number in _by_fewest(found).items() if number), None)
    text = counted(found.records, "record")
    if fewest is not None:
        text += f" (by {counted(fewest, 'key')} in the worst case)"
    missed = (
        [("sets of keys not looked at, since there was no time", _missed(found))]
        if found.not_looked_at
        else []
    )
    if found.max_size == 0:
        return missed
    return [
        (f"singled out by at most {counted(found.max_size, 'key')}", text),
        ("minimal uniques", f"{sum(found.by_size.values()):,}"),
        *missed,
    ]


def _missed(found: "SpecialUniques") -> str:
    """The sizes of sets that were not looked at."""
    first, last = found.not_looked_at[0], found.not_looked_at[-1]
    return f"of {counted(first, 'key')}" if first == last else f"of {first} to {last} keys"


def tables(found: "SpecialUniques", names: Sequence[str], number: int) -> list[Rows]:
    """Minimal uniques by size, what each key adds to the scores, and the most special records."""
    if not found.records:
        return []
    listed = [Rows(_SIZES, _sizes(found), title="Special uniques"), Rows(_KEYS, _keys(found, names))]
    if number:
        listed.append(_most_special(found, number))
    return listed


def section(out: Page, found: "SpecialUniques", names: Sequence[str], number: int) -> None:
    """The section of the report."""
    out.section("Special uniques")
    out.facts(facts(found))
    out.text(WORTH)
    if not found.records:
        return
    out.table(_SIZES, _sizes(found))
    out.table(_KEYS, _keys(found, names))
    out.chart(
        charts.bars(
            list(names), [float(part) for part in found.contributions], x="key", y="part of the score, %"
        ),
        "Which part of all scores comes from minimal uniques with a key. The parts add up to more than 100 %, since a set of "
        "several keys counts for each of them.",
    )
    if number:
        rows = _most_special(found, number)
        out.table(rows.header, rows.body)
        out.note("Records are named by their position in the data.")


def frame(found: "SpecialUniques", names: Sequence[str]) -> "pl.DataFrame":
    """A row for each record, numbered from 1: its minimal uniques and scores, and the part of each key in its score."""
    import polars as pl

    own = {
        "record": np.arange(1, found.scores.size + 1),
        "minimal_uniques": found.minimal_uniques.sum(axis=1),
        "fewest_keys": found.smallest,
        "score": found.scores,
        "dis_score": found.dis_scores,
    }
    parts = {f"contribution of {name}": found.shares[:, place] for place, name in enumerate(names)}
    return pl.DataFrame({**own, **parts})


def _by_fewest(found: "SpecialUniques") -> dict[int, int]:
    """How many records are singled out by so many keys, and by no fewer."""
    numbers = np.bincount(found.smallest, minlength=found.max_size + 1)
    return {size: int(numbers[size]) for size in range(1, found.max_size + 1)}


def _sizes(found: "SpecialUniques") -> list[tuple[Any, ...]]:
    fewest = _by_fewest(found)
    return [(size, number, fewest[size]) for size, number in found.by_size.items()]


def _keys(found: "SpecialUniques", names: Sequence[str]) -> list[tuple[Any, ...]]:
    return [(name, f"{part:.4g}") for name, part in zip(names, found.contributions, strict=True)]


def _most_special(found: "SpecialUniques", number: int) -> Rows:
    order = np.argsort(-found.scores, kind="stable")[: min(number, found.records)]
    body = [
        (
            f"{place + 1}",
            int(found.smallest[place]),
            int(found.minimal_uniques[place].sum()),
            f"{found.scores[place]:.6g}",
            f"{found.dis_scores[place]:.4g}",
        )
        for place in order
    ]
    return Rows(
        ["record", "fewest keys", "minimal uniques", "score", "DIS-SUDA"],
        body,
        title="The most special records",
    )
