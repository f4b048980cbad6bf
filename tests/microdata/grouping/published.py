"""The published tables of GOMM: hand-made groupings and their scores, and the data sets they belong to."""

import numpy as np
from tests.benchmark_data import benchmark_file

K = (5, 10, 25, 50, 100)

# Attributes are numbered from 1, as in the original. Scores are truncated to one decimal.
CENSUS = {
    "all": ([tuple(range(1, 13))], (12.0, 12.4, 14.2, 15.5, 17.9)),
    "1": ([(a,) for a in range(1, 13)], (48.9, 48.1, 45.3, 41.8, 37.6)),
    "4 c": ([(2, 4, 6, 7), (5, 10, 11, 12), (1, 3, 8, 9)], (39.7, 37.3, 31.4, 24.4, 16.6)),
    "4 nc": ([(1, 2, 4, 5), (3, 6, 10, 11), (7, 8, 9, 12)], (34.5, 27.8, 19.6, 14.9, 15.1)),
    "3 c": ([(2, 4, 7), (3, 11, 12), (5, 6, 10), (1, 8, 9)], (40.4, 38.0, 33.1, 27.0, 20.1)),
    "3 nc": ([(2, 3, 5), (8, 10, 11), (7, 9, 12), (1, 4, 6)], (38.0, 34.3, 27.5, 20.9, 16.2)),
}

WATER = {
    "all": ([tuple(range(1, 39))], (24.8, 30.2, 36.2, 41.7, 50.4)),
    "1": ([(a,) for a in range(1, 39)], (49.3, 48.9, 47.2, 45.0, 46.1)),
    "10 nc": (
        [
            (1, 2, 3, 24, 4, 9, 8, 25, 5, 10),
            (12, 27, 6, 15, 14, 30, 7, 16, 19, 32),
            (11, 18, 26, 34, 13, 21, 28, 35, 17, 22),
            (20, 36, 29, 23, 31, 33, 37, 38),
        ],
        (43.4, 45.9, 44.0, 41.1, 44.7),
    ),
    "5 c": (
        [
            (1, 4, 5, 6, 7),
            (11, 13, 17, 20, 36),
            (3, 9, 10, 15, 16),
            (18, 21, 22, 23, 29),
            (2, 8, 12, 14, 19),
            (26, 28, 31, 33, 37),
            (24, 25, 27, 30),
            (32, 34, 35, 38),
        ],
        (42.1, 43.9, 47.0, 49.5, 45.5),
    ),
}


def table(relative, columns=None):
    """A benchmark table as an array; skips the test where it is missing."""
    return np.genfromtxt(benchmark_file(relative), delimiter=",", skip_header=1)[:, :columns]


def census():
    """The CASC Census table without its last column: 1080 records of 12 attributes."""
    return table("casc/census.csv", 12)


def water():
    """The complete records of the water treatment plant: 380 records of 38 attributes."""
    return table("water-treatment/water-treatment.csv")
