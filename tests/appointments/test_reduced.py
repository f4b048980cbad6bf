"""Instances that are reductions, the genetic algorithm as published, and the constraint model: what a user gets of them."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import shoal

from shoal.appointments.api import assign_sizes
from shoal.appointments.reductions import answer, partition_to_seating
from shoal.errors import Infeasible
from shoal.generate import minizinc
from shoal.generate.families import FIXED, family


def halves_exist(numbers):
    """Whether a multiset can be parted into two of equal sum, by trying all."""
    sums = {0}
    for number in numbers:
        sums |= {other + number for other in sums}
    return sum(numbers) % 2 == 0 and sum(numbers) // 2 in sums


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=5))
def test_a_reduction_is_answered_with_a_certificate(numbers):
    question = partition_to_seating(numbers)
    plan = assign_sizes(question.groups, question.capacities)
    assert plan.optimal
    found = answer("partition", numbers, 1, question.k, plan.k, plan.k_bound, plan.matrix)
    assert found.yes is halves_exist(numbers)
    if found.yes:
        one, other = found.halves
        assert sum(one) == sum(other) and sorted([*one, *other]) == sorted(numbers)


@pytest.mark.parametrize("numbers, yes", [("1,2,3,3,3", "yes"), ("1,1,4", "no")])
def test_the_command_answers_an_instance(tmp_path, numbers, yes):
    file = tmp_path / "hard.json"
    assert shoal("generate", "instance", "partition", "--numbers", numbers, "-o", file).code == 0
    found = shoal("assign", "--instance", file, "--json").json
    assert found["answer"] == yes and (found["certificate"] is None) is (yes == "no")
    text = shoal("assign", "--instance", file).out
    assert f"{yes}, there is" in text
    content = json.loads(file.read_text())
    content["numbers"] = [7, 7]
    file.write_text(json.dumps(content))
    if yes == "yes":
        wrong = shoal("assign", "--instance", file)
        assert wrong.code == 2 and "make it again" in wrong.err


def test_a_question_that_was_not_settled_is_called_unknown():
    assert answer("partition", [1, 1], 1, 5, 3, 9, []).yes is None
    assert str(answer("partition", [1, 1], 1, 5, 3, 9, [])).startswith("unknown")


def test_the_genetic_algorithm_runs_as_published_from_its_random_population():
    one = FIXED["t1"]
    greedy = assign_sizes(one.groups, one.capacities, method="genetic", iterations=0)
    own = {"start": "random", "crossover": "columns", "population": 60}
    plan = assign_sizes(one.groups, one.capacities, method="genetic", options=own, iterations=4000, seed=1)
    course = plan.assignment.course
    # The founders break rules; once they are obeyed K never falls; and nothing of a greedy plan is in it.
    assert course[0][0] == 0 and course[0][2] > 0 and course[-1][:2] == (4000, plan.k)
    obeyed = [k for _, k, broken in course if not broken]
    assert obeyed and obeyed == sorted(obeyed)
    assert plan.k < greedy.k
    again = assign_sizes(one.groups, one.capacities, method="genetic", options=own, iterations=4000, seed=1)
    assert again.assignment.course == course
    shown = plan.to_dict()["course"]
    assert shown[-1] == {"generation": 4000, "k": plan.k, "violations": 0}


def test_a_population_that_breaks_rules_is_no_plan():
    one = FIXED["t3"]
    with pytest.raises(Infeasible, match=r"breaks \d+ rules"):
        assign_sizes(one.groups, one.capacities, method="genetic", options={"start": "random"}, iterations=10)
    refused = shoal(
        *("assign", "--group-sizes", "5,4,7,5,9", "--capacities", "5,8,7,4,6", "--method", "genetic"),
        *("--option", "start=random", "--option", "population=5", "--iterations", "1"),
    )
    assert refused.code in (0, 3)


def test_nodes_are_told():
    one = family("f5", 10)
    plan = assign_sizes(one.groups, one.capacities, method="branch-and-bound", options={"bound": "published"})
    assert plan.to_dict()["nodes"] == 8 and not plan.optimal


def test_the_model_is_written_for_minizinc(tmp_path):
    file = tmp_path / "f4.mzn"
    found = shoal("generate", "instance", "f4", "--size", 10, "--minizinc", file, "--json").json
    assert found["minizinc"] == str(file)
    text = file.read_text()
    assert "solve maximize kLevel;" in text and "kGroupVector = [12, 20, 28];" in text
    assert all(re.fullmatch(r"[\x00-\x7f]*", line) for line in text.splitlines())


@pytest.mark.skipif(not minizinc.installed(), reason="minizinc with Gecode is not installed")
@pytest.mark.parametrize("name", ["sample1", "sample2", "sample4", "m15"])
def test_gecode_and_shoal_agree(name):
    one = FIXED[name]
    found = minizinc.solve(one.groups, one.capacities, seconds=300)
    assert found.proved and found.k == assign_sizes(one.groups, one.capacities).k == one.best
