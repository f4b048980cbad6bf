"""A comparison that is out of time names what it did not measure, and that judges nothing."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal.microdata.measures.linkage import link_by_distance
from shoal.runtime import Budget
from shoal.runtime.budget import StopReason, TimeIsOver

GENERATOR = np.random.default_rng(3)
BEFORE = pl.DataFrame(GENERATOR.normal(size=(300, 4)), schema=list("abcd"))
AFTER = BEFORE.with_columns(pl.all() + pl.Series(0.3 * GENERATOR.normal(size=300)))
LINKS = ("linkage by distance", "linkage by agreement")


def after_so_many_looks(looks: float) -> Budget:
    """A budget that is over at a look at its clock."""
    times = iter(range(10**6))
    return Budget(seconds=float(looks), clock=lambda: float(next(times)))


def test_without_any_time_there_are_loss_intervals_and_k() -> None:
    whole = shoal.compare(BEFORE, AFTER, paired_by_position=True)
    found = shoal.compare(BEFORE, AFTER, paired_by_position=True, budget=Budget(seconds=1e-9))
    assert (found.k, found.il, found.id, found.id_sd) == (whole.k, whole.il, whole.id, whole.id_sd)
    assert found.stopped_by == StopReason.TIME
    assert set(LINKS) <= set(found.untried) < set(found.not_measured)
    told = found.to_dict()
    for name in ("dld", "dld_worst", "pld", "dr", "score", "fitness", "links_expected", "links_strict"):
        assert told[name] is None, name
    assert told["worst_risk"] == {"measure": None, "percent": None}
    assert [attack["name"] for attack in told["attacks"]] == ["id", "id_sd"]
    assert told["utility"]["pmse"] is None
    assert not told["utility"]["marginals"]
    assert all(any(name in text for text in found.warnings) for name in found.not_measured)
    assert "not measured" in str(found.report().html())
    assert "nan" not in str(found.report().html()).lower().split()


@pytest.mark.parametrize("looks", [3, 8, 20, 60, 200])
def test_what_was_measured_in_time_is_what_is_measured_without_a_limit(looks: int) -> None:
    whole = shoal.compare(BEFORE, AFTER, paired_by_position=True)
    found = shoal.compare(BEFORE, AFTER, paired_by_position=True, budget=after_so_many_looks(looks))
    of_whole = {attack.name: attack for attack in whole.attacks}
    for attack in found.attacks:
        assert attack == of_whole[attack.name]
    missed = {name.removeprefix("attack ") for name in found.untried}
    known = {attack.name for attack in found.attacks}
    assert not missed & known
    assert math.isnan(found.dld) == (LINKS[0] in found.untried)
    assert found.worst_tried[1] <= whole.worst[1]
    assert np.isnan(found.worst[1]) if found.untried else found.worst == whole.worst
    assert (found.glance()["worst_risk"] is None) == bool(found.untried)


def test_enough_time_changes_nothing() -> None:
    whole = shoal.compare(BEFORE, AFTER, paired_by_position=True)
    found = shoal.compare(
        BEFORE, AFTER, paired_by_position=True, budget=Budget(seconds=100.0, clock=lambda: 0.0)
    )
    assert found.to_dict() == whole.to_dict()
    assert found.not_measured == ()
    assert found.stopped_by is None


@pytest.mark.parametrize("threads", [1, 2])
def test_linkage_in_turns_is_linkage_at_once(threads: int) -> None:
    before, after = BEFORE.to_numpy(), AFTER.to_numpy()
    whole = link_by_distance(before, after)
    run = Budget(seconds=100.0, clock=lambda: 0.0).start()
    turned = link_by_distance(before, after, threads=threads, run=run)
    assert (turned.beaten == whole.beaten).all()
    assert (turned.tied == whole.tied).all()
    with pytest.raises(TimeIsOver):
        link_by_distance(before, after, run=after_so_many_looks(0.5).start())


def test_what_was_not_measured_passes_no_gate(tmp_path: Path) -> None:
    BEFORE.write_csv(tmp_path / "before.csv")
    AFTER.write_csv(tmp_path / "after.csv")
    asked = ["compare", str(tmp_path / "before.csv"), str(tmp_path / "after.csv"), "--paired-by-position"]
    done = command(*asked, "--max-risk", "100", "--json")
    assert done.code == 0
    late = command(*asked, "--max-risk", "100", "--time-limit", "1e-9", "--json")
    assert late.code == 3
    assert late.json["stopped_by"] == "time"
    assert LINKS[0] in late.json["not_measured"]
    told = command(*asked, "--max-risk", "100", "--time-limit", "1e-9")
    assert "the worst risk is not known" in told.err
    assert command(*asked, "--time-limit", "1e-9").code == 0


def test_several_releases_share_one_limit(tmp_path: Path) -> None:
    for name in ("before", "one", "two"):
        (BEFORE if name == "before" else AFTER).write_csv(tmp_path / f"{name}.csv")
    files = [str(tmp_path / f"{name}.csv") for name in ("before", "one", "two")]
    late = command("compare", *files, "--paired-by-position", "--time-limit", "1e-9", "--json")
    assert all(LINKS[0] in release["not_measured"] for release in late.json["releases"])


def test_an_attack_that_the_columns_do_not_allow_is_not_missed() -> None:
    found = shoal.compare(BEFORE, AFTER, paired_by_position=True, budget=Budget(seconds=1e-9))
    tried = shoal.compare(BEFORE, AFTER, paired_by_position=True).attacks
    named = {name.removeprefix("attack ") for name in found.not_measured if name.startswith("attack ")}
    assert named == {attack.name for attack in tried} - {"id", "id_sd", "dld", "pld"}
    assert "mixed-linkage" not in named
