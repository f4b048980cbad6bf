"""The first columns of data on their page, whatever they are called."""

import polars as pl

from shoal.web.pages.data.page import first_columns


def test_a_column_that_is_called_like_a_pattern_is_one_column() -> None:
    frame = pl.DataFrame({"*": ["x", None], "sector": [1, 2], "^sec.*$": ["a" * 90, "b"]})
    names, rows = first_columns(frame)
    assert names == ["*", "sector", "^sec.*$"]
    assert rows == [["x", "1", "a" * 57 + "…"], [None, "2", "b"]]
