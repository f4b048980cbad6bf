"""How runs are shown in lists: what is done is not always good."""

from typing import Any

import pytest

from shoal.web.jobs.job import Job, State
from shoal.web.pages.runs import standing


@pytest.mark.parametrize(
    ("kind", "state", "summary", "shown"),
    [
        ("audit", State.DONE, {"safe": False}, ("not safe", "negative")),
        ("audit", State.DONE, {"safe": True}, ("done", "positive")),
        ("anonymity", State.DONE, {}, ("done", "positive")),
        ("audit", State.FAILED, {}, ("failed", "negative")),
        ("audit", State.RUNNING, {}, ("running", "primary")),
    ],
)
def test_an_unsafe_table_is_not_shown_as_a_success(
    kind: str, state: State, summary: dict[str, Any], shown: tuple[str, str]
) -> None:
    assert standing(Job("0" * 12, kind, "a run", {}, state, summary=summary)) == shown


def test_a_search_that_is_stopping_says_so() -> None:
    assert standing(Job("0" * 12, "assign", "a run", {}, State.RUNNING, stopping=True))[0] == "stopping"
