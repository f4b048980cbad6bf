"""What a recoding says of singling out, linking and inference."""

from typing import TYPE_CHECKING

from shoal.microdata.anonymity.assurances import knower, linked, singled_out
from shoal.microdata.columns.units import units_in_words
from shoal.numbers import counted
from shoal.report.provenance import Assurances

if TYPE_CHECKING:
    from shoal.microdata.recoding.result import Recoded


def assurances(result: "Recoded", settings: object = None) -> Assurances:
    """By the classes of the released keys."""
    strict = (
        ""
        if result.null == "own"
        else f" A blank matches anything in this count; where it is a value of its own, K is {result.k_strict}."
    )
    households = (
        ""
        if result.k_households is None
        else f" Of every composition there are at least {result.k_households} households."
    )
    return Assurances(
        knower(result.anonymity),
        singled_out(result.anonymity) + strict + households,
        linked(result.anonymity)
        + " Columns that were released as they were may be known, too, and are not in these figures. Not measured: links to "
        "the original (shoal compare), and how much of the population shares these values (shoal risk).",
        _inferred(result),
    )


def _inferred(result: "Recoded") -> str:
    one_of, many = units_in_words(result.anonymity.unit)
    told = [
        f"{one.model}{f' of {one.column}' if one.column else ''} holds in every class (the worst has {one.worst:.4g})"
        for one in result.models
    ]
    told += [
        f"{counted(one.people, f'{one_of} is', f'{many} are')} in {counted(one.classes, 'class', 'classes')} that share one "
        f"{one.column}: who is known to be there has it"
        if one.classes
        else f"no class shares one {one.column}"
        for one in result.homogeneous
    ]
    if not told:
        return (
            "Not measured, since no confidential column was named. k says nothing of what a class shares besides (shoal "
            "anonymity measures it)."
        )
    text = "; ".join(told)
    return f"{text[:1].upper()}{text[1:]}. Other columns were not looked at."
