"""The engine of the study: statistics, ratios, the summary file, the generator."""

import numpy as np
import pytest

from shoal.generate.table import SETS, table
from shoal.search import Seeds
from shoal.studies import cell_suppression as study
from shoal.studies.study import Scope

FIRST = """File: ds10000cells01_0.txt
Run times: Fastest 10.584000, Slowest 16.504999, Average 11.841100
Costs: Highest 8625, Lowest 7224, Average 7951
Generations: Highest 110, Lowest 0, Average 11
Failures: 0"""


def test_statistics_return_the_published_columns() -> None:
    average = study.five_numbers([row[5] for row in study.APPENDIX])
    assert (
        average[0] == pytest.approx(6778.6)
        and average[1] == 6693
        and average[4] == pytest.approx(625.45, abs=0.005)
    )
    lowest = study.five_numbers([row[4] for row in study.APPENDIX[1:]])
    assert (
        lowest[0] == pytest.approx(6066.33, abs=0.005)
        and lowest[1] == 6099
        and lowest[4] == pytest.approx(493.41, abs=0.005)
    )
    slowest = study.five_numbers([row[1] for row in study.APPENDIX[1:]])
    assert slowest[0] == pytest.approx(20.1943, abs=5e-5) and slowest[1] == pytest.approx(18.283001)
    assert slowest[4] == pytest.approx(4.5563, abs=1e-4)


def test_ratios_follow_from_the_averages_and_two_printed_ones_do_not() -> None:
    rows = [row for row in study._recomputed(Scope()) if row.measure == "ratio"]
    measured = {row.case: row.measured for row in rows}
    assert measured["heurgene 10000Cells0.5"] == pytest.approx(29.05, abs=0.01)
    assert measured["heurgene 10000Cells1"] == pytest.approx(40.56, abs=0.01)
    assert measured["heurgene 10000Cells3"] == pytest.approx(4.941, abs=0.001)
    assert measured["gensup 10000Cells0.5"] == pytest.approx(1.0806, abs=1e-4)
    assert measured["heurgene 100000CellsRC"] == pytest.approx(1.1347, abs=1e-4)
    flagged = {row.case for row in rows if row.note}
    assert flagged == {"gensup 100000Cells1", "gensup 100000Cells0.5"}


def test_the_summary_file_is_the_published_one_and_can_be_read_back() -> None:
    seconds = [10.584, 16.504999] + [(118.411 - 10.584 - 16.504999) / 8] * 8
    costs = [8625, 7224] + [(79510 - 8625 - 7224) / 8] * 8
    steps = [110, 0] + [0] * 8
    runs = [study.RunRecord(c, t, g) for c, t, g in zip(costs, seconds, steps, strict=True)]
    assert study.summary_block("ds10000cells01_0.txt", runs).split() == FIRST.split()
    failed = study.summary_block("x", [study.RunRecord(float("nan"), 1.0, failed=True)])
    assert failed.endswith("Failures: 1")
    text = study.summary_file(study.APPENDIX)
    assert text.splitlines()[1].split() == ["fastest,", "slowest,", "average"]
    assert text.splitlines()[2].split() == ["10.584000,", "16.504999,", "11.841100"]
    assert study.read_summary_file(text) == [tuple(map(float, row)) for row in study.APPENDIX]


def test_the_seven_sets() -> None:
    assert [data.sensitive for data in SETS] == [50, 100, 300, 500, 1000, 3000, 250]
    assert [data.rows + data.columns + 1 for data in SETS] == [201] * 3 + [651] * 4
    one, two = (table(100, 100, 50, Seeds(3).child("x")) for _ in range(2))
    assert (one.table.values == two.table.values).all() and (one.sensitive == two.sensitive).all()
    inside = one.table.values[one.table.internal]
    assert inside.min() >= 0 and inside.max() <= 1000 and abs(inside.mean() - 500) < 10
    assert (one.lower == 0.1 * one.table.values[one.sensitive]).all()
    assert np.unique(one.sensitive).size == 50
