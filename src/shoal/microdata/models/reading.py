"""Models as people write them: ``distinct(3)``, or ``diagnosis: distinct(3)`` for one of several columns."""

import re
from collections.abc import Sequence
from typing import Any, get_args

from shoal.errors import InputError, parameter, unknown
from shoal.microdata.models.model import (
    AverageRisk,
    Closeness,
    Distance,
    DistinctDiversity,
    EntropyDiversity,
    KMap,
    LargestRisk,
    Likeness,
    Model,
    PopulationModel,
    Presence,
    RecursiveDiversity,
)
from shoal.numbers import number, whole

#: What a person may write, with the parameters in order.
_FORMS: dict[str, str] = {
    "distinct": "distinct(l)",
    "entropy": "entropy(l)",
    "recursive": "recursive(c,l)",
    "closeness": "closeness(t[,equal|ordered|hierarchical])",
    "likeness": "likeness(beta)",
    "enhanced-likeness": "enhanced-likeness(beta)",
    "k-map": "k-map(k)",
    "presence": "presence(least,most)",
    "average-risk": "average-risk(share)",
    "largest-risk": "largest-risk(share)",
}
FORMS: tuple[str, ...] = tuple(_FORMS.values())

# What is about people, whatever their values.
_WITHOUT_COLUMN = ("k-map", "presence", "average-risk", "largest-risk")
_CALL = re.compile(r"\s*([a-z-]+)\s*\(([^()]*)\)\s*")


def read_models(texts: Sequence[str], columns: Sequence[str], population: object) -> list[Model]:
    """All models that are asked for; an ``InputError`` if one lacks its column or everybody, or nothing needs everybody."""
    found = []
    for text in texts:
        models = read_model(text, columns)
        if population is None and isinstance(models[0], PopulationModel):
            raise InputError(
                f"the model {text} needs everybody, with the same keys: {parameter('population')}"
            )
        found += models
    if population is not None and not any(isinstance(model, PopulationModel) for model in found):
        raise InputError(
            f"no model looks at the population; name one with {parameter('models')}, like k-map(5)"
        )
    return found


def read_model(text: str, columns: Sequence[str] = ()) -> list[Model]:
    """The models a text stands for: one for each confidential column where it is about values, or for the one it names.

    >>> read_model("distinct(3)", ["diagnosis"])
    [DistinctDiversity(column='diagnosis', l=3)]
    >>> read_model("income: closeness(0.2,ordered)", ["diagnosis", "income"])
    [Closeness(column='income', t=0.2, distance='ordered')]
    >>> read_model("k-map(5)")
    [KMap(k=5)]
    """
    named, colon, demand = text.rpartition(":")
    match = _CALL.fullmatch(demand)
    if match is None:
        raise InputError(f"a model is written like distinct(3), not '{text}'; there are: {', '.join(FORMS)}")
    name, words = match[1], [word.strip() for word in match[2].split(",") if word.strip()]
    if name not in _FORMS:
        raise unknown("model", name, _FORMS)
    if colon and name in _WITHOUT_COLUMN:
        raise InputError(f"the model {name} is about people, not about the values of a column")
    if name == "largest-risk":
        return [LargestRisk(_share(name, words, 0))]
    if name == "average-risk":
        return [AverageRisk(_share(name, words, 0))]
    if name == "k-map":
        return [KMap(whole(_number(name, words, 0), "k of k-map", least=2))]
    if name == "presence":
        least, most = _number(name, words, 0), _number(name, words, 1)
        if not 0.0 <= least <= most <= 1.0 or most == 0.0:
            raise InputError("presence(least,most) takes shares from 0 to 1, the lower one first")
        return [Presence(least, most)]
    if not columns:
        raise InputError(
            f"the model {text} is about values, but no confidential column is named: {parameter('confidential')}"
        )
    if colon and named.strip() not in columns:
        raise unknown("column", named.strip(), columns, where="among the confidential columns")
    return [_of_values(name, words, column) for column in ([named.strip()] if colon else columns)]


def _of_values(name: str, words: list[str], column: str) -> Model:
    if name == "distinct":
        return DistinctDiversity(column, whole(_number(name, words, 0), "l of distinct", least=2))
    if name == "entropy":
        return EntropyDiversity(column, number(_number(name, words, 0), "l of entropy", above=1.0))
    if name == "recursive":
        c = number(_number(name, words, 0), "c of recursive", above=0.0)
        return RecursiveDiversity(column, c, whole(_number(name, words, 1), "l of recursive", least=2))
    if name == "closeness":
        distance: Any = words[1] if len(words) > 1 else "equal"
        if distance not in get_args(Distance):
            raise unknown("distance", distance, get_args(Distance))
        t = number(_number(name, words[:1], 0), "t of closeness", least=0.0, most=1.0)
        return Closeness(column, t, distance)
    return Likeness(
        column, number(_number(name, words, 0), "beta of likeness", above=0.0), name.startswith("enhanced")
    )


def _number(name: str, words: list[str], position: int) -> Any:
    try:
        value = float(words[position])
        expected = _FORMS[name].count(",") + 1
        if len(words) > expected:
            raise IndexError
    except (IndexError, ValueError):
        raise InputError(f"the model {name} is written {_FORMS[name]}") from None
    return int(value) if value.is_integer() else value


def _share(name: str, words: list[str], position: int) -> float:
    return number(_number(name, words, position), f"the share of {name}", above=0.0, most=1.0)
