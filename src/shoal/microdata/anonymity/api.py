"""``shoal.anonymity``: how well the records of a table, or their units, are hidden among each other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.anonymity.vector import AnonymityVector
from shoal.arguments import checked
from shoal.errors import InputError, unknown
from shoal.microdata.anonymity.result import Anonymity, Diversity, Null

if TYPE_CHECKING:
    import polars as pl

    from shoal.anonymity.classes import Classes
    from shoal.anonymity.columns import Columns
    from shoal.microdata.models.model import Model


@checked
def anonymity(
    frame: Any,
    quasi: Iterable[str] | str,
    *,
    unit: str | None = None,
    null: Null = "own",
    confidential: Sequence[str] | str | None = None,
    models: Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    ordinal: Sequence[str] | Mapping[str, Sequence[Any] | None] = (),
    population: Any = None,
    reference: Any = None,
) -> Anonymity:
    """Measure K, the class sizes and models of privacy of a table.

    Two records are alike when they agree in all quasi-identifiers; a class is a set of records that are alike, and K is
    the size of the smallest. Models say what a class should be besides large; each is measured in every class.

    Parameters
    ----------
    frame : DataFrame
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows. An empty one has K = 0.
    quasi : str or iterable of str
        The quasi-identifiers: columns an intruder may know.
    unit : str, optional
        The column that says whose records these are. Sizes then count distinct units: one with several records counts once,
        and all records without a unit count as one. By default records are counted; ``"record"`` declares that each is a unit
        (unless a column has that name), and no column is proposed.
    null : {"own", "wildcard"}, default "own"
        What a missing value (NaN is one, too) means. With ``"own"`` it is a value of its own. With ``"wildcard"`` it
        matches anything: the size of a record's class is then the number of records compatible with it, and classes
        may overlap.
    confidential : sequence of str, or str, optional
        Columns whose diversity within the classes is measured as well, and that models of values are about.
    models : sequence of str, default ()
        Models to measure, each with its limit: ``distinct(3)``, ``entropy(3)``, ``recursive(3,3)``, ``closeness(0.2)``,
        ``closeness(0.15,ordered)``, ``likeness(1)``, ``k-map(10)``, ``presence(0,0.5)``, ``average-risk(0.05)`` … What is about
        values is measured in every confidential column, or in the one it names: ``"income: distinct(3)"``. Not with
        ``null="wildcard"``, where classes overlap.
    hierarchies : mapping of str to hierarchy, optional
        For ``closeness(t,hierarchical)`` what the values of a confidential column become: a rule, the path of a file, rows, a
        frame of rows, or a ``Hierarchy``.
    ordinal : sequence of str, or mapping of str to sequence, default ()
        For ``closeness(t,ordered)`` the confidential columns with an order; of texts each with its values from the lowest on.
    population : DataFrame, optional
        Everybody, a record each, with the same quasi-identifiers told in the same way: for ``k-map`` and ``presence``.
    reference : DataFrame, optional
        The records with whose shares ``closeness`` and ``likeness`` compare those of a class: of a release the data it was made
        from, as ``recode`` does. By default the table itself.

    Returns
    -------
    Anonymity
        ``k``, ``vector`` (how many classes there are of each size), its exact ``rank``, ``people`` by class size,
        ``maximum_risk``, ``average_risk`` and, if asked for, ``diversities`` by confidential column and ``models``: of each the
        ``worst`` class, its ``limit``, ``failing_classes``, ``failing_people`` and whether it ``holds``; ``warnings`` name
        columns that may be the unit. ``report()`` is a page.

    Raises
    ------
    InputError
        A column is not in the frame or named twice, a confidential one has no values, or a model lacks what it needs.

    See Also
    --------
    microaggregate : make every record equal to at least k − 1 others.
    guess_roles : which columns could be quasi-identifiers.
    compare : K of a release beside its loss and risk.

    References
    ----------
    - P. Samarati and L. Sweeney, Protecting privacy when disclosing information: k-anonymity and its enforcement through
      generalization and suppression, 1998.
    - A. Machanavajjhala and others, l-diversity: privacy beyond k-anonymity, ICDE 2006.
    - N. Li and others, t-closeness, ICDE 2007; J. Cao and P. Karras, β-likeness, VLDB 2012; M. E. Nergiz and others,
      δ-presence, SIGMOD 2007.
    - R. J. Cabana Ramírez, master's thesis, Complutense University of Madrid, 2016 (anonymity vectors and their rank).

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"zip": [1, 1, 2, 2, None], "sex": ["f", "f", "m", "m", "m"]})
    >>> result = anonymity(people, ["zip", "sex"])
    >>> result
    Anonymity(records=5, classes=3, k=1, average_risk=0.6, quasi=('zip', 'sex'), unit=None, null='own')
    >>> result.k, str(result.vector), result.rank, result.people
    (1, '(1, 2)', 3, {1: 1, 2: 4})
    >>> anonymity(people, ["zip", "sex"], null="wildcard").k
    2
    >>> ill = people.with_columns(illness=pl.Series(["flu", "flu", "flu", "gout", "gout"]))
    >>> found = anonymity(ill, "sex", confidential="illness", models=["distinct(2)"]).models[0]
    >>> found.worst, found.failing_classes, found.failing_people, found.holds
    (1.0, 1, 2, False)
    """
    names = _sequence(quasi)
    if null not in ("own", "wildcard"):
        raise unknown("meaning of missing values", str(null), ("own", "wildcard"))
    secrets = _sequence(() if confidential is None else confidential, "confidential columns")
    for place, name in enumerate(secrets):
        if name in secrets[:place]:
            raise InputError(f"column '{name}' is named twice among the confidential columns")

    from shoal.anonymity.classes import find_classes
    from shoal.anonymity.columns import read_any_frame, read_columns
    from shoal.microdata.columns.orders import read_orders
    from shoal.microdata.columns.units import unit_column, unit_remarks

    orders = read_orders(ordinal)
    # Models take longer to load than K of a small table to count.
    demands: list[Model] = []
    if models or hierarchies or orders or population is not None or reference is not None:
        from shoal.microdata.anonymity.models_met import check_models, check_reference, models_met
        from shoal.microdata.models.reading import read_models

        demands = read_models(models, secrets, population)
        check_reference(demands, reference)
        check_models(demands, hierarchies or {}, orders, null)
    wrapped, declared = read_any_frame(frame), unit
    unit = unit_column(unit, wrapped.collect_schema().names())
    # Every confidential column is grouped with the keys on its own.
    every = [read_columns(frame, names, unit, name) for name in secrets or (None,)]
    columns, *further = every
    classes = find_classes(columns, null)
    tables = [classes.table, *[find_classes(more, null).table for more in further]]
    result = replace(
        _measured(columns, classes, unit, null),
        diversities=tuple(_diversity(name, table) for name, table in zip(secrets, tables, strict=False)),
        remarks=tuple(unit_remarks(wrapped, declared, but=(*names, *secrets))),
    )
    if not demands:
        return result
    met = models_met(
        frame,
        names,
        demands,
        unit=unit,
        hierarchies=hierarchies or {},
        orders=orders,
        population=population,
        reference=reference,
        average_risk=result.average_risk,
    )
    return replace(result, models=met)


def count_classes(
    frame: Any, quasi: Sequence[str], *, unit: str | None = None, null: Null = "own"
) -> Anonymity:
    """K and the classes alone, for those who have looked at all other columns themselves.

    >>> import polars as pl
    >>> count_classes(pl.DataFrame({"zip": [1, 2, 2]}), ["zip"]).k
    1
    """
    from shoal.anonymity.classes import find_classes
    from shoal.anonymity.columns import read_columns

    columns = read_columns(frame, _sequence(quasi), unit, None)
    return _measured(columns, find_classes(columns, null), unit, null)


def anonymity_of_counts(frame: "pl.DataFrame", quasi: Sequence[str], count: str, null: Null) -> Anonymity:
    """The same measure where each row stands for as many records as its ``count`` says.

    >>> import polars as pl
    >>> counted = pl.DataFrame({"zip": [1, 2, 2], "n": [5, 2, 1]})
    >>> anonymity_of_counts(counted, ["zip"], "n", "own").people
    {3: 3, 5: 5}
    """
    from shoal.anonymity.classes import find_classes
    from shoal.anonymity.columns import read_columns

    columns = read_columns(frame, _sequence(quasi), None, None, count)
    return _measured(columns, find_classes(columns, null), None, null)


def _measured(columns: "Columns", classes: "Classes", unit: str | None, null: Null) -> Anonymity:
    from shoal.anonymity.classes import find_classes

    return Anonymity(
        quasi=tuple(columns.names[key] for key in columns.keys),
        unit=unit,
        null=null,
        records=int(classes.table["records"].sum()),
        units=classes.units,
        vector=AnonymityVector(dict(classes.table["size"].value_counts().iter_rows())),
        people=dict(classes.people.iter_rows()),
        _k_own=None if null == "own" else min(find_classes(columns, "own").table["size"], default=0),
        _smallest=classes.listing(columns),
    )


def _sequence(names: Iterable[str] | str, what: str = "quasi-identifiers") -> tuple[str, ...]:
    if isinstance(names, str):
        return (names,)
    try:
        return tuple(names)
    except TypeError:
        raise InputError(f"{what} are a list of column names, not {type(names).__name__}") from None


def _diversity(column: str, table: "pl.DataFrame") -> Diversity:
    distinct, entropy = table["distinct"].drop_nulls().to_list(), table["entropy"].drop_nulls().to_list()
    if table.height and not distinct:
        raise InputError(f"the confidential column '{column}' has no values")
    return Diversity(column, min(distinct, default=0), min(entropy, default=0.0))
