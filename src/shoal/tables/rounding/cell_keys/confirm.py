"""Whether a published file has the counts that the keys of the records make, as somebody checks who was not there."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.operation import Workplace
from shoal.remarks import remarks_in_json
from shoal.tables.operations.products import layout_of
from shoal.tables.rounding.cell_keys.operation import run
from shoal.tables.rounding.cell_keys.settings import PerturbTableSettings
from shoal.tables.rounding.changed_tables import figures_by_name

if TYPE_CHECKING:
    import polars as pl


def confirm(
    settings: PerturbTableSettings, workplace: Workplace, frame: "pl.DataFrame", stated: Mapping[str, Any]
) -> dict[str, Any]:
    """All figures, computed again; ``AssertionError`` unless the counts are those that are drawn again from the secret."""
    found = run(settings, workplace).changed
    read = figures_by_name(found.tabulation.table, frame, layout_of(settings))
    assert (read == found.values).all(), "a count is not what its records make of it"
    assert found.safe == stated["safe"], "'safe' is not what was stated"
    return {name: value for name, value in found.to_dict().items() if name not in remarks_in_json(())}
