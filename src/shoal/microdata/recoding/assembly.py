"""From solved parts to a result: the released frame, what holds of it, and what to say about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.errors import Infeasible, parameter
from shoal.exact_names import without
from shoal.microdata.anonymity.api import count_classes
from shoal.microdata.columns.hierarchies.hierarchy import read_values
from shoal.microdata.columns.identities import record_identities
from shoal.microdata.columns.inputs import read_sample_weights, with_one_zero
from shoal.microdata.columns.record_links import RecordLinks, released_numbers
from shoal.microdata.columns.roles import Guess
from shoal.microdata.columns.sorting import sorted_by_release
from shoal.microdata.columns.units import units_in_words
from shoal.microdata.models.histogram import counted
from shoal.microdata.models.model import (
    AverageRisk,
    ConfidentialColumn,
    Evidence,
    Model,
    PopulationModel,
    ValueModel,
)
from shoal.microdata.models.outcome import ModelOutcome
from shoal.microdata.recoding.averages import averaged
from shoal.microdata.recoding.classes import Classes
from shoal.microdata.recoding.explanation import explain
from shoal.microdata.recoding.households import smallest_composition
from shoal.microdata.recoding.keys import Keys
from shoal.microdata.recoding.losses import measured_losses
from shoal.microdata.recoding.mapping import AppliedMapping, RecodedColumn
from shoal.microdata.recoding.margins import compare_margins
from shoal.microdata.recoding.problem import MEASURES
from shoal.microdata.recoding.release import piece_of_records, released_column
from shoal.microdata.recoding.release_check import ReleaseCheck
from shoal.microdata.recoding.remarks import (
    hierarchy_remark,
    homogeneous_classes,
    reference_in_words,
    remark_on_reference,
    remarks_on_homogeneous,
    remarks_on_models,
    remarks_on_release,
    remarks_on_wildcards,
)
from shoal.microdata.recoding.result import Part, Recoded
from shoal.numbers import counted as in_words
from shoal.remarks import Remark, note
from shoal.runtime import Budget, informative
from shoal.runtime.secrets import Secret

Secrets = Mapping[str, tuple[np.ndarray, ConfidentialColumn]]


@dataclass(frozen=True)
class Asked:
    """What was asked for besides the keys."""

    k: int
    method: str
    options: Mapping[str, Any] | None
    suppress: float
    by: tuple[str, ...]
    drop: tuple[str, ...]
    average: tuple[str, ...]
    unit: str | None
    household: str | None
    null: str
    sample_weights: str | None
    order: str
    explain: bool
    seed: int | None
    secret: Secret
    budget: Budget | None
    unit_remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, eq=False)
class _Cells:
    """For every record the level of each key, and whether it is released with its keys."""

    levels: np.ndarray
    kept: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[Part], data: nw.DataFrame, columns: int, secret: Secret) -> "_Cells":
        n, turns = len(data), None
        if any(part.solution.parted for part in parts):
            # Which of several records with the same keys loses a value must not follow from their order.
            turns = secret.draws("recode").uniforms(record_identities(data, secret))
        levels, kept = np.zeros((n, columns), dtype=np.int16), np.zeros(n, dtype=bool)
        for part in parts:
            own = None if turns is None else turns[part.members]
            pieces = piece_of_records(part.problem, part.solution, own)
            levels[part.members] = part.solution.levels[pieces]
            kept[part.members] = part.solution.kept[pieces]
        return cls(levels, kept)

    def uniform(self, column: int, height: int) -> int | None:
        """The level of a key where all released records have the same, or are blank."""
        own = self.levels[self.kept, column]
        shown = own[own < height]
        if not shown.size:
            return height
        return int(shown[0]) if (shown == shown[0]).all() else None

    def wholly_blank(self, keys: Keys, released: np.ndarray) -> int:
        """How many released records show no key at all; a key that has one value only shows nothing in any case."""
        heights = np.array([hierarchy.height for hierarchy in keys.hierarchies])
        shown = ((self.levels < heights) & (heights > 0)).any(axis=1) & self.kept
        return int((released & ~shown).sum()) if heights.any() else 0


def assemble(
    asked: Asked,
    data: nw.DataFrame,
    guesses: Sequence[Guess],
    keys: Keys,
    secrets: Secrets,
    units: np.ndarray | None,
    households: np.ndarray | None,
    everybody: nw.DataFrame | None,
    parts: Sequence[Part],
) -> Recoded:
    """Release the records, and tell everything about it; the release is verified."""
    n = len(data)
    cells = _Cells.of(parts, data, len(keys.names), asked.secret)
    starred = parts[0].problem.keep_suppressed
    if not cells.kept.any():
        raise Infeasible(
            f"nothing would be released: everybody is left out, as {parameter('suppress')} allows; ask for less"
        )
    released = np.ones(n, dtype=bool) if starred else cells.kept
    people = np.arange(n) if units is None else units
    levels = {
        name: cells.uniform(column, hierarchy.height)
        for column, (name, hierarchy) in enumerate(zip(keys.names, keys.hierarchies, strict=True))
    }
    blanks = _blanks(keys, cells, levels)
    frame = _released_frame(data, keys, cells, starred, released)
    shown = [*keys.names, *asked.by]
    averages = averaged(frame, max(2, asked.k), asked.average, shown, asked.unit) if asked.average else None
    frame = frame if averages is None else averages.frame
    if asked.drop:
        frame = without(frame, asked.drop)
    order = np.arange(len(frame))
    notes = [hierarchy_remark(item) for item in keys.proposals]
    if asked.method == "local-suppression":
        notes += [
            note(
                "blank-column",
                f"key '{name}' is blank in all records: it is released at its highest level, and counts for no values blanked",
                name,
            )
            for name, hierarchy in zip(keys.names, keys.hierarchies, strict=True)
            if levels[name] == hierarchy.height > 0
        ]
    if asked.order == "sorted":
        frame, order = sorted_by_release(frame, keys.names)
    else:
        text = f"records are in their original order, by which they can be linked; {parameter('order', 'sorted')} removes that"
        notes.append(note("original-order", text))
    counted_as = _with_units(frame, asked, units, released, order)
    measured = replace(count_classes(counted_as, shown, unit=_unit(asked, frame)), unit=asked.unit)
    strictly = measured.k
    if asked.null == "wildcard":
        measured = count_classes(_with_nulls(frame, keys, shown), shown, null="wildcard")
    classes = _classes(frame, shown)
    models, on_reference = _outcomes(
        parts[0].problem.models, classes, secrets, people[released][order], released, order
    )
    models += _population_outcomes(parts[0])
    own = {name: values[released][order] for name, (values, _) in secrets.items()}
    homogeneous = homogeneous_classes(classes, people[released][order], own)
    coarser = [name for name in keys.names if levels[name] != 0 or blanks[name]]
    problem = parts[0].problem
    value, bound, optimal = _overall(parts)
    # A release in which every key has one level and nothing is blanked can be repeated, however it was found.
    common = tuple(level for level in levels.values() if level is not None)
    uniform = len(parts) == 1 and len(common) == len(levels) and not any(blanks.values())
    if asked.explain and not uniform:
        text = "there is nothing to explain where records of one value differ: neighbours are those of whole columns"
        notes.append(note("nothing-to-explain", text))
    out = ~cells.kept
    left_out, limit = int(np.unique(people[out]).size), floor(asked.suppress * np.unique(people).size + 1e-9)
    if left_out > limit:
        raise Infeasible(
            f"{in_words(left_out, *units_in_words(asked.unit))} would lose a record in one of the strata, and {limit:,} may be "
            f"left out; raise {parameter('suppress')}, or recode all together"
        )
    for model in problem.models:
        if isinstance(model, AverageRisk) and not model.allows(measured.classes, measured.units):
            raise Infeasible(f"{model.text} holds in every stratum, but not in all of them together")
    if averages is not None and averages.k < asked.k:
        raise Infeasible(
            f"keys and averages together are shared by {averages.k} only; leave out {parameter('average')}"
        )
    result = Recoded(
        frame=frame.to_native(),
        quasi=keys.names,
        k=asked.k,
        k_release=measured.k,
        k_strict=strictly,
        null=asked.null,
        anonymity=measured,
        proposals=keys.proposals,
        levels=levels,
        method=asked.method,
        chosen=_chosen(asked, parts),
        measure=problem.measure,
        loss=value,
        bound=informative(bound, value),
        optimal=optimal,
        losses=_losses(parts),
        parts=tuple(parts),
        records=int(released.sum()),
        suppressed_records=int(out.sum()),
        suppressed_people=left_out,
        limit=limit,
        suppressed_cells=blanks,
        blank_records=cells.wholly_blank(keys, released),
        models=models,
        homogeneous=homogeneous,
        k_households=None
        if households is None
        else smallest_composition(classes, households[released][order]),
        averages=averages,
        margins=_margins(asked, data, keys, cells, levels, people),
        remarks=(
            *remarks_on_release(
                data,
                guesses,
                keys.names,
                frame.columns,
                coarser,
                (asked.unit, asked.household),
                (*asked.by, *asked.average, *secrets, asked.sample_weights),
            ),
            *asked.unit_remarks,
            *remarks_on_homogeneous(homogeneous, asked.unit),
            *on_reference,
            *remarks_on_wildcards(asked.null, strictly, measured.k),
            *notes,
            *_reasons(parts),
            *remarks_on_models(problem.models),
        ),
        settings=_settings(asked, problem.measure, problem.models, keys, problem.weights, starred),
        record_links=RecordLinks.of(
            released.tolist(), order.tolist(), released_numbers(frame, frame.columns)
        ),
        secret=asked.secret,
        mapping=AppliedMapping(
            tuple(
                RecodedColumn(name, hierarchy, level)
                for name, hierarchy, level in zip(keys.names, keys.hierarchies, common, strict=True)
            ),
            asked.k,
        )
        if uniform
        else None,
        explanation=explain(problem, common, keys.names) if asked.explain and uniform else None,
        _check=ReleaseCheck(
            names=keys.names,
            hierarchies=keys.hierarchies,
            values=keys.values,
            kept=cells.kept,
            order=order,
            units=units,
            groups=_groups(parts, n) if asked.by else None,
            confidential=secrets,
            population=None if everybody is None else [read_values(everybody[name]) for name in keys.names],
            models=problem.models,
            weights=problem.weights,
            keep_suppressed=starred,
            averaged=asked.average,
        ),
    )
    result.verify()
    return result


def _released_frame(
    data: nw.DataFrame, keys: Keys, cells: _Cells, starred: bool, released: np.ndarray
) -> nw.DataFrame:
    """The released records; a key that stays as it is keeps its type, others become labels."""
    backend = nw.get_native_namespace(data)
    columns: list[nw.Series | nw.Expr] = []
    for place, (name, hierarchy, leaves) in enumerate(
        zip(keys.names, keys.hierarchies, keys.leaves, strict=True)
    ):
        levels = cells.levels[:, place]
        if starred:
            levels = np.where(cells.kept, levels, hierarchy.height)
        if not levels[released].any() and data[name].dtype != nw.Object:
            continue
        labels = released_column(name, hierarchy, leaves, levels)
        columns.append(nw.new_series(name, labels.to_list(), nw.String, backend=backend))
    # Some frames cannot match a new column with their own index: the labels are put in before records are left out.
    frame = with_one_zero(data, keys.names)
    frame = frame.with_columns(*columns) if columns else frame
    if released.all():
        return frame
    # The type of a column may list values that only those had who are left out.
    listing = [name for name in frame.columns if frame[name].dtype in (nw.Categorical, nw.Enum)]
    frame = frame.filter(released.tolist())
    return frame.with_columns(*[frame[name].cast(nw.String) for name in listing]) if listing else frame


def _unit(asked: Asked, frame: nw.DataFrame) -> str | None:
    """A name for the units that no column has."""
    if asked.unit is None:
        return None
    name = "unit of each record"
    while name in frame.columns:
        name += "'"
    return name


def _with_units(
    frame: nw.DataFrame, asked: Asked, units: np.ndarray | None, released: np.ndarray, order: np.ndarray
) -> Any:
    """The release as it is counted: with its units, which may be dropped from it."""
    if units is None:
        return frame.to_native()
    named = str(_unit(asked, frame))
    own = nw.new_series(named, units[released][order], nw.Int64, backend=nw.get_native_namespace(frame))
    return frame.with_columns(own).to_native()


def _with_nulls(frame: nw.DataFrame, keys: Keys, shown: Sequence[str]) -> pl.DataFrame:
    """The keys with nothing where they are blank, so that a blank matches anything; a missing value is one of its own."""
    columns = {}
    roots = {name: hierarchy.root for name, hierarchy in zip(keys.names, keys.hierarchies, strict=True)}
    for name in shown:
        texts = frame[name].to_polars().cast(pl.String).fill_null("\0 missing")
        columns[name] = (
            pl.DataFrame({"t": texts})
            .select(pl.when(pl.col("t") != roots.get(name, "\0")).then("t"))
            .to_series()
        )
    return pl.DataFrame(columns)


def _classes(frame: nw.DataFrame, shown: Sequence[str]) -> np.ndarray:
    """The class of each released record."""
    codes = np.stack([read_values(frame[name]).codes for name in shown], axis=1)
    return np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)


def _outcomes(
    models: Sequence[Model],
    classes: np.ndarray,
    secrets: Secrets,
    units: np.ndarray,
    released: np.ndarray,
    order: np.ndarray,
) -> tuple[tuple[ModelOutcome, ...], list[Remark]]:
    """The worst class by each model, on what is released; and warnings of what holds against all data only."""
    size = int(classes.max()) + 1
    pairs = np.unique(np.stack([classes, units], axis=1), axis=0)
    one = np.ones(classes.size, dtype=np.int64)
    own = {name: values[released][order] for name, (values, _) in secrets.items()}
    evidence = Evidence(
        np.bincount(pairs[:, 0], minlength=size),
        None,
        {name: counted(classes, own[name], one, size, column.kinds) for name, (_, column) in secrets.items()},
        {name: column for name, (_, column) in secrets.items()},
    )
    shares = {
        name: replace(column, shares=np.bincount(own[name], minlength=column.kinds) / own[name].size)
        for name, (_, column) in secrets.items()
    }
    # Of models that compare only: a value that is not released has no share there.
    among_released = replace(evidence, columns=shares)
    return tuple(
        ModelOutcome(
            *(model.text, getattr(model, "column", None), model.worst(evidence), model.limit),
            reference=reference_in_words(released) if _compares(model) else "",
            overall=isinstance(model, AverageRisk),
        )
        for model in models
        if not isinstance(model, PopulationModel)
    ), [
        remark_on_reference(model, model.worst(among_released))
        for model in models
        if isinstance(model, ValueModel) and model.compares and model.fails(among_released).any()
    ]


def _compares(model: Model) -> bool:
    return isinstance(model, ValueModel) and model.compares


def _population_outcomes(part: Part) -> tuple[ModelOutcome, ...]:
    """The worst class beside the population."""
    asked = [model for model in part.problem.models if isinstance(model, PopulationModel)]
    if not asked or part.solution.uniform is None:
        return ()
    solution = part.solution
    classes, groups = Classes.of_tuples(part.problem).joined(part.solution.uniform)
    kept = np.zeros(classes.size, dtype=bool)
    kept[groups[solution.tuples[solution.kept]]] = True
    own = classes.evidence
    shown = Evidence(own.people[kept], None if own.population is None else own.population[kept])
    return tuple(ModelOutcome(model.text, None, model.worst(shown), model.limit) for model in asked)


def _joined(parts: Sequence[Part], measure: str, values: Sequence[float]) -> float:
    """The losses of strata as one: means are weighted by records, classes add up, and so do all other losses."""
    sizes = [part.problem.size for part in parts]
    if measure == "loss":
        return sum(size * value for size, value in zip(sizes, values, strict=True)) / sum(sizes)
    if measure == "class-size":
        return sum(sizes) / sum(size / value for size, value in zip(sizes, values, strict=True))
    return float(sum(values))


def _overall(parts: Sequence[Part]) -> tuple[float, float | None, bool]:
    """The loss of all strata together, its bound, and whether both are the same for a proof."""
    measure, bounds = parts[0].problem.measure, [part.solution.bound for part in parts]
    value = _joined(parts, measure, [part.solution.value for part in parts])
    bound = None if any(own is None for own in bounds) else min(value, _joined(parts, measure, bounds))
    return value, bound, all(part.solution.optimal for part in parts)


def _losses(parts: Sequence[Part]) -> dict[str, float]:
    """All measures over all strata."""
    each = [measured_losses(part.problem, part.solution) for part in parts]
    return {measure: _joined(parts, measure, [losses[measure] for losses in each]) for measure in MEASURES}


def _blanks(keys: Keys, cells: _Cells, levels: Mapping[str, int | None]) -> dict[str, int]:
    """How many released values of each key are blank, where the key is not blank for all."""
    return {
        name: 0
        if levels[name] == hierarchy.height
        else int((cells.levels[cells.kept, place] == hierarchy.height).sum())
        for place, (name, hierarchy) in enumerate(zip(keys.names, keys.hierarchies, strict=True))
    }


def _margins(
    asked: Asked,
    data: nw.DataFrame,
    keys: Keys,
    cells: _Cells,
    levels: Mapping[str, int | None],
    people: np.ndarray,
) -> dict[str, Any]:
    given = read_sample_weights(data, asked.sample_weights)
    weights = np.ones(len(data)) if given is None else given
    found = {}
    for place, (name, hierarchy, leaves) in enumerate(
        zip(keys.names, keys.hierarchies, keys.leaves, strict=True)
    ):
        own = cells.levels[:, place]
        level = levels[name]
        # Where records differ, the level that most of those have that show anything.
        shown = cells.kept & (own < hierarchy.height)
        usual = int(np.bincount(own[shown]).argmax()) if shown.any() else hierarchy.height
        base = usual if level is None else level
        found[name] = compare_margins(hierarchy, leaves, own, cells.kept, weights, base, people)
    return found


def _groups(parts: Sequence[Part], n: int) -> np.ndarray:
    groups = np.zeros(n, dtype=np.int64)
    for number, part in enumerate(parts):
        groups[part.members] = number
    return groups


def _chosen(asked: Asked, parts: Sequence[Part]) -> str:
    return next((part.solution.chosen for part in parts if part.solution.chosen), asked.method)


def _reasons(parts: Sequence[Part]) -> list[Remark]:
    reasons = dict.fromkeys(part.solution.reason for part in parts if part.solution.reason)
    return [note("chosen-method", reason) for reason in reasons]


def _settings(
    asked: Asked, measure: str, models: Sequence[Model], keys: Keys, weights: np.ndarray, starred: bool
) -> tuple[tuple[str, Any], ...]:
    return (
        ("k", asked.k),
        ("keys", ", ".join(keys.names)),
        ("method", asked.method),
        ("options of the method", ", ".join(f"{n} = {v}" for n, v in (asked.options or {}).items()) or None),
        ("measure of loss", measure),
        ("importance of keys", ", ".join(f"{n} = {w:g}" for n, w in zip(keys.names, weights, strict=True))),
        ("models", ", ".join(dict.fromkeys(model.text for model in models)) or None),
        ("share that may be left out", asked.suppress),
        ("those left out", "are released without keys" if starred else "are not released"),
        ("strata", ", ".join(asked.by) or None),
        ("columns dropped", ", ".join(asked.drop) or None),
        ("columns averaged within classes", ", ".join(asked.average) or None),
        ("unit counted in K", asked.unit or "record"),
        ("household", asked.household),
        ("a missing value", "is a value of its own"),
        (
            "a blank",
            "is a value of its own, not that of a missing one" if asked.null == "own" else "matches anything",
        ),
        ("sample weights", asked.sample_weights),
        ("order", asked.order),
        ("iterations allowed", asked.budget.iterations if asked.budget else None),
        ("seconds allowed", asked.budget.seconds if asked.budget else None),
        ("seed", asked.seed),
    )
