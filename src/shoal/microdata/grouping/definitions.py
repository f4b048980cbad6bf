"""What the figures of a grouping of columns are called and mean."""

from shoal.report.definitions import Definition, Definitions, count, decimals, percent, yes_or_no

DEFINITIONS: Definitions = {
    "score": Definition(
        "score",
        "w·IL + (1 − w)·(ID + DLD)/2 of the clustering by which groups are judged, with the weight w of the loss (½ unless "
        "said otherwise); less is better.",
        decimals(4),
    ),
    "bound": Definition(
        "no grouping scores below",
        "A proved lower bound of the score; unknown where nothing above 0 is proved.",
        decimals(4),
    ),
    "optimal": Definition(
        "proved optimal", "Whether the score is proved to be the least possible.", yes_or_no
    ),
    "il": Definition(
        "information loss by squared error",
        "100·SSE/SST of the clustering, on columns scaled to their range.",
        percent(2),
    ),
    "id": Definition(
        "interval disclosure ID", "Original values in an interval around the clustered one.", percent(2)
    ),
    "dld": Definition(
        "linkage by distance DLD, ties are none",
        "Records whose own clustered record is the only nearest one, on columns scaled to their range. shoal compare counts "
        "ties, so that its DLD is larger.",
        percent(2),
    ),
    "evaluations": Definition("groupings looked at", "Groupings whose score was computed.", count),
}
