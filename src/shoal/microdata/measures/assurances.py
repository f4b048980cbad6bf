"""What a comparison says of singling out, linking and inference."""

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from shoal.microdata.measures.result import RISKS
from shoal.report.provenance import Assurances

if TYPE_CHECKING:
    from shoal.microdata.measures.result import Comparison


def assurances(comparisons: "Sequence[Comparison]", settings: object = None) -> Assurances:
    """Of several releases those of the one with the worst risk."""
    result = max(comparisons, key=lambda one: one.worst[1])
    where = f"Of {result.name}, the worst of {len(comparisons)} releases: " if len(comparisons) > 1 else ""
    over = ", ".join(result.quasi) + (
        ", all that could be known by the look of the columns" if result.quasi_guessed else ""
    )
    alone = "at least one record is alone with its values" if result.k == 1 else "nobody is alone with them"
    return Assurances(
        f"for each attack another one: {_attackers(result)}. For K, somebody who knows the released values of {over}.",
        f"{where}K of the release over {', '.join(result.quasi)} is {result.k}: {alone}. A missing value is a value of its own.",
        where + _linked(result),
        where + _inferred(result),
    )


def _attackers(result: "Comparison") -> str:
    told: dict[str, list[str]] = {}
    for attack in result.attacks:
        told.setdefault(attack.knows, []).append(attack.title)
    knowing = (
        "; ".join(f"{knows} ({', '.join(titles)})" for knows, titles in told.items()) or "none was tried"
    )
    return (
        f"{knowing}. That is less than an intruder may know and try: see the warnings"
        if result.restrictions
        else knowing
    )


def _linked(result: "Comparison") -> str:
    ways = [attack for attack in result.attacks if attack.title.startswith("linkage")]
    if not ways:
        missed = f" There was no time for: {', '.join(result.untried)}." if result.untried else ""
        return f"Not measured: no attack that links records was tried.{missed}"
    text = (
        f"the most successful of {len(ways)} ways to link is {ways[0].title}, with {ways[0].percent:.2f} %. "
    )
    if result.untried:
        text += f"Not measured for want of time: {', '.join(result.untried)}. "
    if result.numbers and not isnan(result.links_expected):
        share = 100.0 * result.links_expected / max(1, result.records)
        text += (
            f"By distance the nearest record is the right one for {result.links_expected:,.1f} of {result.records:,} records "
            f"({share:.2f} %) if all numbers compared are known: values are scaled by {result.definitions.scaling}, and a tie of "
            "t records counts 1/t. "
        )
    return text + "Not measured: other ways to link, and how much of the population is alike (shoal risk)."


def _inferred(result: "Comparison") -> str:
    text = ""
    if result.numbers:
        text = (
            f"{result.id:.2f} % of the true values lie in an interval around the released one ({result.definitions.intervals}; "
            f"{result.id_worst:.2f} % in the worst column), and {result.id_sd:.2f} % in one measured by standard deviations "
            f"({result.id_sd_worst:.2f} % in the worst column). "
        )
    others = [
        attack
        for attack in result.attacks
        if attack.name not in RISKS and not attack.title.startswith("linkage")
    ]
    if others:
        text += f"Other attacks: {'; '.join(f'{attack.title} {attack.percent:.2f} %' for attack in others)}. "
    return text + "Not measured: what a class of records shares (shoal anonymity, with confidential columns)."
