"""Numbers beside recoded keys: microaggregated within the classes, so that a survey is protected in one go."""

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw

from shoal.errors import InputError, parameter
from shoal.exact_names import only
from shoal.microdata.microaggregation.api import microaggregate
from shoal.numbers import counted


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
    _refuse_few_values(frame, k, columns, keys)
    made = microaggregate(
        frame.to_native(),
        k,
        columns=list(columns),
        by=list(keys),
        method="mdav",
        missing="impute",
        quasi=[*keys, *columns],
        unit=unit,
        bound=False,
    )
    return Averages(tuple(columns), nw.from_native(made.frame, eager_only=True), made.k_release, made.loss)


def _refuse_few_values(frame: nw.DataFrame, k: int, columns: Sequence[str], keys: Sequence[str]) -> None:
    """A mean needs k values; where a class has fewer, but some, gaps filled in would hide that it tells them."""
    # Under names that no engine takes for patterns.
    own = {name: f"key {number}" for number, name in enumerate(keys)}
    present = [frame[name].alias(f"{number}") for number, name in enumerate(columns)]
    plain = only(frame, own).rename(own).with_columns(*present)
    classes = plain.group_by(*own.values()).agg(*(nw.col(item.name).count() for item in present))
    for number, name in enumerate(columns):
        values = classes[f"{number}"].to_numpy()
        short = values[(values > 0) & (values < k)]
        if short.size:
            raise InputError(
                f"column '{name}' has {counted(int(short.min()), 'value')} in {int(short.size)} of "
                f"{counted(len(classes), 'class', 'classes')} of equal keys, fewer than k = {k}, so a mean would tell them; "
                f"leave it out of {parameter('average')}, drop it, or make the keys coarser"
            )
