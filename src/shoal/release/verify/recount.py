"""The figures a step stated, counted again from the originals and from what was released, by the checks of its operation."""

import json
from typing import Any

import numpy as np

from shoal.import_paths import load
from shoal.release.plan.plan import Step
from shoal.release.release_reader import OpenedRelease
from shoal.release.verify.changed_tables import confirmed
from shoal.release.verify.evidence import StepEvidence


def recounted(opened: OpenedRelease, step: Step) -> dict[str, Any]:
    """The figures that can be counted again, under the names they were stated by; none if too little of the step is there."""
    # As they were written: names are texts, and there is one kind of number.
    again: dict[str, Any] = json.loads(json.dumps(_counted(opened, step), default=_plain))
    return again


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


<<<<<<< HEAD
def _counted(opened: OpenedRelease, step: Step) -> dict[str, Any]:
    if step.release.recounts:
        figures: dict[str, Any] = load(step.release.recounts)(StepEvidence(opened, step))
        return figures
    if step.as_records:
        return {"records": int((opened.own_links(step) >= 0).sum())}
=======
@dataclass(frozen=True, eq=False)
class Records:
    """The records that a step read, of its source, and a published file that shows them as the step released them.

    ``links`` has the place in ``after`` of each record of ``before``, −1 where the step removed it.
    """

    before: "pl.DataFrame" = field(repr=False)
    after: "pl.DataFrame" = field(repr=False)
    links: np.ndarray = field(repr=False)
    earlier: Sequence[Step]
    later: Sequence[Step]

    @property
    def originals(self) -> "pl.DataFrame":
        """The records before that were released, in the order of the source."""
        return self.before.filter(self.links >= 0)

    @property
    def released(self) -> "pl.DataFrame":
        """The released records, in the order of the source."""
        return self.after[self.links[self.links >= 0]]


def records_of(opened: OpenedRelease, step: Step, *, written: bool = False) -> Records | None:
    """What a step read and released, if a published file shows all of it; ``written`` as texts, as far as files have texts."""
    original = opened.original(step, written=written)
    for output, last in opened.record_outputs():
        path = opened.path(last)
        if step not in path or original is None:
            continue
        place = path.index(step)
        links, prior = opened.links(last), np.arange(original.height)
        if place:
            prior = opened.links(path[place - 1])
        after = opened.written(output.file) if written else opened.frame(output.file)
        seen = np.sort(links[links >= 0])
        whole = links.size == prior.size == original.height and (seen == np.arange(after.height)).all()
        if (
            not whole
            or seen.size != after.height
            or any((opened.own_links(item) < 0).any() for item in path[place + 1 :])
        ):
            continue
        read = prior >= 0
        return Records(original.filter(read), after, links[read], path[:place], path[place + 1 :])
    return None


def _shown(opened: OpenedRelease, found: Records, columns: Sequence[str]) -> bool:
    """Whether the published file shows columns as the step released them."""
    return set(columns) <= set(found.after.columns) and follows_unchanged(opened, found.later, columns)


def _read(opened: OpenedRelease, found: Records, columns: Sequence[str]) -> bool:
    """Whether the step read columns as the source has them."""
    return set(columns) <= set(found.before.columns) and follows_unchanged(opened, found.earlier, columns)


def class_figures(keys: "pl.DataFrame", units: "pl.Series | None") -> dict[str, Any]:
    """K, classes and chances to be singled out, by plain counting.

    >>> import polars as pl
    >>> class_figures(pl.DataFrame({"sex": ["f", "f", "m", "m", "m"]}), None)["k"]
    2
    """
    import polars as pl

    # Polars takes some names of columns for patterns.
    keys = pl.DataFrame([column.alias(f"key {i}") for i, column in enumerate(keys)])
    who = pl.Series("who of it", np.arange(keys.height)) if units is None else units.alias("who of it")
    sizes = keys.with_columns(who).with_columns(
        pl.col("who of it").n_unique().over(keys.columns).alias("size of it")
    )
    smallest = (
        sizes.group_by("who of it").agg(pl.col("size of it").min())["size of it"].to_numpy().astype(float)
    )
    k = int(smallest.min())
    return {
        "k": k,
        "classes": keys.n_unique(),
        "below": {str(limit): int((smallest < limit).sum()) for limit in (3, 5, 10)},
        "maximum_risk": 1 / k,
        "average_risk": float((1 / smallest).mean()),
    }


def _own(opened: OpenedRelease, step: Step) -> dict[str, Any]:
    links = opened.own_links(step)
    return {"records": int((links >= 0).sum())}


def _recoded(opened: OpenedRelease, step: Step) -> dict[str, Any]:
    from shoal.microdata.columns.units import unit_column
    from shoal.microdata.recoding.recount import RecodedFile, as_texts, hierarchies_again

    settings: Any = step.settings
    stated = {name: getattr(settings, name) for name in ("method", "k", "null", "measure", "quasi")}
    links = opened.own_links(step)
    stated["records"] = int((links >= 0).sum())
    found, quasi = records_of(opened, step, written=True), list(settings.quasi)
    shown = [*quasi, *settings.by]
    if found is None or not _shown(opened, found, shown):
        return stated
    if not settings.keep_suppressed:
        stated["suppressed_records"] = int((found.links < 0).sum())
    unit = unit_column(settings.unit, found.before.columns)
    if not _read(opened, found, [] if unit is None else [unit]):
        return stated
    units = None if unit is None else found.originals[unit]
    if not settings.keep_suppressed:
        out = found.before.filter(found.links < 0)
        stated["suppressed_people"] = out.height if unit is None else out[unit].n_unique()
    keys = as_texts(found.released, shown)
    alike = list(settings.confidential)
    # Models may name further columns.
    if not settings.models and _shown(opened, found, alike):
        stated["homogeneous"] = [
            _homogeneous(keys, as_texts(found.released, [name]), units) for name in alike
        ]
    classes = class_figures(keys, units)
    stated["k_strict"] = classes.pop("k")
    if settings.null == "own":
        stated |= {"k_release": stated["k_strict"], **classes}
    if not _read(opened, found, [*quasi, *settings.by]):
        return stated
    if settings.population is not None:
        settings = settings.model_copy(update={"population": opened.located(settings.population)})
    trees = hierarchies_again(settings, PlanWorkplace(opened.files, {}), found.before)
    again = RecodedFile(
        trees,
        as_texts(found.before, quasi),
        as_texts(found.after, quasi),
        found.links,
        settings.weights or {},
        settings.keep_suppressed,
        # Rows of equal texts have equal hashes.
        only(found.before, settings.by).hash_rows().to_numpy() if settings.by else None,
    ).figures
    if settings.measure in again["losses"]:
        again["loss"] = again["losses"][settings.measure]
    return {**stated, **again}


def _homogeneous(keys: "pl.DataFrame", values: "pl.DataFrame", units: "pl.Series | None") -> dict[str, Any]:
    """The classes that share one value of a column, and who is in them."""
    import polars as pl

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


def _microaggregated(opened: OpenedRelease, step: Step) -> dict[str, Any]:
    from shoal.microdata.columns.units import unit_column
    from shoal.microdata.microaggregation.recount import squared_errors
    from shoal.microdata.microaggregation.solution import read_labels
    from shoal.microdata.recoding.recount import as_texts

    settings: Any = step.settings
    told, links = opened.figures(step.name), opened.own_links(step)
    stated: dict[str, Any] = {
        "method": settings.method,
        "k": settings.k,
        "records": int((links >= 0).sum()),
        "set_aside": int((links < 0).sum()),
        "quasi_guessed": settings.quasi is None,
        "null": "own",
        **({} if settings.columns is None else {"columns": settings.columns}),
        **({} if settings.quasi is None else {"quasi": settings.quasi}),
    }
    labels = opened.step_folder(step.name) / "labels.csv"
    if labels.exists():
        sizes = Counter(read_labels(labels).tolist()).values()
        stated |= {"clusters": len(sizes), "min_cluster": min(sizes), "max_cluster": max(sizes)}
    found = records_of(opened, step)
    columns, quasi = list(told["columns"]), list(told["quasi"])
    if found is None:
        return stated
    unit = unit_column(settings.unit, found.before.columns)
    if not _read(opened, found, [] if unit is None else [unit]):
        return stated
    units = None if unit is None else found.originals[unit]
    if _shown(opened, found, columns):
        stated["k_protected"] = class_figures(as_texts(found.released, columns), units)["k"]
        if not settings.ordinal and _read(opened, found, columns):
            errors = squared_errors(
                found.originals, found.released, columns, settings.attribute_weights or {}
            )
            stated |= errors
    if _shown(opened, found, quasi):
        classes = class_figures(as_texts(found.released, quasi), units)
        stated |= {
            "k_release": classes.pop("k"),
            **{name: classes[name] for name in classes if name != "classes"},
        }
    return stated


def _perturbed(opened: OpenedRelease, step: Step) -> dict[str, Any]:
    if opened.plan is not None and step.inputs[0] in opened.plan.sources:
        return _run_again(opened, step)
    settings: Any = step.settings
    columns = list(settings.columns or opened.figures(step.name)["columns"])
    stated: dict[str, Any] = {"method": settings.method, "for_release": True, "columns": columns}
    found = records_of(opened, step)
    if found is None:
        return stated
    stated["records"] = found.links.size
    if _shown(opened, found, columns) and _read(opened, found, columns):
        changed = {name: _differing(found.originals[name], found.released[name]) for name in columns}
        shares = {name: count / found.links.size for name, count in changed.items()}
        stated |= {"changed": changed, "changed_share": shares}
    return stated


def _differing(before: "pl.Series", after: "pl.Series") -> int:
    import polars as pl

    kind = pl.Float64 if before.dtype.is_numeric() and after.dtype.is_numeric() else pl.String
    return int((~before.cast(kind).eq_missing(after.cast(kind))).sum())


def _run_again(opened: OpenedRelease, step: Step) -> dict[str, Any]:
    """Of what is no search: the same once more, with the same secret."""
    values = opened.values(step)
    if values is None:
        return {}
    assert opened.plan is not None
    secret = opened.step_folder(step.name) / SECRET
    own = {**values, "secret": str(secret)} if secret.exists() else values
    settings: Any = checked(settings_model(step.do), own)
    roles = {
        str(place): opened.plan.roles(name)
        for name in step.inputs
        if (place := opened.located(name)) is not None
    }
    result = OPERATIONS[step.do].run(settings, PlanWorkplace(opened.files, roles))
    figures = OPERATIONS[step.do].reporter_module.figures(result, settings)
    return {name: value for name, value in figures.items() if name not in _OF_THE_RUN}


def _hidden(opened: OpenedRelease, step: Step) -> dict[str, Any]:
    import polars as pl

    values, place = opened.values(step), opened.step_folder(step.name) / "pattern.csv"
    settings: Any = step.settings
    stated: dict[str, Any] = {"method": settings.method}
    if values is None or not place.exists():
        return stated
    problem = claimed_problem(step, values, opened.files)
    listed = sources.read(str(place)).as_written
    names = list(problem.table.dimensions)
    numbers = {tuple(problem.table.key(cell).values()): cell for cell in range(problem.table.cells)}
    rows = only(listed.filter(listed["kind"] == "complementary"), names).cast(pl.String).rows()
    complementary = np.array(sorted(numbers[row] for row in rows if row in numbers), dtype=np.int64)
    counts = claimed_table(step, values, opened.files).is_counts(settings)
    # Intervals are those of the audit; that they are wide enough is checked without it.
    figures = load("shoal.tables.recount:pattern_figures")
    return {**stated, **figures(problem, complementary, common=settings.common, counts=counts)}


def _assigned(opened: OpenedRelease, step: Step) -> dict[str, Any]:
    from shoal.anonymity.vector import AnonymityVector
    from shoal.appointments.people.slots import Slots
    from shoal.appointments.vector_rank import places

    settings: Any = step.settings
    values, told = opened.values(step), opened.figures(step.name)
    stated: dict[str, Any] = {name: getattr(settings, name) for name in ("method", "objective", "known")}
    if values is None or not isinstance(values.get("slots"), str) or "tables" in told:
        return stated
    frame = sources.read(values["slots"]).frame
    seated = appointments_of(opened.step_folder(step.name))
    before, after = seen_of(step, seated, frame)
    assert after is not None

    def vector(keys: "pl.DataFrame") -> AnonymityVector:
        return AnonymityVector.from_sizes(keys.group_by(keys.columns).len()["len"].to_list())

    own, base = vector(after), vector(before)
    required = int(told["k_required"])
    stated |= {
        "people": seated.height,
        "crowds": base.classes,
        "k": own.k,
        "k_before": base.k,
        "vector": {str(size): count for size, count in own.items()},
        "vector_before": {str(size): count for size, count in base.items()},
        "mean_crowd": own.weighted_mean_size,
        "mean_crowd_before": base.weighted_mean_size,
        "exposed": own.below(required),
        "exposed_before": base.below(required),
    }
    ranked = places(own, base, base)
    if ranked is not None:
        stated |= {
            "rank": str(ranked.rank),
            "rank_before": str(ranked.before),
            "vectors": str(ranked.vectors),
        }
        stated |= {"position": ranked.position, "distance": str(ranked.distance)}
    slots = Slots.read(frame)
    taken = Counter(str(name) for name in seated[slot_column(seated)].to_list())
    stated["slots"] = [
        {"slot": str(name), "capacity": int(seats), "load": taken[str(name)] + int(booked)}
        for name, seats, booked in zip(slots.ids.to_list(), slots.capacities, slots.booked, strict=True)
    ]
    return stated


def _changed(opened: OpenedRelease, step: Step) -> dict[str, Any]:
>>>>>>> ed16079 (Name in appointments and tables what values are, and modules after what they hold)
    assert opened.plan is not None
    for output in opened.plan.outputs:
        if output.public and output.step == step.name and output.product == step.release.product:
            return confirmed(opened, output, step) or {}
    return {}
