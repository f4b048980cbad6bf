"""``shoal.perturb``: from a frame to one in which values were changed by chance."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals as nw
import numpy as np

from shoal.arguments import checked
from shoal.errors import InputError, parameter
from shoal.exact_names import without
from shoal.microdata.columns.column_choice import choose_columns
from shoal.microdata.columns.hierarchies.hierarchy import read_values
from shoal.microdata.columns.identities import record_identities
from shoal.microdata.columns.inputs import as_names, check_choice, check_names, read_frame
from shoal.microdata.columns.orders import Orders, read_orders
from shoal.microdata.columns.record_links import RecordLinks, released_numbers
from shoal.microdata.columns.sorting import sorted_by_release
from shoal.microdata.perturbation.external_matrix import ExternalMatrix
from shoal.microdata.perturbation.forbidden import read_forbidden
from shoal.microdata.perturbation.inputs import does_nothing
from shoal.microdata.perturbation.methods import METHODS
from shoal.microdata.perturbation.problem import Problem
from shoal.microdata.perturbation.promises.untouched import GapsStay, OthersUntouched, same_values
from shoal.microdata.perturbation.release import ReleaseCheck, changed_columns
from shoal.microdata.perturbation.result import Perturbed
from shoal.microdata.perturbation.unchanged_columns import warnings_on_unchanged
from shoal.remarks import danger, note
from shoal.runtime.secrets import Secret

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

Order = Literal["keep", "sorted"]


@checked
def perturb(
    frame: "IntoDataFrame",
    method: str,
    columns: Sequence[str] | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    by: Sequence[str] = (),
    ordinal: Sequence[str] | Orders = (),
    forbid: Any = (),
    matrix: Any = None,
    household: str | None = None,
    regions: Sequence[str] = (),
    quasi: Sequence[str] = (),
    key: str | None = None,
    drop: Sequence[str] = (),
    order: Order = "keep",
    secret: Any = None,
    seed: int | None = None,
) -> Perturbed:
    """Change values by chance, so that what is seen in a record need not be true.

    The randomness comes from a secret of the operating system. Whatever the method promises was verified on the released frame
    by checks that share nothing with it.

    Parameters
    ----------
    frame : DataFrame
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows.
    method : {"pram", "rank-swap", "record-swap", "noise", "shuffle"}
        How to change them; ``shoal perturb --method list`` shows all.
    columns : sequence of str, optional
        The columns to change. PRAM needs them named; methods for numbers take all that measure something.
    options : mapping, optional
        Options of the method by name, such as ``{"change": 0.1}``.
    by : sequence of str, default ()
        Columns that form strata; values change within each.
    ordinal : sequence of str, or mapping of str to sequence, default ()
        Columns whose order counts, for swapping ranks; of texts each with its values from the lowest on.
    forbid : str or mapping, or sequence of such, default ()
        Combinations that cannot be, such as ``"age=0..14,marital=widowed"`` or ``{"age": (0, 14), "marital": "widowed"}``.
    matrix : path, optional
        A transition matrix of PRAM for one column: a CSV file with a row and a column for each category.
    household : str, optional
        The column that says which records are of one household, for swapping households.
    regions : sequence of str, default ()
        The columns of the place, from the coarsest to the finest, that swapped households exchange.
    quasi : sequence of str, default ()
        What an intruder may know, by which households at risk are found.
    key : str, optional
        A column that tells the records apart. What is drawn for a record is a function of the secret and of its key, or else of
        all its values: the order of the file does not matter.
    drop : sequence of str, default ()
        Columns that are not released.
    order : {"keep", "sorted"}, default "keep"
        Keep the order of the records, by which they can be linked, or sort by what is released.
    secret : Secret or path, optional
        The secret of an earlier release, to repeat it. By default a new one, which the result holds.
    seed : int, optional
        A seed in place of a secret, for studies and tests: such a release can be undone by guessing and is not for publication.

    Returns
    -------
    Perturbed
        ``frame`` (of the kind that came in), ``changed`` by column, ``promises`` and what was measured of each, ``facts``,
        ``warnings``; internal are ``secret``, ``details`` and ``record_links``. ``report()`` is a page, ``verify(frame)`` checks
        what was written and read back.

    Raises
    ------
    InputError
        Before any work: a column is missing or cannot be changed, an option is unknown or does not belong to the method.

    See Also
    --------
    compare : what a release lost and what an intruder still finds; perturbation promises no k.
    recode, microaggregate : protection that does not depend on chance.

    References
    ----------
    - J. M. Gouweleeuw and others, Post randomisation for statistical disclosure control, Journal of Official Statistics 14(4),
      1998.
    - R. Moore, Controlled data swapping techniques for masking public use microdata sets, U.S. Bureau of the Census, 1996.
    - K. Muralidhar and R. Sarathy, Data shuffling, Management Science 52(5), 2006.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> people = pl.DataFrame({"job": ["clerk", "nurse", "smith", "clerk"] * 25, "sex": list("fm") * 50})
    >>> safe = shoal.perturb(people, "pram", "job", by="sex", options={"change": 0.3}, seed=1)
    >>> safe.changed["job"] > 0, safe.for_release
    (True, False)
    """
    chosen = METHODS[method]
    chosen.configure(options)
    check_choice("order", order, get_args(Order))
    orders = read_orders(ordinal)
    given = {
        "columns": as_names(columns) if columns is not None else None,
        "ordinal": list(orders),
        "by": as_names(by),
        "household": household,
        "regions": as_names(regions),
        "quasi": as_names(quasi),
        "forbid": [forbid] if isinstance(forbid, str | Mapping) else list(forbid),
        "matrix": matrix,
    }
    _check_taken(method, given)
    data = read_frame(frame)
    dropped = as_names(drop)
    named = [] if given["columns"] == ["*"] else given["columns"] or []
    check_names(data, [*named, *given["by"], *given["regions"], *given["quasi"], *orders])
    check_names(data, [household, key, *dropped])
    if len(data) == 0:
        raise InputError("there are no records")
    for name, kind in data.schema.items():
        if kind.is_nested() and name not in dropped:
            raise InputError(f"column '{name}' holds lists or records; remove it with {parameter('drop')}")
    # What predicts is released as it is, so it is among the columns to change only where somebody names it there.
    predicting = getattr(chosen.configure(options), "predictors", ())
    changing = [name for name in orders if name not in predicting]
    names = _columns(data, method, given, changing, [*dropped, *([key] if key else []), *predicting])
    _check_apart(names, given, dropped)
    hidden = _secret(secret, seed)
    strata, values = _strata(data, given["by"])
    problem = Problem(
        data=data,
        columns=names,
        strata=strata,
        stratum_values=values,
        identities=record_identities(data, hidden, key),
        orders=orders,
        household=household,
        regions=tuple(given["regions"]),
        quasi=tuple(given["quasi"]),
        forbidden=read_forbidden(given["forbid"]),
        matrix=None if matrix is None else ExternalMatrix.read(matrix),
    )
    change = chosen.solve(problem, options, secret=_for_these(hidden, method, options, problem, given["by"]))
    released = without(data.with_columns(*changed_columns(problem, change)), dropped)
    changed = {
        name: int((~same_values(data[name], released[name])).sum())
        for name in change.columns
        if name not in dropped
    }
    places = np.arange(len(data))
    remarks = [
        *([_STUDY] if hidden.of_study else []),
        *change.remarks,
        *warnings_on_unchanged(problem, change.columns, dropped, key),
    ]
    if order == "sorted":
        released, places = sorted_by_release(released, names)
    else:
        remarks.append(
            note(
                "original-order",
                "records are in their original order, by which they can be linked; "
                f"{parameter('order', 'sorted')} removes that",
            )
        )
    promises = (OthersUntouched(change.columns, tuple(dropped)), GapsStay(change.columns), *change.promises)
    check = ReleaseCheck(data, places, tuple(dropped), promises)
    return Perturbed(
        frame=released.to_native(),
        method=method,
        columns=change.columns,
        records=len(data),
        changed=changed,
        promises=promises,
        outcomes=check(released),
        facts=change.facts,
        remarks=tuple(remarks),
        record_links=RecordLinks.of(
            [True] * len(data), places.tolist(), released_numbers(released, released.columns)
        ),
        strata=values,
        secret=hidden,
        details=change.details,
        _check=check,
    )


_STUDY = danger(
    "guessable-seed",
    "not for release: the randomness comes from a seed, which can be guessed; leave the seed out to draw from a secret",
)


def _check_taken(method: str, inputs: Mapping[str, Any]) -> None:
    """No input may silently do nothing."""
    unused = does_nothing(method)
    for name, value in inputs.items():
        if value not in (None, [], ()) and name in unused:
            raise InputError(f"{parameter(name)} does nothing with method '{method}'; leave it out")


def _columns(
    data: "nw.DataFrame[Any]",
    method: str,
    inputs: Mapping[str, Any],
    orders: Sequence[str],
    not_these: Sequence[str],
) -> tuple[str, ...]:
    traits = METHODS[method].traits
    if "households" in traits:
        return tuple(inputs["regions"])
    asked = inputs["columns"]
    if asked is None and "categories" in traits:
        raise InputError(f"name the columns to change with {parameter('columns')}")
    if asked is None and orders:
        return tuple(orders)
    return choose_columns(data, asked, not_these=[*not_these, *inputs["by"]]).columns


def _check_apart(names: Sequence[str], inputs: Mapping[str, Any], dropped: Sequence[str]) -> None:
    for name in names:
        if name in inputs["by"]:
            raise InputError(f"column '{name}' cannot be changed and form the strata at once")
        if name in dropped:
            raise InputError(f"column '{name}' cannot be changed and dropped at once")


def _secret(secret: Any, seed: int | None) -> Secret:
    if secret is not None and seed is not None:
        raise InputError(f"{parameter('secret')} and {parameter('seed')} do not go together")
    if seed is not None:
        return Secret.of_seed(seed)
    return Secret.of(secret)


def _for_these(
    secret: Secret, method: str, options: Mapping[str, Any] | None, problem: Problem, by: Sequence[str]
) -> Secret:
    """What these settings draw from.

    Were the same numbers drawn for noise of 10 and of 20 %, two releases by one secret would give every value away.
    """
    amounts = METHODS[method].configure(options).model_dump_json()
    matrix = "" if problem.matrix is None else problem.matrix.fingerprint
    return secret.within("perturb", method, amounts, matrix, *sorted(by))


def _strata(
    data: "nw.DataFrame[Any]", by: Sequence[str]
) -> tuple[np.ndarray, tuple[tuple[str | None, ...], ...]]:
    """The stratum of every record, and the values of each."""
    if not by:
        return np.zeros(len(data), dtype=np.int64), ((),)
    read = [read_values(data[name]) for name in by]
    codes = np.stack([values.codes for values in read], axis=1)
    different, numbers = np.unique(codes, axis=0, return_inverse=True)
    labels = [tuple(v.texts[code] for v, code in zip(read, row, strict=True)) for row in different.tolist()]
    return numbers.reshape(-1).astype(np.int64), tuple(labels)
