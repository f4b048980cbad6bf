"""Cells of a text file that a spreadsheet would run as formulas, made harmless and brought back."""

import re

import polars as pl

from shoal.exact_names import exactly

# A sign that begins a formula, its wide form as East Asian keyboards write it, or a tab or an end of line that a
# spreadsheet skips before one. Quotes before it count, so that what was neutralised can be told from what was so from
# the beginning.
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n"
_RISKY = rf"^'*[{_SIGNS}]"
_NEUTRALISED = rf"^'+[{_SIGNS}]"
_NUMBER = r"^[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?$"


def neutralised(frame: pl.DataFrame) -> pl.DataFrame:
    """A quote before every text, and every name of a column, that a spreadsheet might run; numbers stay numbers.

    >>> neutralised(pl.DataFrame({"note": ["=1+1", "-3", "fine"], "x": [-1, 2, 3]})).rows()
    [("'=1+1", -1), ('-3', 2), ('fine', 3)]
    """
    risky = [name for name in frame.columns if re.match(_RISKY, name) and not re.match(_NUMBER, name)]
    return frame.with_columns(
        pl.when(text.str.contains(_RISKY) & ~text.str.contains(_NUMBER))
        .then(pl.concat_str(pl.lit("'"), text))
        .otherwise(text)
        .alias(name)
        for name, text in _texts(frame)
    ).rename({name: f"'{name}" for name in risky})


def restored(frame: pl.DataFrame) -> pl.DataFrame:
    """What ``neutralised`` was given.

    >>> frame = pl.DataFrame({"@note": ["=1+1", "-3", "'-3", None]})
    >>> restored(neutralised(frame)).equals(frame)
    True
    """
    return frame.with_columns(
        pl.when(text.str.contains(_NEUTRALISED)).then(text.str.slice(1)).otherwise(text).alias(name)
        for name, text in _texts(frame)
    ).rename({name: name[1:] for name in frame.columns if re.match(_NEUTRALISED, name)})


def _texts(frame: pl.DataFrame) -> list[tuple[str, pl.Expr]]:
    kinds = (pl.String, pl.Categorical, pl.Enum)
    return [
        (name, exactly(name).cast(pl.String))
        for name, dtype in frame.schema.items()
        if isinstance(dtype, kinds)
    ]
