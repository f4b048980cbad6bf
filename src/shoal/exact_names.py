"""Columns by their exact names: wherever Polars takes the name of a column, ``*`` and ``^x.*$`` are patterns to it.

Of a column that is called like the second it does not even find the values again, so such names are refused.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from shoal.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

Frame = TypeVar("Frame", "pl.DataFrame", "nw.DataFrame[Any]")


def exactly(*names: str) -> "pl.Expr":
    """The columns of these names, for an expression.

    >>> import polars as pl
    >>> pl.DataFrame({"*": [1], "a": [2]}).select(exactly("*")).columns
    ['*']
    """
    import polars.selectors as cs

    return cs.by_name(*names).as_expr()


def only(frame: Frame, names: Iterable[str]) -> Frame:
    """The frame with these columns alone, in this order.

    >>> import polars as pl
    >>> only(pl.DataFrame({"b": [1], "*": [2], "a": [3]}), ["*", "b"]).columns
    ['*', 'b']
    """
    wanted = list(names)
    # An empty list would mean all of them.
    return frame[wanted] if wanted else frame.select()


def without(frame: Frame, names: Iterable[str]) -> Frame:
    """The frame without these columns.

    >>> import polars as pl
    >>> without(pl.DataFrame({"b": [1], "*": [2], "a": [3]}), ["*"]).columns
    ['b', 'a']
    """
    gone = set(names)
    return only(frame, [name for name in frame.columns if name not in gone])


def is_pattern(name: object) -> bool:
    """Whether a column is called what Polars takes for a pattern that is not even itself.

    >>> [is_pattern(name) for name in ("^sec.*$", "*", "^", 5)]
    [True, False, False, False]
    """
    return isinstance(name, str) and name.startswith("^") and name.endswith("$")


def refuse_patterns(names: Iterable[str], where: str) -> None:
    """Refuse columns that Polars cannot work with; their names are not shown, since they may be values.

    >>> refuse_patterns(["*", "^", "a$"], "the data")
    """
    for number, name in enumerate(names, 1):
        if is_pattern(name):
            raise InputError(
                f"the name of column {number} of {where} begins with ^ and ends with $, which stands for a pattern; give it "
                "another name"
            )
