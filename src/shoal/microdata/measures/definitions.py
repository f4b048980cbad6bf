"""What the figures of a comparison are called and mean."""

from shoal.report.definitions import Definition, Definitions, count, decimals, percent

_NO_NUMBERS = "no columns of numbers"


def _number(name: str, meaning: str, digits: int = 4) -> Definition:
    return Definition(name, meaning, decimals(digits), _NO_NUMBERS)


def _percent(name: str, meaning: str) -> Definition:
    return Definition(name, meaning, percent(2), _NO_NUMBERS)


DEFINITIONS: Definitions = {
    "records": Definition(
        "records compared", "Pairs of an original and a released record without missing numbers.", count
    ),
    "il1": _number("IL1", "Mean relative change of a value."),
    "il1s": _number("IL1s", "Mean change of a value, in √2 standard deviations of the original."),
    "il2": _number("IL2", "Mean relative change of a mean."),
    "il3": _number("IL3", "Mean relative change of a covariance."),
    "il4": _number("IL4", "Mean relative change of a variance."),
    "il5": _number("IL5", "Mean change of a correlation."),
    "il": _number("information loss IL", "100 times the mean of IL1 to IL5.", 2),
    "sse_percent": _number(
        "100·SSE/SST", "Squared error on columns scaled to mean 0 and deviation 1, by their variation."
    ),
    "id": _percent(
        "interval disclosure ID",
        "Original values in an interval around the released one, over the widths that were set.",
    ),
    "id_sd": _percent(
        "interval disclosure by standard deviation", "The same with widths in standard deviations."
    ),
    "id_worst": _percent(
        "interval disclosure, worst column", "The largest ID of any column, in place of the mean over them."
    ),
    "id_sd_worst": _percent(
        "interval disclosure by standard deviation, worst column",
        "The same by standard deviation.",
    ),
    "dld": _percent(
        "linkage by distance DLD",
        "Records whose nearest released record is their own, on columns scaled as set (by their range if nothing else is said); "
        "the mean over what an intruder may know. A tie of t records counts 1/t unless ties are counted strictly.",
    ),
    "dld_worst": _percent(
        "linkage by distance, worst case",
        "The largest DLD over what an intruder may know, in place of the mean.",
    ),
    "pld": _percent(
        "linkage by agreement PLD", "Records linked to their own by agreeing values, one to one."
    ),
    "dr": _number("disclosure risk DR", "Half of ID and a quarter of DLD and PLD each.", 2),
    "score": _number("score", "The mean of IL and DR.", 2),
    "fitness": _number(
        "fitness",
        "The score by which groups of columns are judged: half loss, half risk, with strict links (ties are none).",
        2,
    ),
    "links_expected": _number(
        "links expected",
        "Records linked to their own by distance if all columns of numbers are known, scaled as set (by their range if nothing "
        "else is said); a tie of t records counts 1/t.",
        1,
    ),
    "links_strict": Definition(
        "links without a tie", "The same where the own record must be the only nearest one.", count
    ),
    "k": Definition(
        "K of the release",
        "The size of the smallest class over the quasi-identifiers, in the release.",
        count,
    ),
    "k_compared": Definition(
        "K over the columns compared alone", "The same over the columns that were compared.", count
    ),
}
