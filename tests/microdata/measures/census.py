"""The file on which utility and attacks were first measured, if it is there."""

import numpy as np
import polars as pl
from tests.benchmark_data import benchmark_file


def census12_pair():
    """Twelve columns of the census file, and the same after rank swapping."""
    before = pl.read_csv(benchmark_file("casc/census.csv")).drop("PTOTVAL")
    after = pl.read_csv(benchmark_file("oracles/census12_swap5.csv"))
    return before.to_numpy().astype(float), after.select(before.columns).to_numpy().astype(float)


def correlated_noise(table, share, *, seed):
    """Noise with the covariance of the data, times a share."""
    covariance = np.cov(table.T)
    return table + np.sqrt(share) * (
        np.random.default_rng(seed).normal(size=table.shape) @ np.linalg.cholesky(covariance).T
    )
