"""What a call was given, in the words of its report: frames of every kind by their size."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from shoal.report.python_call import described

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})


@pytest.mark.parametrize(
    ("frame", "names"),
    [
        (FRAME, ("a", "b")),
        (FRAME.to_arrow(), ("a", "b")),
        (pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}), ("a", "b")),
        (np.zeros((3, 2)), ("column 1", "column 2")),
    ],
    ids=["polars", "arrow", "pandas", "array"],
)
def test_a_frame_is_named_by_its_size(frame, names):
    (given,) = described("recode", {"data": frame}, {}).frames
    assert (given.records, given.columns) == (3, names)


def test_a_lazy_frame_is_not_worked_out_to_be_named():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call = described("anonymity", {"data": FRAME.lazy()}, {})
    assert not call.frames
    assert [(item.label, item.value) for item in call.arguments] == [("data", "a LazyFrame")]
