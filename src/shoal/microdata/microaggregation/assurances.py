"""What a microaggregation says of singling out, linking and inference."""

from typing import TYPE_CHECKING

from shoal.microdata.anonymity.assurances import knower, linked, singled_out
from shoal.microdata.microaggregation.exposure import (
    LINKED_HOW,
    dominated_groups,
    groups_without_range,
)
from shoal.report.provenance import Assurances

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.result import Microaggregation


def assurances(result: "Microaggregation", settings: object = None) -> Assurances:
    """K over all that could be known, links by distance, and groups that give their values away."""
    guessed = (
        " These columns are all that look as if they could be known; nobody named them."
        if result.quasi_guessed
        else ""
    )
    alone = (
        ""
        if result.k_protected == result.k_release
        else f" Over the protected columns alone K is {result.k_protected}."
    )
    return Assurances(
        knower(result.anonymity) + guessed,
        singled_out(result.anonymity) + alone,
        f"{linked(result.anonymity)} {_linked(result)}",
        _inferred(result),
    )


def _linked(result: "Microaggregation") -> str:
    links = result.expected_links
    if not links:
        return "Not measured: links by distance to the true values, since there are too many records (shoal compare does it)."
    known, number = max(links, key=lambda item: item[1])
    share = 100.0 * number / result.records if result.records else 0.0
    return (
        f"Somebody who knows the true values of {known} links {number:,.1f} of {result.records:,} records ({share:.2f} %) to "
        f"their own by distance; {LINKED_HOW}. Not measured: linkage by agreement and interval disclosure (shoal compare)."
    )


def _inferred(result: "Microaggregation") -> str:
    columns = {attribute.name: attribute for attribute, _ in result.released_columns()}
    single = dominated = groups = 0
    for part in result.parts:
        for name in part.columns:
            groups += part.sizes.size
            single += int(groups_without_range(columns[name].values, part.labels).sum())
            if not columns[name].categorical:
                dominated += int(dominated_groups(columns[name].values, part.labels).sum())
    return (
        f"Counted over all protected columns, {single:,} of {groups:,} groups hold a single value, which is everybody's there, "
        f"and in {dominated:,} the second largest can estimate the largest within 10 % from the group's sum. Not measured: what "
        "the columns that were kept say of a group (shoal anonymity, with confidential columns)."
    )
