"""What all that changes figures writes alike: the table that goes out, in every form that a suppressed one has."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter
from shoal.operation import Product
from shoal.tables.operations.products import PUBLISHED_ENDINGS, suits_layout

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

#: Settings of the layout, which the public functions do without: results have ``publish``.
LAYOUT = frozenset({"rows", "columns", "decimals", "dataflow"})


def published_product(
    sentence: str,
    subject: str,
    files: Sequence[tuple[str, str]],
    check: "Callable[[Any, np.ndarray], None]",
) -> Product:
    """What goes out; ``check`` looks at the figures as they are read back."""

    def checked(result: Any, settings: Any) -> Any:
        return partial(_check, check, result)

    return Product(
        "output",
        f"{sentence}, to publish: .xlsx or .html as crosstabs, .sdmx.csv, else a list of cells or a matrix.",
        lambda result, settings: result.layout.frame(),
        short="-o",
        also=("--published",),
        metavar="TABLE",
        check=checked,
        whole=lambda result, name: result.layout.content(name),
        endings=PUBLISHED_ENDINGS,
        like_input=False,
        signs_of_input=True,
        suits=suits_layout,
        files=tuple(files),
        subject=subject,
    )


def _check(check: "Callable[[Any, np.ndarray], None]", result: Any, frame: "pl.DataFrame") -> None:
    from shoal.tables.rounding.changed_tables import figures_by_name

    check(result.changed, figures_by_name(result.layout.table, frame, result.layout.layout))


def published_files(stem: str, title: str) -> tuple[tuple[str, str], ...]:
    """What the workbench offers."""
    return (
        (f"{stem}.csv", f"{title} (CSV)"),
        (f"{stem}.xlsx", f"{title} (Excel)"),
        (f"{stem}.html", f"{title} (page)"),
        (f"{stem}.sdmx.csv", f"{title} (SDMX-CSV)"),
    )


def refuse_unwritten(settings: Any, written: frozenset[str]) -> None:
    """There must be something to lay out."""
    if settings.laid_out and "output" not in written:
        raise InputError(
            f"{parameter('rows')}, {parameter('columns')} and {parameter('decimals')} lay out a published table; name a "
            f"place for it with {parameter('output')}"
        )
