"""What a user must know of columns that are released as they are beside perturbed ones."""

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.errors import parameter
from shoal.exact_names import only
from shoal.microdata.columns.released_as_is import listed, warnings_on_joining
from shoal.microdata.columns.roles import guess_roles
from shoal.microdata.perturbation.problem import Problem
from shoal.remarks import Remark, danger

# A column with more different values than this share of the records tells records apart, not values of another column.
_TELLS_APART = 0.5
# Two columns of which one explains this share of the other's variance say the same.
_EXPLAINED = 0.98
# What does not hold of the first records holds of no more.
_FIRST = 10_000


def warnings_on_unchanged(
    problem: Problem, changed: Sequence[str], dropped: Sequence[str], key: str | None
) -> Iterator[Remark]:
    """Columns that say who somebody is, those that join records, and those that give a perturbed value away."""
    kept = [name for name in problem.data.columns if name not in (*changed, *dropped)]
    role_of = {guess.column: guess.role for guess in guess_roles(only(problem.data, kept))}
    named = {name for name, role in role_of.items() if role == "identifier"}
    told = [name for name in kept if name in named or name in (key, problem.household)]
    if told:
        one = len(told) == 1
        yield danger(
            "released-identifier",
            f"{', '.join(told)} {'says' if one else 'say'} who or whose somebody is and {'is' if one else 'are'} released; "
            f"remove {'it' if one else 'them'} with {parameter('drop')}",
            *told,
        )
    yield from warnings_on_joining(
        *(
            [name for name in kept if role_of[name] == role and name not in told]
            for role in ("household", "weight")
        )
    )
    among = parameter("regions" if problem.regions else "columns")
    for name, others in determined_by(problem, changed, [name for name in kept if name not in told]):
        some = len(others) > 1
        yield danger(
            "determined-column",
            f"column{'s' if some else ''} {listed(others, len(others))} {'are' if some else 'is'} changed, but column '{name}', "
            f"released as it is, determines {'them' if some else 'it'}; add it to {among}, or remove it with {parameter('drop')}",
            name,
            *others,
        )


def determined_by(
    problem: Problem, changed: Sequence[str], unchanged: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Kept columns with the changed ones that follow: a postcode and its region, a code and its label, cents and euros."""
    columns = {name: _plain(problem.data[name]) for name in (*changed, *unchanged)}
    numbers = {name: _numbers(values) for name, values in columns.items()}
    sizes = {name: values.n_unique() for name, values in columns.items() if values is not None}
    for name in unchanged:
        others = [
            other
            for other in changed
            if _explains(numbers[name], numbers[other]) or _determines(name, other, columns, sizes)
        ]
        if others:
            yield name, others


def _plain(column: "nw.Series[Any]") -> pl.Series | None:
    values = column.to_polars()
    return None if values.dtype.is_nested() or values.dtype == pl.Object else values


def _numbers(values: pl.Series | None) -> np.ndarray | None:
    if values is None or not values.dtype.is_numeric():
        return None
    return values.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _explains(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return False
    both = np.isfinite(one) & np.isfinite(other)
    x, y = one[both], other[both]
    if x.size < 3 or x.min() == x.max() or y.min() == y.max():
        return False
    # Squares of very large numbers would be no numbers.
    x, y = x / np.abs(x).max(), y / np.abs(y).max()
    with np.errstate(invalid="ignore", divide="ignore"):
        return bool(np.corrcoef(x, y)[0, 1] ** 2 >= _EXPLAINED)


def _determines(name: str, other: str, columns: dict[str, pl.Series | None], sizes: dict[str, int]) -> bool:
    one, two = columns[name], columns[other]
    if one is None or two is None or not 1 < sizes[other] <= sizes[name] <= _TELLS_APART * one.len():
        return False
    pairs = pl.DataFrame({"own": one, "other": two})
    first = pairs.head(_FIRST)
    return first.unique().height == first["own"].n_unique() and pairs.unique().height == sizes[name]
