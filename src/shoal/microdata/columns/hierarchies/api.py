"""``shoal.propose_hierarchies``: for each column what its values become, level by level, and why."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, parameter, unknown
from shoal.exact_names import only
from shoal.microdata.columns.hierarchies.files import hierarchy_text, parse_hierarchy
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.columns.hierarchies.proposal import Proposal, propose_all
from shoal.microdata.columns.inputs import as_names, check_names, read_frame
from shoal.microdata.columns.orders import Orders, read_orders
from shoal.microdata.columns.roles import guess_roles
from shoal.report.glance import Glance
from shoal.sources.internal import marked_text

#: The file with the rules, beside the hierarchies themselves.
RULES_FILE = "rules.txt"


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchies(Mapping[str, Hierarchy], Glance):
    """Hierarchies by column, with the reason for each.

    >>> import polars as pl
    >>> found = propose_hierarchies(pl.DataFrame({"age": [31, 47, 38]}), ["age"])
    >>> found["age"].labels[2][6:9]
    ('30-34', '35-39', '40-44')
    """

    records: int
    proposals: tuple[Proposal, ...]

    def __getitem__(self, column: str) -> Hierarchy:
        """The hierarchy of a column."""
        for item in self.proposals:
            if item.column == column:
                return item.hierarchy
        raise KeyError(column)

    def __iter__(self) -> Iterator[str]:
        """The columns."""
        return (item.column for item in self.proposals)

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self.proposals)

    @property
    def reasons(self) -> dict[str, str]:
        """Why each column has the hierarchy it has; without values of the data."""
        return {item.column: item.reason for item in self.proposals}

    @property
    def rules(self) -> dict[str, str | None]:
        """What builds each hierarchy again, as ``hierarchies`` takes it; ``None`` if it was not built. An order names values."""
        return {item.column: item.hierarchy.rule for item in self.proposals}

    def glance(self) -> dict[str, Any]:
        """The columns and how many levels each has."""
        return {
            "columns": tuple(self),
            "levels": tuple(item.hierarchy.height for item in self.proposals),
            "records": self.records,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything but values and labels, ready for JSON."""
        return {
            "records": self.records,
            "hierarchies": [
                {
                    "column": item.column,
                    "rule": item.rule,
                    "reason": item.reason,
                    "levels": item.hierarchy.height,
                    "labels": list(item.sizes),
                    "missing": None in item.hierarchy.positions,
                }
                for item in self.proposals
            ],
        }

    def files(self) -> dict[str, bytes]:
        """A file of each hierarchy as ARX reads it, and one with the rules. They hold values of the data: internal."""
        found = {
            name: _checked(item).encode() for name, item in zip(file_names(self), self.proposals, strict=True)
        }
        rules = [f"{column}={rule}" for column, rule in self.rules.items() if rule is not None]
        found[RULES_FILE] = marked_text("\n".join(rules)).encode()
        return found

    def write(self, folder: str | Path) -> None:
        """Write all files into a folder, readable by their owner alone; files that are there are replaced."""
        from shoal.sources import atomically

        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, content in self.files().items():
            with atomically(Path(folder) / name, force=True, internal=True) as unfinished:
                unfinished.write_bytes(content)

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.microdata.columns.hierarchies.report import page
        from shoal.report.python_call import completed

        return completed(page(self), self)


def _checked(item: Proposal) -> str:
    """The text of a file, read again and compared."""
    text = hierarchy_text(item.hierarchy)
    try:
        same = parse_hierarchy(text, "file").rows == item.hierarchy.rows
    except InputError:
        same = False
    if not same:
        raise InputError(
            f"column '{item.column}' has an empty text or the word NULL, which a file of hierarchies cannot tell from "
            "a missing value"
        )
    return text


def file_names(columns: Sequence[str] | Mapping[str, Any]) -> list[str]:
    """A name of a file for each column, all different wherever they are written.

    >>> file_names(["age", "Age", "a/b", ""])
    ['age.csv', 'Age_2.csv', 'a_b.csv', 'column.csv']
    """
    found: list[str] = []
    taken = {RULES_FILE}
    for column in columns:
        stem = re.sub(r"[^\w-]+", "_", column).strip("_")[:80] or "column"
        name, number = f"{stem}.csv", 2
        while name.lower() in taken:
            name, number = f"{stem}_{number}.csv", number + 1
        taken.add(name.lower())
        found.append(name)
    return found


def propose_hierarchies(
    frame: Any,
    columns: str | Sequence[str] | None = None,
    *,
    hierarchies: Mapping[str, Any] | None = None,
    ordinal: str | Sequence[str] | Orders = (),
) -> Hierarchies:
    """Propose for each column what its values become, level by level, up to ``*``.

    Numbers go into intervals between round cuts, open at both ends; codes keep their first signs; dates become months, quarters,
    years and decades; neighbours in an order are merged; what has no order becomes ``*``. No cut and no label comes from the
    least or the largest value of the data.

    Parameters
    ----------
    frame : DataFrame
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows.
    columns : str or sequence of str, optional
        The columns to propose hierarchies for. Without it all that look like something an intruder could know.
    hierarchies : mapping of str to hierarchy, optional
        What columns have already: a rule such as ``"intervals(5,10,20,top=85)"``, the path of a file (as ARX writes it, a list
        of ``code,parent``, or ``.hrc``), rows (a value with its labels), a frame of such rows, ``{code: parent}``, or a
        ``Hierarchy``.
    ordinal : str, sequence of str, or mapping of str to sequence, default ()
        Columns whose values have an order; of texts each with its values from the lowest on.

    Returns
    -------
    Hierarchies
        The hierarchies by column, with ``reasons`` and ``rules``; ``files()`` and ``write(folder)`` give them as files to edit.

    Raises
    ------
    InputError
        A column is not there, a hierarchy or a rule cannot be used, or a rule cannot place a value; the message says which
        record has it.

    See Also
    --------
    guess_roles : what each column is to an intruder.
    anonymity : measure K over the columns that could be known.

    References
    ----------
    - P. Samarati, Protecting respondents' identities in microdata release, IEEE Transactions on Knowledge and Data
      Engineering 13(6), 2001 (hierarchies of values).
    - V. S. Iyengar, Transforming data to satisfy privacy constraints, KDD 2002 (what a level loses).

    Examples
    --------
    >>> import polars as pl, shoal
    >>> people = pl.DataFrame({"age": [31, 47, 86], "zip": ["10115", "10117", "20095"], "sex": ["f", "m", "f"]})
    >>> found = shoal.propose_hierarchies(people, ["age", "zip", "sex"])
    >>> found.reasons["age"]
    'ages: intervals of 5, 10 and 20; 85 and above together'
    >>> found["zip"].rows[0]
    ('10115', '1011*', '*')
    >>> found.rules["sex"]
    'star'
    """
    data = read_frame(frame)
    if len(data) == 0:
        raise InputError("there are no records")
    if not isinstance(hierarchies, Mapping | None):
        raise InputError(
            f"{parameter('hierarchies')} must say for columns what they have, like {{'age': 'intervals(5,10)'}}"
        )
    given, orders = dict(hierarchies or {}), read_orders(ordinal)
    names = [] if columns is None else as_names(columns)
    check_names(data, [*names, *given, *orders])
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"column '{name}' is named twice")
    guesses = guess_roles((data if columns is None else only(data, names)).to_native())
    if columns is None:
        known = {guess.column for guess in guesses if guess.role == "quasi-identifier"}
        names = [name for name in data.columns if name in {*known, *given, *orders}]
    if not names:
        raise InputError(
            f"no column looks like something somebody could know; name some with {parameter('columns')}"
        )
    for name in (*given, *orders):
        if name not in names:
            raise unknown("column", name, names, where="among the columns to propose hierarchies for")
    found = propose_all(data, names, guesses, given, orders)
    return Hierarchies(len(data), tuple(found[name] for name in names))
