"""From what a method changed to a released frame, and the check of it."""

from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from shoal.microdata.columns.attributes import write_attribute
from shoal.microdata.columns.inputs import read_frame
from shoal.microdata.perturbation.change import Change
from shoal.microdata.perturbation.problem import Problem
from shoal.microdata.perturbation.promises.promise import Outcome, Promise


def changed_columns(problem: Problem, change: Change) -> list["nw.Series[Any]"]:
    """The new columns, of the kind of the frame."""
    data = problem.data
    found = [data[name][donors.tolist()].alias(name) for name, donors in change.donors.items()]
    backend = nw.get_native_namespace(data)
    for name, numbers in change.numbers.items():
        attribute = problem.numbers(name)
        whole = attribute.kind == "integer" and _fit(numbers, attribute.dtype)
        found.append(write_attribute(attribute, numbers, whole=whole, backend=backend))
    if data.implementation.is_pandas_like():
        # A pandas series brings the index of its donors along, by which it would be put back where it came from.
        found = [nw.new_series(item.name, item.to_list(), item.dtype, backend=backend) for item in found]
    return found


def _fit(numbers: np.ndarray, kind: Any) -> bool:
    """Whether all are whole numbers that a column of this type can hold, and that a float tells apart from its neighbours."""
    here = numbers[~np.isnan(numbers)]
    bits = int("".join(sign for sign in str(kind) if sign.isdigit()))
    signed = not str(kind).startswith("U")
    most = min(2.0**53, 2.0 ** (bits - signed) - 1)
    least = -most - 1 if signed else 0.0
    return bool((here == np.rint(here)).all() and (here >= least).all() and (here <= most).all())


@dataclass(frozen=True, eq=False)
class ReleaseCheck:
    """What has to hold of a release: every promise, on the records in their original order."""

    before: "nw.DataFrame[Any]" = field(repr=False)
    order: np.ndarray = field(repr=False)
    dropped: tuple[str, ...]
    promises: tuple[Promise, ...]

    def __call__(self, frame: Any) -> tuple[Outcome, ...]:
        """What every promise came to; an ``AssertionError`` if one is broken."""
        after = read_frame(frame)
        assert len(after) == len(self.before), "the number of released records is not the one stated"
        back = np.empty_like(self.order)
        back[self.order] = np.arange(self.order.size)
        after = after[back.tolist()]
        outcomes = tuple(promise.check(self.before, after) for promise in self.promises)
        for promise, outcome in zip(self.promises, outcomes, strict=True):
            assert outcome.kept, f"not kept: {promise.text} ({outcome.measured})"
        return outcomes
