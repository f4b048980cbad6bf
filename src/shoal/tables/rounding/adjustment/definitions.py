"""What the figures of an adjusted table are called and mean."""

from shoal.report.definitions import Definition, Definitions, amount, count, percent
from shoal.tables.rounding.controlled_rounding.definitions import ROUNDING

ADJUSTMENT: Definitions = {
    "safe": ROUNDING["safe"],
    "sensitive": Definition(
        "sensitive cells",
        "Cells that a rule or somebody calls sensitive; all are moved away from their figures.",
        count,
    ),
    "changed": ROUNDING["changed"],
    "cost": Definition(
        "cost of all changes",
        "The sum of all changes, each as a share of its figure or by its size, as the weights say.",
        amount,
    ),
    "bound": Definition(
        "no adjustment costs less than", "A proved lower bound for these weights, moves and limits.", amount
    ),
    "gap_percent": Definition(
        "gap to the best possible",
        "100·(cost − bound)/cost; 0 % where the adjustment is proved optimal, unknown without a bound.",
        percent(2),
    ),
    "mean_change": ROUNDING["mean_change"],
    "largest_change": ROUNDING["largest_change"],
    "doubtful_if_bounded": Definition(
        "unsafe if the largest change were known",
        "Sensitive cells that would be unsafe for an attacker who knows by which share another cell changed at most.",
        count,
    ),
    "mean_change_percent": Definition(
        "mean change of a cell that is not sensitive, in percent",
        "The mean of the absolute changes of cells that are not sensitive and not empty, in percent of their figures.",
        percent(3),
    ),
    "largest_gap": ROUNDING["largest_gap"],
}
