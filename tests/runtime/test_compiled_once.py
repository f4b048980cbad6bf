"""The machine code that was compiled beforehand is that which is used, however arrays lie in memory and numbers are written."""

import numpy as np
import pytest

from shoal.microdata.measures import linkage_kernels
from shoal.microdata.measures.linkage import link_by_distance
from shoal.microdata.risk import population_uniques, population_uniques_kernels
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem, Requirements
from shoal.tables.safety.audit import as_wanted


def test_records_that_cannot_be_written_to() -> None:
    points = np.random.default_rng(3).normal(size=(50, 2))
    readonly = points.copy()
    readonly.setflags(write=False)
    linkage_kernels.warm_up()
    before = list(linkage_kernels.link.signatures)
    expected, found = link_by_distance(points, points[::-1]), link_by_distance(readonly, points[::-1])
    assert list(linkage_kernels.link.signatures) == before
    assert np.array_equal(found.beaten, expected.beaten) and np.array_equal(found.tied, expected.tied)


@pytest.mark.parametrize("population", [70, 70.0, np.int32(70)])
def test_a_population_in_whole_numbers_or_not(population: float) -> None:
    population_uniques.warm_up()
    before = list(population_uniques_kernels.weighed_sizes.signatures)
    assert population_uniques.zayatz(np.array([1, 1, 2, 3]), population) == pytest.approx(6.325581)
    assert list(population_uniques_kernels.weighed_sizes.signatures) == before


def test_requirements_that_lie_apart_in_memory() -> None:
    table = Table.from_matrix(np.arange(1.0, 10.0).reshape(3, 3))
    problem = Problem.of(table, [table.find("1", "1"), table.find("2", "3")])
    wanted = problem.requirements
    apart = Requirements(*(np.repeat(column, 2)[::2] for column in wanted))
    assert not any(column.flags.c_contiguous for column in apart)
    for one, other in zip(as_wanted(problem, apart), as_wanted(problem, wanted), strict=True):
        assert one.flags.c_contiguous
        assert np.array_equal(one, other)
