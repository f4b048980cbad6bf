"""What is to be perturbed: the records, the columns, and who each record is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import InputError
from shoal.microdata.columns.attributes import Attribute, read_attribute
from shoal.microdata.columns.hierarchies.hierarchy import Values, read_values
from shoal.microdata.perturbation.external_matrix import ExternalMatrix
from shoal.microdata.perturbation.forbidden import Forbidden


@dataclass(frozen=True, eq=False)
class Problem:
    """Records whose ``columns`` are to be changed, each within its stratum.

    ``strata`` numbers the stratum of every record from 0 on, ``stratum_values`` are the values of each. ``identities`` say who
    a record is, whatever its place in the file: what is drawn for it is a function of that. ``orders`` are the values of
    ordinal columns from the lowest on (``None``: as they sort). ``household``, ``regions`` (from the coarsest to the finest)
    and ``quasi`` are for methods that move households, ``forbidden`` combinations and a given ``matrix`` for those that change
    categories.
    """

    data: "nw.DataFrame[Any]" = field(repr=False)
    columns: tuple[str, ...]
    strata: np.ndarray = field(repr=False)
    identities: np.ndarray = field(repr=False)
    orders: Mapping[str, Sequence[Any] | None] = field(default_factory=dict, repr=False)
    household: str | None = None
    regions: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    forbidden: tuple[Forbidden, ...] = ()
    matrix: ExternalMatrix | None = None
    stratum_values: tuple[tuple[str | None, ...], ...] = ()

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.data)

    @cached_property
    def members(self) -> tuple[np.ndarray, ...]:
        """The records of each stratum, in the order of the file."""
        by_stratum = np.argsort(self.strata, kind="stable")
        ends = np.cumsum(np.bincount(self.strata))
        return tuple(np.split(by_stratum, ends[:-1])) if ends.size else ()

    def numbers(self, name: str) -> Attribute:
        """A column as numbers; of an ordinal one its ranks."""
        if self.data[name].is_null().all():
            raise InputError(f"column '{name}' has no value at all: nothing in it can change")
        ordinal = name in self.orders
        return read_attribute(self.data, name, ordinal=ordinal, order=self.orders.get(name))

    def values(self, name: str) -> Values:
        """A column as categories."""
        return read_values(self.data[name])
