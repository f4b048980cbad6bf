"""What an audit says, as pages and the API tell it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.tables.safety.audit import Audit

# Lists of cells for the eye end here; the files hold all of them.
_LISTED = 300
_MARKED = 5000


def verdict(found: "Audit") -> dict[str, Any]:
    """Whether the pattern is safe and why not, with the intervals beside what is needed, the narrow ones first."""
    from shoal.tables.files.publishing import interval_frame

    frame = interval_frame(found).sort("safe", nulls_last=False, maintain_order=True)
    insiders = {int(cell) for cell, _ in found.insider}
    integers = {int(cell) for cell in found.integer}
    failing = sorted({int(cell) for cell in found.unsafe} | insiders | integers)
    return {
        "safe": found.safe,
        "unsafe": int(found.unsafe.size),
        "insiders": len(insiders),
        "sums": len(found.sums),
        "integers": len(integers),
        "disclosed": int(found.disclosed.size),
        "not_judged": len(found.not_judged),
        "not_looked_at": list(found.not_looked_at),
        "smallest_margin_percent": found.smallest_margin,
        **found.reached(),
        "reached": found.reached_in_words(),
        "hidden": int(found.cells.size),
        "sensitive": int(found.problem.sensitive.size),
        "cost": found.problem.total_cost(found.complementary),
        "failing_cells": failing[:_MARKED],
        "disclosed_cells": [int(cell) for cell in found.disclosed[:_MARKED]],
        "bounds": {
            int(cell): [float(low), float(high)]
            for cell, low, high in zip(
                found.cells[:_MARKED], found.low[:_MARKED], found.high[:_MARKED], strict=True
            )
            if low == low
        },
        "intervals": {
            "columns": frame.columns,
            "rows": [list(row) for row in frame.head(_LISTED).iter_rows()],
            "all": frame.height,
        },
    }
