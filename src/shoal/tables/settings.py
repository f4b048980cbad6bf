"""The settings of ``tabulate``, ``suppress`` and ``audit``: which table, what is sensitive in it, what an attacker knows."""

from functools import partial
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from shoal.search.settings import SearchSettings
from shoal.settings import (
    Column,
    Columns,
    Data,
    Options,
    Settings,
    SeveralData,
    Spelling,
    setting,
    split_names,
)

# The sections of a form, each a way to declare a setting that belongs to it.
_linked = partial(setting, section="Linked tables")
_trees = partial(setting, section="Hierarchies")
_contributors = partial(setting, section="Holdings, weights, a-priori")
_attacker = partial(setting, section="What an attacker knows")
_figures = partial(setting, section="Rounding and counts")
_hiding = partial(setting, section="What hiding costs and looks like")
_search = partial(setting, section="Search")


def _split_pairs(texts: list[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, data = text.partition("=")
        if not equals:
            raise ValueError(f"needs DIMENSION=FILE, not '{text}'")
        pairs[name.strip()] = data.strip()
    return pairs


#: Rules like ``p-percent(10)``, the data with the hierarchy of a dimension, cells by their coordinates, names of methods.
Rules: TypeAlias = Annotated[list[str], Spelling("rules", "RULE", list, " ".join, repeated=True)]
Hierarchies: TypeAlias = Annotated[
    dict[str, str],
    Spelling(
        "hierarchies",
        "a=FILE",
        _split_pairs,
        lambda pairs: " ".join(f"{name}={data}" for name, data in pairs.items()),
        repeated=True,
    ),
]
Cells: TypeAlias = Annotated[list[list[str]], Spelling("cells", "CELLS", list)]
Methods: TypeAlias = Annotated[list[str], Spelling("methods", "M1,M2", split_names, ",".join)]


class TabulationSettings(Settings):
    """How records become a table with its sensitive cells."""

    dimensions: Columns = setting(
        [], "Columns that span the table.", label="Dimensions", served={"max_length": 6}
    )
    value: Column | None = setting(None, "What is summed.", label="Sum of", otherwise="records are counted")
    contributor: Column | None = setting(
        None, "Who contributes.", label="Contributor", otherwise="every record is one"
    )
    rules: Rules | None = setting(
        None,
        "When a cell is sensitive: frequency(3), dominance(1,75), p-percent(10), p-percent(10,2), pq(10,80); may be repeated.",
        flag="--rule",
        label="Rules",
        otherwise="frequency(3), and for sums p-percent(10)",
        served={"max_length": 10},
    )
    hierarchy: Hierarchies = _trees(
        {}, "Subtotals of a dimension (code,parent or .hrc).", label="Hierarchies"
    )
    holding: Column | None = _contributors(
        None,
        "Groups of contributors that count as one.",
        label="Holding, contributors that count as one",
        otherwise="none",
    )
    weight: Column | None = _contributors(
        None, "Sampling weights.", label="Sampling weights", otherwise="none"
    )
    weights_public: bool = _contributors(
        default=False, sentence="Attackers know the weights.", label="Attackers know the weights"
    )
    apriori: Data | None = _contributors(
        None, "Cells declared safe or sensitive, costs, levels.", label="A-priori file", metavar="FILE"
    )
    zeros: Literal["published", "suppressible"] = _hiding(
        "published",
        "Whether empty cells may be hidden.",
        label="Empty cells",
        words={"published": "are published", "suppressible": "may be hidden"},
    )


class AttackerSettings(Settings):
    """What an attacker knows, and what is known of the figures."""

    insiders: bool = _attacker(
        default=True,
        sentence="Protect against sole contributors and known sums.",
        label="Sole contributors know their own cells",
    )
    low: float = _attacker(
        0.0,
        "The least an attacker holds possible for any cell.",
        label="Cells are at least",
        allow_inf_nan=True,
    )
    high: float | None = _attacker(
        None,
        "The most an attacker holds possible for any cell.",
        label="and at most",
        otherwise="no limit",
        allow_inf_nan=True,
    )
    sliding: float = _attacker(
        0.0,
        "Width the interval must have in addition, as a share of the value.",
        label="Width of the interval in addition",
        ge=0,
        le=1e6,
        served={"le": 10},
    )
    rounding: float | None = _figures(
        None,
        "Totals may be off by rounding to this base.",
        label="Totals are rounded to",
        metavar="BASE",
        otherwise="not rounded",
        gt=0,
        le=1e15,
    )
    counts: bool = _figures(
        default=False,
        sentence="The cells are counts: check whole numbers too.",
        label="The cells are counts: check whole numbers too",
    )


def _table() -> Any:
    return setting(
        ...,
        "A CSV matrix, a list of cells from tabulate, or a .jj file.",
        argument=True,
        label="Data",
        metavar="TABLE",
    )


class TableSettings(TabulationSettings, AttackerSettings):
    """Which table, which of its cells are sensitive, and what an attacker knows."""

    data: Data = _table()
    source: Literal["records", "matrix", "cells", "jj"] | None = setting(
        None,
        "Records to tabulate, a matrix with totals, a list of cells from tabulate, or a jj file.",
        label="It is",
        otherwise="records if dimensions are named, else what it looks like",
        only="workbench",
    )
    linked: list[Annotated[list[str], Field(min_length=1, max_length=6)]] = _linked(
        [],
        "Dimensions of further tables of the same records, protected together with this one.",
        only="workbench",
        max_length=10,
    )
    linked_tables: SeveralData = _linked(
        [],
        "A further list of cells of the same records; may be repeated.",
        flag="--linked",
        metavar="TABLE",
        only="command",
    )
    sensitive: Cells = setting([], "Coordinates of sensitive cells.", only="workbench", max_length=100_000)
    sensitive_data: Data | None = setting(
        None,
        "File row,column[,lower,upper] of sensitive cells.",
        flag="--sensitive",
        label="Sensitive cells",
        metavar="CELLS",
    )
    contributions: Data | None = _contributors(
        None,
        "Who contributes how much to a list of cells, as tabulate writes it; rules are applied to sums with it.",
        only="workbench",
    )
    protection: float | None = setting(
        None,
        "How far off a sensitive cell without levels must stay, as a share of its value.",
        otherwise="0.10",
        ge=0,
        le=1,
    )

    @property
    def read(self) -> list[str]:
        """All data that the table is made of."""
        beside = [self.sensitive_data, self.apriori, self.contributions]
        every = [self.data, *beside, *self.hierarchy.values(), *self.linked_tables]
        return [name for name in every if name is not None]

    def named(self, what: str = "") -> str:
        """The table in a few words; what tells runs of it apart comes before its dimensions."""
        named = f"{self.data}, {what}" if what else self.data
        tables = [" × ".join(dimensions) for dimensions in (self.dimensions, *self.linked) if dimensions]
        return f"{named}: {', '.join(tables)}" if tables else named


def _cost(sentence: str, other: str) -> Any:
    metavar = f"value|unity|contributors|log|{other}"
    return _hiding(
        "value", sentence, label="Hiding a cell costs", metavar=metavar, served={"max_length": 100}
    )


class TabulateSettings(TableSettings):
    """The records, the dimensions and the rules."""

    data: Data = setting(
        ..., "A file (or FILE.xlsx::SHEET), or URL::table of a database.", argument=True, label="Data"
    )
    dimensions: Columns = setting(
        [],
        "Columns that span the table.",
        label="Dimensions",
        needed_in="command",
        served={"max_length": 6},
    )
    cost: str = _cost("What hiding a cell costs: a figure of the cell, or the sum of a column.", "COLUMN")


class AuditSettings(TableSettings):
    """The table and its hidden cells: in a list, one by one, or as a jj file marks them."""

    data: Data = _table()
    pattern: Data | None = setting(
        None,
        "All hidden cells, the sensitive ones too; a .jj table may mark them itself.",
        argument=True,
        label="Pattern",
        metavar="PATTERN",
    )
    hidden: Cells = setting(
        [], "Coordinates of the hidden cells.", label="Hidden cells", only="workbench", max_length=200_000
    )


class HidingSettings(Settings):
    """What hiding a cell costs and looks like."""

    cost: str = _cost(
        "What hiding a cell costs; lists of cells and .jj files bring their own, which 'value' keeps.", "FILE"
    )
    previous: Data | None = _hiding(
        None,
        "Last period's pattern: its cells cost a tenth.",
        label="Last period's pattern",
        metavar="PATTERN",
    )
    symbol: str | None = _hiding(
        None,
        "What stands in a hidden cell of the published table.",
        label="Symbol in hidden cells",
        otherwise="blank",
        # On a page an empty cell would pass for one that is not there.
        served={"max_length": 40, "default": "x"},
    )


class SuppressSettings(TableSettings, HidingSettings, SearchSettings):
    """The table, what hiding costs, and the search."""

    data: Data = _table()
    method: str = _search("auto", "How to search; 'list' shows all methods.", max_length=40)
    options: Options = _search({}, "An option of the method; may be repeated.", flag="--option")
    compare: Methods = _search(
        [], "Also run these methods, for the report.", label="Compare with", served={"max_length": 10}
    )
