"""The little sparse matrix against SciPy's, and its components against walking from node to node."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from shoal.tables.model.sparse_rows import SparseRows, components


def drawn(generator):
    shape = tuple(int(size) for size in generator.integers(1, 9, 2))
    dense = generator.integers(-2, 3, shape).astype(float) * (generator.random(shape) < 0.5)
    whole = csr_matrix(dense)
    return dense, SparseRows(whole.indptr, whole.indices, whole.data, shape[1])


def dense_of(rows):
    return csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape).toarray()


@pytest.mark.parametrize("seed", range(100))
def test_parts_and_products_are_those_of_the_whole_matrix(seed):
    generator = np.random.default_rng(seed)
    dense, rows = drawn(generator)
    vector = generator.normal(size=dense.shape[1])
    np.testing.assert_allclose(rows @ vector, dense @ vector, atol=1e-12)
    np.testing.assert_array_equal(dense_of(abs(rows)), np.abs(dense))
    np.testing.assert_array_equal(dense_of(rows.transposed()), dense.T)
    columns = generator.permutation(dense.shape[1])[: generator.integers(0, dense.shape[1] + 1)]
    np.testing.assert_array_equal(dense_of(rows.of_columns(columns)), dense[:, columns])
    places = generator.integers(0, dense.shape[0], generator.integers(0, 6))
    np.testing.assert_array_equal(dense_of(rows.of_rows(places)), dense[places])
    np.testing.assert_array_equal(dense_of(rows.without_empty()), dense[dense.any(axis=1)])
    np.testing.assert_array_equal(
        dense_of(rows.above(rows.of_rows(places))), np.vstack([dense, dense[places]])
    )


@pytest.mark.parametrize("seed", range(50))
def test_entries_at_one_place_are_added_up_and_zeros_left_out(seed):
    generator = np.random.default_rng(seed)
    shape = (int(generator.integers(1, 6)), int(generator.integers(1, 6)))
    count = generator.integers(0, 40)
    at, column = generator.integers(0, shape[0], count), generator.integers(0, shape[1], count)
    value = generator.integers(-2, 3, count).astype(float)
    wanted = np.zeros(shape)
    np.add.at(wanted, (at, column), value)
    rows = SparseRows.of_entries(at, column, value, shape)
    np.testing.assert_array_equal(dense_of(rows), wanted)
    assert (rows.data != 0.0).all()


@pytest.mark.parametrize("seed", range(100))
def test_components_name_the_smallest_node(seed):
    generator = np.random.default_rng(seed)
    count = int(generator.integers(1, 40))
    links = generator.integers(0, count, (2, generator.integers(0, 2 * count)))
    near = [set() for _ in range(count)]
    for one, other in links.T.tolist():
        near[one].add(other)
        near[other].add(one)
    wanted = [-1] * count
    for node in range(count):
        waiting = [node] if wanted[node] < 0 else []
        while waiting:
            here = waiting.pop()
            if wanted[here] < 0:
                wanted[here] = node
                waiting += near[here]
    assert components(links[0], links[1], count).tolist() == wanted
