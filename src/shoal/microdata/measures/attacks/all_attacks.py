"""Every attack by name, and how a release stands up to those that are asked for."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from shoal.errors import InputError, unknown
from shoal.import_paths import load
from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.mixed import MixedTables
from shoal.search import Seeds

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
_LINKING = ("rank-windows", "mahalanobis", "mixed-linkage", "likelihood")


def chosen(asked: Sequence[str] | None, known: Sequence[str], what: str) -> tuple[str, ...]:
    """The names asked for: all if nothing is said, none if that is (an empty list, or ``none`` alone).

    >>> chosen(["membership"], list(ATTACKS), "attack"), chosen(["none"], list(ATTACKS), "attack")
    (('membership',), ())
    """
    if asked is None:
        return tuple(known)
    if list(asked) == ["none"]:
        return ()
    for name in asked:
        if name == "none":
            raise InputError(f"'none' stands alone: either no {what}, or those named")
        if name not in known:
            raise unknown(what, name, known)
    return tuple(dict.fromkeys(asked))


def attacked(
    tables: MixedTables,
    names: Sequence[str],
    *,
    scenarios: Sequence[Sequence[str]],
    unchanged: Sequence[str] = (),
    seeds: Seeds,
) -> tuple[Attack, ...]:
    """Try each attack with each set of columns an intruder may know; the set with which it does best counts.

    Who looks for a record may also trust the ``unchanged`` columns alone, and leave out what was perturbed.

    >>> import numpy as np
    >>> table = MixedTables.of_numbers(np.eye(3), np.eye(3))
    >>> [found.percent for found in attacked(table, ["mahalanobis"], scenarios=[table.columns], seeds=Seeds(0))]
    [100.0]
    """
    found = []
    for name in names:
        attack: Callable[..., Attack | None] = load(ATTACKS[name])
        tried = [attack(tables.select(columns), seeds=seeds.child("attacks")) for columns in scenarios]
        if unchanged and name in _LINKING:
            alone = attack(tables.select(unchanged), seeds=seeds.child("attacks"))
            # Where these columns alone find as many, they are the reason, and come first.
            tried.insert(0, alone and replace(alone, details=(*alone.details, (UNCHANGED, list(unchanged)))))
        if worked := [one for one in tried if one is not None]:
            found.append(max(worked, key=lambda one: one.percent))
    return tuple(found)
