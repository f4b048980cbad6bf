"""What a recoding has to meet, checked before any work: columns, models, levels, importance."""

from collections.abc import Mapping, Sequence
from math import ceil

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
from shoal.microdata.recoding.methods import METHODS
from shoal.microdata.recoding.settings import RecodeSettings
from shoal.numbers import number, whole

# The settings that name columns beside the keys, in the order in which they are checked.
_BESIDE = ("confidential", "unit", "household", "by", "drop", "sample_weights", "average")


def check_columns(data: nw.DataFrame, settings: RecodeSettings, orders: Orders) -> None:
    """An ``InputError`` for columns that are not there, or that cannot be two things at once."""
    quasi, hierarchies = settings.quasi, settings.hierarchies or {}
    if not quasi:
        raise InputError(f"name at least one key with {parameter('quasi')}")
    beside = {role: _columns(getattr(settings, role)) for role in _BESIDE}
    named = [name for names in (*beside.values(), settings.stay) for name in names]
    check_names(data, [*quasi, *named, *hierarchies, *orders])
    check_quasi(quasi, None, ())
    for role, names in beside.items():
        for name in names:
            if name in quasi:
                raise InputError(f"column '{name}' is a key, so it cannot be in {parameter(role)}")
    for name in settings.stay:
        if name not in quasi:
            raise unknown("column", name, quasi, where="among the keys")
    for name in settings.drop or ():
        for role in ("by", "average"):
            if name in beside[role]:
                raise InputError(f"column '{name}' is to be dropped, so it cannot be in {parameter(role)}")
    for name in settings.average:
        if not data[name].dtype.is_numeric():
            raise InputError(f"column '{name}' is not numeric, so it cannot be in {parameter('average')}")
    if settings.average and settings.unit:
        raise InputError(
            f"averages are made of records, of which one unit may have several; {parameter('average')} and {parameter('unit')} "
            "do not go together"
        )
    others = {*quasi, *settings.confidential}
    for name in (*hierarchies, *orders):
        if name not in others:
            raise unknown("column", name, sorted(others), where="among the keys")


def _columns(named: Sequence[str] | str | None) -> Sequence[str]:
    return () if named is None else (named,) if isinstance(named, str) else named


def required_models(settings: RecodeSettings) -> tuple[list[Model], int]:
    """The models, and k with what they ask of it: l different values need l people."""
    models, k = [], settings.k
    for model in read_models(settings.models, settings.confidential, settings.population):
        if isinstance(model, LargestRisk):
            k = max(k, model.k)
            continue
        if isinstance(model, DistinctDiversity | EntropyDiversity | RecursiveDiversity):
            k = max(k, ceil(model.l))
        models.append(model)
    return models, k


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
    for name in (*stay, *[keys.names[position] for position in alike]):
        highest[name] = lowest[name]
    return tuple(lowest.values()), tuple(highest.values())


def importance(names: Sequence[str], stated: Mapping[str, float] | None) -> np.ndarray:
    """How important each key is."""
    weights = dict.fromkeys(names, 1.0)
    for name, weight in (stated or {}).items():
        if name not in weights:
            raise unknown("column", name, names, where="among the keys")
        weights[name] = number(weight, f"the weight of column '{name}'", least=0.0, most=1e9)
    if not any(weights.values()):
        raise InputError("the weights of the keys are all 0, so nothing would be lost by blanking them")
    return np.array(list(weights.values()))


def check_uniform(settings: RecodeSettings) -> None:
    """An ``InputError`` where one level for each key is wanted of what gives several."""
    if not settings.uniform:
        return
    if "mixed" in METHODS[settings.method].traits:
        raise InputError(
            f"method '{settings.method}' leaves values at mixed levels; leave out {parameter('uniform')} or "
            f"{parameter('method', settings.method)}"
        )
    if settings.by:
        raise InputError(
            f"strata have levels of their own; {parameter('uniform')} and {parameter('by')} do not go together"
        )


def check_mapping(applied: AppliedMapping, names: Sequence[str], levels: Mapping[str, int] | None) -> None:
    """An ``InputError`` unless an earlier recoding is one of the same keys."""
    if levels is not None:
        raise InputError(f"give levels by hand or an earlier {parameter('apply')}, not both")
    if sorted(applied.names) != sorted(names):
        raise InputError(f"the mapping is about other keys: {', '.join(applied.names)}")


def check_together(models: Sequence[Model], settings: RecodeSettings) -> None:
    """An ``InputError`` for requirements that cannot be judged together."""
    about_all = any(isinstance(model, PopulationModel) for model in models)
    if about_all and settings.by:
        raise InputError(f"models of the population count all strata; they do not go with {parameter('by')}")
    if about_all and settings.keep_suppressed:
        raise InputError(
            f"records without keys are no class of the population; leave out {parameter('keep_suppressed')} with these models"
        )
    if settings.household is not None and settings.keep_suppressed:
        raise InputError(
            f"what a record without keys hides its household may show; {parameter('household')} and "
            f"{parameter('keep_suppressed')} do not go together"
        )
