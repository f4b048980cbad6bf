"""An experiment of one's own: the sizes somebody names, and what the published study measures of them."""

import json
from statistics import fmean

import pytest
from tests.cli.running import shoal as command

from shoal import InputError, studies
from shoal.generate.instances import Ranges
from shoal.studies import Scope
from shoal.studies.own_experiment import own_experiment
from shoal.studies.screening import solved


def test_means_are_those_of_the_runs_and_steps_are_kept(tmp_path) -> None:
    study = own_experiment(5, 11, groups=(0, 2), capacities=(1, 3))
    rows = studies.run(study, Scope(), tmp_path)
    every = [one for run in range(11) if (one := solved(5, Ranges(0, 2, 1, 3), Scope(), run))]
    ks = {row.measure: row.measured for row in rows if row.table == "Mean K"}
    assert ks["heuristic"] == round(fmean(one.heuristic.k for one in every), 3)
    gains = [one.optimal.improvement_counted_from_one(one.random, one.before) for one in every]
    means = {row.measure: row.measured for row in rows if row.table == "Mean gain"}
    assert means["optimal over random"] == pytest.approx(round(float(fmean(gains)), 4))
    assert all(row.published is None and row.note.startswith("11 runs") for row in rows)
    assert len(list((tmp_path / "steps").glob("*.json"))) == 2


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ({"groups": (3, 2)}, "min_q= must not be above max_q="),
        ({"capacities": (9, None)}, "min_f= must not be above max_f="),
        ({"capacities": (0, 0)}, "max_f= must be 1 or more"),
        ({"groups": (0, 0)}, "max_q= must be 1 or more"),
    ],
)
def test_sizes_that_cannot_be_are_refused(sizes, text) -> None:
    with pytest.raises(InputError, match=text):
        own_experiment(5, 1, **sizes)


def test_the_command_runs_it_and_refuses_what_does_not_go_together(tmp_path) -> None:
    own = ("study", "anonymity-vectors", "--results", tmp_path, "--json")
    ran = command(*own, "--n", "4", "--runs", "1", "--max-q", "2")
    assert ran.code == 0 and {row["table"] for row in ran.json["rows"]} == {"Mean gain", "Mean K"}
    assert (tmp_path / "anonymity-vectors-own" / "rows.csv").exists()
    for more, words in ((("--runs", "3"), "--n"), (("--n", "5", "--min-f", "7"), "--min-f")):
        refused = command(*own, *more)
        assert refused.code == 2 and words in json.loads(refused.out)["error"]
    other = command("study", "gomm", "--n", "5", "--results", tmp_path)
    assert other.code == 2 and "--n" in other.err
