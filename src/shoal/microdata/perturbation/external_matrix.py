"""A transition matrix that a user gives: a CSV file with a row and a column for each category."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np

from shoal.errors import InputError, parameter, unreadable
from shoal.microdata.perturbation.transitions import by_chance, can_be_turned

_SUM = 1e-6


@dataclass(frozen=True, eq=False)
class ExternalMatrix:
    """Rows are true categories, columns those that are seen; every row adds up to 1."""

    categories: tuple[str, ...] = field(repr=False)
    rows: np.ndarray = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """The same for the same matrix, whatever the order of its categories in the file."""
        order = sorted(range(len(self.categories)), key=lambda position: self.categories[position])
        names = [self.categories[place] for place in order]
        return blake2b(
            repr((names, self.rows[np.ix_(order, order)].tolist())).encode(), digest_size=16
        ).hexdigest()

    @classmethod
    def read(cls, path: str | Path) -> "ExternalMatrix":
        """From a file: the first line has the categories from its second field on, every other line one and its chances."""
        try:
            lines = [
                line
                for line in csv.reader(Path(path).read_text(encoding="utf-8-sig").splitlines())
                if any(line)
            ]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise unreadable(parameter("matrix"), path, error) from None
        names = tuple(name.strip() for name in lines[0][1:]) if lines else ()
        own = [line[0].strip() for line in lines[1:]]
        if not names or len(set(names)) < len(names) or sorted(own) != sorted(names):
            raise InputError(
                f"the {parameter('matrix')} '{Path(path).name}' needs the same categories, each once, in its first line and its "
                "first column"
            )
        rows = np.empty((len(names), len(names)))
        for number, line in enumerate(lines[1:]):
            try:
                chances = [float(cell) for cell in line[1:]]
            except ValueError:
                chances = []
            if len(chances) != len(names):
                raise InputError(
                    f"line {number + 2} of the {parameter('matrix')} '{Path(path).name}' needs {len(names)} numbers"
                )
            rows[names.index(own[number])] = chances
        return cls(names, _checked(rows))

    def of(self, present: Sequence[str | None], column: str) -> np.ndarray:
        """The part for the categories that are there; what the others would get is shared out among these."""
        where = [self.categories.index(str(text)) if text in self.categories else -1 for text in present]
        if -1 in where:
            raise InputError(
                f"{where.count(-1)} of the {len(where)} categories of column '{column}' are not in the {parameter('matrix')}"
            )
        rows = self.rows[np.ix_(where, where)]
        sums = rows.sum(axis=1)
        if (sums <= 0).any():
            raise InputError(
                f"the {parameter('matrix')} leaves a category of column '{column}' nothing to become in one of the strata"
            )
        rows = rows / sums[:, None]
        if not can_be_turned(rows):
            raise InputError(
                f"the {parameter('matrix')} is singular: nobody could correct counts of column '{column}' with it"
            )
        return rows


def _checked(rows: np.ndarray) -> np.ndarray:
    if not np.isfinite(rows).all() or (rows < 0).any() or (np.abs(rows.sum(axis=1) - 1) > _SUM).any():
        raise InputError(
            f"every row of the {parameter('matrix')} must hold chances of 0 or more that add up to 1"
        )
    if not can_be_turned(rows):
        raise InputError(f"the {parameter('matrix')} is singular: nobody could correct counts with it")
    if not by_chance(rows):
        raise InputError(
            f"the {parameter('matrix')} leaves nothing to chance: every category becomes one for certain, and whoever knows the "
            "matrix knows the truth"
        )
    normed: np.ndarray = rows / rows.sum(axis=1)[:, None]
    return normed
