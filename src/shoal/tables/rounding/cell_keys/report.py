"""How a perturbed table of counts is told; its report is for internal use, since it speaks of the true counts."""

from typing import TYPE_CHECKING, Any

from shoal.operation import Rows
from shoal.report.definitions import in_words
from shoal.report.page import Page
from shoal.report.provenance import Assurances
from shoal.tables.rounding.assurances import assured, reached_in_words
from shoal.tables.rounding.cell_keys.definitions import CELL_KEYS
from shoal.tables.rounding.pages import changed_page

if TYPE_CHECKING:
    from shoal.tables.rounding.cell_keys.operation import PerturbedCounts
    from shoal.tables.rounding.cell_keys.result import PerturbedTable

#: What its figures mean.
DEFINITIONS = CELL_KEYS


def figures(result: "PerturbedCounts", settings: object) -> dict[str, Any]:
    """The figures of the perturbed table."""
    return result.changed.to_dict()


def facts(result: "PerturbedCounts", settings: object) -> list[tuple[str, Any]]:
    """What a person wants to know first."""
    return _facts(result.changed)


def _facts(perturbed: "PerturbedTable") -> list[tuple[str, Any]]:
    return [
        *in_words(CELL_KEYS, perturbed.to_dict(), CELL_KEYS),
        *reached_in_words(perturbed.audit),
        ("protected against", perturbed.attacker),
        ("keys", _keys(perturbed)),
    ]


def _keys(perturbed: "PerturbedTable") -> str:
    if perturbed.secret is None:
        return (
            "those of the records"
            if perturbed.for_release
            else "those of the records, unevenly spread: not for release"
        )
    return "from a secret" if perturbed.for_release else "from a seed: not for release"


def tables(result: "PerturbedCounts", settings: object) -> list[Rows]:
    """None: chances and intervals are in their files."""
    return []


def page(result: "PerturbedCounts", settings: object) -> Page:
    """The report."""
    return keys_page(result.changed)


def keys_page(perturbed: "PerturbedTable") -> Page:
    """What changed, with which chances, and what can be computed from it."""
    return changed_page(
        "Counts perturbed by cell keys",
        perturbed,
        _facts(perturbed),
        [
            ("largest change", perturbed.problem.deviation),
            ("variance asked for", perturbed.problem.variance),
            ("no counts from 1 to", perturbed.problem.small),
        ],
        "every count again from the records with whole numbers, and the perturbation table by its sums",
    )


def of_keys(perturbed: "PerturbedTable") -> Assurances:
    """What it says of singling out, linking and inference."""
    said = assured(perturbed, "perturbed")
    if perturbed.sure is None:
        return said
    sure = (
        f" Somebody who knows how many cells have which count would hold the true count of a sensitive cell for right with a "
        f"probability of {perturbed.sure.mean:.3g} on average and {perturbed.sure.largest:.3g} at most."
    )
    return Assurances(said.attacker, said.singling_out, said.linking, said.inference + sure)


def assurances(result: "PerturbedCounts", settings: object = None) -> Assurances:
    """The same of a run."""
    return of_keys(result.changed)
