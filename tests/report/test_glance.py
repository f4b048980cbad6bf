"""Results show themselves in a line and, in notebooks, as a table: short, escaped, and without a value of the data."""

import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.report.glance import Glance

# Names nobody should have to expect, and somebody has.
HOSTILE = "<script>alert('x')</script>&amp;\u202egpj"
ALLOWED = {"table", "caption", "tbody", "tr", "th", "td", "p"}

RNG = np.random.default_rng(5)
NUMBERS = (RNG.random(60) * 8e5 + 1e5).round(3)
RECORDS = pl.DataFrame(
    {
        HOSTILE: NUMBERS,
        "b": NUMBERS[::-1],
        "zip": ["zzA", "zzB", "zzC"] * 20,
        "sex": ["sxF"] * 30 + ["sxM"] * 30,
    }
)
CONFIDENTIAL = {*(f"{value:.0f}" for value in NUMBERS), "zzA", "zzB", "zzC", "sxF", "sxM", "seatA", "seatB"}


def _slots() -> pl.DataFrame:
    return pl.DataFrame({"slot": ["seatA", "seatB"], "capacity": [40, 40], HOSTILE: [9, 13]})


def _suppression() -> object:
    made = shoal.tabulate(RECORDS.rename({HOSTILE: "v"}), ["zip", "sex"], value="v", rules=["frequency(1)"])
    return shoal.suppress(made, sensitive=[("zzA", "sxF")], cost="unity")


RESULTS = {
    "anonymity": lambda: shoal.anonymity(RECORDS, [HOSTILE, "zip", "sex"], unit="b"),
    "risk": lambda: shoal.risk(RECORDS, [HOSTILE, "zip", "sex"], household="b", population=9000),
    "microaggregate": lambda: shoal.microaggregate(RECORDS, k=3, columns=[HOSTILE, "b"], method="mdav"),
    "compare": lambda: shoal.compare(
        RECORDS,
        RECORDS.with_columns((pl.col("b") / 1e4).round() * 1e4),
        columns=[HOSTILE, "b"],
        paired_by_position=True,
    ),
    "group": lambda: shoal.group_attributes(RECORDS, k=3, columns=[HOSTILE, "b"], method="exact"),
    "hierarchy": lambda: shoal.propose_hierarchies(RECORDS, [HOSTILE, "zip", "sex"]),
    "tabulate": lambda: shoal.tabulate(
        RECORDS.select("b", "sex", pl.col("zip").alias(HOSTILE)), [HOSTILE, "sex"], value="b"
    ),
    "suppress": _suppression,
    "audit": lambda: _suppression().audit,  # type: ignore[attr-defined]
    "round": lambda: shoal.round_table(
        shoal.tabulate(RECORDS.rename({HOSTILE: "v"}), ["zip", "sex"], value="v", rules=["frequency(1)"]),
        1000,
    ),
    "adjust": lambda: shoal.adjust_table(
        shoal.tabulate(RECORDS.rename({HOSTILE: "v"}), ["zip", "sex"], value="v", rules=["frequency(1)"]),
        sensitive=[("zzA", "sxF")],
    ),
    "perturb-table": lambda: shoal.perturb_table(RECORDS, ["zip", "sex"], seed=1),
    "assign": lambda: shoal.assign(RECORDS.select("zip", "sex"), _slots(), quasi=["zip", "sex"], seed=0),
    "assign sizes": lambda: shoal.assign_sizes([4, 4, 5, 2], [4, 2, 4, 3, 2]),
}

# Those whose columns had such a name.
NAMING = {"anonymity", "risk", "microaggregate", "compare", "group", "hierarchy", "tabulate"}


class Elements(HTMLParser):
    """The elements of a text, and what a reader sees of it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        assert {name for name, _ in attrs} <= {"scope", "role"}

    def handle_data(self, data: str) -> None:
        self.text += data + " "


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself_shortly_and_safely(name: str) -> None:
    result = RESULTS[name]()
    line = repr(result)
    assert re.fullmatch(rf"{type(result).__name__}\(.*\)", line) and len(line) < 400
    assert line.isprintable()
    page = Elements()
    page.feed(result._repr_html_())
    assert page.found <= ALLOWED
    assert "\u202e" not in page.text
    for shown in (line, page.text):
        assert not any(value in shown for value in CONFIDENTIAL)
        if name in NAMING:
            assert "<script>alert('x')</script>&amp;\\u202egpj" in shown
    for figure in result.glance():
        assert f"{figure}=" in line and figure.replace("_", " ") in page.text
    for warning in getattr(result, "warnings", ()):
        assert warning.replace("\u202e", "\\u202e") in page.text


def test_many_names_are_counted() -> None:
    class Wide(Glance):
        def glance(self) -> dict[str, object]:
            return {"columns": tuple(f"c{n}" for n in range(500))}

    assert repr(Wide()) == "Wide(columns=('c0', 'c1', 'c2', 'c3', 'c4', … 500 in all))"
    assert "c0, c1, c2, c3, c4, … 500 in all" in Wide()._repr_html_()


def test_a_name_that_ends_an_element_stays_a_name() -> None:
    class Odd(Glance):
        warnings = ("</p><img src=x onerror=alert(1)>",)

        def glance(self) -> dict[str, object]:
            return {"method": "</td><iframe>", "columns": ('"><svg onload=x>',)}

    assert not re.search(r"<(img|iframe|svg)", Odd()._repr_html_())
