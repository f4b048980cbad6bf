"""What the attacker's prices say of cells, beside the sums written out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.tables.oracle import cube, hierarchy

from shoal.tables.exact.lp_cuts import priced
from shoal.tables.heuristic.neighbourhood import Incidence


@given(st.integers(0, 10**6), st.booleans())
def test_prices_are_taken_off_the_cells_of_their_relations(seed: int, nested: bool) -> None:
    rng = np.random.default_rng(seed)
    table = (hierarchy if nested else cube)(rng).table
    relations = np.flatnonzero(rng.random(table.relations) < 0.4)
    prices = rng.normal(size=relations.size)
    cells, rate = priced(Incidence.of(table), relations, prices)
    expected: dict[int, float] = {}
    for relation, price in zip(relations, prices, strict=True):
        begin, end = table.starts[relation], table.starts[relation + 1]
        for cell, sign in zip(table.members[begin:end], table.signs[begin:end], strict=True):
            expected[int(cell)] = expected.get(int(cell), 0.0) - price * sign
    assert cells.tolist() == sorted(expected)
    assert rate.tolist() == [expected[int(cell)] for cell in cells]
