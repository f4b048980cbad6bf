"""What the report says of attacks and of what a release is still good for."""

from typing import TYPE_CHECKING

from shoal.numbers import counted
from shoal.report import charts
from shoal.report.page import Page

if TYPE_CHECKING:
    from shoal.microdata.measures.result import Comparison

_DRAWN = 15


def draw_attacks(out: Page, result: "Comparison") -> None:
    """All attacks side by side, the most successful first, and what each intruder knows."""
    found = result.attacks
    if not found:
        return
    out.section(f"Attacks on {result.name}")
    out.chart(
        charts.lying_bars(
            [attack.title for attack in found], [attack.percent for attack in found], x="success, %"
        ),
        "How far each attack gets. The longest bar is the worst risk.",
    )
    out.table(
        ["attack", "%", "the intruder knows", "records looked for"],
        [(attack.title, attack.percent, attack.knows, attack.targets) for attack in found],
    )
    inferred = next((attack for attack in found if attack.name == "attribute-inference"), None)
    if inferred is not None:
        out.text(
            "Values inferred of records in the release, of a control group that is not, and the excess of the first:"
        )
        out.table(
            ["column", "released", "control", "excess"],
            [
                (row["column"], row["released"], row["control"], row["excess"])
                for row in dict(inferred.details)["by_column"]
            ],
        )


def draw_utility(out: Page, result: "Comparison") -> None:
    """Every measure of utility that was asked for."""
    useful = result.utility
    if useful == type(useful)():
        return
    out.section(f"What {result.name} is still good for")
    if useful.pmse is not None:
        out.text(
            "Telling the release from the original: pMSE is 0 if it cannot be done, a ratio of 1 is to be expected."
        )
        out.table(
            ["model", "pMSE", "expected", "ratio", "z"],
            [
                *((one.model, one.pmse, one.expected, one.ratio, one.z) for one in useful.pmse.models),
                (
                    f"cross-fitted tree, AUC {useful.pmse.tree_auc:.3f}",
                    useful.pmse.tree_pmse,
                    None,
                    None,
                    None,
                ),
            ],
        )
    if useful.marginals:
        last = useful.marginals[-1]
        worst = last.every[:_DRAWN]
        out.chart(
            charts.lying_bars(
                [" × ".join(table.columns) for table in worst],
                [table.total_variation for table in worst],
                x="total variation",
            ),
            f"The worst of {counted(len(last.every), 'table')} of {counted(last.ways, 'column')}: the share of records "
            "in another cell.",
        )
        out.table(
            ["columns together", "tables", "mean total variation", "worst", "mean Hellinger"],
            [
                (one.ways, len(one.every), one.mean, one.worst.total_variation, one.mean_hellinger)
                for one in useful.marginals
            ],
        )
    if useful.coefficients is not None:
        out.text(
            "Overlap of the confidence intervals of regression coefficients, each column explained by the others:"
        )
        out.table(
            ["explained", "mean overlap", "least", "coefficient of"],
            [(one.response, one.mean, one.minimum, one.worst) for one in useful.coefficients.regressions],
        )
    if useful.eigenvalues is not None:
        out.facts([("eigenvalues of the correlations, mean change", f"{useful.eigenvalues.mean_change:.4f}")])
    if useful.classification is not None:
        out.text("Predicting each column of original records, by trees grown on other records (AUC):")
        out.table(
            ["predicted", "grown on the original", "grown on the release", "change"],
            [
                (one.column, one.original, one.release, one.release - one.original)
                for one in useful.classification.predictions
            ],
        )
