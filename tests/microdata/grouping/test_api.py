import itertools
import json

import numpy as np
import polars as pl
import pytest

from shoal.cli.main import main
from shoal.errors import InputError
from shoal.microdata.grouping.api import group_attributes
from shoal.microdata.grouping.methods import METHODS
from shoal.microdata.grouping.report import facts
from shoal.microdata.grouping.result import AttributeGrouping
from shoal.runtime import Budget

NAMES = ["turnover", "staff", "profit", "assets", "debt"]
FAST = {"population": 12, "generations": 4}


@pytest.fixture
def firms():
    generator = np.random.default_rng(5)
    values = np.exp(
        generator.normal(size=(60, 2)) @ generator.normal(size=(2, 5)) + generator.normal(size=(60, 5))
    )
    return pl.DataFrame(values, schema=NAMES).with_columns(region=pl.lit("north"))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_groups_all_columns(firms, method):
    found = group_attributes(firms, 5, method=method, options=FAST if "gomm" in method else None)
    assert sorted(name for group in found.groups for name in group) == sorted(NAMES)
    assert found.score == pytest.approx(found.il / 2 + found.id / 4 + found.dld / 4)
    assert found.bound <= found.score and found.optimal == (method == "exact")
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_exact_is_the_best_of_all(firms):
    best = group_attributes(firms, 5, method="exact").score
    for method in METHODS:
        options = FAST if "gomm" in method else None
        assert group_attributes(firms, 5, method=method, options=options).score >= best - 1e-9


def test_given_groups_are_scored(firms):
    found = group_attributes(firms, 5, method="exact")
    again = group_attributes(firms, 5, groups=found.groups)
    assert again.score == pytest.approx(found.score) and again.method == "given" and not again.optimal


def test_any_frame_and_any_number_of_threads(firms):
    one = group_attributes(firms, 5, options=FAST)
    for frame, threads in ((firms.to_pandas(), 2), (firms.to_arrow(), 1)):
        other = group_attributes(frame, 5, options=FAST, threads=threads)
        assert (other.groups, other.score) == (one.groups, one.score)
    assert group_attributes(firms, 5, options=FAST, seed=1).solution.course != one.solution.course


def test_missing_values_are_left_out_or_refused(firms):
    holes = firms.with_columns(pl.when(pl.int_range(pl.len()) < 4).then(None).otherwise("debt").alias("debt"))
    found = group_attributes(holes, 5, method="single")
    assert (found.records, found.left_out) == (56, 4)
    assert found.score == group_attributes(firms[4:], 5, method="single").score
    with pytest.raises(InputError, match="4 records have missing values"):
        group_attributes(holes, 5, missing="refuse")


def test_odd_tables_have_sensible_groups(firms):
    single = group_attributes(firms, 5, columns=["staff"])
    assert single.groups == (("staff",),) and single.optimal
    flat = group_attributes(firms.with_columns(staff=pl.lit(3.0)), 5, options=FAST)
    assert any("do not vary" in note and "staff" in note for note in flat.notes)
    assert np.isfinite([flat.score, flat.il, flat.id, flat.dld, flat.bound]).all()
    nothing_varies = pl.DataFrame({"a": [1.5] * 9, "b": [2.5] * 9})
    everything_flat = group_attributes(nothing_varies, 3, columns=["a", "b"], options=FAST)
    assert everything_flat.il == 0 and everything_flat.dld == 0
    wide = pl.DataFrame(np.random.default_rng(0).normal(size=(20, 128)), schema=[f"v{i}" for i in range(128)])
    assert sum(map(len, group_attributes(wide, 3, options=FAST).groups)) == 128
    few = group_attributes(firms[:7], 5, options=FAST)
    assert len(few.groups) == 1 and few.dld == 0


def test_a_cluster_below_k_is_said(firms):
    # 60 records with k = 22 end in a cluster of 16 under the compatible bounds.
    found = group_attributes(firms, 22, method="single")
    assert found.smallest_cluster == 16 and any("fewer than k" in text for text in found.warnings)
    strict = group_attributes(firms, 22, method="single", bounds="strict")
    assert strict.smallest_cluster >= 22 and not strict.warnings


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"k": 61}, "k is 61, but there are only 60 records"),
        ({"k": 1}, "k must be at least 2"),
        ({"method": "gom"}, "did you mean 'gomm'"),
        ({"columns": ["staf"]}, "did you mean 'staff'"),
        ({"columns": ["region"]}, "column 'region' is not numeric"),
        ({"options": {"populations": 5}}, "did you mean 'population'"),
        ({"options": {"population": 0}}, "option 'population'"),
        (
            {
                "options": dict.fromkeys(
                    ["crossovers", "group_creations", "group_eliminations", "group_splits"], 0
                )
                | {"element_swaps": 0, "element_moves": 0}
            },
            "at least one operator",
        ),
        ({"variant": "exact"}, "variant 'exact'"),
        ({"groups": [["staff"], ["staff", "debt"]]}, "named twice"),
    ],
)
def test_bad_input_is_one_line(firms, arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        group_attributes(firms, **({"k": 5} | arguments))
    assert "\n" not in str(caught.value)


def test_time_and_target_stop_the_search(firms):
    assert str(group_attributes(firms, 5, budget=Budget(target=1e9)).solution.stopped_by) == "target"
    # A clock that moves whenever somebody looks: how fast the machine is plays no part.
    budget = Budget(seconds=1.0, clock=itertools.count(step=0.4).__next__)
    assert str(group_attributes(firms, 5, budget=budget).solution.stopped_by) == "time"


def test_the_report_shows_the_search_and_every_operator(firms, tmp_path):
    found = group_attributes(firms, 5, method="gomm", options=FAST, budget=Budget(iterations=6), alone=True)
    assert isinstance(found, AttributeGrouping) and len(found.alone) == 6
    found.report().write(tmp_path / "groups.html")
    page = (tmp_path / "groups.html").read_text()
    for words in (
        "Utilisation",
        "Average lifetime",
        "Efficacy",
        "Efficiency",
        "group create alone",
        "Best and mean",
    ):
        assert words in page
    assert page.count("<svg") >= 2 + 4 + 1 + 6 * 3
    group_attributes(firms, 5, method="exact").report().html()


def test_an_operator_alone_is_told_by_what_it_reached_itself():
    # Of columns of noise in clusters of three one group is best by far, and splitting alone never comes near it.
    noise = pl.DataFrame(np.random.default_rng(1).normal(size=(60, 8)), schema=[f"v{i}" for i in range(8)])
    found = group_attributes(
        noise, 3, columns=["*"], method="gomm", options=FAST, budget=Budget(iterations=2), alone=True
    )
    assert len(found.groups) == 1
    for name, own in found.alone.items():
        assert own.value == own.course.best[-1] == own.runs[0].score.value, name
    split = found.alone["group split"]
    assert len(split.groups) > 1 and split.value > found.score
    assert f"group split alone (score {split.course.best[-1]:.4f})" in found.report().html()
    told = dict(facts(found, None))["score by one operator alone"]
    assert [part.rsplit(" ", 1)[0] for part in told.split(", ")] == list(found.alone)
    assert f"group split {split.value:.4f}" in told
    assert found.to_dict()["alone"]["group split"] == split.value


def run(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code, capsys.readouterr()


def test_the_command_prints_one_object(firms, tmp_path, capsys):
    firms.write_csv(tmp_path / "firms.csv")
    arguments = ["group", tmp_path / "firms.csv", "-k", 5, "--method", "exact", "--json"]
    code, printed = run(arguments, capsys)
    figures = json.loads(printed.out)
    assert code == 0 and figures["optimal"] is True
    fields = {"method", "groups", "score", "il", "id", "dld", "generations", "evaluations", "optimal"}
    assert fields <= set(figures)
    text = ";".join(",".join(group) for group in figures["groups"])
    code, printed = run(["group", tmp_path / "firms.csv", "-k", 5, "--groups", text, "--json"], capsys)
    assert json.loads(printed.out)["score"] == pytest.approx(figures["score"])
    code, printed = run(["group", tmp_path / "firms.csv", "-k", 99], capsys)
    assert code == 2 and printed.err.strip() == "shoal: k is 99, but there are only 60 records"


def test_the_command_lists_its_methods(tmp_path, capsys):
    code, printed = run(["group", tmp_path / "none.csv", "--method", "list"], capsys)
    assert code == 0 and all(name in printed.out for name in METHODS)
