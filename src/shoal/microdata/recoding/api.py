"""``shoal.recode``: from a frame to one in which every class has at least k records, or units."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from shoal.arguments import checked
from shoal.microdata.columns.orders import Orders
from shoal.microdata.recoding.assembly import assemble
from shoal.microdata.recoding.inputs import Inputs
from shoal.microdata.recoding.methods import METHODS
from shoal.microdata.recoding.problem import Measure
from shoal.microdata.recoding.result import Recoded
from shoal.microdata.recoding.settings import RecodeSettings
from shoal.microdata.recoding.strata import recoded_parts
from shoal.runtime import Budget, Observer, silent
from shoal.runtime.observer import Witness
from shoal.settings import called_with

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

Order = Literal["keep", "sorted"]


@checked
def recode(
    frame: "IntoDataFrame",
    quasi: Sequence[str],
    k: int = 5,
    *,
    hierarchies: Mapping[str, Any] | None = None,
    ordinal: Sequence[str] | Orders = (),
    suppress: float = 0.0,
    keep_suppressed: bool = False,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    measure: Measure = "loss",
    weights: Mapping[str, float] | None = None,
    stay: Sequence[str] = (),
    levels: Mapping[str, int] | None = None,
    uniform: bool = False,
    apply: Any = None,
    models: Sequence[str] = (),
    confidential: Sequence[str] = (),
    population: Any = None,
    unit: str | None = None,
    household: str | None = None,
    null: Literal["own", "wildcard"] = "own",
    by: Sequence[str] = (),
    sample_weights: str | None = None,
    average: Sequence[str] = (),
    drop: Sequence[str] = (),
    order: Order = "keep",
    roles: Mapping[str, str] | None = None,
    explain: bool = False,
    budget: Budget | None = None,
    seed: int | None = 0,
    secret: Any = None,
    threads: int | None = None,
    observer: Observer = silent,
) -> Recoded:
    """Make keys coarser, or blank them, until every class has at least k records, or units, and prove how little that costs.

    Every key has a hierarchy: what each value becomes, level by level, up to one label that says nothing. Where none is given
    one is built, and a note says which. The result was verified by an independent check.

    Parameters
    ----------
    frame : DataFrame
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows.
    quasi : sequence of str
        The keys: columns an intruder may know.
    k : int, default 5
        The least size of a class: records, or units, that share their keys.
    hierarchies : mapping of str to hierarchy, optional
        What the values of a key become: a rule such as ``"intervals(5,10,20)"``, the path of a file as ARX writes it, rows,
        a frame of rows, or a ``Hierarchy``. Columns that are not named get what ``propose_hierarchies`` proposes.
    ordinal : sequence of str, or mapping of str to sequence, default ()
        Keys whose values have an order; of texts each with its values from the lowest on.
    suppress : float, default 0
        The largest share of records, or units, that may be left out of the release.
    keep_suppressed : bool, default False
        Release those who are left out with all keys blank; together they must meet every demand.
    method : str, default "auto"
        How to recode; ``shoal recode --method list`` shows all.
    options : mapping, optional
        Options of the method by name.
    measure : {"loss", "entropy", "discernibility", "class-size", "cells"}, default "loss"
        What is to be as small as possible.
    weights : mapping of str to float, optional
        How important a key is; 1 by default.
    stay : sequence of str, default ()
        Keys that must stay as they are.
    levels : mapping of str to int, optional
        Recode by hand: keys named here are released at these levels, the others as they are. What is then still unsafe is
        left out (``method="lattice"``), blanked, or made coarser in groups (``method="local"``).
    uniform : bool, default False
        Release every key at one level in all records, or blank. Without it the default method may leave values at mixed levels.
    apply : AppliedMapping or path, optional
        Apply the recoding of an earlier release: its ``mapping``, or the file it was written to.
    models : sequence of str, default ()
        Further demands on every class: ``distinct(3)``, ``entropy(3)``, ``recursive(3,3)``, ``closeness(0.2)``,
        ``closeness(0.15,ordered)``, ``likeness(1)``, ``k-map(10)``, ``presence(0,0.5)``, ``average-risk(0.05)`` …
    confidential : sequence of str, default ()
        The columns that models of values are about, each on its own.
    population : DataFrame, optional
        Everybody, with the same keys: for ``k-map`` and ``presence``.
    unit : str, optional
        The column that says whose records these are; k counts distinct units. ``"record"`` declares that each record is one.
    household : str, optional
        The column that says which records are of one household: what its members share is told of all alike and blanked for
        nobody alone, and whole households of the same composition are counted, too.
    null : {"own", "wildcard"}, default "own"
        A blank is a value of its own, or matches anything when k is counted, as in sdcMicro: fewer values are blanked, and
        records are protected less. A missing value of the data is a value of its own in any case.
    by : sequence of str, default ()
        Columns that form strata, each recoded on its own; k holds within each.
    sample_weights : str, optional
        The column that says how much of the population a record stands for: margins in the report are weighted by it.
    average : sequence of str, default ()
        Numeric columns that are microaggregated within the classes, in groups of at least k records.
    drop : sequence of str, default ()
        Columns that are not released.
    order : {"keep", "sorted"}, default "keep"
        Keep the order of the records, by which they can be linked, or sort by what is released.
    roles : mapping of str to str, optional
        Corrections of the roles that ``guess_roles`` guesses, by column.
    explain : bool, default False
        Look also at what one level finer or coarser would cost, and at the front of loss against what is left out.
    budget : Budget, optional
        How long to search. By default the usual amount of work.
    seed : int or None, default 0
        Where the search begins; ``None`` begins from the system's entropy.
    secret : Secret or path, optional
        The secret of an earlier release, to repeat it. Which of several records with the same keys loses a value is drawn from
        it; loss, K and counts do not depend on it. By default a new one, which the result holds.
    threads : int, optional
        How many cores to use; all of them by default. They do not change the result.
    observer : callable, optional
        Called with a ``Progress`` now and then while the search goes on.

    Returns
    -------
    Recoded
        ``frame`` (of the kind that came in), ``levels``, ``k_release``, ``loss`` and its proved lower ``bound``, ``optimal``,
        ``suppressed_records``, ``suppressed_cells``, ``losses`` by all measures, ``mapping``, ``notes`` and ``warnings``;
        ``report()`` is a page, ``verify(frame)`` checks what was written and read back.

    Raises
    ------
    InputError
        Before any work: a column is missing, a hierarchy does not cover the values, k is above the number of records (or
        units), a model lacks its column, an option is unknown.
    Infeasible
        No recoding meets the demands; the message says how near one can get.

    See Also
    --------
    propose_hierarchies : the hierarchies that are used where none is given.
    anonymity : measure K without changing anything.
    microaggregate : protect numbers by averages.

    References
    ----------
    - P. Samarati, Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 2001.
    - F. Kohlmayer and others, Flash: efficient, stable and optimal k-anonymity, PASSAT 2012.
    - A. Machanavajjhala and others, l-diversity, ICDE 2006; N. Li and others, t-closeness, ICDE 2007.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> people = pl.DataFrame({"age": [31, 38, 47, 44, 33], "sex": list("ffmmf")})
    >>> safe = shoal.recode(people, ["age", "sex"], k=2, method="lattice", hierarchies={"age": "intervals(10,20)"})
    >>> safe.frame.rows()[0], safe.k_release, safe.optimal
    (('30-39', 'f'), 2, True)
    """
    METHODS[method].configure(options)
    inputs = Inputs.read(frame, called_with(RecodeSettings, locals()), roles or {})
    witness = Witness(observer)
    parts = recoded_parts(inputs, budget or Budget(), witness)
    witness.verification()
    return assemble(inputs, parts)
