"""Loss and risk on a cluster: sums are those of one machine, links inside blocks are never fewer."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.spark import compare

pytestmark = pytest.mark.xdist_group("spark")


def test_it_measures_what_one_machine_measures(given) -> None:
    draw = np.random.default_rng(6)
    n = 2_000
    before = pl.DataFrame(
        {
            "id": range(n),
            "a": draw.lognormal(0, 1, n),
            "b": draw.integers(-5, 5, n),
            "c": [3.0] * n,
            "d": draw.normal(size=n),
        }
    )
    columns = ["a", "b", "c", "d"]
    after = shoal.microaggregate(before, 4, columns=columns, method="mdav").frame
    shuffled = after.sample(fraction=1, shuffle=True, seed=1)
    mine = compare(given(before), given(shuffled, 3), key="id", columns=columns, block=300)
    theirs = shoal.compare(before, after, key="id", columns=columns, utility=["none"], attacks=["none"])
    for name in ("il1", "il1s", "il2", "il3", "il4", "il5"):
        one, other = getattr(mine.loss, name), getattr(theirs.loss, name)
        assert one.value == pytest.approx(other.value, abs=1e-9), name
        assert (one.terms, one.skipped) == (other.terms, other.skipped), name
    assert mine.loss.sse_percent == pytest.approx(theirs.loss.sse_percent)
    assert (mine.id, mine.id_sd) == (pytest.approx(theirs.id), pytest.approx(theirs.id_sd))
    assert (
        (mine.k, mine.k_compared, mine.quasi)
        == (theirs.k, theirs.k_compared, theirs.quasi)
        == (4, 4, mine.quasi)
    )
    assert (mine.id_worst, mine.id_sd_worst) == (
        pytest.approx(theirs.id_worst),
        pytest.approx(theirs.id_sd_worst),
    )
    assert [one.constant for one in mine.attributes] == [False, False, True, False]
    assert mine.blocks > 3 and mine.largest_block <= 600
    assert (mine.il, mine.worst_risk["percent"]) == (
        pytest.approx(theirs.il),
        max(mine.id_worst, mine.id_sd_worst, mine.dld),
    )
    for one, other in zip(mine.attributes, theirs.attributes, strict=True):
        assert vars(one) == pytest.approx(vars(other), abs=1e-9)
    assert mine.dld >= theirs.dld - 1e-9
    whole = compare(given(before), given(shuffled), key="id", columns=columns, block=n)
    assert whole.blocks == 1 and whole.dld == pytest.approx(theirs.dld)


def test_k_is_counted_over_all_that_could_be_known(given) -> None:
    draw = np.random.default_rng(9)
    n = 200
    before = pl.DataFrame(
        {
            "person": draw.permutation(n) + 1_000_000,
            "income": draw.lognormal(8, 1, n),
            "sex": draw.choice(["f", "m"], n),
            "visits": [[int(v)] for v in draw.integers(0, 3, n)],
        }
    )
    after = shoal.microaggregate(before, 5, columns=["income"], order="keep").frame
    mine = compare(given(before), given(after), key="person")
    theirs = shoal.compare(before, after, key="person", utility=["none"], attacks=["none"])
    assert mine.columns == theirs.columns == ("income",)
    assert (mine.quasi, mine.quasi_guessed) == (theirs.quasi, True) == (("income", "sex", "visits"), True)
    assert (mine.k, mine.k_compared) == (theirs.k, theirs.k_compared) and mine.k < 5
    assert "the key 'person' is in the protected data" in str(mine.warnings[0])
    assert set(mine.to_dict()) >= {"k", "k_compared", "quasi", "warnings", "il", "worst_risk"}
    assert mine.report().html() and mine.made_by is not None
    named = compare(given(before), given(after), key="person", columns=["income"], quasi=["income"])
    assert named.k == named.k_compared == theirs.k_compared and not named.quasi_guessed
    with pytest.raises(shoal.InputError, match="key= pairs records"):
        compare(given(before), given(after))


def test_records_that_have_no_partner_are_refused(given) -> None:
    before = pl.DataFrame({"id": [1, 2, 3], "a": [1.0, 2.0, 3.0], "t": list("xyz")})
    data = given(before)
    for after, words in (
        (before.with_columns(id=pl.lit(1)), "repeated"),
        (before.with_columns(id=pl.col("id") + 1), "1 protected records have no original"),
        (before.with_columns(a=pl.lit(None, pl.Float64)), "missing values"),
    ):
        with pytest.raises(shoal.InputError, match=words):
            compare(data, given(after), key="id", columns=["a"])
    with pytest.raises(shoal.InputError, match="cannot be compared"):
        compare(data, data, key="id", columns=["t"])
