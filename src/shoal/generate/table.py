"""Random two-dimensional tables with sensitive cells, as in the published experiment (Herrington 2015, section 4)."""

from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError
from shoal.generate.limits import MOST_CELLS, check_count
from shoal.runtime import Seeds
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem


@dataclass(frozen=True)
class DataSet:
    """One of the seven sets of the experiment."""

    name: str
    rows: int
    columns: int
    sensitive: int


SETS = (
    DataSet("10000Cells0.5", 100, 100, 50),
    DataSet("10000Cells1", 100, 100, 100),
    DataSet("10000Cells3", 100, 100, 300),
    DataSet("100000Cells0.5", 400, 250, 500),
    DataSet("100000Cells1", 400, 250, 1000),
    DataSet("100000Cells3", 400, 250, 3000),
    DataSet("100000CellsRC", 400, 250, 250),
)


def table(
    rows: int,
    columns: int,
    sensitive: int,
    seeds: Seeds,
    *,
    protection: float = 0.10,
    largest: float = 1000.0,
) -> Problem:
    """Cells uniform between 0 and ``largest``; distinct sensitive cells anywhere inside, each above 0.

    >>> problem = table(10, 8, 5, Seeds(1))
    >>> problem.table.shape, problem.sensitive.size
    ((10, 8), 5)
    """
    check_count("the number of rows", rows, most=MOST_CELLS)
    check_count("the number of columns", columns, most=MOST_CELLS)
    check_count("the number of cells", rows * columns, most=MOST_CELLS)
    if not 0 < sensitive <= rows * columns:
        raise InputError(f"a table of {rows} × {columns} cannot have {sensitive} sensitive cells")
    rng = seeds.generator()
    values = rng.uniform(0.0, largest, (rows, columns))
    values[values == 0.0] = largest / 2.0
    chosen = rng.choice(rows * columns, sensitive, replace=False)
    made = Table.from_matrix(values)
    cells = (chosen // columns) * (columns + 1) + chosen % columns
    return Problem.of(made, np.sort(cells), protection=protection)
