"""What an audit says, as pages and the API tell it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.tables.safety.audit import Audit

# Lists of cells for the eye end here; the files hold all of them.
_LISTED = 300
_MARKED = 5000


def verdict(audit: "Audit") -> dict[str, Any]:
    """Whether the pattern is safe and why not, with the intervals beside what is needed, the narrow ones first."""
    from shoal.tables.files.publishing import interval_frame

    frame = interval_frame(audit).sort("safe", nulls_last=False, maintain_order=True)
    insiders = {int(cell) for cell, _ in audit.insider}
    integers = {int(cell) for cell in audit.integer}
    failing = sorted({int(cell) for cell in audit.unsafe} | insiders | integers)
    return {
        "safe": audit.safe,
        "unsafe": int(audit.unsafe.size),
        "insiders": len(insiders),
        "sums": len(audit.sums),
        "integers": len(integers),
        "disclosed": int(audit.disclosed.size),
        "not_judged": len(audit.not_judged),
        "not_looked_at": list(audit.not_looked_at),
        "smallest_margin_percent": audit.smallest_margin,
        **audit.reached(),
        "reached": audit.reached_in_words(),
        "hidden": int(audit.cells.size),
        "sensitive": int(audit.problem.sensitive.size),
        "cost": audit.problem.total_cost(audit.complementary),
        "failing_cells": failing[:_MARKED],
        "disclosed_cells": [int(cell) for cell in audit.disclosed[:_MARKED]],
        "bounds": {
            int(cell): [float(low), float(high)]
            for cell, low, high in zip(
                audit.cells[:_MARKED], audit.low[:_MARKED], audit.high[:_MARKED], strict=True
            )
            if low == low
        },
        "intervals": {
            "columns": frame.columns,
            "rows": [list(row) for row in frame.head(_LISTED).iter_rows()],
            "all": frame.height,
        },
    }
