"""Risk of a sample: what its page draws besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.microdata.risk.operation import OPERATION
from shoal.web.activities.gates import gates
from shoal.web.activities.operation_activity import activity
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.microdata.risk.result import Risk
    from shoal.microdata.risk.settings import RiskSettings


def picture(result: "Risk", settings: "RiskSettings", context: Context) -> dict[str, Any]:
    """How the risk is spread, in bins of at least 10 records, and what was required; no value of anybody."""
    from shoal.microdata.risk.report import risk_bins
    from shoal.microdata.risk.riskiest import shares_at_most

    measured = {
        "require_reidentifications": max(result.estimates.values()),
        "require_risk": result.worst_risk,
    }
    drawn = {
        "risk_quantiles": {
            f"{share:g}": value for share, value in shares_at_most(result.records_at_risk.risk).items()
        },
        "spread": [[one.low, one.high, one.count] for one in risk_bins(result)],
        "gates": gates(OPERATION, result, settings, measured),
    }
    return drawn if result.special_uniques is None else drawn | _most_special(result, settings.riskiest)


def _most_special(result: "Risk", number: int) -> dict[str, Any]:
    """The records with the largest scores by number, and what scores are worth."""
    import polars as pl

    from shoal.microdata.risk.special_uniques.report import WORTH, frame

    assert result.special_uniques is not None
    scored = frame(result.special_uniques, result.quasi).filter(pl.col("score") > 0)
    ranked = scored.sort("score", descending=True, maintain_order=True).head(number)
    columns = ("record", "fewest_keys", "minimal_uniques", "score", "dis_score")
    return {"most_special": ranked.select(columns).to_dicts(), "special_worth": WORTH}


ACTIVITY = activity(OPERATION, picture)
