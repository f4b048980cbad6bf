"""What the risk of a sample says of singling out, linking and inference."""

from typing import TYPE_CHECKING

from shoal.microdata.columns.units import units_in_words
from shoal.numbers import counted
from shoal.report.provenance import Assurances

if TYPE_CHECKING:
    from shoal.microdata.risk.result import Risk


def assurances(result: "Risk", settings: object = None) -> Assurances:
    """By the counts in the sample, and by the estimates for the population."""
    over = ", ".join(result.quasi)
    missing = "is a value of its own" if result.null == "own" else "matches any value"
    reckoned = "both are" if result.respondents == "known" else "only the journalist is"
    name, expected = max(result.estimates.items(), key=lambda item: item[1])
    return Assurances(
        f"somebody who knows {over} exactly: one who knows who responded (prosecutor) and one who does not (journalist); "
        f"{reckoned} reckoned with. A missing "
        f"value {missing}.",
        f"{result.uniques:,} of {counted(result.units, *units_in_words(result.unit))} are alone in the sample with their values "
        f"of {over}, "
        f"{result.pairs:,} are in pairs. Whether they are alone in the population is estimated above, where there is something "
        "to estimate it from.",
        f"At most {expected:.6g} correct matches are expected ({name}); the largest risk is at most "
        f"{result.worst_risk:.4g}. Not measured: near matches, and columns beyond these keys.",
        "Not measured: what records with the same keys share (shoal anonymity, with confidential columns).",
    )
