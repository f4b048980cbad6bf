"""The three reference files on which microaggregation is compared."""

import numpy as np
from tests.benchmark_data import benchmark_file


def tarragona() -> np.ndarray:
    return _read("casc/tarragona.csv")


def census() -> np.ndarray:
    return _read("casc/census.csv")


def eia(columns: int = 10) -> np.ndarray:
    """With 11 columns as most papers have it (with the utility's number), or the last 10."""
    return _read("casc/eia_11num.csv")[:, 11 - columns :]


def _read(name: str) -> np.ndarray:
    return np.genfromtxt(benchmark_file(name), delimiter=",", skip_header=1)
