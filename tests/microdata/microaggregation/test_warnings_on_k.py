"""The words of a K that is too small, for one and for many."""

from shoal.anonymity.vector import AnonymityVector
from shoal.microdata.anonymity.result import Anonymity
from shoal.microdata.microaggregation.remarks import warnings_on_k


def measured(columns: int, people: dict[int, int], unit: str | None = None) -> Anonymity:
    vector = AnonymityVector({size: number // size for size, number in people.items()})
    names = tuple(f"c{place}" for place in range(columns))
    return Anonymity(names, unit, "own", sum(people.values()), sum(people.values()), vector, people)


def test_one_is_no_many() -> None:
    one = warnings_on_k(measured(9, {1: 1, 5: 50}), 3, 1, [])[0].text
    assert "c7 and 1 more column is 1, below k = 3: 1 of 51 records is in a smaller class" in one
    many = warnings_on_k(measured(10, {2: 4, 5: 50}, unit="person"), 3, 2, [])[0].text
    assert "and 2 more columns by distinct 'person' is 2, below k = 3: 4 of 54 units are in smaller" in many
