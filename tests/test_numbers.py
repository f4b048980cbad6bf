"""Numbers nobody can compute with, in every numeric setting of every public function: an ``InputError``, nothing else."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal

RECORDS = pl.DataFrame(
    {
        "a": [*"nsw"] * 8,
        "b": [*"pq"] * 12,
        "x": [1.5 * i for i in range(24)],
        "y": [i * 7 % 11 for i in range(24)],
    }
)
SLOTS = pl.DataFrame({"slot": ["a", "b"], "capacity": [12, 12]})
MATRIX = np.array([[10.0, 20, 30], [40, 50, 60], [70, 80, 90]])
SQUARE = [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "suppress": lambda **more: shoal.suppress(MATRIX, sensitive=[("2", "2")], **more),
    "audit": lambda **more: shoal.audit(MATRIX, SQUARE, sensitive=[("2", "2")], **more),
    "microaggregate": lambda **more: shoal.microaggregate(RECORDS, **{"k": 3, "columns": ["x", "y"], **more}),
    "group_attributes": lambda **more: shoal.group_attributes(
        RECORDS, **{"k": 3, "columns": ["x", "y"], **more}
    ),
    "assign": lambda **more: shoal.assign(RECORDS, SLOTS, quasi=["a"], **more),
}


def _settings() -> list[tuple[str, str]]:
    plain = {"int", "float", "int | None", "float | None"}
    return [
        (function, name)
        for function in FUNCTIONS
        for name, parameter in inspect.signature(getattr(shoal, function)).parameters.items()
        if inspect.formatannotation(parameter.annotation) in plain
    ]


def test_the_settings_are_found() -> None:
    found = set(_settings())
    assert {
        ("suppress", "high"),
        ("audit", "sliding"),
        ("microaggregate", "largest"),
        ("assign", "time_limit"),
    } <= found


@pytest.mark.parametrize(("function", "name"), _settings())
def test_what_is_no_number_is_refused(function, name) -> None:
    infinite = [] if name in ("low", "high") else [float("inf"), float("-inf")]
    for value in (float("nan"), "3", *infinite):
        with pytest.raises(shoal.InputError):
            FUNCTIONS[function](**{name: value})
