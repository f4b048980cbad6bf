"""What a choice of columns to group says of singling out, linking and inference: little, since nothing is released."""

from typing import TYPE_CHECKING

from shoal.report.provenance import Assurances

if TYPE_CHECKING:
    from shoal.microdata.grouping.result import AttributeGrouping


def assurances(result: "AttributeGrouping", settings: object = None) -> Assurances:
    """By the clustering that scores the groups, which is not what a release is made of."""
    again = "The release itself has figures of its own (shoal microaggregate, shoal compare)."
    return Assurances(
        "in the score, somebody who knows the true values of all grouped columns of everybody. Nothing is released by this step.",
        f"Not measured here. Clusters have at least {result.smallest_cluster} records when groups are scored (k is {result.k}), "
        f"but k holds only within each group of columns, and K over all of them can be 1. {again}",
        f"Scored, not released: {result.dld:.2f} % of the records are nearest to their own by distance over all columns, after "
        f"scaling each to its range; a tie is no link. {again}",
        f"Scored, not released: {result.id:.2f} % of the true values lie in an interval around the clustered one. {again}",
    )
