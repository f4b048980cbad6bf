"""Problems to perturb, made from plain columns."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.microdata.columns.identities import record_identities
from shoal.microdata.perturbation.change import Change
from shoal.microdata.perturbation.problem import Problem
from shoal.runtime.secrets import Secret

SECRET = Secret.of_seed(11)


def problem_of(
    frame: pl.DataFrame,
    columns: Sequence[str],
    *,
    strata: Sequence[int] | None = None,
    key: str | None = None,
    secret: Secret = SECRET,
    **more: Any,
) -> Problem:
    data = nw.from_native(frame, eager_only=True)
    own = np.zeros(frame.height, dtype=np.int64) if strata is None else np.asarray(strata, dtype=np.int64)
    return Problem(
        data=data,
        columns=tuple(columns),
        strata=own,
        identities=record_identities(data, secret, key),
        **more,
    )


def released(frame: pl.DataFrame, change: Change) -> pl.DataFrame:
    """The frame with what changed, put together in the plainest way."""
    new = {name: frame[name].gather(donors) for name, donors in change.donors.items()}
    new |= {name: pl.Series(name, numbers).fill_nan(None) for name, numbers in change.numbers.items()}
    return frame.with_columns(**new)


def broken(frame: pl.DataFrame, after: pl.DataFrame, change: Change) -> list[str]:
    """The promises that do not hold."""
    before_, after_ = (nw.from_native(item, eager_only=True) for item in (frame, after))
    outcomes = [(promise, promise.check(before_, after_)) for promise in change.promises]
    return [f"{promise.text}: {outcome.measured}" for promise, outcome in outcomes if not outcome.kept]
