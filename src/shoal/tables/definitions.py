"""What the figures of tables are called and mean."""

from shoal.report.definitions import Definition, Definitions, amount, count, percent, yes_or_no

#: Of a table whose totals are not quite the sums of their parts, as it was allowed.
GAP = Definition(
    "largest gap between a total and its parts",
    "The most by which a total differs from the sum of its parts; told where rounding or a tolerance allows that there is any.",
    amount,
)

#: Of a pattern of hidden cells.
PATTERN: Definitions = {
    "safe": Definition(
        "safe",
        "Whether no sensitive cell can be computed more closely than its levels allow, by the attacker that is named.",
        yes_or_no,
    ),
    "primary": Definition(
        "sensitive cells", "Cells that a rule or somebody calls sensitive; all are hidden.", count
    ),
    "complementary": Definition(
        "further cells hidden", "Cells hidden besides, so that no sensitive one can be computed.", count
    ),
    "cost": Definition(
        "cost", "The sum of the costs of the further cells hidden; sensitive cells cost nothing.", amount
    ),
    "bound": Definition(
        "no safe pattern costs less than",
        "A proved lower bound for this cost and attacker; unknown where nothing above 0 is proved.",
        amount,
    ),
    "gap_percent": Definition(
        "gap to the best possible",
        "100·(cost − bound)/cost; 0 % where the pattern is proved optimal, unknown without a bound.",
        percent(2),
    ),
    "value_hidden_percent": Definition(
        "value hidden besides, without totals",
        "What the further cells hold of the value of all cells that are no totals. Sensitive cells and totals are not counted.",
        percent(3),
    ),
    "smallest_margin_percent": Definition(
        "smallest margin over the required level",
        "The least by which an interval exceeds what it needs, in percent of the cell's value, over all sensitive cells.",
        lambda value: f"{value:.3g} %",
        "no limit",
    ),
    "disclosed": Definition(
        "hidden in vain, disclosed exactly",
        "Hidden cells that are not sensitive and that an attacker can compute exactly.",
        lambda value: count(len(value) if isinstance(value, list) else value),
    ),
    "doubtful_if_bounded": Definition(
        "unsafe if every cell were known to twice its value",
        "Sensitive cells that would be unsafe for an attacker who knows every cell to within twice its value.",
        count,
    ),
    "largest_gap": GAP,
}


def _listed(value: object) -> str:
    return count(len(value) if isinstance(value, list) else int(value))  # type: ignore[call-overload]


#: Of an audit; lists of cells are told by their number.
AUDIT: Definitions = {
    "safe": PATTERN["safe"],
    "sensitive": PATTERN["primary"],
    "hidden": Definition("hidden cells", "All cells that the pattern hides, sensitive or not.", count),
    "unsafe": Definition(
        "unsafe: published, or too narrow",
        "Sensitive cells whose interval is narrower than it must be, those that the pattern does not hide at all among them.",
        _listed,
    ),
    "published": Definition("of them published", "Sensitive cells that the pattern does not hide.", _listed),
    "insider": Definition(
        "known to an insider",
        "Sensitive cells that a sole contributor of another cell can work out.",
        _listed,
    ),
    "sums": Definition(
        "sensitive sums given away",
        "Relations that give away a sum of hidden cells which is itself sensitive.",
        count,
    ),
    "integer": Definition(
        "given away by whole numbers", "Counts whose interval holds too few other whole numbers.", _listed
    ),
    "disclosed": PATTERN["disclosed"],
    "not_judged": Definition(
        "not judged, since the time was over",
        "Hidden cells whose interval was not computed within the time limit. Nothing is safe as long as there are any.",
        count,
    ),
    "largest_gap": GAP,
}

#: Of a table before anything is hidden.
TABULATION: Definitions = {
    "cells": Definition("cells", "All cells, totals among them.", count),
    "sensitive": Definition(
        "sensitive cells",
        "Cells that a rule or somebody calls sensitive; a cell may fail several rules.",
        count,
    ),
    "largest_gap": GAP,
}
