"""What became of the models in a release: the worst class by each, and classes that share one value."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.errors import Infeasible
from shoal.microdata.models.histogram import counted
from shoal.microdata.models.model import AverageRisk, Evidence, Model, PopulationModel, ValueModel
from shoal.microdata.models.outcome import ModelOutcome
from shoal.microdata.recoding.classes import Classes
from shoal.microdata.recoding.released_records import ReleasedRecords
from shoal.microdata.recoding.remarks import reference_in_words, remark_on_reference
from shoal.microdata.recoding.strata import Part
from shoal.remarks import Remark


def model_outcomes(records: ReleasedRecords, parts: Sequence[Part]) -> tuple[ModelOutcome, ...]:
    """The worst class by each model; an ``Infeasible`` where one holds in every stratum, but not in all together."""
    for model in records.inputs.models:
        measured = records.anonymity
        if isinstance(model, AverageRisk) and not model.allows(measured.classes, measured.units):
            raise Infeasible(f"{model.text} holds in every stratum, but not in all of them together")
    evidence = _evidence(records)
    return (
        *(
            ModelOutcome(
                *(model.text, getattr(model, "column", None), model.worst(evidence), model.limit),
                reference=reference_in_words(records.released) if _compares(model) else "",
                overall=isinstance(model, AverageRisk),
            )
            for model in records.inputs.models
            if not isinstance(model, PopulationModel)
        ),
        *_population_outcomes(parts[0]),
    )


def remarks_on_reference(records: ReleasedRecords) -> list[Remark]:
    """The models that hold against the shares in all data, but not against those in the release."""
    evidence = _evidence(records)
    shares = {
        name: replace(column, shares=np.bincount(own, minlength=column.kinds) / own.size)
        for name, (codes, column) in records.inputs.confidential.items()
        for own in [records.own(codes)]
    }
    # Of models that compare only: a value that is not released has no share there.
    among_released = replace(evidence, columns=shares)
    return [
        remark_on_reference(model, model.worst(among_released))
        for model in records.inputs.models
        if isinstance(model, ValueModel) and model.compares and model.fails(among_released).any()
    ]


def _evidence(records: ReleasedRecords) -> Evidence:
    classes, confidential = records.classes, records.inputs.confidential
    size = int(classes.max()) + 1
    pairs = np.unique(np.stack([classes, records.own(records.inputs.people)], axis=1), axis=0)
    one = np.ones(classes.size, dtype=np.int64)
    return Evidence(
        np.bincount(pairs[:, 0], minlength=size),
        None,
        {
            name: counted(classes, records.own(codes), one, size, column.kinds)
            for name, (codes, column) in confidential.items()
        },
        {name: column for name, (_, column) in confidential.items()},
    )


def _compares(model: Model) -> bool:
    return isinstance(model, ValueModel) and model.compares


def _population_outcomes(part: Part) -> tuple[ModelOutcome, ...]:
    """The worst class beside the population."""
    models = [model for model in part.problem.models if isinstance(model, PopulationModel)]
    if not models or part.solution.uniform is None:
        return ()
    solution = part.solution
    classes, groups = Classes.of_tuples(part.problem).joined(part.solution.uniform)
    kept = np.zeros(classes.size, dtype=bool)
    kept[groups[solution.tuples[solution.released]]] = True
    own = classes.evidence
    shown = Evidence(own.people[kept], None if own.population is None else own.population[kept])
    return tuple(ModelOutcome(model.text, None, model.worst(shown), model.limit) for model in models)
