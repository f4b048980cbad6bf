"""From solved parts to a result: the released records, what holds of them, and what is remarked."""

from collections.abc import Sequence
from math import floor

import numpy as np

from shoal.errors import Infeasible, parameter
from shoal.microdata.columns.hierarchies.hierarchy import read_values
from shoal.microdata.columns.units import units_in_words
from shoal.microdata.recoding.explanation import explain
from shoal.microdata.recoding.households import smallest_composition
from shoal.microdata.recoding.inputs import Inputs
from shoal.microdata.recoding.mapping import AppliedMapping, RecodedColumn
from shoal.microdata.recoding.outcomes import model_outcomes, remarks_on_reference
from shoal.microdata.recoding.release_check import ReleaseCheck
from shoal.microdata.recoding.released_records import Cells, ReleasedRecords
from shoal.microdata.recoding.remarks import (
    hierarchy_remark,
    homogeneous_classes,
    remarks_on_homogeneous,
    remarks_on_models,
    remarks_on_release,
    remarks_on_wildcards,
)
from shoal.microdata.recoding.result import Homogeneous, Recoded
from shoal.microdata.recoding.strata import Part, overall_loss, overall_losses
from shoal.numbers import counted
from shoal.remarks import Remark, note
from shoal.runtime import informative


def assemble(inputs: Inputs, parts: Sequence[Part]) -> Recoded:
    """Release the records, and tell everything about it; the release is verified."""
    settings, keys = inputs.settings, inputs.keys
    cells = Cells.of(inputs, parts)
    records = ReleasedRecords.of(inputs, cells)
    left_out, blank_people, limit = _left_out(inputs, cells)
    classes, people = records.classes, records.own(inputs.people)
    confidential = {name: records.own(codes) for name, (codes, _) in inputs.confidential.items()}
    homogeneous = homogeneous_classes(classes, people, confidential)
    common = _common_levels(cells, parts)
    value, bound, optimal = overall_loss(parts)
    households = inputs.households
    result = Recoded(
        frame=records.frame.to_native(),
        quasi=keys.names,
        k=inputs.k,
        k_release=records.anonymity.k,
        k_strict=records.strictly.k,
        null=settings.null,
        anonymity=records.anonymity,
        proposals=keys.proposals,
        levels=cells.by_key,
        method=settings.method,
        chosen=next((part.solution.chosen for part in parts if part.solution.chosen), settings.method),
        measure=settings.measure,
        loss=value,
        bound=informative(bound, value),
        optimal=optimal,
        losses=overall_losses(parts),
        parts=tuple(parts),
        records=int(records.released.sum()),
        suppressed_records=int((~cells.released).sum()),
        suppressed_people=left_out,
        limit=limit,
        suppressed_cells=cells.blanks,
        blank_records=cells.wholly_blank(records.released),
        blank_people=blank_people,
        keyless_records=int((cells.keyless & records.released).sum()),
        models=model_outcomes(records, parts),
        homogeneous=homogeneous,
        k_households=None if households is None else smallest_composition(classes, records.own(households)),
        averages=records.averages,
        margins=cells.margins(inputs),
        remarks=_remarks(records, cells, parts, homogeneous, explained=common is not None),
        record_links=records.links,
        secret=inputs.secret,
        mapping=None if common is None else _mapping(inputs, common),
        explanation=explain(parts[0].problem, common, keys.names) if settings.explain and common else None,
        _check=_check(records, cells, parts),
    )
    result.verify()
    return result


def _left_out(inputs: Inputs, cells: Cells) -> tuple[int, int, int]:
    """How many units lose a record, of how many others no record shows a key, and how many may be both together.

    An ``Infeasible`` if these are fewer.
    """
    people, settings = inputs.people, inputs.settings
    gone = np.unique(people[~cells.released])
    left_out = int(gone.size)
    shown = np.union1d(gone, people[cells.released & ~cells.without_keys])
    blank = int(np.setdiff1d(people[cells.without_keys], shown).size)
    limit = floor(settings.suppress * np.unique(people).size + 1e-9)
    if left_out + blank > limit:
        raise Infeasible(
            f"{counted(left_out + blank, *units_in_words(settings.unit))} would lose a record, or show no key, in all strata "
            f"together, and {limit:,} may; raise {parameter('suppress')}, or recode all together"
        )
    return left_out, blank, limit


def _common_levels(cells: Cells, parts: Sequence[Part]) -> tuple[int, ...] | None:
    """The levels of a release in which every key has one and nothing is blanked: it can be repeated, however it was found."""
    levels = tuple(level for level in cells.by_key.values() if level is not None)
    uniform = len(parts) == 1 and len(levels) == len(cells.by_key) and not any(cells.blanks.values())
    return levels if uniform else None


def _mapping(inputs: Inputs, levels: Sequence[int]) -> AppliedMapping:
    columns = zip(inputs.keys.names, inputs.keys.hierarchies, levels, strict=True)
    return AppliedMapping(tuple(RecodedColumn(*column) for column in columns), inputs.k)


def _remarks(
    records: ReleasedRecords,
    cells: Cells,
    parts: Sequence[Part],
    homogeneous: Sequence[Homogeneous],
    *,
    explained: bool,
) -> tuple[Remark, ...]:
    """Everything that is remarked of a release."""
    inputs, settings = records.inputs, records.inputs.settings
    return (
        *remarks_on_release(
            inputs.data,
            inputs.guesses,
            inputs.keys.names,
            records.frame.columns,
            cells.coarser,
            (settings.unit, settings.household),
            (*settings.by, *settings.average, *inputs.confidential, settings.sample_weights),
        ),
        *inputs.unit_remarks,
        *remarks_on_homogeneous(homogeneous, settings.unit),
        *remarks_on_reference(records),
        *remarks_on_wildcards(settings.null, records.strictly.k, records.anonymity.k),
        *map(hierarchy_remark, inputs.keys.proposals),
        *_notes(inputs, cells, explained),
        *(
            note("chosen-method", reason)
            for reason in dict.fromkeys(part.solution.reason for part in parts)
            if reason
        ),
        *remarks_on_models(inputs.models),
    )


def _notes(inputs: Inputs, cells: Cells, explained: bool) -> list[Remark]:
    found = []
    if inputs.settings.method == "local-suppression":
        found = [
            note(
                "blank-column",
                f"key '{name}' is blank in all records: it is released at its highest level, and counts for no values blanked",
                name,
            )
            for (name, level), height in zip(cells.by_key.items(), cells.heights, strict=True)
            if level == height > 0
        ]
    if inputs.settings.order == "keep":
        text = f"records are in their original order, by which they can be linked; {parameter('order', 'sorted')} removes that"
        found.append(note("original-order", text))
    if inputs.settings.explain and not explained:
        text = "there is nothing to explain where records of one value differ: neighbours are those of whole columns"
        found.append(note("nothing-to-explain", text))
    return found


def _check(records: ReleasedRecords, cells: Cells, parts: Sequence[Part]) -> ReleaseCheck:
    inputs, groups = records.inputs, np.zeros(records.inputs.size, dtype=np.int64)
    for number, part in enumerate(parts):
        groups[part.members] = number
    names, everybody = inputs.keys.names, inputs.population
    return ReleaseCheck(
        names=names,
        hierarchies=inputs.keys.hierarchies,
        values=inputs.keys.values,
        released=cells.released,
        order=records.order,
        units=inputs.units,
        groups=groups if inputs.settings.by else None,
        confidential=inputs.confidential,
        population=None if everybody is None else [read_values(everybody[name]) for name in names],
        models=inputs.models,
        weights=parts[0].problem.weights,
        keep_suppressed=inputs.settings.keep_suppressed,
        averaged=tuple(inputs.settings.average),
    )
