"""Latent classes: kernels beside loops, and what a fit must be."""

import numpy as np
import pytest
from tests.microdata.risk.matches import plain

from shoal.microdata.risk.matches import latent_classes_kernels as kernels
from shoal.microdata.risk.matches.latent_classes import Cells, LatentClasses, fit, fit_classes, independent
from shoal.runtime import Budget

SIZES = (2, 3, 4)


def some_cells(seed: int, records: int = 60) -> tuple[np.ndarray, Cells]:
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, records)
    codes = np.stack([(rng.random(records) ** (1 + 2 * kind) * size).astype(int) for size in SIZES])
    different, counts = np.unique(codes, axis=1, return_counts=True)
    return different, Cells.of(different, SIZES, counts)


def tables_of(fitted: LatentClasses, cells: Cells) -> list[np.ndarray]:
    return [fitted.margins[part, None] * fitted.lifts[part] for part in cells.slices]


@pytest.mark.parametrize("classes", [1, 2, 5, 8])
def test_kernels_do_what_loops_do(classes: int) -> None:
    codes, cells = some_cells(classes)
    fitted = fit_classes(cells, classes)
    assert fitted is not None
    tables, combinations = tables_of(fitted, cells), codes.T.tolist()
    sums, totals, likelihood = plain.expectation(combinations, cells.counts, fitted.shares, tables)
    assert fitted.sums == pytest.approx(np.concatenate(sums), rel=1e-10)
    assert fitted.totals == pytest.approx(totals, rel=1e-10)
    probabilities = fitted.probabilities(cells.rows)
    expected = [sum(plain.class_shares(cell, fitted.shares, tables)) for cell in combinations]
    assert probabilities == pytest.approx(expected, rel=1e-10)
    assert float(cells.counts @ np.log(probabilities)) == pytest.approx(likelihood)
    margins = [fitted.margins[part] for part in cells.slices]
    without = fitted.probabilities_without_own(cells)
    for i in range(len(combinations)):
        own = plain.probability_without_own(
            i, combinations, cells.counts, fitted.shares, tables, margins, fitted.strengths
        )
        assert without[i] == pytest.approx(own, rel=1e-9)
    for strength in (0.5, 8.0, 300.0):
        for part in cells.slices:
            given = fitted.margins[part], fitted.sums[part], fitted.totals
            assert kernels.evidence(strength, *given) == pytest.approx(plain.evidence(strength, *given))


def test_probabilities_of_all_cells_add_up_to_one() -> None:
    _, cells = some_cells(3)
    fitted = fit(cells)
    assert fitted is not None
    assert fitted.probabilities(cells.all_rows()).sum() == pytest.approx(1.0, abs=0.05)
    drawn = fitted.draw(cells, 20_000, np.random.default_rng(0))
    shares = np.array([(drawn == row).all(axis=1).mean() for row in cells.rows])
    assert shares == pytest.approx(fitted.probabilities(cells.rows), abs=0.02)


def test_records_of_two_kinds_need_two_classes() -> None:
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 2, 4000)
    codes = np.stack([np.where(rng.random(4000) < 0.9, kind, 1 - kind) for _ in range(6)])
    different, counts = np.unique(codes, axis=1, return_counts=True)
    cells = Cells.of(different, (2,) * 6, counts)
    fitted = fit(cells)
    assert fitted is not None and fitted.shares.size >= 2
    fits = [
        float(cells.counts @ np.log(own))
        for own in (fitted.probabilities(cells.rows), independent(cells.rows, fitted.margins))
    ]
    assert fits[0] > fits[1] + 1000


def test_a_fit_is_repeated_and_ends_with_the_time() -> None:
    _, cells = some_cells(4)
    one, other = fit(cells), fit(cells)
    assert one is not None and other is not None and (one.lifts == other.lifts).all()
    run = Budget(seconds=1e-9).start()
    assert fit(cells, run) is None


@pytest.mark.parametrize("records", [1, 2, 3])
def test_hardly_any_records_have_one_class(records: int) -> None:
    codes = np.arange(records)[None, :].repeat(2, axis=0)
    fitted = fit(Cells.of(codes, (records, records), np.ones(records)))
    assert fitted is not None and np.isfinite(fitted.lifts).all()
