"""What pages say and choose before anything runs."""

import pytest

from shoal.errors import InputError
from shoal.web.activities import ACTIVITIES
from shoal.web.pages.appointments import no_slots
from shoal.web.pages.compare import comparable
from shoal.web.pages.fields import problem


@pytest.mark.parametrize("kind", ["microaggregate", "group"])
def test_k_below_two_is_refused(kind: str) -> None:
    assert problem("1", whole=True, least=2) == "should be 2 or more"
    assert problem("2", whole=True, least=2) is None
    with pytest.raises(InputError, match=r"^k: should be greater than or equal to 2$"):
        ACTIVITIES[kind].check({"data": "town", "k": 1})


def test_what_a_table_lacks_to_be_slots() -> None:
    assert no_slots("s", ["Slot", "capacity", "hour"]) == no_slots("s", ["RESOURCE", "CAPACITY"]) == ""
    assert "'people0_resource' has ID, CAPACITY" in no_slots("people0_resource", ["ID", "CAPACITY"])
    assert "column slot (or resource)" in no_slots("s", ["slot", "seats"])


def test_releases_ticked_at_first_have_a_column_in_common() -> None:
    assert comparable([]) == []
    assert comparable([["a", "b"], ["c"], ["b", "c"], ["a"], ["b"]]) == [True, False, True, False, True]
    assert comparable([["a"]] * 8) == [True] * 6 + [False] * 2
