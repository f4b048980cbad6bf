"""What the figures of classes are called and mean, wherever K is told."""

from shoal.report.definitions import Definition, Definitions, count, decimals, share

_COUNTED = "records, or in distinct units where a column says whose they are"

DEFINITIONS: Definitions = {
    "records": Definition("records", "Records that were measured.", count),
    "units": Definition("units", "Distinct values of the column that says whose the records are.", count),
    "classes": Definition("classes", "Different combinations of values of the quasi-identifiers.", count),
    "k": Definition("K", f"The size of the smallest class, counted in {_COUNTED}.", count),
    "below": Definition(
        "in classes below 3, 5, 10",
        f"How many have a smallest class of fewer than that, counted in {_COUNTED}.",
        lambda counts: ", ".join(count(counts[limit]) for limit in ("3", "5", "10")),
    ),
    "mean_class": Definition(
        "mean size of a class",
        "The mean size of the smallest class that a record or unit is in: every size weighted by those in it.",
        decimals(2),
    ),
    "maximum_risk": Definition(
        "largest risk", "1/K: the chance to take the right one of the smallest class.", share
    ),
    "average_risk": Definition(
        "average risk",
        "The mean over all records or units of 1 by the size of their smallest class.",
        share,
    ),
}
