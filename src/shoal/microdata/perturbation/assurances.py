"""What a perturbation says of singling out, linking and inference."""

from typing import TYPE_CHECKING

from shoal.report.provenance import Assurances

if TYPE_CHECKING:
    from shoal.microdata.perturbation.result import Perturbed


def assurances(result: "Perturbed", settings: object = None) -> Assurances:
    """By how many values changed; a perturbation promises no k."""
    shares = (
        [100.0 * count / result.records for count in result.changed.values()] if result.records else [0.0]
    )
    least, most = min(shares), max(shares)
    changed = f"{least:.3g} %" if least == most else f"{least:.3g} % to {most:.3g} %, by column,"
    secret = (
        "The attacker does not know the secret that the changes were drawn from."
        if result.for_release
        else "The changes were drawn from a seed, which can be guessed, so that they protect from nobody: not for release."
    )
    return Assurances(
        f"somebody who knows the method, its settings and the released records, and true values of some records. {secret}",
        "Not measured, and not promised: a record that was alone with its values may be so after the change, with other values "
        "(shoal anonymity counts that on the release).",
        f"Of the values of {', '.join(result.columns)}, {changed} differ from the original; the others are true and can be "
        "linked as before. Not measured: how many records an intruder links (shoal compare does, with the record links).",
        _inferred(result),
    )


def _inferred(result: "Perturbed") -> str:
    if result.method != "pram":
        return (
            "Not measured: how near a released value is to the true one (shoal compare: interval disclosure). A value that did "
            "not change is the true one, and nobody can tell by looking which these are."
        )
    chances = [chance for item in result.details for chance in item.highest_truth.values()]
    worst = f" Over all categories and strata that chance is at most {max(chances):.3f}." if chances else ""
    return (
        "A seen category is the true one by the chance listed above for the categories of at least 10 records."
        f"{worst} Not measured: what several columns together say of the true value."
    )
