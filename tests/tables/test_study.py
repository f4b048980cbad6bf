"""The engine of the study of cell suppression: statistics, ratios, the summary file, the generator, a small run."""

import numpy as np
import pytest
from tests.waiting import GUARD

from shoal.generate.table import SETS, DataSet, table
from shoal.runtime import Seeds
from shoal.studies import Findings, Scope, Study, load, run
from shoal.studies.cell_suppression import measurements, summary_file
from shoal.studies.cell_suppression.claims import claims
from shoal.studies.cell_suppression.measurements import Measurements, Plan, first_run, further_runs, measure
from shoal.studies.cell_suppression.published import APPENDIX, CONFIGURATIONS, COSTS, PRELIMINARY, TIMES
from shoal.studies.cell_suppression.recomputed import recomputed, sets
from shoal.studies.cell_suppression.results import charts, closing, file_stem, files
from shoal.studies.cell_suppression.statistics import five_numbers
from shoal.studies.cell_suppression.summary_file import Summary
from shoal.studies.claims import OWN_TABLE, TABLE
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem

FIRST = """File: ds10000cells01_0.txt
Run times: Fastest 10.584000, Slowest 16.504999, Average 11.841100
Costs: Highest 8625, Lowest 7224, Average 7951
Generations: Highest 110, Lowest 0, Average 11
Failures: 0"""

SPREADSHEET = """Run times summary:
       fastest, slowest, average
     10.584000, 16.504999, 11.841100
      9.528000, 24.878000, 14.225200
Costs summary:
     highest, lowest, average
        8625, 7224, 7951
        8506, 6392, 7138"""


def test_statistics_return_the_published_columns() -> None:
    average = five_numbers([row[5] for row in APPENDIX])
    assert average[:2] == pytest.approx((6778.6, 6693)) and average[4] == pytest.approx(625.45, abs=0.005)
    lowest = five_numbers([row[4] for row in APPENDIX[1:]])
    assert lowest[0] == pytest.approx(6066.33, abs=0.005) and lowest[1] == 6099
    assert lowest[4] == pytest.approx(493.41, abs=0.005)
    slowest = five_numbers([row[1] for row in APPENDIX[1:]])
    assert slowest[0] == pytest.approx(20.1943, abs=5e-5) and slowest[1] == pytest.approx(18.283001)
    assert slowest[4] == pytest.approx(4.5563, abs=1e-4)


def test_ratios_follow_from_the_averages_and_two_printed_ones_do_not() -> None:
    rows = [row for row in recomputed(Scope()) if row.measure == "ratio"]
    measured = {row.case: row.measured for row in rows}
    expected = {
        "heurgene 10000Cells0.5": 29.0483,
        "heurgene 10000Cells1": 40.5560,
        "heurgene 10000Cells3": 4.9410,
        "gensup 10000Cells0.5": 1.0806,
        "gensup 10000Cells1": 3.0579,
        "gensup 10000Cells3": 0.7618,
        "heurgene 100000CellsRC": 1.1347,
        "heurgene 100000Cells0.5": 0.3288,
        "heurgene 100000Cells1": 0.0478,
        "heurgene 100000Cells3": 0.0002,
        "gensup 100000Cells1": 0.0209,
        "gensup 100000Cells0.5": 0.0810,
    }
    for case, figure in expected.items():
        assert measured[case] == pytest.approx(figure, abs=6e-5), case
    flagged = {row.case for row in rows if row.note}
    assert flagged == {"gensup 100000Cells1", "gensup 100000Cells0.5"}


def test_percentages_of_the_text_are_recomputed() -> None:
    rows = {(row.case, row.measure): row.measured for row in recomputed(Scope()) if "%" in row.measure}
    assert rows["10000Cells1", "heurgene below hypercube, %"] == 11.90
    assert rows["100000CellsRC", "heurgene below hypercube, %"] == 3.26
    assert rows["100000Cells3", "CPU of heurgene / gensup, %"] == 328.81


def test_the_summary_file_is_the_published_one_and_can_be_read_back() -> None:
    seconds = [10.584, 16.504999] + [(118.411 - 10.584 - 16.504999) / 8] * 8
    costs = [8625, 7224] + [(79510 - 8625 - 7224) / 8] * 8
    first = Summary.of("ds10000cells01_0.txt", seconds, costs, [110] + [0] * 9)
    assert summary_file.block(first).split() == FIRST.split()
    second = Summary("ds10000cells01_1.txt", APPENDIX[1][:3], APPENDIX[1][3:], (9, 0, 4), failures=2)
    assert summary_file.spreadsheet([first, second]).split() == SPREADSHEET.split()
    rounded = Summary(first.name, APPENDIX[0][:3], APPENDIX[0][3:], (110, 0, 11))
    text = summary_file.write([rounded, second])
    for data in (text.encode(), text.replace("\n", "\r\n").encode("utf-16")):
        assert summary_file.read(data) == [rounded, second]
    bare = summary_file.read(SPREADSHEET.encode("utf-16-le"))
    assert [(one.seconds, one.costs) for one in bare] == [(row[:3], row[3:]) for row in APPENDIX[:2]]


def test_the_seven_sets() -> None:
    assert [data.sensitive for data in SETS] == [50, 100, 300, 500, 1000, 3000, 250]
    totals = [row.measured for row in sets(Scope()) if row.measure == "totals"]
    assert totals == [201] * 3 + [651] * 4
    one, two = (table(100, 100, 50, Seeds(3).child("x")) for _ in range(2))
    assert (one.table.values == two.table.values).all() and (one.sensitive == two.sensitive).all()
    inside = one.table.values[one.table.internal]
    assert inside.min() >= 0 and inside.max() <= 1000 and abs(inside.mean() - 500) < 10
    assert (one.lower == 0.1 * one.table.values[one.sensitive]).all()
    assert np.unique(one.sensitive).size == 50
    assert [file_stem(data) for data in SETS[:3]] == [
        "ds10000cells0.5",
        "ds10000cells01",
        "ds10000cells03",
    ]


def test_every_published_table_is_complete() -> None:
    names = {data.name for data in SETS}
    assert set(COSTS) == set(TIMES) == names
    assert sorted(number for number, _ in COSTS.values()) == list(range(5, 18, 2))
    assert sorted(number for number, _ in TIMES.values()) == list(range(6, 19, 2))
    assert all(len(columns) == len(CONFIGURATIONS) for columns in PRELIMINARY.values())
    for scope in (Scope(), Scope(quick=True)):
        titles = [one.title for one in load("cell-suppression").steps(scope)]
        assert all(any(title.startswith(f"{name}, heurgene") for title in titles) for name in names)


# A set with the name of a published one, small enough for a test.
TINY = DataSet("10000Cells1", 12, 12, 8)
PLANS = [
    Plan("hypercube", "hypercube", {"rectangles": "joint"}, runs=3),
    Plan("hypercube, split", "hypercube", {"rectangles": "split"}, runs=3),
    # Founders with a rectangle for each direction leave nothing to exchange in a table so small.
    Plan("heurgene", "heurgene", {"rectangles": "joint", "patience": 5, "check_children": True}, 3),
    Plan("shortest-path", "shortest-path"),
    Plan("gensup", "gensup", {"rectangles": "joint", "patience": 3}, 2),
    # It ends with its proof, long before the guard.
    Plan("auto, 5 s", "auto", seconds=GUARD),
    *(
        Plan(name, "heurgene", {"rectangles": "joint", "configuration": key, "patience": 5}, 2)
        for name, key in [*CONFIGURATIONS.items()][:5]
    ),
]


def test_a_small_run_fills_the_tables_the_claims_and_the_summary_files(tmp_path) -> None:
    study = Study(
        "tiny",
        "A small run",
        "nobody",
        lambda scope: [
            step(TINY, plan, number)
            for plan in PLANS
            for step in ((first_run, further_runs) if plan.runs > 1 else (first_run,))
            for number in (1, 2)
        ],
        closing=closing,
        claims=claims,
        charts=charts,
        files=files,
    )
    rows = run(study, Scope(), tmp_path)
    by_measure = {(row.table.partition(":")[0], row.case, row.measure): row for row in rows}
    assert by_measure["Table 7", "hypercube", "average"].published == 6885
    assert by_measure["Table 7", "hypercube", "average"].note == "6 runs on 2 tables, 0 failed"
    assert by_measure["Table 8", "gensup", "median"].published == 474.4680
    assert by_measure["Table 3", "Probabilistic", "sd"].published == 625.45
    cheapest = by_measure["Table 7", "auto, 5 s", "average"].measured
    assert 0 < cheapest <= by_measure["Table 7", "gensup", "average"].measured
    assert by_measure["Table 7", "auto, 5 s", "mean gap to the bound, %"].measured == 0
    assert by_measure["Table 19", "gensup 10000Cells1", "ratio"].published == 3.0570
    claimed = {row.measure: row for row in rows if row.table in (TABLE, OWN_TABLE)}
    never = claimed["runs of HeurGene that end above their best founder: exactly 0"]
    assert never.note == "holds here on 2 tables"
    unsafe = claimed["RQ1: percent of HeurGene's children that are unsafe: exactly 0"]
    assert unsafe.measured == 0 and "children on 2 tables" in unsafe.note
    assert any("RQ2: median cost of HeurGene over that of gensup" in measure for measure in claimed)
    assert any("percent by which heurgene is below hypercube" in measure for measure in claimed)
    assert any("cost saved per CPU second" in measure for measure in claimed)
    assert any("cost of shortest paths over that of HyperCube" in measure for measure in claimed)
    assert any("GenSup over CPU of HeurGene" in measure for measure in claimed)
    assert any("dearest and the cheapest configuration" in measure for measure in claimed)
    summaries = summary_file.read((tmp_path / "summary-10000Cells1-heurgene.txt").read_bytes())
    assert [one.name for one in summaries] == ["ds10000cells01_0.txt", "ds10000cells01_1.txt"]
    mean = by_measure["Table 7", "heurgene", "average"].measured
    assert np.mean([one.costs[2] for one in summaries]) == pytest.approx(mean, abs=0.51)
    assert (tmp_path / "figure-12-cost-10000Cells1.svg").exists()
    assert (tmp_path / "figure-08-configurations-10000Cells1.svg").exists()


def test_growth_is_measured_per_sensitive_cell() -> None:
    seconds = {"10000Cells0.5": 1.0, "10000Cells3": 3.0, "100000Cells0.5": 200.0}
    curves = {f"seconds|{name}|hypercube|1": [(1.0, figure)] for name, figure in seconds.items()}
    growth = {claim.case: claim.row() for claim in claims(Findings([], curves))}
    growth = {case: (row.measured, row.note) for case, row in growth.items()}
    assert growth["10,000 cells, most over fewest sensitive"] == (0.5, "holds here on 1 table")
    assert growth["0.5 % sensitive, 100,000 over 10,000 cells"] == (20.0, "does not hold here on 1 table")


def test_methods_are_compared_on_the_tables_all_were_run_on() -> None:
    labels = [name for name in CONFIGURATIONS if name != "Probabilistic"]
    curves = {f"cost|10000Cells1|{label}|1": [(1.0, 100.0)] for label in labels}
    curves |= {f"cost|10000Cells1|heurgene|{place}": [(1.0, 101.0 * place)] for place in (1, 2)}
    (claim,) = [claim for claim in claims(Findings([], curves)) if "configuration" in claim.figure]
    row = claim.row()
    assert row.measured == 1.0 and row.note == "holds here on 1 table"


def test_runs_that_find_nothing_are_counted(monkeypatch) -> None:
    bare = Table.from_matrix([[5.0, 0.0, 0.0], [0.0, 7.0, 8.0], [0.0, 9.0, 4.0]])
    stuck = Problem.of(bare, [0], candidates=bare.internal & (bare.values > 0))
    monkeypatch.setattr(measurements, "instance", lambda scope, data, number: stuck)
    findings = measure(Scope(), TINY, Plan("hypercube", "hypercube", runs=2), 1, (1, 2))
    assert Measurements(findings.curves).of("failed", TINY.name, "hypercube", 1) == [1.0, 1.0]
    rows = closing(findings)
    assert [(row.measured, row.note) for row in rows] == [(None, "2 runs on 1 table, 2 failed")]
    (text,) = files(Findings([], findings.curves)).values()
    assert "Failures: 2" in text
