"""Expected matches and their interval: what they hold, and what the independent check refuses."""

from dataclasses import replace

import numpy as np
import pytest

from shoal.microdata.risk.counts import Hiding
from shoal.microdata.risk.matches.estimate import Estimated, SampleCells, discounts, estimate_matches
from shoal.microdata.risk.matches.latent_classes import Cells
from shoal.microdata.risk.verify import recount_matches


def sample_cells(seed: int = 0, fraction: float = 0.05) -> SampleCells:
    rng = np.random.default_rng(seed)
    codes = np.stack([np.minimum(rng.geometric(0.3, 800), size) - 1 for size in (4, 6, 9, 12)])
    different, counts = np.unique(codes, axis=1, return_counts=True)
    return SampleCells(
        different,
        (4, 6, 9, 12),
        counts,
        counts,
        counts,
        np.full(counts.size, fraction),
        fraction,
    )


def test_figures_and_intervals_fit_each_other() -> None:
    cells = sample_cells()
    estimate = estimate_matches(cells)
    assert estimate is not None
    assert estimate.matches.value == pytest.approx(float(estimate.risks @ cells.records))
    assert estimate.population_uniques.value <= estimate.matches_among_uniques.value <= estimate.matches.value
    again = estimate_matches(cells)
    assert again is not None and again.matches == estimate.matches


def test_the_larger_the_fraction_the_larger_the_risk() -> None:
    values = []
    for fraction in (0.001, 0.01, 0.1, 0.5, 0.999):
        estimate = estimate_matches(sample_cells(fraction=fraction))
        assert estimate is not None
        values.append(estimate.matches.value)
    assert values == sorted(values)
    # Nearly everybody is in the sample, so that the population is the sample.
    assert values[-1] == pytest.approx(sample_cells().units.size, rel=0.01)


def test_a_household_with_two_members_in_a_cell_shares_its_risk() -> None:
    cells = sample_cells()
    doubled = replace(cells, records=2 * cells.records, hidden_in=2 * cells.records)
    one, two = estimate_matches(cells), estimate_matches(doubled)
    assert one is not None and two is not None
    assert two.risks == pytest.approx(one.risks / 2)
    assert two.matches.value == pytest.approx(one.matches.value)
    # No record is alone any more.
    assert two.population_uniques == Estimated(0.0, 0.0, 0.0)


def test_values_never_seen_once_are_not_discounted() -> None:
    assert (discounts(Cells.of(np.array([[0, 1]]), [2], np.array([2, 3]))) == 1.0).all()


def test_the_check_refuses_what_does_not_follow_from_the_sample() -> None:
    cells = sample_cells()
    estimate = estimate_matches(cells)
    assert estimate is not None
    claimed = Hiding(cells.records, cells.records, cells.records * 20.0)
    class_of = np.repeat(np.arange(cells.records.size), cells.records)

    def check(**changed: object) -> None:
        own = replace(estimate, **changed)  # type: ignore[arg-type, type-var]
        figures = {
            "matches": own.matches,
            "among uniques": own.matches_among_uniques,
            "uniques": own.population_uniques,
        }
        recount_matches(
            claimed,
            class_of,
            None,
            units=own.units,
            risks=(own.risks, own.low, own.high),
            figures={name: (one.value, one.low, one.high) for name, one in figures.items()},
        )

    check()
    value = estimate.matches.value
    for changed, words in (
        ({"matches": Estimated(1.1 * value, value, 2 * value)}, "add up"),
        ({"matches": Estimated(value, 1.1 * value, 1.2 * value)}, "interval"),
        ({"matches": Estimated(value, value, 1e6)}, "no more than"),
        ({"risks": 2 * estimate.high}, "interval"),
        ({"high": np.full(estimate.high.size, 1.5)}, "above 1/f"),
        ({"units": estimate.units + 1}, "units"),
    ):
        with pytest.raises(AssertionError, match=words):
            check(**changed)
