"""Files that only tables have: general tables (jj) and hierarchies (hrc)."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".jj", ".jj.gz", ".hrc")


def read(path: Path, name: str) -> "tuple[pl.DataFrame, tuple[str, ...], str | None]":
    """Such a file as records, with remarks and, for a general table, the whole of it as text."""
    import polars as pl

    if name.lower().endswith(".hrc"):
        from shoal.tables.files.loading import read_hierarchy

        found = read_hierarchy(str(path))
        frame = pl.DataFrame({"code": list(found), "parent": list(found.values())})
        return frame, (f"a hierarchy of {len(found):,} codes",), None
    from shoal.tables.files import jj

    contents = jj.read(path)
    problem, table = contents.problem, contents.problem.table
    status = ["u" if flag else "s" if may else "z"
              for flag, may in zip(problem.is_sensitive, problem.candidates, strict=True)]  # fmt: skip
    for cell in contents.hidden:
        if not problem.is_sensitive[cell]:
            status[int(cell)] = "m"
    frame = pl.DataFrame(
        {
            "cell": [int(key) for key in table.keys["cell"]],
            "value": table.values,
            "cost": problem.cost,
            "status": status,
            "low": problem.low,
            "high": problem.high,
        }
    )
    notes = (
        f"a general table of {table.cells:,} cells, {problem.sensitive.size:,} of them sensitive, "
        f"and {table.relations:,} relations",
    )
    hidden = contents.hidden if contents.hidden.size else None
    return frame, notes, jj.write(problem, hidden)
