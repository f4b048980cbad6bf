import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.microdata.measures.categories import pair_categories, retained_information

TEXTS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.sampled_from(["a", "b", "c", "ab", "*", None])),
    min_size=1,
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_codes_say_what_texts_say(records):
    old, new = (list(column) for column in zip(*records, strict=True))
    pair = pair_categories("x", old, new)
    gone = [label in (None, "*") for label in new]
    changed = [(o is not None) if g else o != n for o, n, g in zip(old, new, gone, strict=True)]
    assert pair.changed.tolist() == changed
    assert pair.blanked.tolist() == [g and o is not None for o, g in zip(old, gone, strict=True)]
    assert pair.recoded == any(not g and n not in old for n, g in zip(new, gone, strict=True))
    for i in range(len(old)):
        assert (pair.after[i] < pair.values) == (not gone[i] and new[i] in old)
        if pair.after[i] < pair.values:
            assert (pair.before[i] == pair.after[i]) == (old[i] == new[i])
    assert pair.misfit.shape == (pair.values, pair.labels - pair.values)
    assert ((pair.misfit >= 0) & (pair.misfit <= 1)).all()


def test_a_global_recoding_compares_without_a_difference():
    ages = [str(20 + number % 40) for number in range(200)]
    pair = pair_categories("age", ages, [age[0] + "0s" for age in ages])
    assert pair.aligned.tolist() == pair.after.tolist() and pair.recoded
    assert pair.changed.all() and not pair.blanked.any()
    assert pair.kept_percent == pytest.approx(100 * np.log(4) / np.log(40))


def test_what_was_missing_and_still_is_makes_no_difference():
    values = ["a", None, "b", None, "a", "b"]
    pair = pair_categories("x", values, ["b", None, "a", None, "b", "a"])
    assert pair.aligned[[1, 3]].tolist() == pair.after[[1, 3]].tolist()
    assert sorted(pair.aligned.tolist()) == sorted(pair.after.tolist())
    assert pair.changed.tolist() == [True, False, True, False, True, True]
    # A value that was filled in differs, and so does one that was blanked.
    filled = pair_categories("x", ["a", None], ["a", "a"])
    blanked = pair_categories("x", ["a", None], [None, None])
    for other in (filled, blanked):
        assert (other.aligned != other.after).tolist() == other.changed.tolist()


def test_too_many_values_for_a_table_fit_their_own_label_alone():
    values = [str(number) for number in range(50)]
    labels = [f"{number // 10}x" for number in range(50)]
    wide = pair_categories("zip", values, labels, largest=10)
    assert wide.misfit.size == 0 and wide.before.tolist() == wide.after.tolist()
    assert wide.changed.all()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_information_is_that_of_the_definition(records):
    old, new = (np.array(column) for column in zip(*records, strict=True))
    n = len(old)
    kept, entropy = 0.0, 0.0
    for value in set(old.tolist()):
        share = np.mean(old == value)
        entropy -= share * np.log(share)
        for label in set(new.tolist()):
            both = np.sum((old == value) & (new == label)) / n
            if both:
                kept += both * np.log(both / (share * np.mean(new == label)))
    expected = kept / entropy if entropy else 1.0
    assert retained_information(old, new) == pytest.approx(expected, abs=1e-9)
