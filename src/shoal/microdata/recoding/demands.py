"""What was asked for, checked before any work: columns, models, levels, importance, strata."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import InputError, parameter, unknown
from shoal.microdata.columns.inputs import check_names, check_quasi
from shoal.microdata.columns.orders import Orders
from shoal.microdata.models.model import (
    DistinctDiversity,
    EntropyDiversity,
    LargestRisk,
    Model,
    PopulationModel,
    RecursiveDiversity,
)
from shoal.microdata.models.reading import read_models
from shoal.microdata.recoding.classes import Levels
from shoal.microdata.recoding.keys import Keys
from shoal.microdata.recoding.mapping import AppliedMapping
from shoal.numbers import number, whole


def check_columns(
    data: nw.DataFrame,
    quasi: Sequence[str],
    roles: Mapping[str, Sequence[str]],
    given: Mapping[str, Any],
    orders: Orders,
) -> None:
    """An ``InputError`` for columns that are not there, or that cannot be two things at once.

    ``roles`` are the names of other parameters with the columns given for each.
    """
    if not quasi:
        raise InputError(f"name at least one key with {parameter('quasi')}")
    check_names(data, [*quasi, *[name for names in roles.values() for name in names], *given, *orders])
    check_quasi(quasi, None, ())
    for role in ("confidential", "unit", "household", "by", "drop", "sample_weights", "average"):
        for name in roles.get(role, ()):
            if name in quasi:
                raise InputError(f"column '{name}' is a key, so it cannot be in {parameter(role)}")
    for name in roles.get("stay", ()):
        if name not in quasi:
            raise unknown("column", name, quasi, where="among the keys")
    for name in roles.get("drop", ()):
        for role in ("by", "average"):
            if name in roles.get(role, ()):
                raise InputError(f"column '{name}' is to be dropped, so it cannot be in {parameter(role)}")
    for name in roles.get("average", ()):
        if not data[name].dtype.is_numeric():
            raise InputError(f"column '{name}' is not numeric, so it cannot be in {parameter('average')}")
    if roles.get("average") and roles.get("unit"):
        raise InputError(
            f"averages are made of records, of which one unit may have several; {parameter('average')} and {parameter('unit')} "
            "do not go together"
        )
    others = {*quasi, *roles.get("confidential", ())}
    for name in (*given, *orders):
        if name not in others:
            raise unknown("column", name, sorted(others), where="among the keys")


def read_demands(
    texts: Sequence[str], confidential: Sequence[str], k: int, population: Any
) -> tuple[list[Model], int]:
    """The models, and k with what they ask of it: l different values need l people."""
    found = []
    for model in read_models(texts, confidential, population):
        if isinstance(model, LargestRisk):
            k = max(k, model.k)
            continue
        if isinstance(model, DistinctDiversity | EntropyDiversity | RecursiveDiversity):
            k = max(k, ceil(model.l))
        found.append(model)
    return found, k


def level_bounds(
    keys: Keys,
    levels: Mapping[str, int] | None,
    stay: Sequence[str],
    *,
    exactly: bool,
    alike: Sequence[int] = (),
) -> tuple[Levels, Levels]:
    """The lowest and highest level allowed for each key.

    Levels by hand are the lowest ones, and the only ones where a method releases whole columns (``exactly``), and for keys
    that all records are to show ``alike``.
    """
    heights = {name: hierarchy.height for name, hierarchy in zip(keys.names, keys.hierarchies, strict=True)}
    lowest = dict.fromkeys(keys.names, 0)
    for name, level in (levels or {}).items():
        if name not in heights:
            raise unknown("column", name, keys.names, where="among the keys")
        lowest[name] = whole(level, f"the level of column '{name}'", most=heights[name])
    highest = dict(heights)
    if levels is not None and exactly:
        highest = dict(lowest)
    for name in (*stay, *[keys.names[place] for place in alike]):
        highest[name] = lowest[name]
    return tuple(lowest.values()), tuple(highest.values())


def importance(names: Sequence[str], given: Mapping[str, float] | None) -> np.ndarray:
    """How important each key is."""
    weights = dict.fromkeys(names, 1.0)
    for name, weight in (given or {}).items():
        if name not in weights:
            raise unknown("column", name, names, where="among the keys")
        weights[name] = number(weight, f"the weight of column '{name}'", least=0.0, most=1e9)
    if not any(weights.values()):
        raise InputError("the weights of the keys are all 0, so nothing would be lost by blanking them")
    return np.array(list(weights.values()))


def check_mapping(applied: AppliedMapping, names: Sequence[str], levels: Mapping[str, int] | None) -> None:
    """An ``InputError`` unless an earlier recoding is one of the same keys."""
    if levels is not None:
        raise InputError(f"give levels by hand or an earlier {parameter('apply')}, not both")
    if sorted(applied.names) != sorted(names):
        raise InputError(f"the mapping is about other keys: {', '.join(applied.names)}")


def check_together(
    models: Sequence[Model], *, by: Sequence[str], household: str | None, keep_suppressed: bool
) -> None:
    """An ``InputError`` for demands that cannot be judged together."""
    about_all = any(isinstance(model, PopulationModel) for model in models)
    if about_all and by:
        raise InputError(f"models of the population count all strata; they do not go with {parameter('by')}")
    if about_all and keep_suppressed:
        raise InputError(
            f"records without keys are no class of the population; leave out {parameter('keep_suppressed')} with these models"
        )
    if household is not None and keep_suppressed:
        raise InputError(
            f"what a record without keys hides its household may show; {parameter('household')} and "
            f"{parameter('keep_suppressed')} do not go together"
        )
