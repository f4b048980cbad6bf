"""The two figures the work reports everywhere: five numbers of a column, and what a second of CPU saves."""

from collections.abc import Sequence

import numpy as np

MEASURES = ("average", "median", "highest", "lowest", "sd")


def five_numbers(values: Sequence[float]) -> tuple[float, float, float, float, float]:
    """Average, median, highest, lowest and population standard deviation.

    >>> from shoal.studies.cell_suppression.published import APPENDIX
    >>> [round(x, 2) for x in five_numbers([row[5] for row in APPENDIX])]
    [6778.6, 6693.0, 7951.0, 5857.0, 625.45]
    """
    array = np.asarray(values, dtype=np.float64)
    return (
        float(array.mean()),
        float(np.median(array)),
        float(array.max()),
        float(array.min()),
        float(array.std()),
    )


def improvement_ratio(hypercube: float, cost: float, seconds: float) -> float:
    """Cost saved over HyperCube per second of CPU.

    >>> round(improvement_ratio(6885, 6066, 20.1943), 2)
    40.56
    """
    return (hypercube - cost) / seconds
