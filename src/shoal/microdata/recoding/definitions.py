"""What the figures of a recoding are called and mean."""

from shoal.microdata.anonymity.definitions import DEFINITIONS as OF_CLASSES
from shoal.report.definitions import Definition, Definitions, amount, count, yes_or_no

DEFINITIONS: Definitions = {
    "records": Definition("records released", "Records of the release.", count),
    "suppressed_people": Definition(
        "left out", "Records, or units where a column says whose they are, that are not released.", count
    ),
    "suppressed_records": Definition("records left out", "Records that are not released.", count),
    "suppressed_cells": Definition(
        "values blanked", "Values of released records that are blank where the column shows others.", count
    ),
    "blank_records": Definition(
        "records with every key blank",
        "Released records that show no key; they are released all the same, and hide nobody else.",
        count,
    ),
    "blank_people": Definition(
        "shown by no key",
        "Records, or units where a column says whose they are, of which every key was blanked; they count against the limit with "
        "those left out.",
        count,
    ),
    "keyless_records": Definition(
        "records that came without any key", "Released records whose keys are all missing in the data.", count
    ),
    "k_release": Definition(
        "K of the release", "The size of the smallest class over the keys, in the released records.", count
    ),
    "k": Definition("k asked for", "The smallest size of a class that was asked for.", count),
    "loss": Definition(
        "loss", "In the measure that was minimised, of the released records against the original.", amount
    ),
    "bound": Definition(
        "lower bound",
        "No recoding of whole columns or of single records, or no set of blanks, loses less (bound_of says which); "
        "unknown where nothing above 0 is proved.",
        amount,
    ),
    "optimal": Definition(
        "proved optimal", "Whether the loss is proved to be the least possible.", yes_or_no
    ),
    "classes": OF_CLASSES["classes"],
    "below": OF_CLASSES["below"],
    "maximum_risk": OF_CLASSES["maximum_risk"],
    "average_risk": OF_CLASSES["average_risk"],
}
