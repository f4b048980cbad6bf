"""What a careful colleague would point out: who is singled out, columns that give a protected one away, skew."""

from collections.abc import Mapping, Sequence

import narwhals as nw
import numpy as np

from shoal.errors import parameter
from shoal.microdata.anonymity.result import Anonymity
from shoal.microdata.columns.attributes import Attribute
from shoal.microdata.columns.released_as_is import NAMED, listed, one_remark, warnings_on_joining
from shoal.microdata.columns.roles import Guess
from shoal.microdata.columns.units import units_in_words
from shoal.numbers import counted
from shoal.remarks import Remark, danger, note

# Above this share of explained variance a kept column (or several together) all but repeats the protected one.
_DETERMINES = 0.98
# A column whose part is less than this share of the largest one is not needed.
_TAKES_PART = 0.05
_TOGETHER = 200
_SKEWED = 2.0
# Dates and amounts that fewer records share on average single people out.
_SHARED_BY = 10
# What to do with a column, or with several.
_UNLESS_PUBLIC = "drop {it} unless {it is} meant to be public"
#: What who chooses medians should know.
MEDIAN_TELLS = note(
    "median-values",
    "a median is the exact value of one record of its group, or lies between two; means belong to nobody",
)


def warnings_on_identity(
    guesses: Sequence[Guess], unchanged: Sequence[str], unit: str | None = None
) -> list[Remark]:
    """The worst that can be released as it is: who somebody is."""
    remarks = []
    if unit is not None and unit in unchanged:
        text = f"column '{unit}' is released as it is and says whose record each is; drop it"
        remarks.append(danger("released-unit", text, unit))
    released = set(unchanged)
    kinds = {
        guess.column: guess.kind
        if guess.kind.startswith("an identifier")
        else f"an identifier ({guess.kind})"
        for guess in guesses
        if guess.column in released and guess.column != unit and guess.role == "identifier"
    }
    alone = f"looks like {next(iter(kinds.values()), '')}"
    words = (alone, "look like identifiers", _UNLESS_PUBLIC)
    return remarks + one_remark("released-identifier", "danger", list(kinds), *words)


def warnings_on_unchanged(
    frame: nw.DataFrame,
    guesses: Sequence[Guess],
    protected: Sequence[Attribute],
    unchanged: Sequence[str],
    *,
    unit: str | None = None,
    weights: str | None = None,
    quasi: Sequence[str] = (),
    shared: Mapping[str, float] | None = None,
) -> list[Remark]:
    """Warnings on columns that are released as they are beside the protected ones, one line for each kind.

    ``quasi`` are the columns that somebody has named as known; nobody needs to be told of them. Where the frame is only some
    of the records, ``shared`` says how many of all have a value of each column on average.
    """
    released, named = set(unchanged), set(quasi)
    open_to = [guess for guess in guesses if guess.column in released and guess.column != unit]
    unnamed = [guess for guess in open_to if guess.column not in named]
    if shared is None:
        rare = [guess for guess in unnamed if _hardly_shared(frame, guess.column)]
    else:
        rare = [guess for guess in unnamed if shared.get(guess.column, _SHARED_BY) < _SHARED_BY]
    dates = [guess.column for guess in rare if guess.kind == "a date"]
    amounts = [guess.column for guess in rare if guess.role == "measurement" and not guess.fault]
    households = [guess.column for guess in open_to if guess.role == "household"]
    weighing = [guess.column for guess in unnamed if guess.column == weights or guess.role == "weight"]
    few = "that few records share"
    protect = f"protect {{it}} with {parameter('columns')}, or {_UNLESS_PUBLIC}"
    exact = (f"holds exact numbers {few}", f"hold exact numbers {few}", protect)
    return [
        *_warnings_on_faults(open_to),
        *_warnings_on_determined(frame, protected, [guess.column for guess in open_to]),
        *one_remark("rare-date", "danger", dates, f"holds dates {few}", f"hold dates {few}", protect),
        *one_remark("rare-number", "danger", amounts, *exact),
        *warnings_on_joining(households, weighing),
    ]


def warnings_on_k(known: Anonymity, k: int, k_protected: int, unchanged: Sequence[str]) -> list[Remark]:
    """That K of the release is below k, how many records or units that concerns, and which columns make it so."""
    if known.k >= k:
        return []
    by_unit = f" by distinct '{known.unit}'" if known.unit else ""
    units = units_in_words(known.unit is not None)[1]
    below, more = known.below(k), len(known.quasi) - NAMED
    text = (
        f"K of the release over {', '.join(known.quasi[:NAMED])}"
        + (f" and {counted(more, 'more column')}" if more > 0 else "")
        + f"{by_unit} is {known.k}, below k = {k}: {below:,} of {known.units:,} {units} "
        + ("is in a smaller class" if below == 1 else "are in smaller classes")
    )
    if k_protected > known.k:
        text += f"; over the protected columns alone K is {k_protected}"
        released = set(unchanged)
        beside = [name for name in known.quasi if name in released]
        if beside:
            text += f", but {listed(beside)} may be known, too"
    return [danger("k-below-required", text, *known.quasi)]


def _warnings_on_faults(open_to: Sequence[Guess]) -> list[Remark]:
    """Columns meant to be numbers that could not be protected, and where to look for what is wrong."""
    faulty = [guess for guess in open_to if guess.fault]
    what = "correct or empty what stands there"
    if not faulty:
        return []
    if len(faulty) == 1:
        text = (
            f"column '{faulty[0].column}' is numbers but for {faulty[0].fault}, so it was not protected and is released as it "
            f"is; {what}, or drop the column"
        )
    else:
        faults = [f"'{guess.column}' ({guess.fault})" for guess in faulty[:NAMED]]
        more = f" and {len(faulty) - NAMED} more" if len(faulty) > NAMED else ""
        text = (
            f"{len(faulty)} columns are numbers but for a few records, so they were not protected and are released as they "
            f"are: {', '.join(faults)}{more}; {what}, or drop the columns"
        )
    return [danger("faulty-numbers", text, *(guess.column for guess in faulty))]


def _hardly_shared(frame: nw.DataFrame, name: str) -> bool:
    present = frame[name].drop_nulls()
    return len(present) > 0 and _SHARED_BY * present.n_unique() > len(present)


def _warnings_on_determined(
    frame: nw.DataFrame, protected: Sequence[Attribute], unchanged: Sequence[str]
) -> list[Remark]:
    """The protected columns that follow from others, with all of these: one that nobody drops gives them away."""
    kinds = frame.schema
    # Of records that are elsewhere lists and structures were not looked at.
    numeric = [name for name in unchanged if name in kinds and kinds[name].is_numeric()]
    # The numbers of categories without an order say nothing: those are not looked at.
    with_order = [attribute for attribute in protected if attribute.kind != "nominal"]
    given_away = [(attribute.name, _determined_by(frame, attribute, numeric)) for attribute in with_order]
    given_away = [(name, by) for name, by in given_away if by]
    if not given_away:
        return []
    if len(given_away) == 1:
        [(name, by)] = given_away
        words = (
            ("released as it is, nearly determines it; protect both together or drop it")
            if len(by) == 1
            else ("released as they are, nearly determine it; protect all together or drop them")
        )
        text = f"column '{name}' is protected, but {listed(by, len(by))}, {words}"
    else:
        pairs = [f"'{name}' by {listed(by, len(by))}" for name, by in given_away]
        text = (
            f"{len(pairs)} protected columns are nearly determined by others that are released as they are: "
            f"{', '.join(pairs)}; protect them together or drop the others"
        )
    return [danger("determined-column", text, *dict.fromkeys(name for _, by in given_away for name in by))]


def _within_one(values: np.ndarray) -> np.ndarray:
    """The values divided by the largest, so that none is too large or too small to be squared."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    return values / largest if largest > 0 else values


def _determined_by(frame: nw.DataFrame, attribute: Attribute, numeric: Sequence[str]) -> list[str]:
    known = np.isfinite(attribute.values)
    own = _within_one(attribute.values)
    columns, names, shares = [], [], []
    alone = []
    for name in numeric:
        values = _within_one(np.array(frame[name].cast(nw.Float64).to_numpy(), dtype=float))
        pair = np.isfinite(values) & known
        if pair.sum() <= 10 or np.std(values[pair]) == 0 or np.std(own[pair]) == 0:
            continue
        # Alone, a column is judged by all records that have it, so that gaps in another hide nothing.
        share = float(np.corrcoef(values[pair], own[pair])[0, 1] ** 2)
        if share >= _DETERMINES:
            alone.append(name)
        elif 2 * pair.sum() >= known.sum():
            columns.append(values)
            names.append(name)
            shares.append(share)
    return [*alone, *_determined_together(own, known, columns, names, shares)]


def _determined_together(
    own: np.ndarray,
    known: np.ndarray,
    columns: Sequence[np.ndarray],
    names: Sequence[str],
    shares: Sequence[float],
) -> list[str]:
    """The columns of which none determines another alone, that do so together; ``shares`` is how much each explains."""
    if not columns:
        return []
    # Several together cost the square of their number: of very many, those that alone tell most.
    telling = sorted(np.argsort(-np.array(shares), kind="stable")[:_TOGETHER].tolist())
    columns, names = [columns[place] for place in telling], [names[place] for place in telling]
    table = np.column_stack(columns)
    whole = np.isfinite(table).all(axis=1) & known
    if whole.sum() < table.shape[1] + 10 or np.std(own[whole]) == 0:
        return []
    table, target = table[whole], own[whole]
    table = (table - table.mean(axis=0)) / np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0)
    target = (target - target.mean()) / target.std()
    coefficients, *_ = np.linalg.lstsq(table, target, rcond=None)
    explained = 1.0 - float(np.mean(np.square(target - table @ coefficients)))
    if explained < _DETERMINES:
        return []
    strongest = np.argsort(-np.abs(coefficients), kind="stable")
    least = _TAKES_PART * np.abs(coefficients).max()
    return [names[place] for place in strongest if abs(coefficients[place]) > least]


def remarks_on_constants(attributes: Sequence[Attribute]) -> list[Remark]:
    """Columns with one value only."""
    constant = []
    for attribute in attributes:
        present = attribute.values[~attribute.missing]
        if present.size and (present == present[0]).all():
            constant.append(attribute.name)
    text = f"{', '.join(constant)}: constant, kept, and no part of the distances"
    return [note("constant-column", text, *constant)] if constant else []


def remarks_on_skew(attributes: Sequence[Attribute]) -> list[Remark]:
    """Columns so skewed that a few records dominate the distances."""
    skewed = []
    for attribute in attributes:
        if attribute.categorical:
            continue
        values = attribute.values[~np.isnan(attribute.values)]
        values = values / max(float(np.abs(values).max(initial=0.0)), np.finfo(float).tiny)
        spread = values.std() if values.size else 0.0
        away = (values - values.mean()) / spread if spread > 0 else values
        if spread > 0 and abs(float(np.mean(away * away * away))) > _SKEWED:
            skewed.append(attribute.name)
    if not skewed:
        return []
    text = (
        f"{', '.join(skewed)}: strongly skewed, so a few large values dominate the distances; "
        f"consider logarithms, or {parameter('ordinal')} to group by rank"
    )
    return [note("skewed-column", text, *skewed)]
