"""Histories: look-up and export."""

import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from shoal.runtime import History, Point

histories = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.none() | st.integers(-9, 9)), max_size=12
).map(
    lambda steps: History(
        tuple(
            Point(
                sum(s[0] for s in steps[: i + 1]),
                0.25 * i,
                100 - sum(s[1] for s in steps[: i + 1]),
                steps[i][2],
            )
            for i in range(len(steps))
        )
    )
)


@given(histories, st.integers(0, 120))
def test_value_at(history, work):
    known = [point.value for point in history.points if point.work <= work]
    assert history.value_at(work) == (known[-1] if known else None)


@given(histories)
def test_exports_say_the_same(history):
    records = history.to_records()
    assert len(history) == len(records)
    assert json.loads(json.dumps(records)) == records
    rows = list(csv.DictReader(io.StringIO(history.to_csv())))
    assert [
        {name: str(value) if value is not None else "" for name, value in row.items()} for row in records
    ] == rows
    assert [Point(**record) for record in records] == list(history)
