"""The settings of ``tabulate``, ``suppress`` and ``audit``: which table, what is sensitive in it, what an attacker knows."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from shoal.engines import EngineSettings
from shoal.runtime.settings import SearchSettings, time_limit
from shoal.settings import SHARE, Column, Columns, Data, Options, Settings, SeveralData, Spelling, setting
from shoal.sources.address import beside
from shoal.written_values import groups_in_words, in_groups, joined_names, split_groups, split_names

# The sections of a form, each a way to declare a setting that belongs to it.
_linked = partial(setting, section="Linked tables")
_trees = partial(setting, section="Hierarchies")
_ready = partial(setting, section="Ready-made tables")
_contributors = partial(setting, section="Holdings, weights, a-priori")
_attacker = partial(setting, section="What an attacker knows")
_figures = partial(setting, section="Rounding and counts")
_hiding = partial(setting, section="What hiding costs and looks like")
_several = partial(setting, section="Several figures")
_beside = partial(setting, section="Published beside it")
_look = partial(setting, section="The published table")
_search = partial(setting, section="Search")


def _split_pairs(texts: list[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, data = text.partition("=")
        if not equals:
            raise ValueError(f"needs DIMENSION=FILE, not '{text}'")
        pairs[name.strip()] = data.strip()
    return pairs


def _are_rules(texts: list[str]) -> None:
    from shoal.tables.model.rules import parse_rule

    for text in texts:
        parse_rule(text)


#: Rules like ``p-percent(10)``, the data with the hierarchy of a dimension, cells by their coordinates, names of methods.
Rules: TypeAlias = Annotated[
    list[str], Spelling("rules", "RULE", list, " ".join, repeated=True, check=_are_rules)
]
Hierarchies: TypeAlias = Annotated[
    dict[str, str],
    Spelling(
        "hierarchies",
        "a=FILE",
        _split_pairs,
        lambda pairs: " ".join(f"{name}={data}" for name, data in pairs.items()),
        repeated=True,
        names=list,
        places=lambda pairs: pairs.values(),
    ),
]
Cells: TypeAlias = Annotated[list[list[str]], Spelling("cells", "CELLS", list)]
Totals: TypeAlias = Annotated[list[str], Spelling("text", "CODE", split_names, joined_names)]
Methods: TypeAlias = Annotated[list[str], Spelling("methods", "M1,M2", split_names, ",".join)]


class TabulationSettings(Settings):
    """How records become a table with its sensitive cells."""

    dimensions: Columns = setting(
        [], "Columns that span the table.", label="Dimensions", served={"max_length": 6}
    )
    value: Column | None = setting(None, "What is summed.", label="Sum of", otherwise="records are counted")
    further_values: Columns = _several(
        [],
        "Further columns of the records that are summed, in the same table.",
        flag="--further-value",
        label="Further figures",
        served={"max_length": 20},
    )
    shadow: bool = _several(
        default=False,
        sentence="A cell that is sensitive in one figure is so in all.",
        label="A cell that is sensitive in one figure is so in all",
    )
    contributor: Column | None = setting(
        None, "Who contributes.", label="Contributor", otherwise="every record is one"
    )
    rules: Rules | None = setting(
        None,
        "When a cell is sensitive: frequency(3), frequency(3,20), dominance(1,75), p-percent(10), p-percent(10,2), pq(10,80), "
        "zero(10), manual(20), for counts group(1), empty(1); may be repeated.",
        flag="--rule",
        label="Rules",
        otherwise="frequency(3), and for sums p-percent(10)",
        served={"max_length": 10},
    )
    source: Literal["records", "aggregated", "matrix", "cells", "jj"] | None = setting(
        None,
        "What the rows are: records to tabulate, cells of a ready-made table, a matrix with totals, a list of cells from "
        "tabulate, or a jj file.",
        label="It is",
        otherwise="what it looks like",
    )
    missing: Literal["refuse", "aside", "category"] = setting(
        "refuse",
        "What becomes of records with missing values.",
        label="Missing values",
        words={
            "refuse": "are refused",
            "aside": "are set aside and counted",
            "category": "are a category of their own",
        },
    )
    hierarchy: Hierarchies = _trees(
        {}, "Subtotals of a dimension (code,parent, a column for each level, or .hrc).", label="Hierarchies"
    )
    contributors_column: Column | None = _ready(
        None, "The number of contributors of a cell.", label="Number of contributors", otherwise="unknown"
    )
    largest_columns: Columns = _ready(
        [],
        "The largest contribution of a cell, the second largest, and so on.",
        flag="--largest-column",
        label="Largest contributions",
        served={"max_length": 10},
    )
    status_column: Column | None = _ready(
        None,
        "The state of a cell: s safe, u sensitive, m hidden, p or z published, e empty.",
        label="State of a cell",
        otherwise="rules decide",
    )
    level_columns: Columns = _ready(
        [], "The lower and the upper level of sensitive cells.", label="Levels", served={"max_length": 2}
    )
    total: Totals = _ready(
        [],
        "What totals are called: a code for all dimensions, or SIZE=ALL,SEX=T.",
        label="Totals are called",
        otherwise="Total, _T, ALL and the like",
        served={"max_length": 12},
    )
    metadata: Data | None = _ready(
        None,
        "The .rda file of τ-ARGUS that describes the data.",
        metavar="FILE.rda",
        otherwise="the one beside a .tab or .asc file",
        only="command",
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
    tolerance: float | None = _figures(
        None,
        "Totals may be off by this much.",
        label="Totals may be off by",
        metavar="AMOUNT",
        otherwise="not at all",
        ge=0,
        le=1e15,
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
        None,
        "Cells declared safe or sensitive, costs, levels; a list of cells, or a .hst file of τ-ARGUS.",
        label="A-priori file",
        metavar="FILE",
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
        metavar=SHARE,
        ge=0,
        le=1e6,
        served={"le": 10},
    )
    counts: bool = _figures(
        default=False,
        sentence="The cells are counts: check whole numbers too.",
        label="The cells are counts: check whole numbers too",
    )


def _table() -> Any:
    return setting(
        ...,
        "Records or a ready-made table (with dimensions), a CSV matrix, a list of cells from tabulate, or a .jj or .tab file.",
        argument=True,
        label="Data",
        metavar="TABLE",
    )


class TableSettings(TabulationSettings, AttackerSettings):
    """Which table, which of its cells are sensitive, and what an attacker knows."""

    data: Data = _table()
    linked: Annotated[
        list[Annotated[list[str], Field(min_length=1, max_length=6)]],
        Spelling("text", "a,b;c,d", split_groups, groups_in_words, names=in_groups),
    ] = _linked(
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
        "How far off every sensitive cell must stay at least, as a share of its value, whichever rule calls it so.",
        otherwise="0.10 for cells without levels",
        metavar=SHARE,
        ge=0,
        le=1,
    )

    @property
    def columns_in(self) -> list[tuple[str, ...]]:
        """The records whose columns are named; what is a table already has dimensions of its own."""
        if self.described is not None:
            return []
        records = self.source in ("records", "aggregated") or (self.source is None and bool(self.dimensions))
        return [(self.data,)] if records else []

    @property
    def described(self) -> str | None:
        """The metadata of τ-ARGUS that describe the data: those that are named, or those beside a file of τ-ARGUS."""
        if self.metadata is not None or not self.data.lower().endswith((".tab", ".asc")):
            return self.metadata
        from shoal.tables.files.argus_described import beside

        return beside(self.data)

    @property
    def read(self) -> list[str]:
        """All data that the table is made of."""
        beside = [self.sensitive_data, self.apriori, self.contributions, self.described]
        every = [self.data, *beside, *self.hierarchy.values(), *self.linked_tables]
        return [name for name in every if name is not None]

    @property
    def read_beside(self) -> list[str]:
        """The files of a list of cells that are read without being named, as far as they are there."""
        if self.dimensions or "://" in self.data:
            return []
        cells = [self.data, *self.linked_tables]
        every = [beside(name, what) for name in cells for what in ("structure.json", "contributions.csv")]
        return [str(path) for path in every if path.is_file()]

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


def _column_of_cost(cost: str) -> list[str]:
    from shoal.tables.model.costs import COSTS

    return [] if cost in COSTS else [cost]


class TabulateSettings(TableSettings, EngineSettings):
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
    cost: Annotated[str, Spelling("text", "COLUMN", str, names=_column_of_cost)] = _cost(
        "What hiding a cell costs: a figure of the cell, or the sum of a column.", "COLUMN"
    )


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
    beside: SeveralData = _beside(
        [],
        "Another published table that everybody can see: of last period, or of other dimensions of the same records; may be "
        "repeated.",
        label="Published beside it",
        metavar="TABLE",
        served={"max_length": 10},
    )
    change: float | None = _beside(
        None,
        "The share by which everybody knows that no figure changed by more since last period.",
        label="Figures change at most by",
        metavar=SHARE,
        otherwise="not known",
        ge=0,
        le=1e6,
    )
    within: float | None = _beside(
        None,
        "Figures of the tables beside it were changed, and each is at most this far from the true one.",
        label="Figures beside it are off by at most",
        otherwise="0: they are as they were",
        gt=0,
        le=1e300,
    )
    nested: SeveralData = _beside(
        [],
        "Which areas of one table lie in (or across) which ones of the other: two columns named after their dimensions; may be "
        "repeated.",
        label="Areas that lie in others",
        metavar="FILE",
        served={"max_length": 10},
    )
    difference: int = _beside(
        3,
        "What is left of an area, or of several, without those that lie in it may be no count below this.",
        label="Small differences are below",
        ge=2,
        le=10**9,
    )
    time_limit: float | None = time_limit(
        "Stop after this time; what was not judged is named, and is not safe.",
        section="What an attacker knows",
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
    common: bool = _several(
        default=False,
        sentence="Hide the same cells of all figures.",
        label="Hide the same cells of all figures",
    )
    keep_totals: bool = _hiding(
        default=False,
        sentence="Never hide a total that is not sensitive.",
        label="Totals that are not sensitive are published",
    )
    symbol: str | None = _hiding(
        None,
        "What stands in a hidden cell of the published table.",
        label="Symbol in hidden cells",
        otherwise="blank, x in .xlsx and .html",
        # On a page an empty cell would pass for one that is not there.
        served={"max_length": 40, "default": "x"},
    )

    @property
    def listed_costs(self) -> bool:
        """Whether costs are in a file with a list of cells; a column of records has a name that is none of a file."""
        from shoal.tables.model.costs import COSTS

        return self.cost not in COSTS and ("::" in self.cost or Path(self.cost).is_file())


class LayoutSettings(Settings):
    """What a published table looks like."""

    rows: Columns = _look(
        [], "Dimensions that go down.", label="Rows", otherwise="the first", served={"max_length": 6}
    )
    columns: Columns = _look(
        [],
        "Dimensions that go across; further ones are slices, each a sheet.",
        label="Columns",
        otherwise="the second",
        served={"max_length": 6},
    )
    decimals: int | None = _look(
        None,
        "Decimals that figures are published with.",
        label="Decimals",
        otherwise="as they are",
        ge=0,
        le=15,
    )
    dataflow: str = _look(
        "SHOAL:TABLE(1.0)",
        "What an SDMX-CSV file is called in its first column.",
        label="Dataflow",
        max_length=200,
    )

    @property
    def laid_out(self) -> bool:
        """Whether anything is said of it."""
        return bool(self.rows or self.columns or self.decimals is not None)


class SuppressSettings(TableSettings, HidingSettings, LayoutSettings, SearchSettings):
    """The table, what hiding costs, and the search."""

    data: Data = _table()
    method: str = _search("auto", "How to search; 'list' shows all methods.", max_length=40)
    options: Options = _search({}, "An option of the method; may be repeated.", flag="--option")
    compare: Methods = _search(
        [], "Also run these methods, for the report.", label="Compare with", served={"max_length": 10}
    )
