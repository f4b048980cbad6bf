"""What the figures of the risk of a sample are called and mean."""

from shoal.report.definitions import Definition, Definitions, count, share

_INDIVIDUAL = "by the individual risk (journalist)"


def _six(value: float) -> str:
    return f"{value:.6g}"


DEFINITIONS: Definitions = {
    "records": Definition("records", "Records of the sample.", count),
    "k": Definition(
        "K of the sample", "The size of the smallest class of records with the same keys.", count
    ),
    "uniques": Definition(
        "records alone with their keys", "Records whose keys no other record of the sample has.", count
    ),
    "pairs": Definition(
        "records in pairs", "Records whose keys exactly one other record of the sample has.", count
    ),
    "expected_reidentifications": Definition(
        f"expected correct matches {_INDIVIDUAL}",
        "The sum over all records of the individual risk, which estimates 1/F by the weights of the class alone.",
        _six,
    ),
    "largest_risk": Definition(
        f"largest risk of a record {_INDIVIDUAL}", "The largest individual risk of a record.", share
    ),
    "mean_risk": Definition(
        f"mean risk {_INDIVIDUAL}", "The mean of the individual risk over all records.", share
    ),
    "worst_risk": Definition(
        "largest risk",
        "The largest risk of the intruders that are reckoned with, alone or through the household, at the upper end of its "
        "interval; 1/f where it may be known who responded.",
        share,
    ),
}
