"""The settings of ``perturb-table``."""

from typing import Literal

from shoal.runtime.settings import method, method_options
from shoal.settings import Column, Columns, Data, Options, data_argument, setting
from shoal.tables.rounding.cell_keys.problem import MOST_DEVIATION
from shoal.tables.rounding.settings import secret, study_seed
from shoal.tables.settings import Hierarchies, LayoutSettings, Rules

_CHANCES = "How counts change"


class PerturbTableSettings(LayoutSettings):
    """The records, what spans the table, and how much its counts may change."""

    data: Data = data_argument()
    dimensions: Columns = setting(
        ..., "Columns that span the table.", label="Dimensions", min_length=1, served={"max_length": 6}
    )
    record: Column | None = setting(
        None,
        "The column that tells records apart, so that a record has one key in every table.",
        label="Records are told apart by",
        otherwise="all values of a record together",
    )
    record_key: Column | None = setting(
        None,
        "The column with the permanent keys of the records, from 0 up to 1, that other tables and tools use, too.",
        label="Keys of the records",
        otherwise="drawn from the secret",
    )
    value: Column | None = setting(
        None,
        "A column to sum; refused, since cell keys are for counts.",
        label="Sum of",
        otherwise="records are counted",
    )
    rules: Rules | None = setting(
        None,
        "When a count is sensitive, as for tabulate; may be repeated.",
        flag="--rule",
        label="Rules",
        otherwise="frequency(3)",
        served={"max_length": 10},
    )
    missing: Literal["refuse", "aside", "category"] = setting(
        "refuse",
        "What becomes of records with missing values in a dimension.",
        label="Missing values",
        words={
            "refuse": "are refused",
            "aside": "are set aside and counted",
            "category": "are a category of their own",
        },
    )
    hierarchy: Hierarchies = setting(
        {},
        "Subtotals of a dimension (code,parent, a column for each level, or .hrc).",
        label="Hierarchies",
        section="Hierarchies",
    )
    deviation: int = setting(
        5, "The most that a count changes.", section=_CHANCES, label="Largest change", ge=1, le=MOST_DEVIATION
    )
    variance: float = setting(
        2.0, "The variance of the changes.", section=_CHANCES, label="Variance of the changes", gt=0, le=1e4
    )
    small: int = setting(
        0,
        "Counts from 1 to this one are never published.",
        section=_CHANCES,
        label="No counts from 1 to",
        ge=0,
        lt=MOST_DEVIATION,
    )
    ptable: Data | None = setting(
        None,
        "A perturbation table in place of one that is designed: i, j, p, v, p_int_lb, p_int_ub, as ptable, cellKey and τ-ARGUS "
        "have it.",
        section=_CHANCES,
        label="Perturbation table",
        metavar="FILE",
        otherwise="designed here",
    )
    method: str = method("maximum-entropy", "How to design the perturbation table")
    options: Options = method_options()
    secret: str | None = secret()
    seed: int | None = study_seed()

    @property
    def read(self) -> list[str]:
        """All data that the table is made of."""
        return [self.data, *self.hierarchy.values(), *([] if self.ptable is None else [self.ptable])]
