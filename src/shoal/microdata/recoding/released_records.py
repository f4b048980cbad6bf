"""The released records: what each shows of its keys, in which order, and what is counted on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.errors import Infeasible, parameter
from shoal.exact_names import without
from shoal.microdata.anonymity.api import count_classes
from shoal.microdata.anonymity.result import Anonymity
from shoal.microdata.columns.hierarchies.hierarchy import read_values
from shoal.microdata.columns.identities import record_identities
from shoal.microdata.columns.inputs import read_sample_weights, with_one_zero
from shoal.microdata.columns.record_links import RecordLinks, released_numbers
from shoal.microdata.columns.sorting import sorted_by_release
from shoal.microdata.recoding.averages import Averages, averaged
from shoal.microdata.recoding.inputs import Inputs
from shoal.microdata.recoding.keys import Keys
from shoal.microdata.recoding.margins import Margin, compare_margins
from shoal.microdata.recoding.release import piece_of_records, released_column
from shoal.microdata.recoding.strata import Part


@dataclass(frozen=True, eq=False)
class Cells:
    """For every record of the data the level of each key, and whether it is released with its keys."""

    keys: Keys
    levels: np.ndarray
    released: np.ndarray

    @classmethod
    def of(cls, inputs: Inputs, parts: Sequence[Part]) -> "Cells":
        """The cells of solved parts; an ``Infeasible`` if nothing would be released."""
        turns = None
        if any(part.solution.parted for part in parts):
            # Which of several records with the same keys loses a value must not follow from their order.
            draws = inputs.secret.draws("recode")
            turns = draws.uniforms(record_identities(inputs.data, inputs.secret))
        levels = np.zeros((inputs.size, len(inputs.keys.names)), dtype=np.int16)
        kept = np.zeros(inputs.size, dtype=bool)
        for part in parts:
            own = None if turns is None else turns[part.members]
            pieces = piece_of_records(part.problem, part.solution, own)
            levels[part.members] = part.solution.levels[pieces]
            kept[part.members] = part.solution.released[pieces]
        if not kept.any():
            raise Infeasible(
                f"nothing would be released: everybody is left out, as {parameter('suppress')} allows; ask for less"
            )
        return cls(inputs.keys, levels, kept)

    @property
    def heights(self) -> np.ndarray:
        """The level of the root, by key."""
        return np.array([hierarchy.height for hierarchy in self.keys.hierarchies])

    @cached_property
    def by_key(self) -> dict[str, int | None]:
        """The level of each key where all released records have the same, or are blank."""
        found: dict[str, int | None] = {}
        for name, own, height in zip(
            self.keys.names, self.levels[self.released].T, self.heights, strict=True
        ):
            shown = own[own < height]
            same = not shown.size or bool((shown == shown[0]).all())
            found[name] = (int(shown[0]) if shown.size else int(height)) if same else None
        return found

    @cached_property
    def blanks(self) -> dict[str, int]:
        """How many released values of each key are blank, where the key is not blank for all."""
        counts = (self.levels[self.released] == self.heights).sum(axis=0)
        return {
            name: 0 if self.by_key[name] == height else int(count)
            for name, height, count in zip(self.keys.names, self.heights, counts, strict=True)
        }

    @property
    def coarser(self) -> list[str]:
        """The keys of which not every value is released as it is."""
        return [name for name, level in self.by_key.items() if level != 0 or self.blanks[name]]

    def wholly_blank(self, released: np.ndarray) -> int:
        """How many released records show no key at all; a key that has one value only shows nothing in any case."""
        shown = ((self.levels < self.heights) & (self.heights > 0)).any(axis=1) & self.released
        return int((released & ~shown).sum()) if self.heights.any() else 0

    @cached_property
    def without_keys(self) -> np.ndarray:
        """The released records of which every key was blanked; those that came without any key are none of them."""
        if not self.heights.any():
            return np.zeros(self.released.size, dtype=bool)
        blank: np.ndarray = (self.levels == self.heights).all(axis=1) & self.released
        return blank & ~self.keyless

    @cached_property
    def keyless(self) -> np.ndarray:
        """The records that came without any key."""
        missing = np.ones(self.released.size, dtype=bool)
        for hierarchy, leaves in zip(self.keys.hierarchies, self.keys.leaves, strict=True):
            missing &= np.array([leaf is None for leaf in hierarchy.leaves])[leaves]
        return missing

    def labelled(self, data: nw.DataFrame, *, starred: bool) -> nw.DataFrame:
        """All records with their keys as they are released; a key that stays as it is keeps its type, others become labels."""
        backend = nw.get_native_namespace(data)
        released = self.released | starred
        columns: list[nw.Series | nw.Expr] = []
        keys = zip(self.keys.names, self.keys.hierarchies, self.keys.leaves, self.levels.T, strict=True)
        for name, hierarchy, leaves, own in keys:
            levels = np.where(self.released, own, hierarchy.height) if starred else own
            if not levels[released].any() and data[name].dtype != nw.Object:
                continue
            labels = released_column(name, hierarchy, leaves, levels)
            columns.append(nw.new_series(name, labels.to_list(), nw.String, backend=backend))
        frame = with_one_zero(data, self.keys.names)
        return frame.with_columns(*columns) if columns else frame

    def margins(self, inputs: Inputs) -> Mapping[str, tuple[Margin, ...]]:
        """The labels of each key before and after, at its level or the one that most records show."""
        stated = read_sample_weights(inputs.data, inputs.settings.sample_weights)
        weights = np.ones(inputs.size) if stated is None else stated
        found = {}
        keys = zip(self.keys.names, self.keys.hierarchies, self.keys.leaves, self.levels.T, strict=True)
        for name, hierarchy, leaves, own in keys:
            level = self.by_key[name]
            if level is None:
                shown = self.released & (own < hierarchy.height)
                level = int(np.bincount(own[shown]).argmax()) if shown.any() else hierarchy.height
            found[name] = compare_margins(
                hierarchy, leaves, own, self.released, weights, level, inputs.people
            )
        return found


@dataclass(frozen=True, eq=False)
class ReleasedRecords:
    """The released frame; ``released`` says which records it holds, ``order`` in which order."""

    inputs: Inputs
    frame: nw.DataFrame
    released: np.ndarray
    order: np.ndarray
    averages: Averages | None

    @classmethod
    def of(cls, inputs: Inputs, cells: Cells) -> "ReleasedRecords":
        """Release the records with their cells, as the settings say."""
        settings = inputs.settings
        released = cells.released | settings.keep_suppressed
        # Some frames cannot match a new column with their own index: the labels are put in before records are left out.
        frame = _chosen(cells.labelled(inputs.data, starred=settings.keep_suppressed), released)
        averages = None
        if settings.average:
            shown = [*settings.quasi, *settings.by]
            averages = averaged(frame, max(2, inputs.k), settings.average, shown, settings.unit)
            frame = averages.frame
            if averages.k < inputs.k:
                raise Infeasible(
                    f"keys and averages together are shared by {averages.k} only; leave out {parameter('average')}"
                )
        if settings.drop:
            frame = without(frame, settings.drop)
        order = np.arange(len(frame))
        if settings.order == "sorted":
            frame, order = sorted_by_release(frame, inputs.keys.names)
        return cls(inputs, frame, released, order, averages)

    def own(self, values: np.ndarray) -> np.ndarray:
        """What the released records have of something that every record of the data has."""
        found: np.ndarray = values[self.released][self.order]
        return found

    @property
    def links(self) -> RecordLinks:
        """Which record became which."""
        numbers = released_numbers(self.frame, self.frame.columns)
        return RecordLinks.of(self.released.tolist(), self.order.tolist(), numbers)

    @property
    def _shown(self) -> list[str]:
        return [*self.inputs.keys.names, *self.inputs.settings.by]

    @cached_property
    def classes(self) -> np.ndarray:
        """The class of each released record."""
        codes = np.stack([read_values(self.frame[name]).codes for name in self._shown], axis=1)
        return np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)

    @cached_property
    def strictly(self) -> Anonymity:
        """K of the release where a blank is a value of its own; units are counted though their column may be dropped."""
        unit = self.inputs.settings.unit
        if self.inputs.units is None:
            return count_classes(self.frame.to_native(), self._shown)
        named = "unit of each record"
        while named in self.frame.columns:
            named += "'"
        backend = nw.get_native_namespace(self.frame)
        column = nw.new_series(named, self.own(self.inputs.units), nw.Int64, backend=backend)
        frame: Any = self.frame.with_columns(column).to_native()
        return replace(count_classes(frame, self._shown, unit=named), unit=unit)

    @cached_property
    def anonymity(self) -> Anonymity:
        """K of the release, as the settings say what a blank means."""
        if self.inputs.settings.null == "own":
            return self.strictly
        return count_classes(self._with_nulls(), self._shown, null="wildcard")

    def _with_nulls(self) -> pl.DataFrame:
        """The keys with nothing where they are blank, so that a blank matches anything; a missing value is one of its own."""
        keys = self.inputs.keys
        roots = {name: hierarchy.root for name, hierarchy in zip(keys.names, keys.hierarchies, strict=True)}
        columns = {}
        for name in self._shown:
            texts = self.frame[name].to_polars().cast(pl.String).fill_null("\0 missing")
            columns[name] = (
                pl.DataFrame({"t": texts})
                .select(pl.when(pl.col("t") != roots.get(name, "\0")).then("t"))
                .to_series()
            )
        return pl.DataFrame(columns)


def _chosen(frame: nw.DataFrame, released: np.ndarray) -> nw.DataFrame:
    """Some records of a frame; the type of a column may list values that only those had who are left out."""
    if released.all():
        return frame
    listing = [name for name in frame.columns if frame[name].dtype in (nw.Categorical, nw.Enum)]
    frame = frame.filter(released.tolist())
    return frame.with_columns(*[frame[name].cast(nw.String) for name in listing]) if listing else frame
