"""The risk of households: that at least one of the members is found."""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.risk import keys_kernels


@dataclass(frozen=True, eq=False)
class Households:
    """The household ``of_record``, numbered from 0 on, and how many people each has."""

    of_record: np.ndarray
    sizes: np.ndarray

    @property
    def number(self) -> int:
        """How many there are."""
        return int(self.sizes.size)

    @classmethod
    def of(cls, codes: np.ndarray, number: int) -> "Households":
        """Households from the number of each record's."""
        return cls(codes, np.bincount(codes, minlength=number))

    def risk(self, of_class: np.ndarray, class_of: np.ndarray) -> np.ndarray:
        """1 − Π(1 − r) over the members of each; the risk is given by class, and the class of each record.

        >>> Households.of(np.array([0, 0, 1]), 2).risk(np.array([0.5, 1.0]), np.array([0, 0, 1])).tolist()
        [0.75, 1.0]
        """
        with np.errstate(divide="ignore"):
            # Sums of logarithms keep the digits of small risks, which 1 − r loses.
            safe = np.log1p(-of_class)
        sums = np.zeros(self.number)
        keys_kernels.add_up_by_class(self.of_record, class_of, safe, sums)
        return np.abs(np.expm1(sums))


def warm_up() -> None:
    """Compile the kernels."""
    Households.of(np.zeros(1, dtype=np.int32), 1).risk(np.ones(1), np.zeros(1, dtype=np.int32))
