"""What a careful colleague would point out of a recoding: shared secrets, keys given away by other columns, limits of models."""

from collections.abc import Mapping, Sequence

import narwhals as nw
import numpy as np
import polars as pl

from shoal.errors import parameter
from shoal.microdata.columns.hierarchies.proposal import Proposal
from shoal.microdata.columns.roles import Guess, knowable
from shoal.microdata.columns.units import units_in_words
from shoal.microdata.models.model import Model, ValueModel
from shoal.microdata.recoding.result import Homogeneous
from shoal.numbers import counted as in_words
from shoal.remarks import Remark, danger, note, warning

# A column that takes more values than this share of the records tells records apart, not keys.
_TELLS_APART = 0.5


def homogeneous_classes(
    classes: np.ndarray, units: np.ndarray, columns: Mapping[str, np.ndarray]
) -> tuple[Homogeneous, ...]:
    """Classes of released records in which all share one value, by column.

    >>> homogeneous_classes(np.array([0, 0, 1, 1]), np.arange(4), {"c": np.array([5, 5, 5, 6])})
    (Homogeneous(column='c', classes=1, people=2),)
    """
    found = []
    for name, codes in columns.items():
        table = pl.DataFrame({"class": classes, "unit": units, "value": codes})
        alike = table.group_by("class").agg(
            pl.col("value").n_unique().alias("values"), pl.col("unit").n_unique().alias("people")
        )
        shared = alike.filter(pl.col("values") == 1)
        found.append(Homogeneous(name, shared.height, int(shared["people"].sum() or 0)))
    return tuple(found)


def hierarchy_remark(proposal: Proposal) -> Remark:
    """Which hierarchy a key has, and why."""
    return note("hierarchy", f"{proposal.column}: {proposal.reason}", proposal.column)


def remarks_on_release(
    data: nw.DataFrame,
    guesses: Sequence[Guess],
    quasi: Sequence[str],
    released: Sequence[str],
    coarser: Sequence[str],
    joining: Sequence[str | None],
    counted: Sequence[str | None],
) -> list[Remark]:
    """Columns that are released beside the keys: identifiers, what may be known too, and what gives a key away.

    ``joining`` are units and households, ``counted`` columns that are minded in another way.
    """
    found = []
    beside = [guess for guess in guesses if guess.column in released and guess.column not in quasi]
    identifiers = [guess.column for guess in beside if guess.role == "identifier" or guess.column in joining]
    if identifiers:
        text = (
            f"{_named(identifiers)} {'says' if len(identifiers) == 1 else 'say'} who or whose somebody is and "
            f"{_are(identifiers)} released; "
            f"remove {_them(identifiers)} with {parameter('drop')}"
        )
        found.append(danger("released-identifier", text, *identifiers))
    known = [name for name in knowable(beside) if name not in identifiers and name not in counted]
    if known:
        text = (
            f"{_named(known)} may be known of somebody, too, and {_are(known)} no key: K does not count {_them(known)}; "
            f"add {_them(known)} to {parameter('quasi')}, or remove {_them(known)} with {parameter('drop')}"
        )
        found.append(warning("possible-key", text, *known))
    return found + [
        danger(
            "determined-column",
            f"key '{name}' is made coarser, but column '{other}', released as it is, determines it; "
            f"make '{other}' a key, or remove it with {parameter('drop')}",
            other,
        )
        for name in coarser
        for other in released
        if other not in quasi and _determines(data, other, name)
    ]


def _determines(data: nw.DataFrame, other: str, key: str) -> bool:
    """Whether who knows one column knows the other: an age band beside a birth year."""
    try:
        pairs = pl.DataFrame({"other": data[other].to_polars(), "key": data[key].to_polars()})
    except Exception:
        return False
    if pairs["other"].dtype.is_nested() or pairs["other"].dtype == pl.Object:
        return False
    different = pairs["other"].n_unique()
    if different > _TELLS_APART * pairs.height or pairs["key"].n_unique() <= 1:
        return False
    return pairs.unique().height == different


def remarks_on_wildcards(null: str, strictly: int, matching: int) -> list[Remark]:
    """What it means that blanks match anything."""
    if null == "own":
        return []
    text = (
        f"blanks are counted as if they matched anything: K is {matching} that way, and {strictly} where a blank is a value. "
        "A few wholly blank records would satisfy that count for any data, and records whose values are shown may have fewer "
        "records like theirs"
    )
    return [danger("wildcard", text)]


def remarks_on_homogeneous(homogeneous: Sequence[Homogeneous], unit: str | None) -> list[Remark]:
    """Confidential columns of which some classes share one value."""
    return [
        danger(
            "shared-value",
            f"{one.classes:,} classes with {in_words(one.people, *units_in_words(unit))} share one value of '{one.column}': who "
            f"is known to be in one has no secret there; {parameter('models', 'distinct(2)')} asks for more",
            one.column,
        )
        for one in homogeneous
        if one.classes
    ]


def reference_in_words(released: np.ndarray) -> str:
    """With whose shares closeness and likeness compare those of a class.

    >>> reference_in_words(np.array([True, True, False]))
    'all 3 records of the data, 1 record left out included'
    """
    out = int((~released).sum())
    left_out = f", {in_words(out, 'record')} left out included" if out else ""
    return f"all {in_words(released.size, 'record')} of the data{left_out}"


def remark_on_reference(model: ValueModel, worst: float) -> Remark:
    """What somebody finds who has the release alone."""
    text = (
        f"{model.text} of '{model.column}' holds against the shares in all data; against those in the released records alone it "
        f"does not (the worst class has {worst:.4g}): 'shoal anonymity' measures what holds here with the data as "
        f"{parameter('reference')}"
    )
    return warning("other-reference", text, model.column)


def remarks_on_models(models: Sequence[Model]) -> list[Remark]:
    """What models do not promise."""
    columns = dict.fromkeys(model.column for model in models if isinstance(model, ValueModel))
    text = (
        "diversity and closeness do not hold against somebody who knows how the recoding was chosen: the choice itself depends "
        "on the confidential values"
    )
    return [note("known-choice", text, *columns)] if columns else []


def _named(names: Sequence[str]) -> str:
    listed = ", ".join(f"'{name}'" for name in names[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{'column' if len(names) == 1 else 'columns'} {listed}{more}"


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"
