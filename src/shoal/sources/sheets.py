"""All sheets of a workbook as they stand, cell by cell, for those who know how they are laid out."""

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import polars as pl

from shoal.errors import InputError
from shoal.sources.compressed import check_parts
from shoal.sources.isolated import OutOfMemory, read_isolated
from shoal.sources.workbooks import check_extent

#: The cells of a sheet, row by row, as texts.
Grid = list[tuple[str | None, ...]]


def read_sheets(path: Path) -> dict[str, Grid]:
    """The sheets of a workbook by name, without one that is empty; parsed in a limited process."""
    try:
        check_parts(path)
        frame, said = read_isolated("shoal.sources.sheets:parse", path, {})
    except OutOfMemory:
        raise InputError(
            f"'{path.name}' asks for more memory than a workbook of its size may need; "
            "delete cells that stand far from the table"
        ) from None
    except InputError:
        raise
    except (ValueError, OSError, BadZipFile):
        raise InputError(f"cannot read '{path.name}'; is it really a .xlsx file?") from None
    grids: dict[str, Grid] = {}
    place = 0
    for name, rows, width in zip(said["names"], said["rows"], said["widths"], strict=True):
        if rows:
            grids[name] = frame.slice(place, rows)[:, :width].rows()
        place += rows
    return grids


def parse(path: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The sheets one below the other, with the size of each; called in a process of its own."""
    import fastexcel

    book = fastexcel.read_excel(path)
    found = []
    for number, name in enumerate(book.sheet_names):
        check_extent(path, name, f"sheet '{name}' of '{path.name}'")
        sheet = book.load_sheet(number, header_row=None, skip_rows=0, dtypes="string").to_polars()
        sheet.columns = [f"column{place}" for place in range(sheet.width)]
        found.append(sheet)
    sizes = {"rows": [sheet.height for sheet in found], "widths": [sheet.width for sheet in found]}
    filled = [sheet for sheet in found if sheet.height]
    whole = pl.concat(filled, how="diagonal") if filled else pl.DataFrame()
    return whole, {"names": list(book.sheet_names), **sizes}
