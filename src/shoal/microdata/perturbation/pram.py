"""PRAM, the post randomisation method: categories change by chance, and their frequencies stay the same in expectation."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from shoal.errors import InputError, parameter
from shoal.microdata.columns.hierarchies.hierarchy import Values
from shoal.microdata.perturbation.change import Change
from shoal.microdata.perturbation.external_matrix import ExternalMatrix
from shoal.microdata.perturbation.forbidden import Forbidden, check_forbidden
from shoal.microdata.perturbation.matrices import PUBLISHED_FROM
from shoal.microdata.perturbation.pram_kernels import drawn
from shoal.microdata.perturbation.problem import Problem
from shoal.microdata.perturbation.promises.transitions import NoneForbidden, SharesExpected
from shoal.microdata.perturbation.transitions import Transition, by_chance, can_be_turned, invariant, mixing
from shoal.numbers import counted
from shoal.remarks import Remark, note, warning
from shoal.runtime.options import Options
from shoal.runtime.secrets import Secret

# More categories than this are numbers or names, which other methods protect.
MOST_CATEGORIES = 500
_USUAL = 0.2


class PramOptions(Options):
    """How much changes."""

    change: float | None = Field(
        None, gt=0, lt=1, description="the share of values to change; 0.2 unless a matrix is given"
    )
    alpha: float = Field(
        1.0, gt=0, le=1, description="of a given matrix: how much of it, the rest changes nothing"
    )
    keep_shares: bool = Field(
        default=True, description="of a given matrix: make it one that keeps the shares of the categories"
    )


@dataclass(frozen=True, eq=False)
class ColumnTransitions:
    """The matrices of one column: one for each group of records, that is each stratum and what is allowed in it.

    ``values`` are the categories of the column; ``group_of`` is the group of every record, −1 where a value is missing. ``rule``
    makes the matrix of any group.
    """

    column: str
    values: tuple[str | None, ...]
    group_of: np.ndarray
    strata: tuple[int, ...]
    groups: tuple[Transition, ...]
    rule: "Rule"

    @property
    def counts(self) -> np.ndarray:
        """How many records have each category before."""
        found = np.zeros(len(self.values))
        for group in self.groups:
            found[group.categories] += group.records * group.shares
        return found.round()

    @property
    def truth(self) -> dict[int, float]:
        """For each category that is seen the chance that it is the true one, over all groups."""
        right, seen = np.zeros(len(self.values)), np.zeros(len(self.values))
        for group in self.groups:
            right[group.categories] += group.records * group.shares * np.diag(group.matrix)
            seen[group.categories] += group.records * group.seen
        return {int(code): float(right[code] / seen[code]) for code in np.flatnonzero(seen > 0)}

    @property
    def highest_truth(self) -> dict[int, float]:
        """For each category the largest such chance in any group: strata are known to whoever reads the release."""
        found: dict[int, float] = {}
        for group in self.groups:
            for code, chance, seen in zip(group.categories.tolist(), group.truth, group.seen, strict=True):
                if seen > 0:
                    found[code] = max(found.get(code, 0.0), float(chance))
        return found


#: From categories (by number) and their shares to a matrix.
Rule = Callable[[np.ndarray, np.ndarray], np.ndarray]


def perturb(problem: Problem, options: PramOptions, *, secret: Secret) -> Change:
    """Change the categories of each column by chance, within each stratum.

    Records that may not show the same categories are perturbed apart, so that no forbidden combination arises and the shares
    stay the same within each of them.
    """
    given, rules = problem.matrix, problem.forbidden
    _check_matrix(problem, options)
    check_forbidden(rules, problem.data, problem.columns)
    data, donors, remarks, details = problem.data, {}, list[Remark](), []
    for name in problem.columns:
        values = problem.values(name)
        _check_categories(name, values)
        about = [rule for rule in rules if name in rule.columns]
        # What was drawn for columns before counts for what is forbidden now.
        found = _transitions(problem, name, values, _patterns(about, name, data), options)
        seen = _drawn(found, values.codes, problem.identities, secret)
        donors[name] = _donors(values.codes, seen, len(values.texts))
        if about:
            data = data.with_columns(data[name][donors[name].tolist()].alias(name))
        details.append(found)
        remarks += _warnings(name, found, options, given)
    exact = given is None or options.keep_shares
    promises = [SharesExpected(item.column, item, exact=exact) for item in details]
    return Change(
        donors=donors,
        promises=(*promises, *[NoneForbidden(rule) for rule in rules]),
        facts=(*_facts(details), *_grown(details, options, given)),
        remarks=(*remarks, *_notes(details)),
        details=tuple(details),
    )


def _check_matrix(problem: Problem, options: PramOptions) -> None:
    if problem.matrix is None:
        if options.alpha != 1 or not options.keep_shares:
            raise InputError(
                f"the options alpha and keep_shares are about a {parameter('matrix')} that is given"
            )
        return
    if len(problem.columns) > 1:
        raise InputError(
            f"{parameter('matrix')} is about one column; name it alone in {parameter('columns')}"
        )
    if options.change is not None:
        raise InputError(f"{parameter('matrix')} says how much changes; leave the option change out")


def _check_categories(name: str, values: Values) -> None:
    kinds = len(values.texts) - values.has_missing
    if kinds == 0:
        raise InputError(f"column '{name}' has no values to change")
    if kinds == 1:
        raise InputError(f"column '{name}' has one value for all; there is nothing to change it to")
    if kinds > MOST_CATEGORIES:
        raise InputError(
            f"column '{name}' has {kinds:,} different values, more than the {MOST_CATEGORIES} of PRAM; recode it, or use noise "
            "or swapping"
        )


def _patterns(rules: Sequence[Forbidden], name: str, data: Any) -> np.ndarray:
    """A number for every record: records of the same number may show the same categories."""
    found = np.zeros(len(data), dtype=np.int64)
    for rule in rules:
        _, found = np.unique(2 * found + rule.without(name, data), return_inverse=True)
    return found


def _transitions(
    problem: Problem, name: str, values: Values, patterns: np.ndarray, options: PramOptions
) -> ColumnTransitions:
    present = np.array([text is not None for text in values.texts])[values.codes]
    key = problem.strata.astype(np.int64) * (int(patterns.max(initial=0)) + 1) + patterns
    rule = _rule(problem, name, values, options)
    group_of = np.full(values.codes.size, -1, dtype=np.int64)
    _, group_of[present] = np.unique(key[present], return_inverse=True)
    groups, strata = [], []
    for members in _members(group_of):
        # No record is forbidden, so what is there may be there.
        counts = np.bincount(values.codes[members], minlength=len(values.texts))
        categories = np.flatnonzero(counts)
        shares = counts[categories] / members.size
        stratum = int(problem.strata[members[0]])
        groups.append(
            Transition(
                categories,
                shares,
                members.size,
                rule(categories, shares),
                tuple(values.texts[code] for code in categories),
                problem.stratum_values[stratum] if problem.stratum_values else (),
            )
        )
        strata.append(stratum)
    return ColumnTransitions(name, tuple(values.texts), group_of, tuple(strata), tuple(groups), rule)


def _rule(problem: Problem, name: str, values: Values, options: PramOptions) -> Rule:
    given, texts = problem.matrix, values.texts
    if given is None:
        change = _USUAL if options.change is None else options.change
        return lambda _, shares: mixing(shares, change)[0]

    def of_external(categories: np.ndarray, shares: np.ndarray) -> np.ndarray:
        rows = given.of([texts[code] for code in categories], name)
        if not options.keep_shares:
            return options.alpha * rows + (1.0 - options.alpha) * np.eye(shares.size)
        matrix = invariant(rows, shares, options.alpha)
        if not can_be_turned(matrix):
            raise InputError(
                f"the {parameter('matrix')} is nearly singular, and the one that keeps the shares of column '{name}' is so: "
                "nobody could correct counts with it; an alpha below 1 helps"
            )
        return matrix

    return of_external


def _members(group_of: np.ndarray) -> list[np.ndarray]:
    """The records of each group; those of none are left out."""
    order = np.argsort(group_of, kind="stable")[int((group_of < 0).sum()) :]
    return np.split(order, np.flatnonzero(np.diff(group_of[order])) + 1) if order.size else []


def _drawn(
    transitions: ColumnTransitions, codes: np.ndarray, identities: np.ndarray, secret: Secret
) -> np.ndarray:
    """The category that each record shows."""
    key = secret.draws("pram", transitions.column).key
    seen = codes.astype(np.int64)
    for group, members in zip(transitions.groups, _members(transitions.group_of), strict=True):
        row_of = np.zeros(len(transitions.values), dtype=np.int64)
        row_of[group.categories] = np.arange(group.categories.size)
        upto = np.cumsum(group.matrix, axis=1)
        # A sum that is rounded to less than 1 must not send anybody to a category that has no chance.
        last = np.array([np.flatnonzero(row)[-1] for row in group.matrix])
        upto[np.arange(upto.shape[1]) >= last[:, None]] = 1.0
        columns = drawn(key, identities, members, row_of[codes[members]], upto)
        seen[members] = group.categories[columns]
    return seen


def _donors(codes: np.ndarray, seen: np.ndarray, size: int) -> np.ndarray:
    """For every record one that has the category it shows; itself where nothing changed."""
    first = np.zeros(size, dtype=np.int64)
    first[codes[::-1]] = np.arange(codes.size)[::-1]
    return np.where(seen == codes, np.arange(codes.size), first[seen])


def _warnings(
    name: str, transitions: ColumnTransitions, options: PramOptions, external: ExternalMatrix | None
) -> Iterator[Remark]:
    alone = sum(group.records for group in transitions.groups if group.categories.size == 1)
    if alone:
        yield warning(
            "fixed-values",
            f"{counted(alone, 'value')} of column '{name}' cannot change: all records of the stratum have the same",
            name,
        )
    if external is not None:
        certain = sum(
            g.records for g in transitions.groups if g.categories.size > 1 and not by_chance(g.matrix)
        )
        if certain:
            yield warning(
                "fixed-values",
                f"{counted(certain, 'value')} of column '{name}' {'is' if certain == 1 else 'are'} not left to chance: of the "
                f"categories of their group the {parameter('matrix')} makes each one for certain",
                name,
            )
        parts = [g for g in transitions.groups if 1 < g.categories.size < len(external.categories)]
        if parts:
            yield warning(
                "missing-categories",
                f"in {counted(len(parts), 'group')} of column '{name}' not all categories of the {parameter('matrix')} are "
                f"there: their chances are shared out among the others; {parameter('matrices')} writes what was used",
                name,
            )
    else:
        wanted = _USUAL if options.change is None else options.change
        less = [
            g for g in transitions.groups if g.categories.size > 1 and g.expected_change < wanted * (1 - 1e-9)
        ]
        if less:
            share = sum(g.records * g.expected_change for g in transitions.groups) / sum(
                g.records for g in transitions.groups
            )
            yield warning(
                "fewer-changes",
                f"in {counted(len(less), 'group')} of column '{name}' one value prevails, and fewer values can change than "
                f"asked for; over all {share:.3g} are expected",
                name,
            )


def _notes(details: Sequence[ColumnTransitions]) -> Iterator[Remark]:
    """How many strata are too small for a matrix that could be published."""
    for item in details:
        records = np.bincount(item.strata, weights=[group.records for group in item.groups])
        there = records[records > 0]
        small = int((there < PUBLISHED_FROM).sum())
        of_column = f" of column '{item.column}'" if len(details) > 1 else ""
        if small and there.size == 1:
            text = f"fewer than {PUBLISHED_FROM} records have no matrix{of_column} that could be published"
            yield note("small-stratum", text, item.column)
        elif small:
            yield note(
                "small-stratum",
                f"{small:,} of {there.size:,} strata, with fewer than {PUBLISHED_FROM} records, are left out of the matrices"
                f"{of_column} to publish",
                item.column,
            )


def _grown(
    details: Sequence[ColumnTransitions], options: PramOptions, external: ExternalMatrix | None
) -> Iterator[tuple[str, str]]:
    """How much more changes by a given matrix once it keeps the shares: every value is turned twice."""
    if external is None or not options.keep_shares:
        return
    for item in details:
        asked = now = 0.0
        for group in item.groups:
            rows = external.of(group.values, item.column)
            asked += options.alpha * group.records * float((group.shares * (1.0 - np.diag(rows))).sum())
            now += group.records * group.expected_change
        records = sum(group.records for group in item.groups)
        yield (
            f"values of {item.column} expected to change",
            f"{100 * asked / records:.3g} % by the matrix as given, {100 * now / records:.3g} % by the one made of it that "
            "keeps the shares",
        )


def _facts(details: Sequence[ColumnTransitions]) -> list[tuple[str, Any]]:
    facts: list[tuple[str, Any]] = []
    for item in details:
        truth, highest = list(item.truth.values()), max(item.highest_truth.values())
        of_one = f"; in one stratum up to {highest:.3g}" if highest > max(truth) + 5e-4 else ""
        facts.append(
            (
                f"a seen value of {item.column} is true",
                f"with a chance of {min(truth):.3g} to {max(truth):.3g}, by category{of_one}",
            )
        )
    return facts
