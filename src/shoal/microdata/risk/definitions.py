"""What the figures of the risk of a sample are called and mean."""

from shoal.report.definitions import Definition, Definitions, count, share

_UNKNOWN = "if it is not known who responded"


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
        f"re-identifications expected {_UNKNOWN}",
        "The sum over all records of their risk, by the F of the population with the same keys.",
        _six,
    ),
    "largest_risk": Definition(
        f"largest risk of a record {_UNKNOWN}", "The largest risk of a record by that F.", share
    ),
    "mean_risk": Definition(f"mean risk {_UNKNOWN}", "The mean of that risk over all records.", share),
    "worst_risk": Definition(
        "largest risk",
        "The largest risk in the scenarios that are reckoned with, alone or through the household; 1 by the records with the "
        "same keys where it may be known who responded.",
        share,
    ),
}
