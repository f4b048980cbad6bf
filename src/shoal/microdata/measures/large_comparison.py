"""What is measured of a release whose records are in many places, and how that is told: sums, and links inside blocks."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal.microdata.anonymity.assurances import knower, linked, singled_out
from shoal.microdata.anonymity.result import Anonymity
from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.definitions import DEFINITIONS as DEFINITIONS
from shoal.microdata.measures.information_loss import InformationLoss
from shoal.microdata.measures.loss_figures import LossFigures
from shoal.microdata.measures.pairing import Way
from shoal.microdata.measures.result import KNOWS, RISKS, AttributeComparison
from shoal.microdata.measures.worst_column import WorstColumn
from shoal.operation import Rows
from shoal.remarks import Remark, Remarked, remarks_in_json
from shoal.report.glance import Glance
from shoal.report.page import Page
from shoal.report.provenance import Assurances

#: How a figure of links inside blocks is to be read.
LINKED_HOW = (
    "each record is linked within its block, a leaf of near released records; records of other blocks are not looked at, so "
    "the links of all to all are no more than these"
)


@dataclass(frozen=True, eq=False, repr=False)
class LargeComparison(Glance, Remarked, WorstColumn, LossFigures):
    """Loss and risk in percent; the names of ``shoal.compare``. ``dld`` are links inside blocks, an upper bound.

    ``k`` is K of the protected table over ``quasi`` (named, or else all that could be known: ``quasi_guessed``), and
    ``k_compared`` that over the columns compared alone. There is no linkage by agreement, so no ``dr`` and no ``score``, which
    are made of it.
    """

    name: str
    records: int
    columns: tuple[str, ...]
    quasi: tuple[str, ...]
    quasi_guessed: bool
    k: int
    k_compared: int
    loss: InformationLoss
    attributes: tuple[AttributeComparison, ...]
    id: float
    id_sd: float
    dld: float
    strict_links: int
    expected_links: float
    blocks: int
    largest_block: int
    anonymity: Anonymity
    remarks: tuple[Remark, ...] = ()
    pairing: Way = "key"
    engine: str = "spark"

    def glance(self) -> dict[str, Any]:
        """Loss, risk and K."""
        measure, risk = self.worst
        return {
            "records": self.records,
            "columns": self.columns,
            "il": self.il,
            "worst_risk": risk,
            "by": self.titled(measure),
            "k": self.k,
            "pairing": self.pairing,
            "blocks": self.blocks,
        }

    @property
    def attacks(self) -> tuple[Attack, ...]:
        """Every attack that was tried, the most successful first."""
        title = f"{RISKS['dld']} inside blocks"
        linked = Attack("dld", title, KNOWS["dld"], self.dld, self.records, self.records)
        return tuple(sorted([*self.nearness, linked], key=lambda attack: -attack.percent))

    @property
    def untried(self) -> tuple[str, ...]:
        """None: there is no limit of time here."""
        return ()

    @property
    def worst(self) -> tuple[str, float]:
        """The worst of what was measured, and which it is."""
        return self.attacks[0].name, self.attacks[0].percent

    @property
    def worst_tried(self) -> tuple[str, float]:
        """The same: all were tried."""
        return self.worst

    @property
    def worst_risk(self) -> dict[str, Any]:
        """The same by name: ``{"measure": "dld", "percent": 12.5}``."""
        name, risk = self.worst
        return {"measure": name, "percent": risk}

    def titled(self, attack: str) -> str:
        """What an attack is called in words."""
        return next(one.title for one in self.attacks if one.name == attack)

    def to_dict(self) -> dict[str, Any]:
        """Every figure, ready for JSON."""
        return _figures(self)

    def report(self) -> Any:
        """The report as a page; ``.write(path)`` writes it."""
        from shoal.report.python_call import completed

        return completed(page([self]), self, assurances([self]), DEFINITIONS)


def figures(comparisons: Sequence[LargeComparison], settings: object) -> dict[str, Any]:
    """The figures of the release; of several, those of each."""
    each = [_figures(result) for result in comparisons]
    return each[0] if len(each) == 1 else {"releases": each}


def _figures(result: LargeComparison) -> dict[str, Any]:
    return {
        "name": result.name,
        "release": result.name,
        "engine": result.engine,
        "records": result.records,
        "columns": list(result.columns),
        "pairing": result.pairing,
        **{name: getattr(result, name) for name in ("il1", "il1s", "il2", "il3", "il4", "il5", "il")},
        "skipped": result.loss.skipped,
        "skipped_ratios": result.loss.skipped,
        "sse_percent": result.sse_percent,
        "id": result.id,
        "id_worst": result.id_worst,
        "id_sd": result.id_sd,
        "id_sd_worst": result.id_sd_worst,
        "dld": result.dld,
        "dld_is": LINKED_HOW,
        "expected_links": result.expected_links,
        "strict_links": result.strict_links,
        "blocks": result.blocks,
        "largest_block": result.largest_block,
        "links_expected": result.links_expected,
        "links_strict": result.links_strict,
        "k": result.k,
        "k_compared": result.k_compared,
        "quasi": list(result.quasi),
        "quasi_guessed": result.quasi_guessed,
        "worst_risk": result.worst_risk,
        "attributes": [asdict(attribute) for attribute in result.attributes],
        "attacks": [attack.to_dict() for attack in result.attacks],
        **remarks_in_json(result.remarks),
    }


def facts(comparisons: Sequence[LargeComparison], settings: object) -> list[tuple[str, Any]]:
    """What a person wants to know first."""
    if len(comparisons) > 1:
        return []
    result = comparisons[0]
    return [
        ("records", f"{result.records:,}"),
        (
            "information loss",
            f"IL {result.loss.il:.2f} (IL1s {result.loss.il1s.value:.4f}), SSE {result.loss.sse_percent:.4f} %",
        ),
        (
            "interval disclosure",
            f"{result.id:.2f} % (worst column {result.id_worst:.2f} %), by standard deviation {result.id_sd:.2f} % "
            f"(worst column {result.id_sd_worst:.2f} %)",
        ),
        (
            "linkage by distance",
            f"at most {result.dld:.2f} %, inside {result.blocks:,} blocks of up to {result.largest_block:,} records",
        ),
        (
            "K of the release",
            f"{result.k} over {', '.join(result.quasi)}{', all that could be known' if result.quasi_guessed else ''}",
        ),
        ("K over the columns compared", result.k_compared),
    ]


def tables(comparisons: Sequence[LargeComparison], settings: object) -> list[Rows]:
    """By column; of several releases, each of them."""
    if len(comparisons) > 1:
        each = [(one.name, one.loss.il, one.id, one.dld, one.k) for one in comparisons]
        return [Rows(["release", "IL", "ID %", "DLD % (blocks)", "K"], each)]
    rows = [
        (name, column.il1, column.il1s, column.il2, column.il4, column.sse_percent)
        for name, column in zip(comparisons[0].columns, comparisons[0].loss.by_column, strict=True)
    ]
    return [Rows(["column", "IL1", "IL1s", "IL2", "IL4", "SSE %"], rows)]


def page(comparisons: Sequence[LargeComparison], settings: object = None) -> Page:
    """The report."""
    out = Page("Releases compared", ", ".join(result.name for result in comparisons))
    for result in comparisons:
        out.section(result.name)
        out.facts(facts([result], settings))
        for rows in tables([result], settings):
            out.table(list(rows.header), list(rows.body))
        for warning in result.warnings:
            out.warning(warning)
        for note in result.notes:
            out.note(note)
    out.note(f"Linkage by distance: {LINKED_HOW}.")
    return out


def assurances(comparisons: Sequence[LargeComparison], settings: object = None) -> Assurances:
    """Of the release with the smallest K."""
    least = min(comparisons, key=lambda result: result.k)
    return Assurances(
        knower(least.anonymity),
        singled_out(least.anonymity),
        f"{linked(least.anonymity)} By distance at most {least.dld:.2f} % of the records are linked to their own; {LINKED_HOW}.",
        f"Of {least.id:.2f} % of the values the release tells the original within 1 to 10 %, averaged over these widths; "
        f"in the worst column of {least.id_worst:.2f} %.",
    )
