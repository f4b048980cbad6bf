"""Rules build valid hierarchies for any values, can be written down, and say the same of a value wherever it stands."""

import math
import re
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from shoal import InputError
from shoal.microdata.columns.hierarchies.builders import RULES, builder, is_rule
from shoal.microdata.columns.hierarchies.exact_numbers import ceil_to, floor_to, number_of
from shoal.microdata.columns.hierarchies.files import hierarchy_text, parse_hierarchy
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, text_of
from shoal.microdata.columns.hierarchies.intervals import round_widths
from shoal.microdata.columns.hierarchies.order import Order

WHOLE = st.integers(-300, 300)
BROKEN = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3))
ANY_NUMBER = st.one_of(
    WHOLE,
    BROKEN,
    st.decimals(-1000, 1000, places=4),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
)
CODES = st.text("ABC012*. ", max_size=6)
DATES = st.one_of(
    st.dates(date(1, 1, 1), date(2200, 1, 1)),
    st.datetimes(datetime(1, 1, 1), datetime(2200, 1, 1)),
    st.dates(date(1900, 1, 1)).map(str),
    st.dates(date(1900, 1, 1)).map(lambda day: str(day)[:7]),
    st.integers(1000, 2999),
)
WORDS = st.text('ab<|,;="() ', min_size=1, max_size=4).filter(lambda text: text == text.strip())


@st.composite
def interval_rules(draw: Any, whole: bool = False) -> str:
    unit = draw(st.sampled_from(["1", "2", "5"] if whole else ["0.1", "0.25", "1", "2", "5"]))
    widths = [Decimal(unit)]
    for _ in range(draw(st.integers(0, 2))):
        widths.append(widths[-1] * draw(st.integers(2, 4)))
    words = [str(width) for width in widths]
    bottom, top = draw(st.integers(-100, 0)), draw(st.integers(200, 300))
    words += draw(
        st.sampled_from([[], [f"bottom={bottom}"], [f"top={top}"], [f"bottom={bottom}", f"top={top}"]])
    )
    return f"intervals({','.join(words)})"


@st.composite
def cases(draw: Any) -> tuple[str, list[Any]]:
    """A rule and values that it takes."""
    kind = draw(st.sampled_from(sorted(RULES)))
    if kind in ("prefix", "suffix"):
        inside = draw(st.sampled_from(["", "(step=2)", "(3,1)", "(2,length=7)", "(2,1,length=9,zeros=yes)"]))
        return kind + inside, draw(st.lists(st.none() | CODES | st.integers(0, 99999), min_size=1))
    if kind == "dates":
        inside = draw(
            st.sampled_from(
                ["", "(day,month)", "(quarter,half,year,decade)", "(month,decade,bottom=1950,top=2000)"]
            )
        )
        return kind + inside, draw(st.lists(st.none() | DATES, min_size=1))
    if kind == "order":
        values = draw(st.lists(WORDS, min_size=2, max_size=9, unique=True))
        bars = draw(st.lists(st.integers(0, 3), min_size=len(values) - 1, max_size=len(values) - 1))
        rule = Order(tuple(values), tuple(bars) if any(bars) else ())
        return str(rule), draw(st.lists(st.none() | st.sampled_from(values), min_size=1))
    if kind in ("star", "mask"):
        return kind, draw(st.lists(st.none() | CODES | ANY_NUMBER | st.booleans(), min_size=1))
    numbers = draw(
        st.lists(st.none() | draw(st.sampled_from([WHOLE, BROKEN, ANY_NUMBER])), min_size=1, max_size=80)
    )
    inside = {
        "intervals": draw(interval_rules() | st.just("intervals")),
        "cuts": draw(st.sampled_from(["cuts(0)", "cuts(-5,0,20.5,65;0,20.5;0)", "cuts(18,30,65;30)"])),
        "quantiles": draw(st.sampled_from(["quantiles", "quantiles(4,2)", "quantiles(10)"])),
        "top": draw(st.sampled_from(["top(85)", "top(90,0.5,-20)"])),
        "bottom": draw(st.sampled_from(["bottom(18)", "bottom(-2.5,0,18)"])),
    }
    return inside[kind], numbers


def valid(hierarchy: Hierarchy) -> bool:
    """Whether every label has one parent and the root is one, looked at in the plainest way."""
    for row in hierarchy.rows:
        assert len(row) == hierarchy.height + 1
        assert row[-1] == "*"
    for level in range(hierarchy.height):
        pairs = {(row[level], row[level + 1]) for row in hierarchy.rows}
        assert len(pairs) == len({lower for lower, _ in pairs})
    return len({row[0] for row in hierarchy.rows}) == len(hierarchy.rows)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_any_rule_on_any_values_gives_a_nested_hierarchy_that_covers_them(
    case: tuple[str, list[Any]],
) -> None:
    rule, values = case
    made = builder(rule).hierarchy(values)
    assert valid(made)
    assert {text_of(value) for value in values} <= set(made.leaves)
    for row in made.rows:
        if row[0] is None:
            assert set(row[:-1]) == {None}


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(cases(), st.data())
def test_what_was_built_is_repeated_by_its_rule(case: tuple[str, list[Any]], data: st.DataObject) -> None:
    rule, values = case
    made = builder(rule).hierarchy(values)
    assume(any(value is not None for value in values))
    assert made.rule is not None
    assert str(builder(made.rule)) == made.rule
    again = builder(made.rule).hierarchy(values)
    assert again.rows == made.rows
    assert again.rule == made.rule
    some = data.draw(st.lists(st.sampled_from(values), min_size=1))
    assume(any(value is not None for value in some))
    other = {row[0]: row for row in builder(made.rule).hierarchy(some).rows}
    assert all(other[row[0]] == row for row in made.rows if row[0] in other)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_a_file_holds_all_of_it(case: tuple[str, list[Any]]) -> None:
    rule, values = case
    assume(not {"", "NULL"} & {text_of(value) for value in values})
    made = builder(rule).hierarchy(values)
    assert parse_hierarchy(hierarchy_text(made), "file").rows == made.rows


NUMBER_IN_LABEL = re.compile(r"\d+(?:\.\d+)?")


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 10**6) | st.floats(0, 1e4), min_size=1, max_size=120))
def test_no_label_of_intervals_shows_an_end_of_the_data(values: list[float]) -> None:
    """Every number in a label is a multiple of the finest width (or one below, for the last whole number of a class)."""
    made = builder("intervals").hierarchy(values)
    rule: Any = builder(str(made.rule))
    finest = Fraction(str(rule.widths[0]))
    open_ends = rule.bottom is not None or rule.top is not None
    for labels in made.labels[1 + open_ends : -1]:
        for label in labels:
            low, *rest = [Fraction(number) for number in NUMBER_IN_LABEL.findall(str(label))]
            assert low % finest == 0, label
            if rest:
                assert (rest[0] + (rule.numbers == "whole")) % finest == 0, label


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 10**4) | st.just(7), min_size=40, max_size=80),
    st.integers(1, 10**6),
    st.integers(1, 10**6),
)
def test_a_record_moved_further_out_changes_no_label(values: list[int], up: int, down: int) -> None:
    """What is furthest out is in an open class: where it is cannot be seen."""
    values.sort()
    made = builder("intervals").hierarchy([-1, *values, 10**5])
    moved = builder("intervals").hierarchy([-1 - down, *values, 10**5 + up])
    rule, other = (str(item.rule).split(",cover")[0] for item in (made, moved))
    assert rule == other and "bottom=" in rule and "top=" in rule
    assert moved.rows[0][1:] == made.rows[0][1:]
    assert moved.rows[-1][1:] == made.rows[-1][1:]


@settings(max_examples=100)
@given(st.lists(WHOLE | BROKEN, min_size=1, max_size=200), st.sampled_from([(16, 8, 4), (4, 2), (7,)]))
def test_cuts_of_equal_classes_are_inside_and_no_end_of_the_data(
    values: list[float], classes: tuple[int, ...]
) -> None:
    rule: Any = builder(f"quantiles({','.join(map(str, classes))})").hierarchy(values).rule
    if rule.startswith("intervals"):
        return
    read: Any = builder(rule)
    levels = read.levels
    assert len(levels) <= len(classes)
    for finer, coarser in pairwise(levels):
        assert set(coarser) < set(finer)
    assert all(min(values) < cut < max(values) for cut in levels[0])
    assert all(
        len(cuts) < count for cuts, count in zip(levels, classes, strict=False) if len(levels) == len(classes)
    )


@given(st.floats(1e-9, 1e15) | st.integers(20, 10**15))
def test_one_value_alone_has_classes_as_wide_as_its_size_asks(value: float) -> None:
    rule: Any = builder(str(builder("intervals").hierarchy([value] * 3).rule))
    assert value / 20 <= Fraction(str(rule.widths[0])) * (1 + Fraction(1, 10**9))


def test_equal_classes_are_about_equal() -> None:
    made = builder("quantiles(4,2)").hierarchy(list(range(1000)))
    assert made.rule == "cuts(300,500,800;500,numbers=whole,cover=300..799)"
    assert made.sizes[1].tolist() == [300, 200, 300, 200]


@given(ANY_NUMBER, st.sampled_from([1, 5, Decimal("0.1"), Decimal("0.25"), 20]))
def test_multiples_are_exact(value: Any, width: Any) -> None:
    number = number_of(value)
    assert number is not None
    low, high = floor_to(number, width), ceil_to(number, width)
    exact, step = Fraction(str(number)), Fraction(str(width))
    assert Fraction(str(low)) == math.floor(exact / step) * step
    assert Fraction(str(high)) == math.ceil(exact / step) * step


@given(st.floats(1e-6, 1e12))
def test_widths_are_round_and_nested(spread: float) -> None:
    for kind in ("whole", "decimal"):
        widths = [Fraction(str(width)) for width in round_widths(Decimal(str(spread)), kind)]  # type: ignore[arg-type]
        assert all((coarser / finer).denominator == 1 for finer, coarser in pairwise(widths))
        assert all(str(float(width)).strip("0.")[:1] in "125" for width in widths if width != 4)
        if kind == "decimal" or spread >= 20:
            assert spread / 50 <= widths[0] * 1.0 <= spread / 20 * 5


@pytest.mark.parametrize(
    ("rule", "value", "labels"),
    [
        ("intervals(5,10,20,bottom=20,top=85)", 20, ("20", "20-24", "20-29", "20-39")),
        ("intervals(5,10,20,bottom=20,top=85)", 19, ("<20", "<20", "<20", "<20")),
        ("intervals(5,10,20,bottom=20,top=85)", 84, ("84", "80-84", ">=80", ">=80")),
        ("intervals(5,10,20,bottom=20,top=85)", 85, (">=85", ">=85", ">=80", ">=80")),
        ("intervals(5,10)", -3, ("-5 to -1", "-10 to -1")),
        ("intervals(0.5,1)", 0.7, ("[0.5, 1.0)", "[0.0, 1.0)")),
        ("intervals(0.5)", "1", ("[1.0, 1.5)",)),
        ("intervals(5)", 0.5, ("[0, 5)",)),
        ("intervals(1,2)", 7, ("7", "6-7")),
        ("intervals(bottom=18,top=65)", 40, ("40",)),
        ("cuts(18,30,65;30)", 30, ("30-64", ">=30")),
        ("cuts(18,30,65;30)", 17, ("<18", "<30")),
        ("top(90,85)", 85, ("85", ">=85")),
        ("bottom(18)", 18, ("18",)),
        ("prefix(3,1,length=5)", "10115", ("101**", "1****")),
        ("prefix(3,1,length=5)", "10", ("10***", "1****")),
        ("prefix(3,1,length=5,zeros=yes)", 1067, ("010**", "0****")),
        ("suffix(2,length=5)", "AB-17", ("***17",)),
        ("dates(day,month,quarter,half,year,decade)", datetime(2024, 8, 5, 9),
         ("2024-08-05", "2024-08", "2024-Q3", "2024-H2", "2024", "2020-2029")),
        ("dates(hour,day)", datetime(2024, 8, 5, 9, 30), ("2024-08-05 09h", "2024-08-05")),
        ("dates(month,year)", date(2024, 8, 5), ("2024-08", "2024")),
        ("dates(month,year)", "2024-08-05T09:30:00", ("2024-08", "2024")),
        ("dates(month,year,decade)", 1961, ("1961", "1961", "1960-1969")),
        ("dates(month,year,form=%d/%m/%Y)", "05/08/2024", ("2024-08", "2024")),
        ("dates(year,decade,bottom=1940,top=2010)", "1939-12-31", ("<1940", "<1940")),
        ("dates(year,decade,bottom=1940,top=2010)", "2010-01-01", (">=2010", ">=2010")),
        ("order(a<b<c<d<e)", "c", ("c to d", "a to d")),
        ("order(a<b|c<d||e)", "c", ("c to d", "a to d")),
        ("order(a<b|c<d||e)", "e", ("e", "e")),
        ("star", "x", ()),
        ("mask", 3, ()),
    ],
)  # fmt: skip
def test_what_values_become(rule: str, value: Any, labels: tuple[str, ...]) -> None:
    made = builder(rule).hierarchy([value])
    assert next(row for row in made.rows if row[0] == text_of(value))[1:-1] == labels


@pytest.mark.parametrize(
    ("rule", "values", "settled"),
    [
        ("prefix", ["10115", "10117", "10219", "20095", "20199"], "prefix(4,2,length=5)"),
        ("prefix(step=2)", ["10115", "10117", "10219", "20095", "20199"], "prefix(3,1,length=5)"),
        ("intervals(5,10)", [31, 38], "intervals(5,10,numbers=whole,cover=30..39)"),
        ("intervals(5,10)", [31, 38.5], "intervals(5,10,numbers=decimal)"),
        ("dates", ["2024-05-01"], "dates(month,quarter,year,decade)"),
        ("dates", ["31/05/2024"], "dates(month,quarter,year,decade,form=%d/%m/%Y)"),
        ("dates", ["2024-05"], "dates(quarter,year,decade)"),
        ("dates", [1999], "dates(decade)"),
        ("order", [3, 1, 2], "order(1<2<3)"),
        ("order", ["10-14", "5-9"], "order(5-9<10-14)"),
        ("intervals(5,10,top=85,cover=0..99)", [3], "intervals(5,10,top=85,numbers=whole,cover=0..99)"),
    ],
)
def test_what_is_left_open_is_decided(rule: str, values: list[Any], settled: str) -> None:
    assert builder(rule).hierarchy(values).rule == settled


def test_covered_values_are_leaves_so_that_loss_does_not_depend_on_who_answered() -> None:
    few = builder("intervals(5,10,20,top=85,cover=0..119)").hierarchy([31, 47])
    many = builder("intervals(5,10,20,top=85,cover=0..119)").hierarchy(list(range(17, 91)))
    assert few.leaves == many.leaves == tuple(str(age) for age in range(120))
    assert few.loss[2][6] == pytest.approx(4 / 119)


@pytest.mark.parametrize(
    ("rule", "values", "where"),
    [
        ("intervals(5)", [1, "many", 3, "many"], "2 records (the first is record 2)"),
        ("intervals(5)", [1, math.inf], "record 2"),
        ("intervals(5)", [True], "record 1"),
        ("intervals(5,numbers=whole)", [1, 2.5], "record 2"),
        ("cuts(5)", ["a"], "record 1"),
        ("top(5)", [None, "a"], "record 2"),
        ("prefix(1,length=2)", ["ab", "abc"], "record 2"),
        ("dates(year)", ["2024-02-30"], "record 1"),
        ("dates(year)", ["soon"], "record 1"),
        ("dates(year,form=%d.%m.%Y)", ["31.12.2024", "2024"], "record 2"),
        ("order(a<b)", ["a", "c"], "record 2"),
    ],
)
def test_a_value_that_cannot_be_placed_is_named_by_its_record(
    rule: str, values: list[Any], where: str
) -> None:
    with pytest.raises(InputError) as problem:
        builder(rule).hierarchy(values, "col")
    text = str(problem.value)
    assert text.startswith(f"column 'col': {where} cannot be placed by '")
    assert not re.search("many|soon|abc|2024|2.5", text.replace("2 records", ""))


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("interval(5)", "rule 'interval' is unknown; did you mean 'intervals'?"),
        ("intervals(5,12)", "multiples of each other, and 12 is none of 5"),
        ("intervals(10,5)", "multiples of each other"),
        ("intervals(0)", "above 0"),
        ("intervals(five)", "needs numbers, not 'five'"),
        ("intervals(nan)", "needs numbers"),
        ("intervals(5,tops=3)", "option of 'intervals' 'tops' is unknown; did you mean 'top'?"),
        ("intervals(5,top=3,top=4)", "says 'top' twice"),
        ("intervals(5,40,bottom=20,top=30)", "too near its top"),
        ("intervals(bottom=20,top=20)", "too near its top"),
        ("intervals(0.5,numbers=whole)", "no whole number"),
        ("intervals(5,numbers=odd)", "numbers=whole or numbers=decimal"),
        ("intervals(5,cover=3)", "cover=FIRST..LAST"),
        ("intervals(5,cover=9..1)", "cover=FIRST..LAST"),
        ("intervals(5,cover=0..99999999)", "cover=FIRST..LAST"),
        ("intervals(0.5,cover=0..9)", "whole numbers only"),
        ("cuts", "needs cuts"),
        ("cuts(3,2)", "must go up"),
        ("cuts(1,2;3)", "some of the cuts of the level before"),
        ("quantiles(1)", "from 2 to 1,000"),
        ("quantiles(10,4)", "must divide"),
        ("top", "needs the number to begin at"),
        ("top(80,90)", "nearer ones"),
        ("bottom(20,10)", "nearer ones"),
        ("prefix(2,3)", "fewer and fewer"),
        ("prefix(0)", "at least 1"),
        ("prefix(3,length=3)", "above the signs that stay"),
        ("prefix(3,step=1)", "not both"),
        ("prefix(3,zeros=maybe)", "zeros=yes or zeros=no"),
        ("dates(year,month)", "in this order"),
        ("dates(week)", "in this order"),
        ("dates(decade,bottom=1945)", "in which one begins"),
        ("dates(year,bottom=1990,top=1980)", "above its top"),
        ("order(a)", "needs values"),
        ("order(a,b)", "needs values"),
        ("order(a<)", "needs values"),
        ("order(a<|b)", "needs values"),
        ("order(a<b<a)", "names its value number 3 twice"),
        ('order("a<b)', "a quote without an end"),
        ("star(3)", "needs nothing"),
        ("5,10", "a rule is a name"),
        ("intervals(5", "a rule is a name"),
        ("intervals(=5)", "'='"),
    ],
)  # fmt: skip
def test_a_wrong_rule_is_refused_in_one_line(rule: str, problem: str) -> None:
    with pytest.raises(InputError) as found:
        builder(rule)
    assert problem in str(found.value)
    assert "\n" not in str(found.value)


def test_an_order_that_nothing_says_is_asked_for() -> None:
    with pytest.raises(
        InputError, match=r"column 'edu': nothing says the order of its values; state it .* order\(low<"
    ):
        builder("order").hierarchy(["low", "high"], "edu")


def test_dates_that_could_be_read_in_two_ways_are_refused() -> None:
    with pytest.raises(InputError, match="do not tell day and month apart"):
        builder("dates").hierarchy(["01/02/2024"], "day")


def test_nothing_to_build_for_is_refused_and_missing_values_alone_are_not() -> None:
    with pytest.raises(InputError, match="there are no records"):
        builder("star").hierarchy([])
    for rule in sorted(RULES):
        needs = {"cuts": "(5)", "top": "(5)", "bottom": "(5)", "order": "(a<b)"}.get(rule, "")
        made = builder(rule + needs).hierarchy([None, None])
        assert None in made.leaves and made.root == "*"


def test_rules_are_told_from_files() -> None:
    assert all(map(is_rule, [*RULES, "Prefix", " star ", "intervals(5,10)", "nonsense(3)"]))
    assert not any(map(is_rule, ["age.csv", "folder/prefix", "prefix.csv", "my file (1).csv", ""]))


@pytest.mark.parametrize("rule", ["prefix(4,2)", "suffix(4,2)", "prefix(4,2,length=5,zeros=yes)", "prefix"])
def test_a_code_of_no_sign_stays_one(rule: str):
    rows = {row[0]: row for row in builder(rule).hierarchy(["02139", "02138", "10001", "", None], "zip").rows}
    assert set(rows[""][:-1]) == {""} and rows[""][-1] == "*"
    assert rows[None][1] is None
