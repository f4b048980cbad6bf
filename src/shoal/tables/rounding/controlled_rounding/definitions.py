"""What the figures of a rounded table are called and mean."""

from shoal.report.definitions import Definition, Definitions, amount, count, percent, yes_or_no
from shoal.tables.definitions import GAP

ROUNDING: Definitions = {
    "safe": Definition(
        "safe",
        "Whether no sensitive cell can be computed more closely than its levels allow, by the attacker that is named.",
        yes_or_no,
    ),
    "base": Definition("base", "What every figure is a multiple of.", amount),
    "steps": Definition(
        "less than so many bases away",
        "How far a figure may be from the true one, in bases; with 1 a multiple of the base stays as it is.",
        count,
    ),
    "changed": Definition("cells changed", "Cells whose figure is another than the true one.", count),
    "sensitive": Definition(
        "sensitive cells",
        "Cells that a rule or somebody calls sensitive; what can be computed of them is checked.",
        count,
    ),
    "cost": Definition(
        "distance from the goal, in bases",
        "How far the figures are from where each should go by itself, in bases, summed over all cells.",
        amount,
    ),
    "bound": Definition(
        "no rounding is nearer than",
        "A proved lower bound of that distance, for this goal and this attacker.",
        amount,
    ),
    "gap_percent": Definition(
        "gap to the best possible",
        "100·(cost − bound)/cost; 0 % where the rounding is proved optimal.",
        percent(2),
    ),
    "mean_change": Definition(
        "mean change of a cell",
        "The mean of the absolute differences between published and true figures.",
        amount,
    ),
    "largest_change": Definition("largest change of a cell", "The largest of these differences.", amount),
    "largest_gap": GAP,
}
