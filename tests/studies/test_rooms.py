"""The study of rooms: the courses of its searches and the figures that are drawn of them."""

import numpy as np
import pytest

from shoal.appointments.from_papers.genetic import GeneticOptions, evolve
from shoal.appointments.problem import Problem
from shoal.generate.families import FIXED
from shoal.runtime import Seeds
from shoal.studies import Findings, Scope, rooms, rooms_conclusions, rooms_tuning

SIZES = (200, 300, 400, 500, 600, 700, 800)


@pytest.mark.parametrize("name", rooms_tuning.INSTANCES)
@pytest.mark.parametrize("generations", [7, 330, 4_000])
def test_a_run_that_is_looked_at_ends_as_one_that_is_not(name: str, generations: int) -> None:
    options, one = GeneticOptions(crossover="columns", population=20), FIXED[name]
    ended, points, _ = rooms_tuning.course(one, options, generations, Seeds(5))
    alone = evolve(Problem(one.groups, one.capacities), options, Seeds(5), generations)
    assert np.array_equal(ended.matrix, alone.matrix)
    assert points[0][0] == 0
    assert points[-1] == (generations, 0 if alone.violations else alone.k)
    ks = [k for _, k in points]
    assert ks == sorted(ks)


def test_the_easy_families_are_timed_for_all_sizes_beside_what_is_published(monkeypatch) -> None:
    monkeypatch.setattr(rooms, "_PLOTTED_NODES", {20: 43})
    found = rooms._nodes(Scope(quick=True))
    for number, name in enumerate(("f1", "f2", "f3"), start=2):
        measured, published = (
            found.curves[f"exhaustive small|{name}|{what}"] for what in ("measured", "published")
        )
        assert [x for x, _ in measured] == [x for x, _ in published] == [10, 100, 1_000, 10_000, 100_000]
        assert len({y for _, y in published}) == 1
        assert f"figure-4-{number}-{name}" in rooms_conclusions.charts(found)


def test_every_tuning_has_its_figure_with_the_sizes_that_the_work_draws() -> None:
    curves = {
        f"population|{name}|{size} members": [(0.0, 0.0), (100.0, float(size))]
        for name in rooms_tuning.INSTANCES
        for size in SIZES
    }
    curves |= {
        f"mutation|{name}|{rate}%": [(0.0, 0.0), (100.0, float(rate))]
        for name in rooms_tuning.INSTANCES
        for rate in (40, 50, 60, 70, 80)
    }
    drawn = rooms_conclusions.charts(Findings([], curves))
    assert list(drawn) == [
        *(f"figure-5-0{number}-mutation-t{number}" for number in (1, 2, 3)),
        *(f"figure-5-0{number}-population-t{i}" for number, i in ((4, 1), (5, 1), (6, 2), (7, 2), (8, 3))),
    ]
    shown = {
        key: [size for size in SIZES if f"{size} members" in picture.svg] for key, picture in drawn.items()
    }
    assert shown["figure-5-04-population-t1"] == [200, 400, 600, 800]
    assert (
        shown["figure-5-05-population-t1"] == shown["figure-5-08-population-t3"] == [300, 400, 500, 600, 700]
    )
    assert all(f"{rate}%" in drawn["figure-5-02-mutation-t2"].svg for rate in (40, 50, 60, 70, 80))
