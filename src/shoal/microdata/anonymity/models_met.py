"""Which models of privacy a table meets: every class of equal keys judged as it is, nothing changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.errors import InputError, parameter
from shoal.exact_names import exactly, only
from shoal.microdata.columns.inputs import check_names, read_frame
from shoal.microdata.columns.orders import Orders
from shoal.microdata.columns.roles import guess_roles
from shoal.microdata.models.confidential import read_confidential, trees_needed
from shoal.microdata.models.histogram import Histogram, counted
from shoal.microdata.models.model import (
    AverageRisk,
    Closeness,
    Evidence,
    Model,
    Presence,
    ValueModel,
)
from shoal.microdata.models.outcome import ModelOutcome
from shoal.microdata.risk.keys import code_columns, group
from shoal.numbers import counted as in_words


@dataclass(frozen=True, eq=False)
class Judged:
    """The records as models see them: the class and the person of each, and how many of the population a class has.

    Classes of people of whom nobody is in the data come last; only ``presence`` looks at them.
    """

    classes: np.ndarray
    people: np.ndarray | None
    size: int
    population: np.ndarray | None = None

    def histogram(self, values: np.ndarray, kinds: int) -> Histogram:
        """The values of each class; a person with several records of one value in a class says it once."""
        if self.people is None:
            return counted(self.classes, values, np.ones(values.size, dtype=np.int64), self.size, kinds)
        said = pl.DataFrame({"class": self.classes, "person": self.people, "value": values}).unique()
        one = np.ones(said.height, dtype=np.int64)
        return counted(said["class"].to_numpy(), said["value"].to_numpy(), one, self.size, kinds)

    def sizes(self) -> np.ndarray:
        """How many people each class has in the data."""
        if self.people is None:
            return np.bincount(self.classes, minlength=self.size)
        pairs = pl.DataFrame({"class": self.classes, "person": self.people}).unique()
        return np.bincount(pairs["class"].to_numpy(), minlength=self.size)

    def people_in(self, failing: np.ndarray) -> int:
        """How many people have a record in one of these classes."""
        theirs = failing[self.classes]
        return int(theirs.sum() if self.people is None else np.unique(self.people[theirs]).size)


def check_models(models: Sequence[Model], hierarchies: Mapping[str, Any], orders: Orders, null: str) -> None:
    """An ``InputError`` for what models cannot be asked, and for what none of them would look at."""
    if models and null == "wildcard":
        raise InputError(
            "a record with a missing value that matches anything is in several classes at once, so models are not told of them; "
            f"leave out {parameter('null', 'wildcard')}"
        )
    for given, distance, name in (
        (hierarchies, "hierarchical", "hierarchies"),
        (orders, "ordered", "ordinal"),
    ):
        wanted = {m.column for m in models if isinstance(m, Closeness) and m.distance == distance}
        for column in given:
            if column not in wanted:
                raise InputError(
                    f"{parameter(name)} names column '{column}', but no closeness(t,{distance}) is about it"
                )


def check_reference(models: Sequence[Model], reference: Any) -> None:
    """An ``InputError`` for a reference that no model looks at."""
    if reference is not None and not any(isinstance(m, ValueModel) and m.compares for m in models):
        raise InputError(
            f"{parameter('reference')} is for closeness and likeness, and no model is one of them"
        )


def models_met(
    frame: Any,
    quasi: Sequence[str],
    models: Sequence[Model],
    *,
    unit: str | None,
    hierarchies: Mapping[str, Any],
    orders: Orders,
    population: Any,
    reference: Any,
    average_risk: float,
) -> tuple[ModelOutcome, ...]:
    """What each model measures in a frame, and where it fails; ``average_risk`` is that of the whole."""
    columns = list(dict.fromkeys(model.column for model in models if isinstance(model, ValueModel)))
    data = _in_memory(frame, [*quasi, *columns, *([] if unit is None else [unit])])
    everybody = None if population is None else _in_memory(population, quasi, "in the population")
    judged = _judged(data, quasi, unit, everybody)
    n, whole, said = len(data), data, judged.people
    if reference is not None:
        whole = _followed_by(data, reference, [*columns, *([] if unit is None else [unit])])
        said = None if unit is None else code_columns([whole], unit)[1].codes.astype(np.int64)
    guesses = guess_roles(only(whole, hierarchies)) if hierarchies else ()
    trees = trees_needed(whole, models, guesses, hierarchies, orders)
    histograms, read = {}, {}
    told = slice(0 if reference is None else n, None)
    for name, (codes, column) in read_confidential(whole, columns, models, trees, orders, said, told).items():
        if (column.shares[codes[:n]] == 0).any():
            raise InputError(f"column '{name}' has values that {parameter('reference')} does not have")
        histograms[name], read[name] = judged.histogram(codes[:n], column.kinds), column
    evidence = Evidence(judged.sizes(), judged.population, histograms, read)
    records = in_words(len(whole) - (0 if reference is None else n), "record")
    where = f"all {records} of {'this table' if reference is None else 'the reference'}"
    return tuple(_outcome(model, evidence, judged, average_risk, where) for model in models)


def _followed_by(data: nw.DataFrame, reference: Any, names: Sequence[str]) -> nw.DataFrame:
    """The records with those of the reference after them."""
    others = _in_memory(reference, names, "in the reference")
    frames = [only(frame, names).to_polars() for frame in (data, others)]
    try:
        return nw.from_native(pl.concat(frames, how="vertical_relaxed"), eager_only=True)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"{parameter('reference')} holds values of other types than the data: {', '.join(names)}"
        ) from None


def _outcome(
    model: Model, evidence: Evidence, judged: Judged, average_risk: float, reference: str
) -> ModelOutcome:
    column = model.column if isinstance(model, ValueModel) else None
    if isinstance(model, AverageRisk):
        # No class alone fails it.
        held = model.holds_for(average_risk)
        return ModelOutcome(model.text, column, average_risk, model.limit, holds=held, overall=True)
    seen = evidence if isinstance(model, Presence) else _of_data(evidence)
    failing = model.fails(seen)
    own = np.zeros(judged.size, dtype=bool)
    own[: failing.size] = failing
    return ModelOutcome(
        model.text,
        column,
        model.worst(seen),
        model.limit,
        int(failing.sum()),
        judged.people_in(own),
        not failing.any(),
        reference if isinstance(model, ValueModel) and model.compares else "",
    )


def _of_data(evidence: Evidence) -> Evidence:
    """The classes of which somebody is in the data."""
    number = int((evidence.people > 0).sum())
    return Evidence(
        evidence.people[:number],
        None if evidence.population is None else evidence.population[:number],
        {
            name: Histogram(own.starts[: number + 1], own.values, own.counts)
            for name, own in evidence.histograms.items()
        },
        evidence.columns,
    )


def _judged(
    data: nw.DataFrame, quasi: Sequence[str], unit: str | None, everybody: nw.DataFrame | None
) -> Judged:
    n = len(data)
    if n == 0:
        raise InputError("there are no records for models to judge")
    people = None if unit is None else code_columns([data], unit)[1].codes.astype(np.int64)
    frames = [data] if everybody is None else [data, everybody]
    coded = [code_columns(frames, name)[1] for name in quasi]
    # Groups are numbered as they appear: those of the data first.
    groups = group([one.codes for one in coded], [one.size for one in coded])
    classes = groups.of_record.astype(np.int64)
    if everybody is None:
        return Judged(classes, people, groups.number)
    found = Judged(classes[:n], people, groups.number, np.bincount(classes[n:], minlength=groups.number))
    short = found.sizes() > found.population
    if short.any():
        gaps = np.logical_or.reduce([one.codes[:n] == one.missing for one in coded])
        lacking = int((gaps & short[found.classes]).sum())
        blanked = (
            f" ({in_words(lacking, 'record lacks', 'records lack')} a key: fill it in, or take them out)"
        )
        raise InputError(
            f"{in_words(int(short.sum()), 'class has', 'classes have')} more in the data than in the population"
            f"{blanked if lacking else ''}; it must hold everybody, with the keys told as in the data: {parameter('population')}"
        )
    return found


def _in_memory(frame: Any, names: Sequence[str], where: str = "in the data") -> nw.DataFrame:
    """The columns that are needed; a plan is run for them."""
    wrapped = nw.from_native(frame, pass_through=True)
    if isinstance(wrapped, nw.LazyFrame):
        check_names(wrapped.head(0).collect(backend="polars"), names, where)
        native = wrapped.to_native()
        plan = (
            native.select(exactly(*names))
            if isinstance(native, pl.LazyFrame)
            else wrapped.select(*names).to_native()
        )
        return nw.from_native(plan).collect(backend="polars")
    data = read_frame(frame)
    check_names(data, names, where)
    return only(data, names)
