"""What a careful colleague would point out: columns that give a protected one away, skew, codes and weights kept."""

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from shoal.microdata.attributes import Attribute
from shoal.microdata.choice import is_moment, is_unique_integer, suspicion

# Above this share of explained variance a kept column (or several together) all but repeats the protected one.
_DETERMINES = 0.98
_SKEWED = 2.0
# From this share of different texts on a column tells nearly everybody apart.
_NEARLY_ALL = 0.9
# Dates that fewer records share on average single people out.
_SHARE_A_DATE = 10


def warnings_on_kept(
    frame: nw.DataFrame,
    protected: Sequence[Attribute],
    kept: Sequence[str],
    *,
    unit: str | None = None,
    weights: str | None = None,
    quasi: Sequence[str] = (),
) -> list[str]:
    """Warnings on columns that are released as they are beside the protected ones."""
    found = []
    for name in kept:
        if name == unit:
            found.append(f"column '{name}' is released as it is and says whose record each is; drop it")
        elif name == weights and name not in quasi:
            found.append(
                f"column '{name}' is released as it is, and sample weights may be known of somebody; "
                "count them among the quasi-identifiers or drop them"
            )
        elif _singles_out_by_date(frame, name):
            found.append(
                f"column '{name}' is released as it is and holds dates that few people share; "
                "protect it with --columns, or drop it unless it is meant to be public"
            )
        elif why := _suspicion(frame, name):
            found.append(
                f"column '{name}' is released as it is and looks like {why}; drop it unless it is meant to be public"
            )
    numeric = [name for name in kept if frame.schema[name].is_numeric()]
    for attribute in protected:
        giving = _determined_by(frame, attribute, numeric)
        if giving:
            names = " and ".join(f"'{name}'" for name in giving)
            found.append(
                f"column '{attribute.name}' is protected, but {names}, released as it is, nearly determines it; "
                "protect both together or drop it"
            )
    return found


def _suspicion(frame: nw.DataFrame, name: str) -> str | None:
    kind = frame.schema[name]
    if kind.is_numeric():
        return suspicion(frame, name) or ("a unique integer" if is_unique_integer(frame, name) else None)
    if not isinstance(kind, nw.String | nw.Categorical):
        return None
    present = frame[name].drop_nulls()
    distinct = present.n_unique() if len(present) > 1 else 0
    if distinct and distinct >= _NEARLY_ALL * len(present):
        return f"an identifier ({'' if distinct == len(present) else 'nearly '}every text is unique)"
    return suspicion(frame, name)


def _singles_out_by_date(frame: nw.DataFrame, name: str) -> bool:
    if not is_moment(frame.schema[name]):
        return False
    present = frame[name].drop_nulls()
    return len(present) > 0 and _SHARE_A_DATE * present.n_unique() > len(present)


def _determined_by(frame: nw.DataFrame, attribute: Attribute, numeric: Sequence[str]) -> list[str]:
    known = np.isfinite(attribute.values)
    columns, names = [], []
    for name in numeric:
        values = np.array(frame[name].cast(nw.Float64).to_numpy(), dtype=float)
        pair = np.isfinite(values) & known
        if pair.sum() <= 10 or np.std(values[pair]) == 0 or np.std(attribute.values[pair]) == 0:
            continue
        # Alone, a column is judged by all records that have it, so that gaps in another hide nothing.
        if np.corrcoef(values[pair], attribute.values[pair])[0, 1] ** 2 >= _DETERMINES:
            return [name]
        if 2 * pair.sum() >= known.sum():
            columns.append(values)
            names.append(name)
    if not columns:
        return []
    table = np.column_stack(columns)
    whole = np.isfinite(table).all(axis=1) & known
    if whole.sum() < table.shape[1] + 10 or np.std(attribute.values[whole]) == 0:
        return []
    table, target = table[whole], attribute.values[whole]
    table = (table - table.mean(axis=0)) / np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0)
    target = (target - target.mean()) / target.std()
    coefficients, *_ = np.linalg.lstsq(table, target, rcond=None)
    explained = 1.0 - float(np.mean(np.square(target - table @ coefficients)))
    if explained < _DETERMINES:
        return []
    strongest = np.argsort(-np.abs(coefficients))[:3]
    return [names[place] for place in strongest if abs(coefficients[place]) > 0.05]


def remarks_on_constants(attributes: Sequence[Attribute]) -> list[str]:
    """Columns with one value only."""
    constant = []
    for attribute in attributes:
        present = attribute.values[~attribute.missing]
        if present.size and (present == present[0]).all():
            constant.append(attribute.name)
    return [f"{', '.join(constant)}: constant, kept, and no part of the distances"] if constant else []


def remarks_on_skew(attributes: Sequence[Attribute]) -> list[str]:
    """Columns so skewed that a few records dominate the distances."""
    skewed = []
    for attribute in attributes:
        if attribute.kind == "ordinal":
            continue
        values = attribute.values[~np.isnan(attribute.values)]
        values = values / max(float(np.abs(values).max(initial=0.0)), np.finfo(float).tiny)
        spread = values.std() if values.size else 0.0
        if spread > 0 and abs(float(np.mean(((values - values.mean()) / spread) ** 3))) > _SKEWED:
            skewed.append(attribute.name)
    if not skewed:
        return []
    return [
        f"{', '.join(skewed)}: strongly skewed, so a few large values dominate the distances; "
        "consider logarithms, or --ordinal to group by rank"
    ]
