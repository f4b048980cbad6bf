"""Numbers nobody can compute with, in every field of every request: refused before a run begins."""

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from shoal.web.activities import ACTIVITIES


def _takes_numbers(annotation: Any) -> bool:
    return annotation in (int, float) or any(_takes_numbers(part) for part in get_args(annotation))


def _fields() -> list[tuple[str, str]]:
    return [
        (kind, name)
        for kind, activity in ACTIVITIES.items()
        for name, field in activity.request_model.model_fields.items()
        if _takes_numbers(field.annotation)
    ]


def test_the_fields_are_found() -> None:
    assert {("suppress", "high"), ("audit", "low"), ("compare", "seed"), ("assign", "time_limit")} <= set(
        _fields()
    )


@pytest.mark.parametrize(("kind", "name"), _fields())
@pytest.mark.parametrize("figure", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_none_are_refused(kind, name, figure) -> None:
    field = ACTIVITIES[kind].request_model.model_fields[name]
    text = str(field.annotation)
    value: Any = [figure] if "list[" in text else {"x": figure} if "dict[" in text else figure
    with pytest.raises(ValidationError) as refused:
        ACTIVITIES[kind].request_model.model_validate({name: value})
    assert name in {error["loc"][0] for error in refused.value.errors()}
