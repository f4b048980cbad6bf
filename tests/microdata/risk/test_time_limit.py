"""When the time is over, what is known is told, the rest is named, and what was not measured passes no gate."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.test_limits_by_clock import Ticking

import shoal
from shoal.microdata.risk.estimates import MATCHES, TWO_WAY
from shoal.microdata.risk.operation import gate
from shoal.microdata.risk.report import facts, figures
from shoal.microdata.risk.result import Risk
from shoal.microdata.risk.settings import RiskSettings
from shoal.microdata.risk.special_uniques.search import sizes_in_turn, special_uniques
from shoal.runtime import Budget, Control, StopReason

KEYS = list("abcdefg")
GENERATOR = np.random.default_rng(4)
PEOPLE = pl.DataFrame(
    {name: GENERATOR.integers(0, size, 300) for name, size in zip(KEYS, (2, 3, 3, 4, 5, 6, 9), strict=True)}
)


def measured(budget: Budget | None = None) -> Risk:
    return shoal.risk(PEOPLE, KEYS, population=3000, special_uniques=True, budget=budget)


def after(looks: float) -> Budget:
    """A budget whose time is over after so many looks at the clock."""
    return Budget(seconds=looks, clock=Ticking(1.0))


@pytest.fixture(scope="module")
def whole() -> Risk:
    return measured()


def test_without_a_limit_nothing_is_left_out(whole: Risk) -> None:
    assert whole.not_measured == () and whole.stopped_by is None
    assert whole.special_uniques is not None and whole.special_uniques.not_looked_at == ()
    assert figures(whole, None)["stopped_by"] is None


def test_whatever_the_limit_what_is_told_is_right(whole: Risk) -> None:
    codes = PEOPLE.to_numpy()
    sizes = set()
    for looks in range(2, 500, 3):
        found = measured(after(looks))
        # Records are counted in any case.
        assert (found.k, found.uniques, found.known) == (whole.k, whole.uniques, whole.known)
        assert found.loglinear["main"] == whole.loglinear["main"]
        assert (found.journalist == whole.journalist) == (MATCHES not in found.not_measured)
        assert found.contributions == whole.contributions[: len(found.contributions)]
        assert ("two_way" in found.loglinear) == (TWO_WAY not in found.not_measured)
        if "two_way" in found.loglinear:
            assert found.loglinear["two_way"] == whole.loglinear["two_way"]
        special = found.special_uniques
        assert special is not None and special.asked_size == 7
        sizes.add(special.max_size)
        if special.max_size:
            expected = special_uniques(codes, special.max_size)
            assert (special.minimal_uniques == expected.minimal_uniques).all()
            assert (special.scores == expected.scores).all()
        else:
            assert special.records == 0 and special.by_size == {}
        assert bool(found.not_measured) == (found.stopped_by is StopReason.TIME)
        assert len(found.not_measured) == len([text for text in found.warnings if "not measured" in text])
    assert sizes == {0, *sizes_in_turn(7, 7)}


def test_what_is_not_measured_is_said_everywhere() -> None:
    found = measured(after(3))
    told = figures(found, None)
    assert told["not_measured"] == [
        MATCHES,
        TWO_WAY,
        f"what {', '.join(KEYS)} add to the risk",
        "special uniques",
    ]
    assert told["special_uniques"]["sizes_not_looked_at"] == [1, 2, 3, 4, 5, 6, 7]
    assert ("sets of keys not looked at, since there was no time", "of 1 to 7 keys") in facts(found, None)
    page = found.report().html()
    for what in found.not_measured:
        assert f"not measured: {what}; the time was over before" in page


def test_an_estimate_that_was_not_made_passes_no_gate(whole: Risk) -> None:
    settings = RiskSettings(data="people", quasi=KEYS, require_reidentifications=300)
    assert gate(replace(whole, respondents="unknown"), settings) is None
    early = measured(after(3))
    refused = gate(replace(early, respondents="unknown"), settings)
    assert refused == f"{MATCHES} was not made in time, so how many there may be is not known"
    risk = RiskSettings(data="people", quasi=KEYS, require_risk=0.9999)
    refused = gate(replace(early, respondents="unknown"), risk)
    assert refused == f"{MATCHES} was not made in time, so the largest risk is not known"
    # What the prosecutor finds is counted, and the journalist finds no more.
    assert gate(early, settings) is None


def test_who_stops_it_gets_what_is_known(whole: Risk) -> None:
    control = Control()
    control.cancel()
    found = measured(Budget(control=control))
    assert found.stopped_by is StopReason.INTERRUPT and found.k == whole.k
    assert "not measured: special uniques; it was stopped before" in found.warnings


@pytest.mark.parametrize(("keys", "asked"), [(1, 1), (5, 2), (9, 9), (20, 6), (62, 3)])
def test_sizes_grow_to_what_was_asked_for(keys: int, asked: int) -> None:
    sizes = sizes_in_turn(keys, asked)
    assert sizes == sorted(set(sizes)) and sizes[-1] == asked and sizes[0] >= 1


def test_the_command_tells_what_there_was_no_time_for(tmp_path: Path) -> None:
    PEOPLE.write_csv(tmp_path / "people.csv")
    given = ["risk", tmp_path / "people.csv", "--quasi", ",".join(KEYS), "--population", "3000"]
    asked = ["--special-uniques", "--time-limit", "1e-9", "--json"]
    done = command(*given, *asked, "--require-reidentifications", "3000", "--respondents", "unknown")
    told = done.json
    assert done.code == 3 and told["stopped_by"] == "time" and TWO_WAY in told["not_measured"]
    assert {"reading", "search", "verification"} <= set(told["phases"])
    assert command(*given, *asked).code == 0
