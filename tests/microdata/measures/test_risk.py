"""Interval disclosure, linkage by distance, and the fitness made of them, against slow twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.measures.tables import REAL, SMALL, pairs

from shoal.microdata.measures.fitness import Fitness, fitness
from shoal.microdata.measures.intervals import WIDTHS, deviation_disclosure, interval_disclosure
from shoal.microdata.measures.linkage import TIE, TINY, link_by_distance
from shoal.microdata.measures.scaling import on_common_scale


@settings(deadline=None)
@given(pairs(SMALL), st.sampled_from(["protected", "original"]))
def test_interval_disclosure_counts_cells(tables, around):
    before, after = tables
    for column, share in enumerate(interval_disclosure(before, after, around=around)):
        inside = 0
        for x, y in zip(before[:, column], after[:, column]):
            for width in WIDTHS:
                inside += abs(x - y) <= width * abs(y if around == "protected" else x)
        assert share == pytest.approx(100 * inside / (len(WIDTHS) * len(before)))


@settings(deadline=None)
@given(pairs(SMALL))
def test_deviation_disclosure_counts_cells(tables):
    before, after = tables
    spread = [np.std(column, ddof=1) if len(set(column)) > 1 else 0.0 for column in before.T]
    for column, share in enumerate(deviation_disclosure(before, after)):
        inside = sum(
            abs(x - y) <= width * spread[column]
            for x, y in zip(before[:, column], after[:, column])
            for width in WIDTHS
        )
        assert share == pytest.approx(100 * inside / (len(WIDTHS) * len(before)))


def links_by_definition(before, after):
    """Compare every record with every protected record."""
    beaten, tied = [], []
    for i, record in enumerate(before):
        distances = [float(np.square(record - other).sum()) for other in after]
        slack = distances[i] * TIE + TINY
        beaten.append(any(d < distances[i] - slack for d in distances))
        tied.append(sum(abs(d - distances[i]) <= slack for d in distances))
    return beaten, tied


@settings(deadline=None)
@given(pairs(SMALL, most=25), st.integers(1, 3))
def test_links_equal_those_of_all_comparisons(tables, threads):
    before, after = tables
    beaten, tied = links_by_definition(before, after)
    links = link_by_distance(before, after, threads=threads)
    assert links.beaten.tolist() == beaten
    assert [t for t, lost in zip(links.tied.tolist(), beaten) if not lost] == [
        t for t, lost in zip(tied, beaten) if not lost
    ]
    assert links.strict == sum(not lost and t == 1 for lost, t in zip(beaten, tied))
    assert links.expected == pytest.approx(sum(1 / t for lost, t in zip(beaten, tied) if not lost))


@settings(deadline=None)
@given(pairs(REAL, most=25))
def test_links_of_real_numbers_equal_those_of_all_comparisons(tables):
    before, after = on_common_scale(*tables)
    beaten, _ = links_by_definition(before, after)
    assert link_by_distance(before, after).beaten.tolist() == beaten


def test_pruning_is_exact_on_many_records():
    generator = np.random.default_rng(5)
    before = generator.normal(size=(700, 6)) * [5, 1, 1, 0.2, 1, 1]
    after = before + generator.normal(size=(700, 6)) * 0.4
    beaten, tied = links_by_definition(before, after)
    links = link_by_distance(before, after, threads=2)
    assert links.beaten.tolist() == beaten and 0 < links.strict < 700
    assert links.strict == sum(not lost for lost in beaten) and max(tied) == 1


@settings(deadline=None)
@given(pairs(SMALL))
def test_a_crowd_of_equal_records_is_never_linked_strictly(tables):
    before, _ = tables
    links = link_by_distance(before, np.broadcast_to(before.mean(axis=0), before.shape))
    assert links.strict == 0 and links.expected == pytest.approx(1.0)


@settings(deadline=None)
@given(pairs(SMALL))
def test_fitness_is_made_of_its_parts(tables):
    before, after = tables
    measured = fitness(before, after)
    x, y = on_common_scale(before, after)
    total = np.square(x - x.mean(axis=0)).sum()
    beaten, tied = links_by_definition(x, y)
    assert measured.il == pytest.approx(100 * np.square(x - y).sum() / total if total else 0.0)
    assert measured.id == pytest.approx(interval_disclosure(x, y).mean())
    assert measured.dld == pytest.approx(
        100 * sum(not lost and t == 1 for lost, t in zip(beaten, tied)) / len(before)
    )
    assert measured.value == pytest.approx((measured.il + 0.5 * measured.id + 0.5 * measured.dld) / 2)


# IL, ID, DLD, score as printed in the two tables of best solutions (Water-treatment, then Census).
PUBLISHED = [
    (35.74, 27.93, 0.00, 24.85),
    (48.05, 25.07, 0.00, 30.29),
    (49.52, 24.14, 6.05, 32.31),
    (52.78, 23.85, 7.89, 34.32),
    (58.33, 22.92, 5.79, 36.34),
    (8.01, 32.01, 0.00, 12.01),
    (11.97, 25.90, 0.00, 12.46),
    (13.67, 22.12, 2.87, 13.08),
    (15.64, 20.31, 1.30, 13.22),
    (16.28, 18.60, 3.80, 13.74),
]


@pytest.mark.parametrize("il, id, dld, score", PUBLISHED)
def test_published_rows_satisfy_the_formula(il, id, dld, score):
    assert Fitness(il, id, dld).value == pytest.approx(score, abs=0.0101)
