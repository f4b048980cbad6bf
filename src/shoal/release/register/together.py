"""What two releases give away together, though neither does alone: records seen in both, and cells that one of them shows."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.import_paths import load
from shoal.release.plan.plan import Output, Step
from shoal.release.release_reader import OpenedRelease
from shoal.release.verify.changed_columns import touched
from shoal.release.verify.public import counted_k, hierarchies_of
from shoal.tables.public_table import TOTAL, Key, PublicTable
from shoal.tables.rounding.known_bounds import LESS_THAN_ALL
from shoal.tables.safety.judging import Required, Shown, required_of
from shoal.tables.safety.together import tables_together

if TYPE_CHECKING:
    import polars as pl


_TABLES = ("table", "changed table")


@dataclass(frozen=True)
class Together:
    """What two files give away together: ``discloses`` is ``None`` where it cannot be measured, and ``detail`` says why."""

    kind: str
    files: tuple[str, str]
    discloses: bool | None
    detail: str
    figures: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "kind": self.kind,
            "files": list(self.files),
            "discloses": self.discloses,
            "detail": self.detail,
            **self.figures,
        }


def together(one: OpenedRelease, two: OpenedRelease, change: float | None = None) -> Iterator[Together]:
    """Every file of records beside every one of the other release, and every table beside every table."""
    yield from _records(one, two)
    for first in _files(one, *_TABLES):
        for second in _files(two, *_TABLES):
            yield _two_tables(one, first, two, second, change)
    for first in _files(one, "records"):
        for second in _files(two, *_TABLES):
            yield _records_and_table(first, second)
    for first in _files(one, *_TABLES):
        for second in _files(two, "records"):
            yield _records_and_table(first, second)


def _two_tables(
    one: OpenedRelease, first: str, two: OpenedRelease, second: str, change: float | None = None
) -> Together:
    if first in _files(one, "table") and second in _files(two, "table"):
        return _tables(one, first, two, second, change)
    return _changed_tables(one, first, two, second)


def _changed_tables(one: OpenedRelease, first: str, two: OpenedRelease, second: str) -> Together:
    """Two tables of which one (or both) has changed figures: one system, with what everybody knows of these."""
    made = [_seen(opened, file) for opened, file in ((one, first), (two, second))]
    if None in made:
        why = (
            "figures of one of them were changed, and only the internal part of its release knows by how much"
        )
        return Together("tables", (first, second), None, why)
    (mine, all_of_one), (theirs, all_of_two) = (item for item in made if item is not None)
    found = tables_together(mine, theirs)
    if found.discloses is False and not (all_of_one and all_of_two):
        return Together("tables", (first, second), None, f"{found.detail}; {LESS_THAN_ALL}", found.figures)
    return Together("tables", (first, second), found.discloses, found.detail, found.figures)


def _seen(opened: OpenedRelease, file: str) -> tuple[Shown, bool] | None:
    """A table as everybody sees it, and whether all that is known of its figures is used; nothing if that is internal."""
    if file in _files(opened, "table"):
        return _shown(opened, file), True
    step = None if opened.plan is None else opened.step_of(file)
    settings = None if step is None else opened.settings(step)
    changed = None if step is None else step.as_changed_table
    if step is None or settings is None or changed is None:
        return None
    shown = load(changed.known)
    table = shown(settings, opened.workplace(), opened.written(file), opened.figures(step.name))
    return table, changed.all_known


def _records_and_table(first: str, second: str) -> Together:
    """What both give away together is not known."""
    why = "what records and a table give away together cannot be measured"
    return Together("records and table", (first, second), None, why)


def within(opened: OpenedRelease) -> Iterator[Together]:
    """The same for the files of one release: each pair that comes from two steps, of records those of one source."""
    assert opened.plan is not None
    pairs = itertools.combinations(opened.record_outputs(), 2)
    for (first, step), (second, other) in pairs:
        if step != other and opened.plan.source_of(step.name) == opened.plan.source_of(other.name):
            yield _joined(opened, first, step, opened, second, other)
    made = {item.file: item.step for item in opened.plan.outputs if item.public}
    for one, two in itertools.combinations(_files(opened, *_TABLES), 2):
        if made[one] != made[two]:
            yield _two_tables(opened, one, opened, two)
    for one, two in itertools.product(_files(opened, "records"), _files(opened, *_TABLES)):
        yield _records_and_table(one, two)


def _files(opened: OpenedRelease, *kinds: str) -> list[str]:
    return [str(item["file"]) for item in opened.outputs if item.get("kind") in kinds]


def _records(one: OpenedRelease, two: OpenedRelease) -> Iterator[Together]:
    if one.plan is None or two.plan is None:
        for first in _files(one, "records"):
            for second in _files(two, "records"):
                why = "which records belong together only the internal parts of both releases know"
                yield Together("records", (first, second), None, why)
        return
    for first_output, first_step in one.record_outputs():
        for second_output, second_step in two.record_outputs():
            yield _joined(one, first_output, first_step, two, second_output, second_step)


def _joined(
    one: OpenedRelease, first: Output, step: Step, two: OpenedRelease, second: Output, other: Step
) -> Together:
    """K of the units, or records, seen in both, for somebody who knows their quasi-identifiers as both releases tell them."""
    files = (first.file, second.file)
    links, more = one.links(step), two.links(other)
    mine, theirs = one.record_keys(step), two.record_keys(other)
    here, there = mine.matched(theirs)
    if mine.who.size != links.size or theirs.who.size != more.size:
        return Together("records", files, None, "the record keys of one of them are not those of its records")
    if not here.size:
        why = "they have no record in common, or were not released into the same folder, which knows records again"
        return Together("records", files, None, why)
    released = (links[here] >= 0) & (more[there] >= 0)
    here, there = here[released], there[released]
    left, right = one.frame(first.file)[links[here]], two.frame(second.file)[more[there]]
    changed = {
        name
        for opened, own in ((one, step), (two, other))
        for item in opened.path(own)
        for name in touched(opened, item)
    }
    common = [name for name in left.columns if name in right.columns]
    pairs = ((one, left, step, "first"), (two, right, other, "second"))
    keys = _keys(pairs)
    if not keys.columns:
        return Together("records", files, None, "no quasi-identifier is released in either")
    units = None if mine.units is None else _numbered_units(mine.units[here])
    ks = [_k_alone(opened, output, own) for opened, output, own in ((one, first, step), (two, second, other))]
    found = counted_k(keys, keys.columns, units)
    limit = min(_limits(one, step) + _limits(two, other), default=2)
    differing = {
        name: count for name in common if (count := _differing(left[name], right[name])) and name in changed
    }
    alone = f"{ks[0]} and {ks[1]} alone"
    detail = f"K of {here.size} records seen in both is {found} ({alone}), and {limit} is asked for"
    figures = {
        "k": found,
        "k_alone": ks,
        "limit": limit,
        "records": int(here.size),
        "differing": differing,
    }
    return Together("records", files, found < limit, detail, figures)


def _k_alone(opened: OpenedRelease, output: Output, step: Step) -> int:
    """K of all that was released, not only of what the other release shows as well."""
    found = opened.released(output, step)
    return counted_k(found.frame, _quasi(opened, found.frame, step), found.unit_column)


def _numbered_units(units: np.ndarray) -> "pl.Series":
    """A number for each unit."""
    import polars as pl

    return pl.Series("unit", np.unique(units, return_inverse=True)[1])


def _quasi(opened: OpenedRelease, frame: "pl.DataFrame", step: Step) -> list[str]:
    roles = opened.roles(step)
    return [name for name, role in roles.items() if role == "quasi-identifier" and name in frame.columns]


def _keys(pairs: "Sequence[tuple[OpenedRelease, pl.DataFrame, Step, str]]") -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame(
        [
            frame[name].cast(pl.String).alias(f"{word}: {name}")
            for opened, frame, step, word in pairs
            for name in _quasi(opened, frame, step)
        ]
    )


def _limits(opened: OpenedRelease, step: Step) -> list[int]:
    assert opened.plan is not None
    gates = [opened.plan.gates[own.name].k for own in opened.path(step) if own.name in opened.plan.gates]
    return [k for k in gates if k is not None]


def _differing(before: "pl.Series", after: "pl.Series") -> int:
    import polars as pl

    return int((before.cast(pl.String).ne_missing(after.cast(pl.String))).sum())


def read_table(opened: OpenedRelease, file: str) -> PublicTable:
    """A published table of a release."""
    item = next(item for item in opened.outputs if item["file"] == file)
    return PublicTable.of(opened.written(file), hierarchies_of(opened, file), item.get("subtotals", ()))


def _tables(
    one: OpenedRelease, first: str, two: OpenedRelease, second: str, change: float | None
) -> Together:
    shown = _shown(one, first), _shown(two, second)
    found = tables_together(*shown, change)
    discloses, figures = found.discloses, dict(found.figures)
    if discloses is not None and any(item.required is None for item in shown):
        # Without the levels of both everything that one of them hides counts.
        discloses, figures["too_narrow"] = bool(figures["exact"]), None
    return Together("tables", (first, second), discloses, found.detail, figures)


def _shown(opened: OpenedRelease, file: str) -> Shown:
    """A published table with what its internal part tells of it."""
    table = read_table(opened, file)
    required = _required(opened, file, table.dimensions)
    return Shown(table, required, lambda wide, known: _audited(opened, file, wide, known))


def _required(opened: OpenedRelease, file: str, dimensions: tuple[str, ...]) -> Required | None:
    """What must stay possible of each sensitive cell, where the internal part tells it."""
    table = None if opened.plan is None else opened.table(opened.step_of(file))
    if table is None:
        return None
    return required_of(table.problem(opened.step_of(file).settings), dimensions)


def _audited(
    opened: OpenedRelease, file: str, dimensions: tuple[str, ...], shown: Mapping[Key, float | None]
) -> int:
    """What insiders and sums give away besides, when what the other release shows is known."""
    import shoal

    whole = None if opened.plan is None else opened.table(opened.step_of(file))
    if whole is None:
        return 0
    settings, base = opened.step_of(file).settings, whole.base
    own = [tuple(base.key(cell).get(name, TOTAL) for name in dimensions) for cell in range(base.cells)]
    pattern = [tuple(base.key(cell).values()) for cell, key in enumerate(own) if shown.get(key) is None]
    found = shoal.audit(
        whole.table,
        pattern,
        sensitive=whole.sensitive,
        sliding=settings.sliding,
        low=settings.low,
        high=settings.high,
        insiders=settings.insiders,
        counts=settings.counts,
    )
    return (
        len({cell for cell, _ in found.insider} - set(found.unsafe.tolist()))
        + len(found.sums)
        + len(found.integer)
    )
