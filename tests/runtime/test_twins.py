"""Every kernel has a slow, obvious twin in the tests, or what calls it has one, or what comes out of it is counted again."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import shoal

SOURCES, TESTS = Path(shoal.__file__).parent, Path(__file__).parents[1]
COUNTED = (
    "what the method returns is counted again by the independent check, over all problems of the battery"
)
SAME = "a plain function of the same name or meaning stands in that test"
ORACLE = "all possibilities are tried in that test, or an independent solver answers"


class Caller(NamedTuple):
    """Who calls the kernels of a module, the test that names it, and why that test holds the kernels as well."""

    name: str
    test: str
    why: str


#: Modules with kernels that no test names, and that no kernel calls which a test names.
REACHED = {
    "appointments/bounds/cutting_patterns": Caller(
        "dearest_fills", "appointments/bounds/test_cutting_patterns.py", SAME
    ),
    "appointments/from_papers/genetic_kernels": Caller("verify", "appointments/test_conformance.py", COUNTED),
    "appointments/solvers/annealing_kernels": Caller("verify", "appointments/test_conformance.py", COUNTED),
    "appointments/solvers/dynamic_kernels": Caller("verify", "appointments/test_conformance.py", COUNTED),
    "appointments/solvers/fill_kernels": Caller("verify", "appointments/test_conformance.py", COUNTED),
    "appointments/solvers/overflow_kernels": Caller(
        "Overflow", "appointments/solvers/test_overflow.py", SAME
    ),
    "microdata/grouping/evaluator_kernels": Caller("Evaluator", "microdata/grouping/test_evaluator.py", SAME),
    "microdata/grouping/exact_kernels": Caller("solve", "microdata/grouping/test_exact.py", ORACLE),
    "microdata/measures/attacks/mixed_distance": Caller(
        "links", "microdata/measures/attacks/test_mixed_distance.py", SAME
    ),
    "microdata/microaggregation/bounds/lower_bounds": Caller(
        "lower_bound", "microdata/microaggregation/bounds/test_lower_bounds.py", ORACLE
    ),
    "microdata/microaggregation/construct/row_cuts": Caller(
        "best_cut", "microdata/microaggregation/construct/test_row_cuts.py", ORACLE
    ),
    "microdata/microaggregation/construct/v_mdav": Caller(
        "solve", "microdata/microaggregation/construct/test_v_mdav.py", SAME
    ),
    "microdata/microaggregation/search/blocks": Caller("verify", "microdata/test_conformance.py", COUNTED),
    "microdata/microaggregation/search/kd_tree": Caller(
        "tree_of", "microdata/microaggregation/search/test_kd_tree.py", SAME
    ),
    "microdata/microaggregation/search/kernels/annealed": Caller(
        "verify", "microdata/test_conformance.py", COUNTED
    ),
    "microdata/microaggregation/search/kernels/groups": Caller(
        "verify", "microdata/test_conformance.py", COUNTED
    ),
    "microdata/microaggregation/search/kernels/perturbation": Caller(
        "verify", "microdata/test_conformance.py", COUNTED
    ),
    "microdata/microaggregation/search/kernels/space": Caller(
        "verify", "microdata/test_conformance.py", COUNTED
    ),
    "microdata/models/model_kernels": Caller("read_model", "microdata/models/test_models.py", SAME),
    "microdata/perturbation/ranking_kernels": Caller(
        "ranking", "microdata/perturbation/test_rank_swapping.py", SAME
    ),
    "microdata/recoding/local_recoding/layer_kernels": Caller(
        "verify", "microdata/recoding/test_conformance.py", COUNTED
    ),
    "microdata/recoding/local_recoding/leftovers": Caller(
        "verify", "microdata/recoding/test_conformance.py", COUNTED
    ),
    "microdata/recoding/local_suppression/search_kernels": Caller(
        "verify", "microdata/recoding/local_suppression/test_conformance.py", COUNTED
    ),
    "microdata/risk/counts_kernels": Caller("count_classes", "microdata/risk/test_counts.py", SAME),
    "microdata/risk/individual": Caller("individual_risk", "microdata/risk/test_individual.py", SAME),
    "microdata/risk/keys_kernels": Caller("group", "microdata/risk/test_keys.py", SAME),
    "microdata/risk/loglinear_kernels": Caller("main_effects", "microdata/risk/test_loglinear.py", SAME),
    "microdata/risk/matches/latent_classes_kernels": Caller(
        "fit", "microdata/risk/matches/test_latent_classes.py", SAME
    ),
    "microdata/risk/population_uniques_kernels": Caller(
        "fit_pitman", "microdata/risk/test_population_uniques.py", SAME
    ),
    "microdata/risk/special_uniques/minimal_uniques_kernels": Caller(
        "special_uniques", "microdata/risk/special_uniques/test_special_uniques.py", ORACLE
    ),
    "tables/exact/combining": Caller("sums", "tables/exact/test_combining.py", SAME),
    "tables/exact/cut_rows": Caller("solve", "tables/exact/test_search.py", ORACLE),
    "tables/exact/lp_cuts": Caller("AttackerCuts", "tables/exact/test_search.py", ORACLE),
    "tables/exact/mending": Caller("KnownRows", "tables/exact/test_mending.py", SAME),
    "tables/exact/minimum_cuts": Caller("solve", "tables/exact/test_search.py", ORACLE),
    "tables/exact/strengthening": Caller("AttackerCuts", "tables/exact/test_search.py", ORACLE),
    "tables/from_papers/hypercube_kernels": Caller("verify", "tables/test_conformance.py", COUNTED),
    "tables/heuristic/network_state": Caller("verify", "tables/test_conformance.py", COUNTED),
    "tables/heuristic/redundancy_kernels": Caller("verify", "tables/test_conformance.py", COUNTED),
    "tables/safety/flow_kernels": Caller("audit", "tables/safety/test_audit.py", ORACLE),
}


@cache
def named_in(path: Path) -> frozenset[str]:
    """The names that a file uses."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = (
        item.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for item in node.names
    )
    return frozenset({*_used(tree), *imported})


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }


def kernels() -> dict[tuple[str, str], set[str]]:
    """All kernels by module and name, with the names that each uses."""
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "runtime.kernels import" not in text:
            continue
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and any(
                ast.unparse(item).partition("(")[0] == "kernel" for item in node.decorator_list
            ):
                place = path.relative_to(SOURCES).with_suffix("").as_posix()
                found[place, node.name] = _used(node)
    return found


def without_a_test() -> set[tuple[str, str]]:
    """The kernels that no test names, and that no kernel calls which a test names."""
    every = kernels()
    tested = frozenset().union(*(named_in(path) for path in TESTS.rglob("*.py") if path != Path(__file__)))
    seen = {item for item in every if item[1] in tested}
    fresh = seen
    while fresh:
        called = set().union(*(every[item] for item in fresh))
        fresh = {item for item in every.keys() - seen if item[1] in called}
        seen |= fresh
    return every.keys() - seen


def test_kernels_are_seen() -> None:
    assert len(kernels()) > 300


def test_every_kernel_has_a_twin_or_a_caller_that_is_held_by_a_test() -> None:
    left = {place for place, _ in without_a_test()}
    assert left - set(REACHED) == set(), "name a twin in a test, or who calls these kernels"
    assert set(REACHED) - left == set(), "a test names their kernels now: take them from the list"


def test_the_callers_are_in_their_tests() -> None:
    for place, caller in REACHED.items():
        text = (TESTS / caller.test).read_text(encoding="utf-8")
        assert re.search(rf"\b{caller.name}\b", text), (
            f"{place}: {caller.test} does not speak of {caller.name}"
        )
