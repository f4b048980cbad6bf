"""The check of a released frame beside the original one: labels, classes, models, limit and loss, all counted anew.

It reads what was written: texts of the released columns. Like ``verify`` it shares nothing with search and release.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, Values, read_values
from shoal.microdata.columns.inputs import read_frame
from shoal.microdata.models.model import ConfidentialColumn, Model
from shoal.microdata.recoding.verify import SeenClass, expect_demands, leaves_under

if TYPE_CHECKING:
    from shoal.microdata.recoding.result import Recoded

_CLOSE = 1e-7


@dataclass(frozen=True, eq=False)
class ReleaseCheck:
    """What has to hold of a release. ``values`` are the original keys, ``groups`` numbers of the strata of all records.

    ``released`` says which records are released with their keys, ``order`` in which order all that are released stand.
    """

    names: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    values: tuple[Values, ...] = field(repr=False)
    released: np.ndarray = field(repr=False)
    order: np.ndarray = field(repr=False)
    units: np.ndarray | None = field(repr=False)
    groups: np.ndarray | None = field(repr=False)
    confidential: Mapping[str, tuple[np.ndarray, ConfidentialColumn]] = field(repr=False)
    population: Sequence[Values] | None = field(repr=False)
    models: tuple[Model, ...]
    weights: np.ndarray
    keep_suppressed: bool
    averaged: tuple[str, ...] = ()

    def __call__(self, result: "Recoded", frame: Any) -> None:
        """Raise an ``AssertionError`` unless the frame is what the result says."""
        data = read_frame(frame)
        released = np.ones(self.released.size, dtype=bool) if self.keep_suppressed else self.released
        assert len(data) == int(released.sum()), "the number of released records is not the one stated"
        labels = [self._labels(data[name], released) for name in self.names]
        for own, values, hierarchy, name in zip(
            labels, self.values, self.hierarchies, self.names, strict=True
        ):
            self._expect_ancestors(own, values, hierarchy, name)
        table = pl.DataFrame({f"key {place}": own.texts for place, own in enumerate(labels)})
        table = table.with_columns(
            pl.Series("unit", np.arange(self.released.size) if self.units is None else self.units),
            pl.Series(
                "group", np.zeros(self.released.size, dtype=np.int64) if self.groups is None else self.groups
            ),
            pl.Series("released", released),
        )
        self._expect_classes(result, table)
        left_out = table.filter(~pl.Series(self.released))["unit"].n_unique()
        assert left_out == result.suppressed_people, "the number of people left out is not the one stated"
        self._expect_shown(result, labels, table)
        self._expect_loss(result, labels)
        if self.averaged and result.averages is not None:
            self._expect_averages(result.k, data)

    def _expect_shown(self, result: "Recoded", labels: Sequence["_Labels"], table: pl.DataFrame) -> None:
        """Units of whom no record shows a key are as many as stated, and with those left out no more than may be."""
        blank, missing = self.released.copy(), np.ones(self.released.size, dtype=bool)
        for own, values, hierarchy in zip(labels, self.values, self.hierarchies, strict=True):
            roots = np.array([*[label == hierarchy.root for label in own.seen], False])
            blank &= roots[own.codes]
            missing &= np.array([text is None for text in values.texts])[values.codes]
        blank &= ~missing & any(hierarchy.height for hierarchy in self.hierarchies)
        units = table["unit"].to_numpy()
        others = set(units[~blank].tolist())
        count = len(set(units[blank].tolist()) - others)
        assert count == result.blank_people, f"{count} units show no key, not {result.blank_people}"
        assert count + result.suppressed_people <= result.limit, (
            "more people are left out or blank than may be"
        )

    def _expect_averages(self, stated: int, data: Any) -> None:
        """Keys and averaged numbers together are shared by as many as stated; a file may lose the last digits."""
        columns = {
            f"number {place}": data[name].to_polars().cast(pl.Float64).round_sig_figs(12)
            for place, name in enumerate(self.averaged)
        }
        keys = {
            f"key {place}": data[name].to_polars().cast(pl.String) for place, name in enumerate(self.names)
        }
        units = np.arange(self.released.size) if self.units is None else self.units
        released = np.ones(self.released.size, dtype=bool) if self.keep_suppressed else self.released
        table = pl.DataFrame({**columns, **keys}).with_columns(pl.Series("unit", units[released][self.order]))
        counted = (
            table.group_by([*columns, *keys])
            .agg(pl.col("unit").n_unique())["unit"]
            .cast(pl.Int64)
            .to_numpy()
            .min()
        )
        assert counted >= stated, f"K over keys and averaged columns is {counted}, not {stated}"

    def _labels(self, column: Any, released: np.ndarray) -> "_Labels":
        """The released texts in the order of the original records; records that are not there have none."""
        values = read_values(column)
        own = np.empty(self.order.size, dtype=np.int64)
        own[self.order] = values.codes
        codes = np.full(self.released.size, -1, dtype=np.int64)
        codes[released] = own
        return _Labels(values.texts, codes)

    def _expect_ancestors(self, labels: "_Labels", values: Values, hierarchy: Hierarchy, name: str) -> None:
        rows = {row[0]: row for row in hierarchy.rows}
        seen = labels.codes >= 0
        pairs = {
            (int(before), int(after), bool(kept))
            for before, after, kept in np.unique(
                np.stack([values.codes[seen], labels.codes[seen], self.released[seen]], axis=1), axis=0
            )
        }
        for before, after, kept in pairs:
            row, label = rows[values.texts[before]], labels.seen[after]
            allowed = row if kept else row[-1:]
            assert label in allowed, f"column '{name}' shows something that is not above the original value"

    def _expect_classes(self, result: "Recoded", table: pl.DataFrame) -> None:
        keys = [*[f"key {place}" for place in range(len(self.names))], "group"]
        shown = table.with_row_index("record").filter("released")
        classes = shown.group_by(keys).agg(
            pl.col("unit").n_unique().alias("people"), pl.len().alias("records"), pl.col("record")
        )
        assert classes.height > 0, "nothing is released"
        smallest = int(classes["people"].cast(pl.Int64).to_numpy().min())
        assert smallest == result.k_strict, f"K is {smallest}, not {result.k_strict}"
        if result.null == "wildcard":
            smallest = self._fewest_matches(classes.select(keys).rows(), classes["people"].to_list())
        assert smallest == result.k_release, f"K is {smallest}, not {result.k_release}"
        assert smallest >= result.k, f"K is {smallest}, below k = {result.k}"
        assert result.suppressed_people <= result.limit, "more people are left out than may be"
        if not self.models:
            return
        number = np.full(self.released.size, -1, dtype=np.int64)
        for place, members in enumerate(classes["record"]):
            number[members.to_numpy()] = place
        seen = [SeenClass(records=int(size)) for size in classes["records"]]
        units = table["unit"].to_numpy()
        inside = number >= 0
        for place, unit in np.unique(np.stack([number[inside], units[inside]], axis=1), axis=0).tolist():
            seen[place].people.add(unit)
        columns = {}
        for name, (codes, column) in self.confidential.items():
            columns[name] = column
            found, counts = np.unique(
                np.stack([number[inside], codes[inside]], axis=1), axis=0, return_counts=True
            )
            for (place, value), count in zip(found.tolist(), counts.tolist(), strict=True):
                seen[place].values[name][value] += count
        if self.population is not None:
            seen = self._with_population(result, classes.select(keys), seen)
        expect_demands(result.k, self.models, columns, seen, 0, 0)

    def _fewest_matches(self, classes: Sequence[tuple[Any, ...]], people: Sequence[int]) -> int:
        """The fewest people that anybody is compatible with, where what is blank matches anything."""
        roots = [hierarchy.root for hierarchy in self.hierarchies]
        columns = list(zip(*classes, strict=True))
        matching = np.ones((len(classes), len(classes)), dtype=bool)
        for place, own in enumerate(columns):
            codes = np.unique(
                [str(label) + ("" if label is not None else "\0") for label in own], return_inverse=True
            )[1]
            open_ = np.array([place < len(roots) and label == roots[place] for label in own])
            matching &= (codes[:, None] == codes[None, :]) | open_[:, None] | open_[None, :]
        return int((matching * np.array(people)[None, :]).sum(axis=1).min())

    def _with_population(
        self, result: "Recoded", classes: pl.DataFrame, seen: list[SeenClass]
    ) -> list[SeenClass]:
        """Everybody of the population at the levels of the release; classes that are not there count, too."""
        assert self.population is not None
        levels = [result.levels[name] for name in self.names]
        places = {tuple(row[:-1]): place for place, row in enumerate(classes.iter_rows())}
        counted: Counter[tuple[str | None, ...]] = Counter()
        columns = []
        for values, hierarchy, level in zip(self.population, self.hierarchies, levels, strict=True):
            assert level is not None
            rows = {row[0]: row[level] for row in hierarchy.rows}
            columns.append(np.array([rows[text] for text in values.texts], dtype=object)[values.codes])
        counted.update(zip(*columns, strict=True))
        gone = self._left_out_labels(levels)
        every = list(seen)
        for labels, people in counted.items():
            if labels in places:
                every[places[labels]].population += people
            elif labels not in gone:
                every.append(SeenClass(population=people))
        return every

    def _left_out_labels(self, levels: Sequence[int | None]) -> set[tuple[str | None, ...]]:
        columns = []
        for values, hierarchy, level in zip(self.values, self.hierarchies, levels, strict=True):
            rows = {row[0]: row[level or 0] for row in hierarchy.rows}
            columns.append(
                np.array([rows[text] for text in values.texts], dtype=object)[values.codes][~self.released]
            )
        return set(zip(*columns, strict=True))

    def _expect_loss(self, result: "Recoded", labels: Sequence["_Labels"]) -> None:
        stated = result.losses["loss"]
        n, total = self.released.size, 0.0
        for place, (own, hierarchy) in enumerate(zip(labels, self.hierarchies, strict=True)):
            level = result.levels[self.names[place]]
            rates = _rates(hierarchy, level)
            if rates is None:
                return  # one label stands for several sets of values: what it loses cannot be read from it
            codes = np.where(self.released, own.codes, len(own.seen))
            lost = np.array([*[rates[label] for label in own.seen], 1.0])
            total += float(self.weights[place]) * float(np.bincount(codes, minlength=lost.size) @ lost)
        total /= n * float(self.weights.sum())
        assert math.isclose(total, stated, rel_tol=_CLOSE, abs_tol=_CLOSE), (
            f"the loss is {total!r}, not {stated!r}"
        )


@dataclass(frozen=True, eq=False)
class _Labels:
    """The labels that are shown, and the number of each record's; −1 where it shows none."""

    seen: Sequence[str | None]
    codes: np.ndarray

    @property
    def texts(self) -> pl.Series:
        """The label of each record."""
        return pl.Series([*self.seen, None], dtype=pl.String).gather(
            np.where(self.codes >= 0, self.codes, len(self.seen))
        )


def _rates(hierarchy: Hierarchy, level: int | None) -> dict[str | None, float] | None:
    """What each label loses; ``None`` if that depends on a level which is not known."""
    others = max(1, len(hierarchy.rows) - 1)
    found: dict[str | None, set[float]] = defaultdict(set)
    for number, counts in enumerate(leaves_under(hierarchy)):
        for label, leaves in counts.items():
            if level is None or number == level:
                found[label].add(1.0 if number == hierarchy.height else (leaves - 1) / others)
    if any(len(rates) > 1 for rates in found.values()):
        return None
    rates = {label: next(iter(own)) for label, own in found.items()}
    return {**rates, hierarchy.root: rates.get(hierarchy.root, 1.0)}
