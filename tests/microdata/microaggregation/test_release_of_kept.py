"""What stays as it is tells nobody apart by anything that K does not count."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal


@pytest.mark.parametrize("as_frame", [lambda frame: frame, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_zeros_and_gaps_are_of_one_kind(as_frame) -> None:
    frame = pl.DataFrame(
        {"a": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0], "z": [0.0, -0.0] * 3, "q": [None, float("nan"), None] * 2}
    )
    result = shoal.microaggregate(as_frame(frame), 6, columns=["a"], quasi=["a", "z", "q"], method="mdav")
    assert result.k_release == 6
    released = result.frame
    z, q = (released[name].to_numpy() for name in ("z", "q"))
    assert not np.signbit(np.asarray(z, dtype=float)).any()
    if isinstance(released, pl.DataFrame):
        assert released["q"].null_count() == 6
    elif isinstance(released, pd.DataFrame):
        assert released["q"].isna().all()
    else:
        assert released["q"].null_count == 6
    assert np.isnan(np.asarray(q, dtype=float)).all()
