"""What is said beside a perturbed table: where its figures protect less than they seem to."""

import numpy as np

from shoal.errors import parameter
from shoal.numbers import counted
from shoal.remarks import Remark, danger, note, warning
from shoal.runtime.secrets import Secret
from shoal.tables.model.table import Table
from shoal.tables.rounding.cell_keys.keys import are_in_a_row, are_shared
from shoal.tables.rounding.cell_keys.posterior import WHOLE_NUMBERS
from shoal.tables.rounding.cell_keys.problem import DesignProblem
from shoal.tables.rounding.cell_keys.solution import PerturbationTable
from shoal.tables.rounding.randomness import OF_SEED

# A sensitive count that so often stays as it is can be taken for the true one; with the usual variances it is far less often.
_NEARLY_ALWAYS = 0.9
# From here on figures that are published as they are, or as good as that, would be called protected.
ALWAYS = 0.95


def groups_in_one_cell(table: Table) -> int:
    """How many totals have all their records in one of their parts: both have the same key, and so the same figure.

    >>> groups_in_one_cell(Table.from_matrix([[4.0, 0.0], [2.0, 3.0]]))
    2
    """
    found = 0
    for place in range(table.relations):
        members, signs = table.relation(place), table.signs_of(place)
        parts = table.values[members[signs > 0]]
        found += bool(parts.size > 1 and (parts != 0).sum() == 1)
    return found


def remarks(
    problem: DesignProblem,
    design: PerturbationTable,
    secret: Secret | None,
    record: str | None,
    table: Table,
) -> tuple[Remark, ...]:
    """What is said of totals in one cell, of variances that cannot be had, and of how keys are drawn."""
    found = []
    alone = groups_in_one_cell(table)
    if alone:
        text = (
            f"{counted(alone, 'total has', 'totals have')} all records in one cell, which has the same figure then, with 0 "
            "beside it: whoever is known to be in such a total is nearly known to be in the cell, and no keys prevent that; "
            "merge categories, or hide such cells instead (suppress, with the rule group(n))"
        )
        found.append(danger("group-in-one-cell", text))
    other = np.flatnonzero(np.abs(design.variances[1:] - problem.variance) > 1e-6) + 1
    if other.size and not design.is_external:
        text = (
            f"the variance asked for cannot be had for {counted(int(other.size), 'count')} (the largest is {other.max()}); "
            "the nearest there is was taken"
        )
        found.append(warning("impossible-variance", text))
    if record is None and secret is not None:
        text = (
            f"records are told apart by all their values; {parameter('record')} names a column by which a record has the same "
            "key in tables of other columns, too"
        )
        found.append(warning("identity-by-values", text))
    if secret is not None and secret.of_study:
        found.append(OF_SEED)
    return tuple(found)


def on_keys(keys: np.ndarray, *, uneven: bool) -> tuple[Remark, ...]:
    """What is said of keys that chance hardly ever gives."""
    if uneven:
        text = (
            "the record keys are not evenly spread between 0 and 1, so changes have other chances than planned: this table is "
            "not for release"
        )
        return (danger("uneven-keys", text),)
    if are_shared(keys):
        text = "most records share their key with others; keys are to be drawn for each record, with all their decimals"
        return (warning("shared-keys", text),)
    if are_in_a_row(keys):
        text = (
            "the record keys are as far apart as numbers in a row are; keys that follow from a number of the record can be "
            "guessed, so draw them at random"
        )
        return (danger("keys-in-a-row", text),)
    return ()


def staying(design: PerturbationTable, counts: np.ndarray) -> float:
    """The largest probability with which one of these counts stays as it is; empty cells always do, and do not count."""
    counts = counts[counts > 0].astype(np.int64)
    return float(design.chances[design.row(counts), design.deviation].max()) if counts.size else 0.0


def on_whole_tables(cells: int, sensitive: int) -> tuple[Remark, ...]:
    """What is said where there are too many cells to look at all whole tables that fit.

    >>> on_whole_tables(2000, 5), len(on_whole_tables(2001, 5)), on_whole_tables(2001, 0)
    ((), 1, ())
    """
    if cells <= WHOLE_NUMBERS or not sensitive:
        return ()
    text = (
        f"there are more than {WHOLE_NUMBERS:,} cells: which whole numbers a sensitive count may be was looked at for each cell "
        "by itself, and not in all whole tables that fit"
    )
    return (note("single-counts", text),)


def on_rare_changes(design: PerturbationTable, counts: np.ndarray) -> tuple[Remark, ...]:
    """What is said where a sensitive count nearly always stays as it is."""
    stay = staying(design, counts)
    if stay < _NEARLY_ALWAYS:
        return ()
    text = (
        f"a sensitive count stays as it is with a probability of {stay:.3g}: changes that are so rare hardly protect it; take a "
        "larger variance"
    )
    return (danger("rare-changes", text),)
