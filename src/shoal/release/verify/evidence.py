"""What is there to check a step by: the records before and after, what it stated, and the same done once more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.release.plan.plan import Step
from shoal.release.plan.workplace import PlanWorkplace
from shoal.release.release_reader import OpenedRelease
from shoal.release.verify.changed_columns import follows_unchanged

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.table_to_protect import TableToProtect

#: What tells of a run alone: it does not follow from what was read and released.
_OF_THE_RUN = ("seconds", "stopped_by", "work", "nodes", "iterations", "record", "warnings", "notes")


@dataclass(frozen=True, eq=False)
class Records:
    """The records that a step read, of its source, and a published file that shows them as the step released them."""

    opened: OpenedRelease = field(repr=False)
    before: "pl.DataFrame" = field(repr=False)
    after: "pl.DataFrame" = field(repr=False)
    links: np.ndarray = field(repr=False)
    earlier: Sequence[Step] = ()
    later: Sequence[Step] = ()

    @property
    def originals(self) -> "pl.DataFrame":
        """The records before that were released, in the order of the source."""
        return self.before.filter(self.links >= 0)

    @property
    def released(self) -> "pl.DataFrame":
        """The released records, in the order of the source."""
        return self.after[self.links[self.links >= 0]]

    def shows(self, columns: Sequence[str]) -> bool:
        """Whether the published file has columns as the step released them."""
        return set(columns) <= set(self.after.columns) and follows_unchanged(self.opened, self.later, columns)

    def reads(self, columns: Sequence[str]) -> bool:
        """Whether the step read columns as the source has them."""
        there = set(columns) <= set(self.before.columns)
        return there and follows_unchanged(self.opened, self.earlier, columns)


@dataclass(frozen=True, eq=False)
class StepEvidence:
    """What an opened release has of a step."""

    opened: OpenedRelease = field(repr=False)
    step: Step

    @property
    def name(self) -> str:
        """What the step is called."""
        return self.step.name

    @property
    def settings(self) -> Any:
        """Its settings, which say where data is as far as that is there."""
        return self.step.located(lambda name: self.opened.located(name) or name)

    @property
    def complete(self) -> bool:
        """Whether all data that it read is there."""
        return self.opened.settings(self.step) is not None

    @property
    def on_source(self) -> bool:
        """Whether it reads a source."""
        return self.opened.plan is not None and self.step.inputs[0] in self.opened.plan.sources

    @property
    def stated(self) -> Mapping[str, Any]:
        """The figures it stated."""
        return self.opened.figures(self.step.name)

    @property
    def workplace(self) -> PlanWorkplace:
        """Where further data can be read."""
        return self.opened.workplace()

    @property
    def folder(self) -> Path:
        """The files it left."""
        return self.opened.step_folder(self.step.name)

    @property
    def links(self) -> np.ndarray:
        """For each record that it read the row of the released one, −1 where there is none."""
        return self.opened.own_links(self.step)

    def source(self, columns: Sequence[str]) -> "pl.DataFrame | None":
        """The records of the source, unless a step before changed some columns."""
        before = [item for item in self.opened.path(self.step) if item != self.step]
        return self.opened.original(self.step) if follows_unchanged(self.opened, before, columns) else None

    def table(self) -> "TableToProtect | None":
        """The table that it protects, built again."""
        return self.opened.table(self.step)

    def again(self) -> dict[str, Any]:
        """The figures of the same operation run once more, with the same secret."""
        settings, operation = self.opened.settings(self.step), self.step.operation
        if settings is None:
            return {}
        result = operation.run(settings, self.opened.workplace(*self.step.inputs))
        figures = operation.reporter_module.figures(result, settings)
        return {name: value for name, value in figures.items() if name not in _OF_THE_RUN}

    def records(self, *, written: bool = False) -> Records | None:
        """The records before and after, if a published file shows all of them; ``written`` as the texts of files."""
        opened, step = self.opened, self.step
        original = opened.original(step, written=written)
        for output, last in opened.record_outputs():
            path = opened.path(last)
            if step not in path or original is None:
                continue
            position = path.index(step)
            links, prior = opened.links(last), np.arange(original.height)
            if position:
                prior = opened.links(path[position - 1])
            after = opened.written(output.file) if written else opened.frame(output.file)
            seen = np.sort(links[links >= 0])
            whole = links.size == prior.size == original.height and (seen == np.arange(after.height)).all()
            later = path[position + 1 :]
            if (
                not whole
                or seen.size != after.height
                or any((opened.own_links(item) < 0).any() for item in later)
            ):
                continue
            read = prior >= 0
            return Records(opened, original.filter(read), after, links[read], path[:position], later)
        return None
