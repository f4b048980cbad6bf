"""Who is released how: records of combinations given to masks, and what that costs."""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.recoding.local_suppression.instance import Instance
from shoal.microdata.recoding.local_suppression.masks import Masks

#: The place of a mask for records that are left out.
LEFT_OUT = -1


@dataclass(frozen=True, eq=False)
class Assignment:
    """Parts of combinations: ``records[i]`` records of combination ``rows[i]`` are blanked by the mask at ``masks[i]``.

    The mask ``LEFT_OUT`` leaves them out.
    """

    rows: np.ndarray
    masks: np.ndarray
    records: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, masks: np.ndarray, records: np.ndarray) -> "Assignment":
        """Parts in order of combinations, equal ones joined and empty ones gone."""
        full = records > 0
        pairs, inverse = np.unique(
            np.stack([rows[full], masks[full]], axis=1).astype(np.int64), axis=0, return_inverse=True
        )
        return cls(
            pairs[:, 0],
            pairs[:, 1],
            np.bincount(inverse.reshape(-1), weights=records[full], minlength=pairs.shape[0]).astype(
                np.int64
            ),
        )

    def cost(self, masks: Masks) -> float:
        """What the blanks and the records left out cost, in units."""
        instance = masks.instance
        kinds = instance.prices[1][self.rows]
        each = np.where(
            self.masks == LEFT_OUT,
            instance.leave[self.rows],
            masks.costs[kinds, np.maximum(0, self.masks)],
        )
        return float((each * self.records).sum())

    def people(self, instance: Instance) -> np.ndarray:
        """The people of each part, each counted at one combination alone."""
        own: np.ndarray = np.where(instance.splittable[self.rows], self.records, instance.people[self.rows])
        return own

    def people_left_out(self, instance: Instance) -> int:
        """How many people are left out, at most."""
        out = self.masks == LEFT_OUT
        rows = self.rows[out]
        touched = np.where(instance.splittable[rows], self.records[out], instance.touched[rows])
        return int(touched.sum())
