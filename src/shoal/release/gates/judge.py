"""Gates: what must hold of what a step released, measured anew by the operations that measure."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.exact_names import exactly, only
from shoal.microdata.columns.record_links import RecordLinks
from shoal.microdata.columns.roles import KNOWABLE, Role
from shoal.microdata.columns.units import units_in_words
from shoal.release.plan.plan import Gates, Plan, Step

if TYPE_CHECKING:
    import polars as pl


#: What protection changes, and what somebody knows in the worst case, by the roles of columns.
PROTECTED: tuple[Role, ...] = ("quasi-identifier", "confidential", "measurement")
EVERYTHING: tuple[Role, ...] = (*KNOWABLE, "confidential")
#: The attacks that look for the record of a unit; others look for a value, or for whether somebody is there at all.
_WHOSE = "whose record it is"
_LINKING = ("dld", "pld", "mixed-linkage", "likelihood", "rank-windows", "mahalanobis")


@dataclass(frozen=True)
class GateOutcome:
    """One gate: its limit, what was measured, and in words what that is; ``most`` is what nothing measured can exceed."""

    step: str
    name: str
    limit: float | bool
    value: float | bool
    passed: bool
    meaning: str
    most: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "step": self.step,
            "name": self.name,
            "limit": self.limit,
            "value": self.value,
            "passed": self.passed,
            "meaning": self.meaning,
            **({} if self.most is None else {"most": self.most}),
        }


@dataclass(frozen=True)
class Released:
    """What a step released, beside its source: frames, and for each original record the released one (−1: none).

    ``units`` tells for each original record whose it is, where ``unit`` is the column that says it: K counts units, also
    where that column is not released.
    """

    original: "pl.DataFrame"
    frame: "pl.DataFrame"
    links: np.ndarray
    roles: Mapping[str, str]
    units: np.ndarray | None = None
    unit: str | None = None

    @property
    def unit_column(self) -> "pl.Series | None":
        """For each released record whose it is."""
        import polars as pl

        if self.units is None:
            return None
        # A record that a damaged file lacks is told by the check of its links.
        kept = np.flatnonzero((self.links >= 0) & (self.links < self.frame.height))
        codes = np.zeros(self.frame.height, dtype=np.int64)
        codes[self.links[kept]] = np.unique(self.units, return_inverse=True)[1][kept]
        return pl.Series(_WHOSE, codes)

    def one_of_each(self, keys: Sequence[str]) -> "pl.DataFrame":
        """The released records, of a unit with several that are alike in some columns one: they hide nobody among others."""
        units = self.unit_column
        if units is None:
            return self.frame
        own = self.frame.with_columns(units).unique(exactly(_WHOSE, *keys), keep="first", maintain_order=True)
        return own.drop(_WHOSE)

    def with_role(self, role: str) -> list[str]:
        """The columns of a role that are released."""
        return [name for name, own in self.roles.items() if own == role and name in self.frame.columns]


def judge(
    plan: Plan,
    step: Step,
    gates: Gates,
    released: "Callable[[], Released]",
    figures: Mapping[str, Any],
) -> Iterator[GateOutcome]:
    """Measure every gate of a step."""
    if gates.safe is not None:
        safe = bool(figures.get("safe"))
        yield GateOutcome(step.name, "safe", gates.safe, safe, safe == gates.safe, "every table audited safe")
    if gates.loss is not None:
        percent = _loss(figures)
        yield GateOutcome(
            step.name,
            "loss",
            gates.loss,
            percent,
            percent <= gates.loss,
            "percent lost, as the step measures it",
        )
    wanted = [gates.k, gates.reidentifications, gates.risk, gates.linkage, gates.attacks]
    if all(limit is None for limit in wanted):
        return
    found = released()
    quasi = found.with_role("quasi-identifier")
    if not quasi:
        raise InputError(
            f"the gates of step '{step.name}' need quasi-identifiers: give columns that role in [sources.NAME.roles]"
        )
    if gates.k is not None:
        yield _k(step, gates.k, found, quasi)
    if gates.reidentifications is not None or gates.risk is not None:
        yield from _risk(plan, step, gates, found, quasi)
    if gates.linkage is not None or gates.attacks is not None:
        yield from _attacks(step, gates, found)


def _loss(figures: Mapping[str, Any]) -> float:
    if "loss_percent" in figures:
        return float(figures["loss_percent"])
    return 100.0 * float(figures["loss"])


def _one(names: list[str]) -> str | None:
    return names[0] if names else None


def measured_k(released: Released, quasi: list[str]) -> int:
    """The fewest units, or records, that share their quasi-identifiers."""
    from shoal.microdata.anonymity.api import count_classes

    units = released.unit_column
    frame = only(released.frame, quasi) if units is None else only(released.frame, quasi).with_columns(units)
    return int(count_classes(frame, quasi, unit=None if units is None else _WHOSE).k)


def k_meaning(quasi: Sequence[str], unit: str | None) -> str:
    """What the gate on k counts, in words."""
    return f"{units_in_words(unit)[1]} alike in the declared quasi-identifiers {', '.join(quasi)}, at least"


def _k(step: Step, limit: int, released: Released, quasi: list[str]) -> GateOutcome:
    measured = measured_k(released, quasi)
    return GateOutcome(
        step.name,
        "k",
        limit,
        measured,
        measured >= limit,
        k_meaning(quasi, released.unit),
    )


def _risk(
    plan: Plan, step: Step, gates: Gates, released: Released, quasi: list[str]
) -> Iterator[GateOutcome]:
    import shoal

    known = "respondents" in plan.about.intruders
    # A key that was made the same for all tells nobody apart.
    telling = [name for name in quasi if released.frame[name].n_unique() > 1]
    units = released.one_of_each(telling)
    if not telling:
        yield from _alike(step, gates, units.height)
        return
    measured = shoal.risk(
        units,
        telling,
        sample_weights=_one(released.with_role("weight")),
        household=_one(released.with_role("household")),
        respondents="known" if known else "unknown",
    )
    who = "for somebody who knows who responded" if known else "for somebody who does not know who responded"
    if gates.reidentifications is not None:
        # What cannot be computed is not below a limit.
        value = float(np.max(list(measured.estimates.values())))
        passed = value <= gates.reidentifications
        yield GateOutcome(
            step.name,
            "reidentifications",
            gates.reidentifications,
            value,
            passed,
            f"{units_in_words(released.unit)[1]} expected to be found, {who}",
            most=units.height,
        )
    if gates.risk is not None:
        value = float(measured.worst_risk)
        yield GateOutcome(
            step.name, "risk", gates.risk, value, value <= gates.risk, f"largest chance to be found, {who}"
        )


def _alike(step: Step, gates: Gates, units: int) -> Iterator[GateOutcome]:
    """All records are alike: one is found by chance."""
    chance = 1.0 / units
    meaning = "all released records are alike in their quasi-identifiers"
    if gates.reidentifications is not None:
        limit = gates.reidentifications
        yield GateOutcome(step.name, "reidentifications", limit, 1.0, limit >= 1.0, meaning, most=units)
    if gates.risk is not None:
        yield GateOutcome(step.name, "risk", gates.risk, chance, chance <= gates.risk, meaning)


def comparison(released: Released, roles: Sequence[str], known: Sequence[str] = (), **options: Any) -> Any:
    """The release beside its source, over the columns of some roles; records are followed by their links.

    Attacks know the columns of the roles that are ``known`` as well.
    """
    import shoal

    kept = released.links >= 0
    order = np.argsort(released.links[kept])
    links = RecordLinks.of(kept.tolist(), order.tolist())
    columns = [name for role in roles for name in released.with_role(role)]
    also = [name for role in known for name in released.with_role(role) if name in released.original.columns]
    # A column that was swapped has the same values at other records; only who doubts the links would stop at that.
    every = list(dict.fromkeys([*columns, *also]))
    return shoal.compare(
        only(released.original, every),
        only(released.frame, every),
        columns=columns,
        record_links=links,
        roles={name: role for name, role in released.roles.items() if name in every},
        utility=[],
        **options,
    )


def linked(released: Released) -> Any:
    """The keys of the release compared, and attacked by whoever knows all that is released and could be known."""
    return comparison(released, ("quasi-identifier",), KNOWABLE)


def worst_linkage(compared: Any) -> tuple[str, float]:
    """The most successful of the attacks that look for somebody's record, and how many percent it finds."""
    return _worst([attack for attack in compared.attacks if attack.name in _LINKING], "linkage")


def worst_attack(compared: Any) -> tuple[str, float]:
    """The most successful of all attacks, and with how many percent it succeeds."""
    return _worst(compared.attacks, "attack")


def _worst(attacks: Sequence[Any], kind: str) -> tuple[str, float]:
    if not attacks:
        raise InputError(f"no {kind} could be tried on these columns, so that nothing is known of it")
    # What could not be computed is the worst that can be said.
    return max(
        ((attack.title, float(attack.percent)) for attack in attacks),
        key=lambda item: (math.isnan(item[1]), item[1]),
    )


def _attacks(step: Step, gates: Gates, released: Released) -> Iterator[GateOutcome]:
    if gates.linkage is not None:
        title, percent = worst_linkage(linked(released))
        meaning = (
            f"percent of the records found by whoever knows all that is released and could be known, {title}"
        )
        yield GateOutcome(step.name, "linkage", gates.linkage, percent, percent <= gates.linkage, meaning)
    if gates.attacks is not None:
        title, percent = worst_attack(comparison(released, PROTECTED, EVERYTHING))
        meaning = f"percent of success of the worst of all attacks, {title}"
        yield GateOutcome(step.name, "attacks", gates.attacks, percent, percent <= gates.attacks, meaning)
