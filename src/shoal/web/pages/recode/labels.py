"""A hierarchy while it is edited: a value with its labels in every row, in the order of the tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy

if TYPE_CHECKING:
    import polars as pl

Row = tuple[str, ...]


@dataclass(frozen=True)
class Labels:
    """The rows of a hierarchy without the one of a missing value, which stays missing whatever is edited.

    The values are level 0, and the last level is the root; what lies between can be changed, added and removed. Every change
    gives a table in which each label has one parent.

    >>> ages = Labels.of(Hierarchy([("31", "30-39"), ("38", "30-39"), ("47", "40-49")]))
    >>> ages.renamed(0, 1, "thirties").rows
    (('31', 'thirties', '*'), ('38', 'thirties', '*'), ('47', '40-49', '*'))
    >>> ages.moved(1, 1, "40-49").rows
    (('31', '30-39', '*'), ('38', '40-49', '*'), ('47', '40-49', '*'))
    """

    rows: tuple[Row, ...]

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> "Labels":
        """The rows of a hierarchy; an ``InputError`` if it has no value at all."""
        rows = tuple(tuple(label or "" for label in row) for row in hierarchy.rows if row[0] is not None)
        if not rows:
            raise InputError("there are no values that labels could stand for")
        return cls(rows)

    @property
    def height(self) -> int:
        """The level of the root."""
        return len(self.rows[0]) - 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many labels there are at each level."""
        return tuple(len(set(column)) for column in zip(*self.rows, strict=True))

    def renamed(self, row: int, level: int, text: str) -> "Labels":
        """Another name for the label of a row, wherever it stands; a name that another label has merges the two."""
        self._check(level)
        label = self.rows[row][level]
        return self._with_text(
            [place for place, other in enumerate(self.rows) if other[level] == label], level, text
        )

    def moved(self, row: int, level: int, text: str) -> "Labels":
        """Another label for a value alone, or at a higher level for all that has the same label below it."""
        self._check(level)
        part = self.rows[row][level - 1]
        return self._with_text(
            [place for place, other in enumerate(self.rows) if other[level - 1] == part], level, text
        )

    def with_level(self, level: int) -> "Labels":
        """A further level above this one, with the same labels at first."""
        self._check(level, least=0)
        return Labels(tuple((*row[: level + 1], *row[level:]) for row in self.rows))

    def without_level(self, level: int) -> "Labels":
        """The same without a level."""
        self._check(level)
        return Labels(tuple((*row[:level], *row[level + 1 :]) for row in self.rows))

    def runs(self, level: int, *, parts: bool = False) -> list[tuple[int, int]]:
        """The first row of each label at a level and how many have it; ``parts`` tells apart what differs one level below.

        >>> Labels.of(Hierarchy([("31", "30-39"), ("38", "30-39"), ("47", "40-49")])).runs(1)
        [(0, 2), (2, 1)]
        """
        below = level - 1 if parts and level else level
        starts = [
            place
            for place, row in enumerate(self.rows)
            if not place or row[below : level + 1] != self.rows[place - 1][below : level + 1]
        ]
        return [
            (start, end - start) for start, end in zip(starts, [*starts[1:], len(self.rows)], strict=True)
        ]

    def frame(self) -> "pl.DataFrame":
        """As data of the workspace, which ``hierarchies`` takes by its name."""
        import polars as pl

        names = ["value", *(f"level {level}" for level in range(1, self.height + 1))]
        return pl.DataFrame(
            {name: list(column) for name, column in zip(names, zip(*self.rows, strict=True), strict=True)},
            schema=dict.fromkeys(names, pl.String),
        )

    def text(self) -> str:
        r"""The rows as a file of ARX has them.

        >>> Labels((("31", "30-39", "*"),)).text()
        '31;30-39;*\n'
        """
        from shoal.microdata.columns.hierarchies.files import hierarchy_text

        return hierarchy_text(Hierarchy(self.rows))

    def _with_text(self, places: Sequence[int], level: int, text: str) -> "Labels":
        text = text.strip()
        if not text:
            raise InputError(f"row {min(places) + 1} needs a label at level {level}")
        chosen = set(places)
        # Whoever joins a label has what is above it; else one label would have two parents.
        above = next(
            (
                row[level + 1 :]
                for place, row in enumerate(self.rows)
                if row[level] == text and place not in chosen
            ),
            None,
        )
        rows = [
            (*row[:level], text, *(row[level + 1 :] if above is None else above)) if place in chosen else row
            for place, row in enumerate(self.rows)
        ]
        return Labels.of(Hierarchy(rows))

    def _check(self, level: int, *, least: int = 1) -> None:
        if not least <= level < self.height:
            raise InputError(f"there is no level {level} that can be changed")
