"""The risk of each class of records, for somebody who does not know who is in the sample.

References
----------
- R. Benedetti and L. Franconi, Statistical and technological solutions for controlled data dissemination, NTTS 1998.
- N. Shlomo and others, Handbook on Statistical Disclosure Control, §3.3.
"""

import numpy as np

from shoal.microdata.risk import individual_kernels


def individual_risk(counts: np.ndarray, populations: np.ndarray) -> np.ndarray:
    """The expected 1/F given the sample count f and its weighted estimate; 1/f where the weights sum to no more than f.

    >>> individual_risk(np.array([1, 1, 2]), np.array([1.0, 100.0, 200.0])).round(6).tolist()
    [1.0, 0.046517, 0.009631]
    """
    found = np.empty(counts.size)
    individual_kernels.risks(counts.astype(np.int64), populations.astype(np.float64), found)
    return found


def expected_reidentifications(counts: np.ndarray, populations: np.ndarray, records: np.ndarray) -> float:
    """The sum of the risk over all records; ``records`` says how many are in each class.

    >>> round(expected_reidentifications(np.array([1, 2]), np.array([100.0, 200.0]), np.array([1, 2])), 6)
    0.065779
    """
    return float(
        individual_kernels.expected(
            counts.astype(np.int64), populations.astype(np.float64), records.astype(np.int64)
        )
    )


def warm_up() -> None:
    """Compile the kernels."""
    one = np.array([1, 2, 60])
    individual_risk(one, 3.0 * one)
    expected_reidentifications(one, 3.0 * one, one)
