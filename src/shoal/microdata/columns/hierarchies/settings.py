"""The settings of ``hierarchy``."""

from shoal.microdata.columns.settings import HierarchyTexts, Ordinal
from shoal.settings import Columns, Data, Settings, setting


class HierarchySettings(Settings):
    """The columns, and what is known of their values."""

    data: Data = setting(
        ..., "A file (or FILE.xlsx::SHEET), or URL::table of a database.", argument=True, label="Data"
    )
    columns: Columns | None = setting(
        None,
        "Columns to draft hierarchies for.",
        label="Columns",
        otherwise="all that an intruder could know",
        min_length=1,
    )
    hierarchies: HierarchyTexts = setting(
        {},
        "What a column is to be built from in place of what suits it: a file, or a rule like intervals(5,10,20,top=85); "
        "may be repeated.",
        flag="--hierarchy",
        label="Hierarchies",
        metavar="a=FILE|RULE",
    )
    ordinal: Ordinal = setting(
        [], "Columns whose values have an order; texts need it stated.", label="Orders of values"
    )
