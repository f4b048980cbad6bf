"""What a measure of risk is given: keys, weights, households and the population, checked before any work."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import InputError, first_record, parameter
from shoal.microdata.columns.attributes import read_attribute
from shoal.microdata.columns.inputs import check_names
from shoal.microdata.columns.roles import guess_roles
from shoal.microdata.risk.households import Households
from shoal.microdata.risk.keys import Coded, code_columns
from shoal.microdata.risk.scenarios import Basis
from shoal.numbers import counted

# More than there are people.
_MOST_PEOPLE = 10_000_000_000
# So many whole numbers are not all different by chance where few lie between them.
_FEWEST_NUMBERED, _MOST_GAPS = 50, 2


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys as numbers: of the sample, and of a file of the population if there is one."""

    sample: list[np.ndarray]
    people: list[np.ndarray] | None
    coded: list[Coded]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many different values each key has."""
        return tuple(one.size for one in self.coded)

    @property
    def missing(self) -> tuple[int, ...]:
        """The number of a missing value of each key."""
        return tuple(one.missing for one in self.coded)

    def with_gaps(self) -> np.ndarray:
        """The keys of the sample, a column each, with −1 for a missing value."""
        columns = np.stack([codes.astype(np.int32) for codes in self.sample], axis=1)
        for position, gone in enumerate(self.missing):
            if gone >= 0:
                columns[columns[:, position] == gone, position] = -1
        return columns


def check_columns(
    data: "nw.DataFrame[Any]",
    quasi: Sequence[str],
    weights: str | None,
    household: str | None,
    unit: str | None = None,
) -> None:
    """An ``InputError`` for columns that are not there, or that are asked to be two things."""
    if not quasi:
        raise InputError(f"name at least one column in {parameter('quasi')}")
    check_names(data, [*quasi, weights, household, unit])
    for position, name in enumerate(quasi):
        if name in quasi[:position]:
            raise InputError(f"column '{name}' is named twice among the quasi-identifiers")
    for what, own in (("sample_weights", weights), ("household", household), ("unit", unit)):
        if own is not None and own in quasi:
            raise InputError(f"column '{own}' cannot be a quasi-identifier and {parameter(what)} at once")
    if weights is not None and weights == household:
        raise InputError(
            f"column '{weights}' cannot be {parameter('sample_weights')} and {parameter('household')} at once"
        )


def read_keys(data: "nw.DataFrame[Any]", quasi: Sequence[str], people: "nw.DataFrame[Any] | None") -> Keys:
    """The keys of the sample and of the population, numbered alike; keys that tell nobody apart are refused."""
    if people is not None:
        lacking = [name for name in quasi if name not in people.columns]
        if lacking:
            raise InputError(f"the population has no column '{lacking[0]}'")
        if len(people) < len(data):
            raise InputError(
                f"the population has {counted(len(people), 'record')}, fewer than the {len(data):,} of the sample"
            )
    sample, everybody, coded = [], [], []
    for name in quasi:
        parts, own = code_columns([data] if people is None else [data, people], name)
        _check_distinguishing(name, parts[0], own)
        sample.append(parts[0])
        everybody += parts[1:]
        coded.append(own)
    return Keys(sample, None if people is None else everybody, coded)


def one_of_each(data: "nw.DataFrame[Any]", unit: str, keys: Sequence[np.ndarray]) -> np.ndarray:
    """1 for the first record of each unit with some keys, 0 for its others; records that do not say whose they are, are one's."""
    whose = code_columns([data], unit)[1].codes
    _, first = np.unique(np.column_stack([whose, *keys]), axis=0, return_index=True)
    counts = np.zeros(len(data), dtype=np.int64)
    counts[first] = 1
    return counts


def _check_distinguishing(name: str, codes: np.ndarray, coded: Coded) -> None:
    """Refuse a key that says nothing of anybody."""
    if coded.missing >= 0 and (codes == coded.missing).all():
        raise InputError(f"column '{name}' has no values; leave it out of {parameter('quasi')}")
    if codes.size > 1 and (codes == codes[0]).all():
        raise InputError(
            f"column '{name}' has one value in all records and tells nobody apart; leave it out of {parameter('quasi')}"
        )


def read_weights(
    data: "nw.DataFrame[Any]", name: str | None, population: int | None, *, people: bool
) -> tuple[np.ndarray, Basis]:
    """How much of the population each record stands for, and where that comes from."""
    size = len(data)
    if people and (name is not None or population is not None):
        superfluous = parameter("sample_weights") if name is not None else parameter("population")
        raise InputError(
            f"{parameter('population_file')} says who is in the population; leave out {superfluous}"
        )
    if population is not None and population < size:
        raise InputError(
            f"{parameter('population')} is {population:,}, fewer than the {counted(size, 'record')} of the sample"
        )
    if name is not None:
        return _own_weights(data, name), "weights"
    if people:
        return np.zeros(size), "population"
    if population is not None:
        return np.full(size, population / size), "fraction"
    return np.ones(size), "sample"


def _own_weights(data: "nw.DataFrame[Any]", name: str) -> np.ndarray:
    if not data[name].dtype.is_numeric():
        raise InputError(f"column '{name}' holds no numbers, so it cannot be {parameter('sample_weights')}")
    attribute = read_attribute(data, name)
    if attribute.missing.any():
        where = first_record(np.flatnonzero(attribute.missing))
        raise InputError(f"the sample weights in '{name}' have gaps: {where}")
    low = np.flatnonzero(attribute.values <= 0)
    if low.size:
        raise InputError(
            f"the sample weights in '{name}' are 0 or negative in {first_record(low)}; a weight says how much of the "
            "population a record stands for"
        )
    if float(attribute.values.sum()) > _MOST_PEOPLE:
        raise InputError(
            f"the sample weights in '{name}' add up to a population of more than {_MOST_PEOPLE:,}, and none is so large; a "
            "weight says how many units a record stands for, so this column holds something else"
        )
    if _numbers_records(attribute.values):
        raise InputError(
            f"'{name}' cannot be sample weights: its values are whole numbers in close order, each once, as numbers of records "
            "are"
        )
    return attribute.values


def _numbers_records(values: np.ndarray) -> bool:
    """Whether whole numbers that are all different lie so close that they number something.

    >>> _numbers_records(np.arange(100.0, 200.0)), _numbers_records(np.arange(100.0) ** 2)
    (True, False)
    """
    if values.size < _FEWEST_NUMBERED or float(np.ptp(values)) > _MOST_GAPS * values.size:
        return False
    return bool((values == np.floor(values)).all()) and np.unique(values).size == values.size


def weight_columns(data: "nw.DataFrame[Any]", but: Collection[str | None]) -> list[str]:
    """Columns that look like sample weights by their names, those in ``but`` left out."""
    return [guess.column for guess in guess_roles(data) if guess.role == "weight" and guess.column not in but]


def read_households(data: "nw.DataFrame[Any]", name: str | None) -> Households | None:
    """The household of every record; an ``InputError`` where it is not known."""
    if name is None:
        return None
    _, coded = code_columns([data], name)
    if coded.missing >= 0:
        where = first_record(np.flatnonzero(coded.codes == coded.missing))
        raise InputError(f"the household in '{name}' is missing in {where}")
    return Households.of(coded.codes, coded.size)
