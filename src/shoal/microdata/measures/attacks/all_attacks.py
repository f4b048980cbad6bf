"""Every attack by name, and how a release stands up to those that are asked for."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from shoal.errors import InputError, unknown
from shoal.import_paths import load
from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.time_limited import TimeLimit
from shoal.runtime import Budget, Seeds

_HERE = "shoal.microdata.measures.attacks"
ATTACKS = {
    "rank-windows": f"{_HERE}.rank_windows:attack",
    "mahalanobis": f"{_HERE}.mahalanobis:attack",
    "mixed-linkage": f"{_HERE}.mixed_linkage:attack",
    "likelihood": f"{_HERE}.likelihood:attack",
    "attribute-inference": f"{_HERE}.attribute_inference:attack",
    "membership": f"{_HERE}.membership:attack",
}
#: The detail of an attack that did best with the columns alone that were released as they were.
UNCHANGED = "unchanged_columns_alone"
#: The attack on every released column in turn, known or not.
INFERENCE = "attribute-inference"
_LINKING = ("rank-windows", "mahalanobis", "mixed-linkage", "likelihood")


def chosen(named: Sequence[str] | None, known: Sequence[str], what: str) -> tuple[str, ...]:
    """The names asked for: all if nothing is said, none if that is (an empty list, or ``none`` alone).

    >>> chosen(["membership"], list(ATTACKS), "attack"), chosen(["none"], list(ATTACKS), "attack")
    (('membership',), ())
    """
    if named is None:
        return tuple(known)
    if list(named) == ["none"]:
        return ()
    for name in named:
        if name == "none":
            raise InputError(f"'none' stands alone: either no {what}, or those named")
        if name not in known:
            raise unknown(what, name, known)
    return tuple(dict.fromkeys(named))


def attacked(
    tables: MixedTables,
    names: Sequence[str],
    *,
    scenarios: Sequence[Sequence[str]],
    unchanged: Sequence[str] = (),
    seeds: Seeds,
    left: TimeLimit | None = None,
) -> tuple[Attack, ...]:
    """Try each attack with each set of columns an intruder may know; the set with which it does best counts.

    Values are inferred of all columns, also of those that are not in the set.

    One that there is no time ``left`` to try with every set is not told at all.

    Who looks for a record may also trust the ``unchanged`` columns alone, and leave out what was perturbed.

    >>> import numpy as np
    >>> table = MixedTables.of_numbers(np.eye(3), np.eye(3))
    >>> [found.percent for found in attacked(table, ["mahalanobis"], scenarios=[table.columns], seeds=Seeds(0))]
    [100.0]
    """
    left = left or TimeLimit(Budget().start())
    run = left.run

    def best(name: str) -> Attack | None:
        function: Callable[..., Attack | None] = load(ATTACKS[name])
        attack = partial(function, seeds=seeds.child("attacks"), look=run.look)
        # Who infers a value looks at columns that he does not know; all others have no use for them.
        view = tables.knowing if name == INFERENCE else tables.select
        tried = [attack(view(columns)) for columns in scenarios]
        if unchanged and name in _LINKING:
            alone = attack(tables.select(unchanged))
            # Where these columns alone find as many, they are the reason, and come first.
            tried.insert(0, alone and replace(alone, details=(*alone.details, (UNCHANGED, list(unchanged)))))
        worked = [one for one in tried if one is not None]
        return max(worked, key=lambda one: one.percent) if worked else None

    found = [left.measured(f"attack {name}", partial(best, name)) for name in names]
    return tuple(one for one in found if one is not None)
