"""What the figures of a perturbed table are called and mean."""

from shoal.report.definitions import Definition, Definitions, amount, count, decimals
from shoal.tables.rounding.controlled_rounding.definitions import ROUNDING

CELL_KEYS: Definitions = {
    "safe": Definition(
        "safe",
        "Whether no sensitive count can be computed more closely than its levels allow, by the attacker that is named.",
        ROUNDING["safe"].write,
    ),
    "records": Definition("records", "Records that were counted.", count),
    "sensitive": Definition("sensitive counts", "Counts that a rule calls sensitive.", count),
    "changed": ROUNDING["changed"],
    "mean_change": ROUNDING["mean_change"],
    "largest_change": ROUNDING["largest_change"],
    "bias": Definition(
        "mean change with its sign",
        "The mean of the differences between published and true counts that are not 0; rises and falls cancel out.",
        decimals(3),
    ),
    "variance": Definition(
        "variance of the changes", "The mean of the squared changes of counts that are not 0.", decimals(3)
    ),
    "cost": Definition(
        "sum of absolute changes", "The sum of the changes of all cells, whether they rise or fall.", amount
    ),
    "entropy": Definition(
        "entropy of the perturbation table, in bits",
        "The sum of the entropies of its rows: how uncertain changes are.",
        decimals(3),
    ),
    "entropy_bound": Definition(
        "no such table has more than",
        "A proved upper bound of that entropy, for this variance and these limits.",
        decimals(3),
    ),
    "disclosed": Definition(
        "counts that can be computed exactly",
        "Cells that are not 0 and whose true count follows from the published ones, the largest change, and that true counts "
        "add up; unknown for tables of more than 20,000 cells, and of more than 200 where some counts are never published so.",
        count,
    ),
    "posterior_mean": Definition(
        "mean certainty of a sensitive count",
        "The probability of the true count for somebody who sees the published one and knows the perturbation table and how many "
        "cells have which count; the mean over sensitive counts.",
        decimals(3),
    ),
    "posterior_largest": Definition(
        "largest certainty of a sensitive count", "The largest of these probabilities.", decimals(3)
    ),
}
