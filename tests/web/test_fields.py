"""Numbers in fields: read as they stand, or refused."""

import pytest

from shoal.web.pages.fields import problem, read, written
from shoal.web.pages.tables.rules import read_rule, write_rule


@pytest.mark.parametrize(
    ("text", "rules", "told"),
    [
        ("2.5", {"whole": True}, "should be a whole number"),
        ("", {}, "a number is needed"),
        ("   ", {}, "a number is needed"),
        (None, {}, "a number is needed"),
        ("", {"needed": False}, None),
        ("2,5", {}, "should be a number, such as 12 or 2.5"),
        ("1 000", {}, "should be a number, such as 12 or 2.5"),
        ("inf", {}, "should be a number, such as 12 or 2.5"),
        ("nan", {}, "should be a number, such as 12 or 2.5"),
        ("0x10", {}, "should be a number, such as 12 or 2.5"),
        ("1_000", {}, "should be a number, such as 12 or 2.5"),
        ("1e999", {}, "is too large"),
        ("9007199254740993", {"whole": True}, "is too large"),
        ("0", {"above": 0}, "should be above 0"),
        ("101", {"most": 100}, "should be 100 or less"),
        ("1.999", {"least": 2}, "should be 2 or more"),
        ("5", {"whole": True, "least": 2}, None),
        ("5.0", {"whole": True}, None),
        (" −3 ", {}, None),
        ("1e-3", {}, None),
    ],
)
def test_what_is_wrong_with_a_number(text: str | None, rules: dict[str, float], told: str | None) -> None:
    assert problem(text, **rules) == told  # type: ignore[arg-type]


def test_numbers_are_read_as_they_stand() -> None:
    assert read(" 5.0 ", whole=True) == 5
    assert isinstance(read("5", whole=True), int)
    assert read("−2.50") == -2.5
    assert read("9007199254740991", whole=True) == 9007199254740991
    assert read("") is None


@pytest.mark.parametrize("value", [0, 1, 2.5, 0.1, 1e-9, 1e20, 12345678.25, 9007199254740991, -7, 100 * 0.07])
def test_what_is_written_into_a_field_is_read_back(value: float) -> None:
    assert problem(written(value)) is None
    assert read(written(value)) == pytest.approx(value, rel=1e-15)


def test_a_rule_keeps_all_its_digits() -> None:
    text = "p-percent(12.3456789,2)"
    assert write_rule(*read_rule(text)) == text
