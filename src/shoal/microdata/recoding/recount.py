"""What a recoded file says of itself, counted again from its texts, the original records and the hierarchies.

Nothing of the search, nor of what makes a release, is used.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.exact_names import only
from shoal.microdata.columns.class_figures import as_texts, class_figures
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.columns.hierarchies.operation import read_hierarchies
from shoal.microdata.columns.orders import read_orders
from shoal.microdata.columns.roles import guess_roles
from shoal.microdata.columns.units import unit_column
from shoal.microdata.recoding.keys import Keys
from shoal.microdata.recoding.mapping import AppliedMapping
from shoal.microdata.recoding.verify import leaves_under
from shoal.operation import Workplace
from shoal.operation_release import Evidence, RecordPair


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
    given: dict[str, Any] = dict(read_hierarchies(settings.hierarchies, workplace))
    if settings.apply is not None:
        given = {**AppliedMapping.read(workplace.file(settings.apply)).hierarchies(data), **given}
    population = None if settings.population is None else workplace.records(settings.population).as_written
    everybody = None if population is None else nw.from_native(population, eager_only=True)
    keys = Keys.read(data, settings.quasi, guess_roles(data), given, read_orders(settings.ordinal), everybody)
    return dict(zip(keys.names, keys.hierarchies, strict=True))


def recounted(evidence: Evidence) -> dict[str, Any]:
    """The figures of a recoding, as far as what was read and published tells them."""
    settings = evidence.settings
    stated: dict[str, Any] = {
        name: getattr(settings, name) for name in ("method", "k", "null", "measure", "quasi")
    }
    stated["records"] = int((evidence.links >= 0).sum())
    pair, quasi = evidence.records(written=True), list(settings.quasi)
    shown = [*quasi, *settings.by]
    if pair is None or not pair.shows(shown):
        return stated
    if not settings.keep_suppressed:
        stated["suppressed_records"] = int((pair.links < 0).sum())
    unit = unit_column(settings.unit, pair.before.columns)
    if not pair.reads([] if unit is None else [unit]):
        return stated
    units = None if unit is None else pair.originals[unit]
    if not settings.keep_suppressed:
        out = pair.before.filter(pair.links < 0)
        stated["suppressed_people"] = out.height if unit is None else out[unit].n_unique()
    keys = as_texts(pair.released, shown)
    alike = list(settings.confidential)
    # Models may name further columns.
    if not settings.models and pair.shows(alike):
        stated["homogeneous"] = [_homogeneous(keys, as_texts(pair.released, [name]), units) for name in alike]
    classes = class_figures(keys, units)
    stated["k_strict"] = classes.pop("k")
    if settings.null == "own":
        stated |= {"k_release": stated["k_strict"], **classes}
    if not pair.reads([*quasi, *settings.by]):
        return stated
    again = RecodedFile(
        hierarchies_again(settings, evidence.workplace, pair.before),
        as_texts(pair.before, quasi),
        as_texts(pair.after, quasi),
        pair.links,
        settings.weights or {},
        settings.keep_suppressed,
        # Rows of equal texts have equal hashes.
        only(pair.before, settings.by).hash_rows().to_numpy() if settings.by else None,
    ).figures
    if settings.measure in again["losses"]:
        again["loss"] = again["losses"][settings.measure]
    return {**stated, **again}


def _homogeneous(keys: pl.DataFrame, values: pl.DataFrame, units: pl.Series | None) -> dict[str, Any]:
    """The classes that share one value of a column, and who is in them."""
    # Polars takes some names of columns for patterns.
    keys = pl.DataFrame([column.alias(f"key {i}") for i, column in enumerate(keys)])
    who = pl.Series("who of it", np.arange(keys.height)) if units is None else units.alias("who of it")
    value = values.to_series().alias("value of it")
    classes = (
        keys.with_columns(who, value)
        .group_by(keys.columns)
        .agg(pl.col("who of it").n_unique(), pl.col("value of it").n_unique())
    )
    own = classes.filter(pl.col("value of it") == 1)["who of it"]
    return {"column": values.columns[0], "classes": own.len(), "people": int(own.sum())}


def lost(settings: Any, folder: Path, pair: RecordPair, columns: Sequence[str]) -> float | None:
    """The share of values a label stands for, in percent over the keys; only where one mapping was applied to all."""
    if not (folder / "mapping.json").exists() or settings.measure != "loss":
        return None
    mapping = AppliedMapping.read(folder / "mapping.json")
    trees = mapping.hierarchies(nw.from_native(pair.before, eager_only=True))
    importance = dict.fromkeys(mapping.names, 1.0) | dict(settings.weights or {})
    total = 0.0
    for name in mapping.names:
        tree, level = trees[name], mapping.levels[name]
        others = max(1, len(tree.rows) - 1)
        rates = {
            label: 1.0 if level == tree.height else (count - 1) / others
            for label, count in leaves_under(tree)[level].items()
        }
        labels = [None if item is None else str(item) for item in pair.after[name].to_list()]
        # A value that was blanked, and a record that was left out, lose everything.
        own = sum(rates.get(label, 1.0) for label in labels) + (pair.before.height - len(labels))
        total += importance[name] * own
    return 100.0 * total / (pair.before.height * sum(importance[name] for name in mapping.names))
