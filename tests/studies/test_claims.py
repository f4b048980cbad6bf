"""A verdict is the rule in its row, applied to the figure beside it: nothing else may decide it."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.studies.samples import SAMPLES

import shoal.studies
from shoal import studies
from shoal.studies import Findings, Row
from shoal.studies.claims import OWN_TABLE, TABLE, Claim, Rule, says, verdict_of
from shoal.studies.study import concluded

FOLDER = Path(shoal.studies.__file__).parent


@pytest.mark.parametrize("relation", ["at least", "at most", "above", "below", "exactly"])
def test_a_verdict_follows_the_figure(relation):
    rule = Rule(relation, 5)
    expected = {
        "at least": (0, 1, 1),
        "at most": (1, 1, 0),
        "above": (0, 0, 1),
        "below": (1, 0, 0),
        "exactly": (0, 1, 0),
    }
    for figure, holds in zip((4.0, 5.0, 6.0), expected[relation], strict=True):
        row = Claim("a case", "a figure", rule, figure).row()
        assert verdict_of(row) == says(row) == bool(holds)
    with pytest.raises(ValueError, match="no relation"):
        Rule("about", 5)
    with pytest.raises(ValueError, match="states no rule"):
        verdict_of(Row(TABLE, "a case", "it is good", None, 1.0, "holds here"))


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_study_writes_a_verdict_itself(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and path.name != "claims.py":
            assert not node.value.startswith(("holds", "does not hold")), f"{path.name}:{node.lineno}"
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Row" and node.args:
            first = node.args[0]
            named = isinstance(first, ast.Constant) and first.value in (TABLE, OWN_TABLE)
            assert not named, f"{path.name}:{node.lineno} makes a claim without a rule"


def test_every_study_with_claims_has_a_sample_here():
    assert set(SAMPLES) == {name for name in studies.STUDIES if studies.load(name).claims is not None}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_claim_of_a_study_is_computed_from_what_was_measured(name):
    study = studies.load(name)
    findings = SAMPLES[name]()
    rows = [row for row in concluded(study, findings) if row.table in (TABLE, OWN_TABLE)]
    assert rows
    for row in rows:
        assert verdict_of(row) == says(row), row
    # The same study of other measurements comes to other verdicts; a figure that never moves was not measured.
    verdicts = {(row.case, row.measure): set() for row in rows}
    figures = {claim: set() for claim in verdicts}
    for changed in _disturbed(findings):
        for row in concluded(study, changed):
            if (row.case, row.measure) in verdicts:
                verdicts[row.case, row.measure].add(says(row))
                figures[row.case, row.measure].add(row.measured)
    stuck = [claim for claim, seen in figures.items() if len(seen) == 1]
    assert not stuck
    both = sum(len(seen) == 2 for seen in verdicts.values())
    assert both >= len(verdicts) / 2


def _disturbed(findings):
    """The measurements as they are, all 0, all below 0, and with every figure made larger or smaller by chance."""
    yield findings
    for factor in (0.0, -1.0):
        yield Findings(
            [_scaled(row, factor) for row in findings.rows],
            {name: [(x, y * factor) for x, y in points] for name, points in findings.curves.items()},
        )
    chance = np.random.default_rng(0)
    for spread in [0.1, 1.0, 3.0] * 8:
        yield Findings(
            [_scaled(row, 10 ** chance.uniform(-spread, spread)) for row in findings.rows],
            {
                name: [(x, y * 10 ** chance.uniform(-spread, spread)) for x, y in points]
                for name, points in findings.curves.items()
            },
        )


def _scaled(row, factor):
    return replace(row, measured=row.measured * factor) if isinstance(row.measured, int | float) else row
