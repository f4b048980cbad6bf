"""Numbers beside recoded keys: microaggregated within the classes, so that a survey is protected in one go."""

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw

from shoal.microdata.microaggregation.api import microaggregate


@dataclass(frozen=True, eq=False)
class Averages:
    """The numbers that were averaged: the release with them, K over keys and numbers together, and what was lost in percent."""

    columns: tuple[str, ...]
    frame: nw.DataFrame
    k: int
    loss: float


def averaged(
    frame: nw.DataFrame, k: int, columns: Sequence[str], keys: Sequence[str], unit: str | None
) -> Averages:
    """Replace numbers by means of groups of at least k records that share their keys; gaps are filled in."""
    made = microaggregate(
        frame.to_native(),
        k,
        columns=list(columns),
        by=list(keys),
        method="mdav",
        missing="impute",
        quasi=[*keys, *columns],
        unit=unit,
    )
    return Averages(tuple(columns), nw.from_native(made.frame, eager_only=True), made.k_release, made.loss)
