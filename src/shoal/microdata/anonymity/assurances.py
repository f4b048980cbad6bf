"""What K says, and does not say, of singling out, linking and inference."""

from typing import TYPE_CHECKING

from shoal.microdata.columns.units import units_in_words
from shoal.numbers import counted
from shoal.report.provenance import Assurances

if TYPE_CHECKING:
    from shoal.microdata.anonymity.operation import Measured
    from shoal.microdata.anonymity.result import Anonymity

_NOT_LINKED = (
    "Not measured: near matches and columns beyond these (shoal compare, for a release and its original), and how much of "
    "the population shares these values (shoal risk)."
)


def assurances(measured: "Measured", settings: object = None) -> Assurances:
    """Of several tables those of the one with the smallest K."""
    name, result = min(measured, key=lambda item: item[1].k)
    where = f"In {name}, the worst of {len(measured)} tables: " if len(measured) > 1 else ""
    return Assurances(
        knower(result),
        where + singled_out(result),
        f"{where}{linked(result)} {_NOT_LINKED}",
        where + _inferred(result),
    )


def knower(result: "Anonymity") -> str:
    """The attacker that K is about."""
    missing = "is a value of its own" if result.null == "own" else "matches any value"
    return (
        f"somebody who knows {', '.join(result.quasi)} exactly and nothing else, and knows whose values are in the data. A "
        f"missing value {missing}. Whoever knows more than these columns is not meant."
    )


def singled_out(result: "Anonymity") -> str:
    """Whether somebody is alone with what may be known."""
    over, alone = ", ".join(result.quasi), result.below(2)
    one, many = units_in_words(result.unit)
    if alone:
        found = f"{counted(alone, f'{one} is', f'{many} are')} alone with their values of {over}"
        return f"Yes: {found}, of {result.units:,} in all (K is {result.k})."
    others = counted(result.k - 1, "other")
    return f"Not by {over}: K is {result.k}, so that each of the {many} shares these values with at least {others}."


def linked(result: "Anonymity") -> str:
    """The chance to take the right record."""
    return (
        f"By these columns the chance to take the right record is at most {result.maximum_risk:.3g} (1/K), and "
        f"{result.average_risk:.3g} on average."
    )


def _inferred(result: "Anonymity") -> str:
    told = [
        f"in every class {one.column} has at least {counted(one.distinct, 'distinct value')}"
        + (
            ": where there is one alone, whoever is known to be in that class has it"
            if one.distinct < 2
            else ""
        )
        for one in result.diversities
    ]
    told += [
        f"{one.named} {'holds' if one.holds else f'fails for {counted(one.failing_people, *units_in_words(result.unit))}'}"
        for one in result.models
    ]
    if not told:
        return (
            "Not measured. K says nothing of what a class shares besides; shoal anonymity measures it where confidential "
            "columns are named."
        )
    return (
        f"Of the confidential columns that were named: {'; '.join(told)}. Other columns were not looked at."
    )
