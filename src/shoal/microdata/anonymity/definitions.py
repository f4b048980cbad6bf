"""What the figures of classes are called and mean, wherever K is told."""

from shoal.report.definitions import Definition, Definitions, count, decimals, share

_COUNTED = "people: distinct units where the unit is named, or else records"

DEFINITIONS: Definitions = {
    "records": Definition("records", "Records that were measured.", count),
    "units": Definition("people", f"How many there are, counted as {_COUNTED}.", count),
    "classes": Definition("classes", "Different combinations of values of the quasi-identifiers.", count),
    "k": Definition("K", f"The size of the smallest class, in {_COUNTED}.", count),
    "below": Definition(
        "people in classes below 3, 5, 10",
        "People whose smallest class has fewer than that many.",
        lambda found: ", ".join(count(found[limit]) for limit in ("3", "5", "10")),
    ),
    "mean_class": Definition(
        "mean class of a person",
        "The mean size of a person's smallest class: every size weighted by the people in it.",
        decimals(2),
    ),
    "maximum_risk": Definition(
        "largest risk of a person", "1/K: the chance to take the right one of the smallest class.", share
    ),
    "average_risk": Definition(
        "average risk of a person",
        "The mean over all people of 1 by the size of their smallest class.",
        share,
    ),
}
