"""What the figures of a microaggregation are called and mean."""

from shoal.microdata.anonymity.definitions import DEFINITIONS as OF_CLASSES
from shoal.report.definitions import Definition, Definitions, count, percent, yes_or_no

DEFINITIONS: Definitions = {
    "records": Definition("records released", "Records of the release.", count),
    "set_aside": Definition(
        "records set aside, not released",
        "Records with missing values that were left out of the release.",
        count,
    ),
    "k_release": Definition(
        "K of the release",
        "The size of the smallest class over all quasi-identifiers, named or guessed, in the released records. The one that "
        "counts.",
        count,
    ),
    "k_protected": Definition(
        "K over the protected columns alone", "The same over the columns that were aggregated.", count
    ),
    "k": Definition("k asked for", "The smallest number of records in a group.", count),
    "loss_percent": Definition(
        "information loss",
        "100·SSE/SST of the released values, on columns scaled to mean 0 and deviation 1; 100 % is one group for all.",
        percent(4),
    ),
    "bound_percent": Definition(
        "no grouping can lose less than",
        "A proved lower bound of that loss; unknown where nothing above 0 is proved.",
        percent(4),
    ),
    "bound_share_percent": Definition(
        "share of the loss proved unavoidable",
        "100·bound/loss; the larger, the closer the release is known to be to the best possible.",
        percent(1),
    ),
    "optimal": Definition(
        "proved optimal", "Whether the loss is proved to be the least possible.", yes_or_no
    ),
    "below": OF_CLASSES["below"],
    "maximum_risk": OF_CLASSES["maximum_risk"],
    "average_risk": OF_CLASSES["average_risk"],
}
