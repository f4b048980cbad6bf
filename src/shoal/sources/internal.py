"""Files that are not for publication say so themselves: a last column, a last line."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

#: What an internal file says, in its last column or line.
WORD = "internal"
COLUMN = "note"


def marked(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The frame with a last column that says it is internal; readers look at the columns they know and pass it over.

    >>> import polars as pl
    >>> marked(pl.DataFrame({"row": ["a"], "kind": ["primary"]})).rows()
    [('a', 'primary', 'internal')]
    """
    import polars as pl

    name = COLUMN
    while name in frame.columns:
        name += "_"
    return frame.with_columns(pl.lit(WORD).alias(name))


def marked_text(lines: str) -> str:
    """Lines of text and a last one, a comment, that says the file is internal.

    >>> print(marked_text("1 1 2 2"), end="")
    1 1 2 2
    # internal: not for publication
    """
    return f"{lines.rstrip()}\n# {WORD}: not for publication\n"
