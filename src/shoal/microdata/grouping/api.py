"""``shoal.group_attributes``: which columns to microaggregate together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals as nw
import numpy as np

from shoal.arguments import checked
from shoal.errors import InputError, parameter
from shoal.microdata.columns.attributes import read_attribute
from shoal.microdata.columns.column_choice import choose_columns
from shoal.microdata.columns.inputs import check_choice, check_k, read_frame
from shoal.microdata.grouping.bounds import lower_bound
from shoal.microdata.grouping.evaluator import score_from_scratch
from shoal.microdata.grouping.methods import METHODS
from shoal.microdata.grouping.problem import GroupingProblem, Scoring, Variant, canonical, groups_of
from shoal.microdata.grouping.result import AttributeGrouping
from shoal.microdata.grouping.solution import Grouping
from shoal.microdata.grouping.verify import verify
from shoal.microdata.microaggregation.construct.mdav import Bounds
from shoal.numbers import counted, number
from shoal.remarks import Remark, note, warning
from shoal.runtime import Budget, Observer, Seeds, silent
from shoal.runtime.observer import Witness
from shoal.runtime.threads import usable_threads
from shoal.sources.not_numbers import why_not_numeric

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

Missing = Literal["aside", "refuse"]


@checked
def group_attributes(
    frame: "IntoDataFrame",
    k: int = 25,
    *,
    columns: Sequence[str] | None = None,
    groups: Sequence[Sequence[str]] | None = None,
    method: str = "d-gomm",
    options: Mapping[str, Any] | None = None,
    variant: Variant = "compatible",
    bounds: Bounds = "compatible",
    loss_weight: float = 0.5,
    missing: Missing = "aside",
    alone: bool = False,
    budget: Budget | None = None,
    seed: int | None = 0,
    threads: int | None = None,
    observer: Observer = silent,
) -> AttributeGrouping:
    """Find the groups of numeric columns whose microaggregation balances loss and risk best.

    Parameters
    ----------
    frame : DataFrame
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows.
    k : int, default 25
        The smallest number of records in a cluster.
    columns : sequence of str, optional
        The columns to group; ``["*"]`` takes every numeric one. By default those that measure something; a note says which.
    groups : sequence of sequences of str, optional
        Search nothing and score these groups.
    method : str, default "d-gomm"
        How to find the groups; ``shoal group --method list`` shows all.
    options : mapping, optional
        Options of the method by name.
    variant : {"compatible", "literal"}, default "compatible"
        How groupings are scored: as in the published tables of GOMM, or as its text says.
    bounds : {"compatible", "strict"}, default "compatible"
        Whether the last cluster may be smaller than k when scoring.
    loss_weight : float, default 0.5
        How much of the score is information loss, between 0 and 1; interval disclosure and linkage share the rest.
    missing : {"aside", "refuse"}, default "aside"
        Records with a missing value are left out of the search, or refused.
    alone : bool, default False
        Also search with each genetic operator on its own, for the report.
    budget : Budget, optional
        How long to search: iterations, seconds, or the score that is enough. By default the usual amount of
        work, so that the same seed gives the same result on any machine.
    seed : int or None, default 0
        Where randomness begins; ``None`` begins from the system's entropy.
    threads : int, optional
        How many cores to use; all of them by default. They do not change the result.
    observer : callable, optional
        Called with a ``Progress`` now and then while the search goes on.

    Returns
    -------
    AttributeGrouping
        ``groups``, their ``score`` with its parts ``il``, ``id`` and ``dld``, a ``bound`` no grouping scores below,
        ``optimal``, ``history``, ``notes`` and ``warnings``; ``report()`` is a page.

    Raises
    ------
    InputError
        A column is missing or not numeric, there are fewer records than k, an option is unknown.

    See Also
    --------
    microaggregate : protect the groups; ``groups="auto"`` does both.
    compare : measure the release itself.

    References
    ----------
    - The GOMM degree project of the DAMA-UPC group, Universitat Politècnica de Catalunya (``gomm``, ``d-gomm``).
    - J. Nin, J. Herranz and V. Torra, 2008 (groups of uncorrelated columns).

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> table = pl.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), schema=["a", "b", "c"])
    >>> found = group_attributes(table, k=4, method="exact")
    >>> found.groups, found.optimal, found.dld
    ((('a', 'b', 'c'),), True, 0.0)
    """
    check_choice("variant", variant, get_args(Variant))
    check_choice("bounds", bounds, get_args(Bounds))
    check_choice("missing", missing, get_args(Missing))
    check_k(k)
    number(loss_weight, "the weight of the loss", least=0.0, most=1.0)
    chosen = METHODS[method]
    chosen.configure(options)
    data = read_frame(frame)
    threads = usable_threads(threads)
    if len(data) == 0:
        raise InputError("there are no records")
    if groups is not None:
        columns, method = [name for group in groups for name in group], "given"
    names, remarks = _columns(data, columns)
    if columns == ["*"] and groups is not None and "*" not in names:
        groups = [names]
    table = np.column_stack([read_attribute(data, name).values for name in names])
    gaps = np.isnan(table).any(axis=1)
    left_out = int(gaps.sum())
    if left_out:
        if missing == "refuse":
            raise InputError(
                f"{counted(left_out, 'record has', 'records have')} missing values; "
                f"choose {parameter('missing', 'aside')} to leave them out"
            )
        left = counted(left_out, "record with missing values is", "records with missing values are")
        remarks.append(note("missing-values", f"{left} left out of the search for groups"))
        table = table[~gaps]
        if table.shape[0] == 0:
            raise InputError("every record has a missing value in the columns to group")
    problem = GroupingProblem.of(table, k, Scoring.of(variant, bounds, loss_weight))
    flat = [name for name, column in zip(names, table.T, strict=True) if (column == column[0]).all()]
    if flat:
        text = f"columns that do not vary change nothing, wherever they are: {', '.join(flat)}"
        remarks.append(note("constant-column", text, *flat))
    witness = Witness(observer)
    if groups is not None:
        found = _scored(problem, [[names.index(name) for name in group] for group in groups if group])
    else:
        found = chosen.solve(
            problem,
            options,
            budget=budget or Budget(),
            seeds=Seeds(seed),
            threads=threads,
            observer=witness,
        )
    if found.sampled is not None:
        remarks.append(
            note(
                "sampled-search",
                f"groupings were compared on a sample of {found.sampled:,} records while searching; the score is that of all "
                f"{problem.m:,}",
            )
        )
    witness.verification()
    verify(problem, found)
    return AttributeGrouping(
        method=method,
        k=k,
        groups=tuple(tuple(names[place] for place in group) for group in found.groups),
        solution=found,
        records=int(table.shape[0]),
        left_out=left_out,
        smallest_cluster=min(problem.sizes),
        remarks=(*remarks, *_warnings(problem, found)),
        settings=(
            ("k", k),
            ("method", method),
            *(dict(options or {}).items()),
            ("scoring", variant),
            ("cluster sizes when scoring", bounds),
            ("weight of the loss in the score", loss_weight),
            ("seed", seed),
        ),
        alone=_each_alone(problem, budget or Budget(), seed, threads, observer) if alone else {},
    )


def _columns(data: nw.DataFrame, columns: Sequence[str] | None) -> tuple[list[str], list[Remark]]:
    choice = choose_columns(data, columns)
    kinds = data.schema
    for name in choice.columns:
        if not kinds[name].is_numeric():
            raise InputError(
                f"column '{name}' is not numeric: {why_not_numeric(data[name])}; only numbers can be grouped"
            )
    if columns is not None and list(columns) != ["*"]:
        return list(choice.columns), []
    return list(choice.columns), [note("chosen-columns", choice.sentence("grouping"), *choice.columns)]


def _scored(problem: GroupingProblem, groups: Sequence[Sequence[int]]) -> Grouping:
    """Groups that somebody else has chosen, with their score."""
    partition = canonical(groups)
    score = score_from_scratch(problem, groups_of(partition))
    return Grouping(
        value=score.value,
        bound=min(score.value, lower_bound(problem)),
        partition=partition,
        score=score,
        evaluations=1,
        clustered=len(partition),
    )


def _warnings(problem: GroupingProblem, grouping: Grouping) -> list[Remark]:
    remarks = []
    if min(problem.sizes) < problem.k:
        remarks.append(
            warning(
                "small-cluster",
                f"the scored clustering ends in a cluster of {min(problem.sizes)} records, fewer than k = {problem.k}; it "
                "serves to compare groupings and is never released",
            )
        )
    if len(grouping.groups) > 1:
        text = (
            f"with {len(grouping.groups)} groups k holds for the columns of each group, not for all together"
        )
        remarks.append(warning("separate-groups", text))
    return remarks


def _each_alone(
    problem: GroupingProblem, budget: Budget, seed: int | None, threads: int, observer: Observer
) -> dict[str, Grouping]:
    """What GOMM reaches with one operator only, for each; together they may take as long as the search itself."""
    from shoal.microdata.grouping.genetic import OPERATOR_NAMES, GommOptions, solve_as_published

    seconds = None if budget.seconds is None else budget.seconds / len(OPERATOR_NAMES)
    share = replace(budget, seconds=seconds, target=None)
    return {
        name: solve_as_published(
            problem,
            GommOptions.alone(name),
            budget=share,
            seeds=Seeds(seed).child("alone", name),
            threads=threads,
            observer=observer,
        )
        for name in OPERATOR_NAMES
    }
