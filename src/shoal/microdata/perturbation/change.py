"""What a method did to the records, and what it promises of that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.microdata.perturbation.promises.promise import Promise
from shoal.remarks import Remark, Remarked


@dataclass(frozen=True, eq=False)
class Change(Remarked):
    """The new values of the columns that a method changed.

    ``donors`` name for every record the one whose value it gets (its own place where nothing changes), so that a value keeps
    its type; ``numbers`` are new values as floats, NaN where one is missing. ``facts`` are told in the report as they are,
    ``details`` are the method's own (matrices of PRAM, …).
    """

    donors: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    numbers: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    promises: tuple[Promise, ...] = ()
    facts: tuple[tuple[str, Any], ...] = ()
    remarks: tuple[Remark, ...] = ()
    details: Any = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that may have changed."""
        return (*self.donors, *self.numbers)
