"""The study of GOMM: its published figures are consistent, and its steps make rows. The study itself is run by hand."""

import math

import numpy as np
import polars as pl
import pytest
from tests.benchmark_data import benchmark_file
from tests.microdata.grouping import published

from shoal.runtime import Budget
from shoal.studies import Scope, gomm, load
from shoal.studies.study import Findings


def test_published_figures_agree_with_one_another():
    for data, rows in gomm.BEST.items():
        groups = [row[4] for row in rows.values()]
        assert groups == sorted(groups)
        for place, (il, id_, dld, score, _) in enumerate(rows.values()):
            assert score == pytest.approx(il / 2 + id_ / 4 + dld / 4, abs=0.0101)
            assert all(score < scores[place] + 0.1 for _, scores in gomm.HAND_MADE[data].values())


@pytest.mark.parametrize("data, n", [("Census", 12), ("Water-treatment", 38)])
def test_manual_groupings_are_partitions(data, n):
    for groups, scores in gomm.HAND_MADE[data].values():
        assert sorted(a for group in groups for a in group) == list(range(1, n + 1))
        assert len(scores) == len(gomm.K)


def test_manual_rows(monkeypatch):
    published.census()
    everything, scores = gomm.HAND_MADE["Census"]["all"]
    monkeypatch.setattr(gomm, "K", gomm.K[3:])
    monkeypatch.setattr(gomm, "HAND_MADE", {"Census": {"all": (everything, scores[3:])}})
    rows = gomm._manual("Census")
    assert [math.floor(10 * row.measured) / 10 for row in rows] == [row.published for row in rows]


def test_a_search_makes_rows_and_curves(monkeypatch):
    benchmark_file("casc/census.csv")
    plain = gomm._group

    def quickly(frame, k, **more):
        options = {**more.pop("options"), "population": 20}
        return plain(frame, k, options=options, budget=Budget(iterations=2), **more)

    monkeypatch.setattr(gomm, "_group", quickly)
    found = gomm._search("Census", 100, Scope(quick=True))
    assert isinstance(found, Findings) and len(found.curves) == 2
    assert {row.measure for row in found.rows} >= {"IL", "ID", "DLD", "score", "D-GOMM mean evaluations"}
    expected = {"best-census", "groups-census", "scores-census", "figure-5-1-times"}
    assert load("gomm").charts(found).keys() == expected


def test_operators_make_rows_curves_charts_and_claims(monkeypatch):
    generator = np.random.default_rng(0)
    frame = pl.DataFrame(generator.normal(size=(60, 5)), schema=list("abcde"))
    plain = gomm._group

    def quickly(frame, k, **more):
        more["options"] = {"population": 20}
        return plain(frame, 5, budget=Budget(iterations=32), **more)

    monkeypatch.setattr(gomm, "_frame", lambda data: frame)
    monkeypatch.setattr(gomm, "_group", quickly)
    found = gomm._operators("Water-treatment", 25, Scope(quick=True))
    alone = [row for row in found.rows if row.table == "Best cost of an operator alone"]
    assert len(alone) == 6 and all(row.measured > 0 for row in alone)
    assert {"GC highest, %", "GC lowest, %", "X unused, %"} <= {row.measure for row in found.rows}
    drawn = load("gomm").charts(found)
    assert {"operators-water-treatment-25-best", "figure-4-11-groups"} <= drawn.keys()
    asked = {claim.figure for claim in load("gomm").claims(found)}
    assert "together, percent of children of GC unused after generation 25" in asked
    rows = gomm._profile(Scope())
    shares = [row.measured for row in rows if row.measure.startswith("%")]
    assert sum(shares) == pytest.approx(100.0, abs=0.05)


def test_the_optimum_is_never_above_the_published_best(monkeypatch):
    benchmark_file("casc/census.csv")
    plain = gomm._group
    # Seven attributes are enough to see that the step works; all twelve are the study's.
    monkeypatch.setattr(gomm, "_group", lambda frame, k, **more: plain(frame[:, :7], k, **more))
    rows = {row.measure: row.measured for row in gomm._exact(50, Scope())}
    assert rows["proved optimal"] == "yes" and rows["groups"].startswith("(1")
