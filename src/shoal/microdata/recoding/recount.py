"""What a recoded file says of itself, counted again from its texts, the original records and the hierarchies.

Nothing of the search, nor of what makes a release, is used.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, read_values
from shoal.microdata.columns.hierarchies.operation import given_hierarchies
from shoal.microdata.columns.orders import read_orders
from shoal.microdata.columns.roles import guess_roles
from shoal.microdata.recoding.keys import Keys
from shoal.microdata.recoding.mapping import AppliedMapping
from shoal.operation import Workplace


@dataclass(frozen=True, eq=False)
class RecodedFile:
    """The keys of all records a recoding read and of those it released, as texts, and which became which.

    ``links`` is −1 for records that were removed. ``starred`` says that suppressed records stay, with blank keys; ``strata`` has
    the number of the stratum of each record, where each was recoded on its own.
    """

    hierarchies: Mapping[str, Hierarchy]
    before: pl.DataFrame = field(repr=False)
    after: pl.DataFrame = field(repr=False)
    links: np.ndarray = field(repr=False)
    weights: Mapping[str, float]
    starred: bool = False
    strata: np.ndarray | None = field(default=None, repr=False)

    @property
    def figures(self) -> dict[str, Any]:
        """Levels, suppressed values and losses, as far as texts tell them."""
        levels = {name: self._level(name) for name in self.hierarchies}
        found: dict[str, Any] = {"losses": self._joined_losses()}
        known = {name: level for name, (sure, level) in levels.items() if sure}
        found["levels"] = known
        if len(known) < len(levels) or self._blank_records:
            return found
        cells = {
            name: 0 if level == tree.height else int((self._shown(name) == tree.root).sum())
            for (name, tree), level in zip(self.hierarchies.items(), known.values(), strict=True)
        }
        return {**found, "suppressed_cells": sum(cells.values()), "suppressed_by_column": cells}

    @property
    def _blank_records(self) -> int:
        """Records that stay with all keys blank, of which nobody can tell whether they were suppressed or recoded."""
        if not self.starred:
            return 0
        blank = [self._shown(name) == tree.root for name, tree in self.hierarchies.items()]
        return int(np.all(blank, axis=0).sum())

    def _shown(self, name: str) -> np.ndarray:
        """What each released record shows, in the order of the original ones."""
        return np.array(self.after[name].to_list(), dtype=object)[self.links[self.links >= 0]]

    def _pairs(self, name: str) -> list[tuple[str | None, str | None, int]]:
        """How many released records have each value and label."""
        values = np.array(self.before[name].to_list(), dtype=object)[self.links >= 0]
        return [
            (value, label, count)
            for (value, label), count in Counter(zip(values, self._shown(name), strict=True)).items()
        ]

    def _level(self, name: str) -> tuple[bool, int | None]:
        """Whether the level of a key can be read from its labels, and the level; ``None`` where records differ in it."""
        tree = self.hierarchies[name]
        rows = {row[0]: row for row in tree.rows}
        seen = set()
        for value, label, _ in self._pairs(name):
            at = [level for level, own in enumerate(rows[value]) if own == label]
            if label == tree.root:
                continue
            if len(at) != 1:
                return False, None
            seen.add(at[0])
        if not seen:
            return True, tree.height
        return True, seen.pop() if len(seen) == 1 else None

    def _joined_losses(self) -> dict[str, float]:
        """The losses of all strata together: shares are weighted by records, classes and all other losses add up."""
        if self.strata is None:
            return self._losses()
        parts = [
            replace(self, before=self.before.filter(mine), links=self.links[mine], strata=None)
            for mine in (self.strata == number for number in np.unique(self.strata))
        ]
        each = [(part.links.size, part._losses()) for part in parts]
        found = {}
        for name in each[0][1]:
            if any(name not in losses for _, losses in each):
                continue
            own = [(n, losses[name]) for n, losses in each]
            if name == "loss":
                found[name] = sum(n * value for n, value in own) / self.links.size
            elif name == "class-size":
                found[name] = self.links.size / sum(n / value for n, value in own)
            else:
                found[name] = sum(value for _, value in own)
        return found

    def _losses(self) -> dict[str, float]:
        n, out = self.links.size, int((self.links < 0).sum())
        found: dict[str, float] = {}
        if not self._blank_records:
            own = self.after[self.links[self.links >= 0]]
            sizes = own.group_by(list(self.hierarchies)).len()["len"].to_numpy().astype(float)
            found["discernibility"] = float((sizes**2).sum() + n * out)
            found["class-size"] = n / max(1, sizes.size + bool(out))
        under = {name: _leaves_of(tree) for name, tree in self.hierarchies.items()}
        if any(own is None for own in under.values()):
            # One label stands for several sets of values: what it loses cannot be read from it.
            return found
        loss = cells = bits = 0.0
        for name, tree in self.hierarchies.items():
            leaves = under[name] or {}
            frequency = Counter(self.before[name].to_list())
            weight = self.weights.get(name, 1.0)
            lost = changed = 0.0
            for value, label, count in self._pairs(name):
                size = len(leaves[label])
                lost += count * (1.0 if label == tree.root else (size - 1) / max(1, len(tree.rows) - 1))
                changed += count * (label != value or size > 1)
                bits += (
                    weight
                    * count
                    * math.log2(sum(frequency[leaf] for leaf in leaves[label]) / frequency[value])
                )
            loss, cells = loss + weight * (lost + out), cells + weight * (changed + out)
        found["loss"] = loss / (n * sum(self.weights.get(name, 1.0) for name in self.hierarchies))
        found["cells"] = cells
        if not out and not self._blank_records:
            found["entropy"] = bits
        return found


def _leaves_of(tree: Hierarchy) -> dict[str | None, frozenset[str | None]] | None:
    """The values that each label stands for; nothing if that depends on the level."""
    found: dict[str | None, set[frozenset[str | None]]] = defaultdict(set)
    for level in range(tree.height + 1):
        of_label: dict[str | None, set[str | None]] = defaultdict(set)
        for row in tree.rows:
            of_label[row[level]].add(row[0])
        for label, leaves in of_label.items():
            found[label].add(frozenset(leaves))
    if any(len(sets) > 1 for sets in found.values()):
        return None
    return {label: next(iter(sets)) for label, sets in found.items()}


def hierarchies_again(settings: Any, workplace: Workplace, frame: pl.DataFrame) -> dict[str, Hierarchy]:
    """The hierarchies of the keys, from the settings and the records that were read."""
    data = nw.from_native(frame, eager_only=True)
    given: dict[str, Any] = dict(given_hierarchies(settings.hierarchies, workplace))
    if settings.apply is not None:
        given = {**AppliedMapping.read(workplace.file(settings.apply)).hierarchies(data), **given}
    population = None if settings.population is None else workplace.records(settings.population).as_written
    everybody = None if population is None else nw.from_native(population, eager_only=True)
    keys = Keys.read(data, settings.quasi, guess_roles(data), given, read_orders(settings.ordinal), everybody)
    return dict(zip(keys.names, keys.hierarchies, strict=True))


def as_texts(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The values of columns as hierarchies name them.

    >>> as_texts(pl.DataFrame({"age": [31.0, None], "sex": ["f", "m"]}), ["age"]).rows()
    [('31',), (None,)]
    """
    columns = {}
    for name in names:
        values = read_values(nw.from_native(frame[name], series_only=True))
        texts = np.array(values.texts, dtype=object)
        columns[name] = pl.Series(texts[values.codes].tolist(), dtype=pl.String)
    return pl.DataFrame(columns)
