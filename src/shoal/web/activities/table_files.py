"""Files that only tables have: general tables (jj), hierarchies (hrc) and a-priori files (hst)."""

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import InputError

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".jj", ".jj.gz", ".hrc", ".hst")


def read(path: Path, name: str) -> "tuple[pl.DataFrame, tuple[str, ...], tuple[str, str] | None]":
    """Such a file as records, with remarks and, where these are not all of it, its ending and the whole of it as text."""
    import polars as pl

    if name.lower().endswith(".hst"):
        return _history(path)
    if name.lower().endswith(".hrc"):
        from shoal.tables.files.hierarchies import read_hierarchy

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
    return frame, notes, ("jj", jj.write(problem, hidden))


def _history(path: Path) -> "tuple[pl.DataFrame, tuple[str, ...], tuple[str, str]]":
    """What is said of cells, a line each; which of its parts are codes only the table can tell."""
    import polars as pl

    from shoal.tables.files.argus_history import parts_of
    from shoal.tables.files.argus_metadata import text_of

    text = text_of(path)
    lines = [parts for _, parts in parts_of(text)]
    if not lines:
        raise InputError(f"{path.name} says nothing of any cell")
    width = max(len(parts) for parts in lines)
    columns = {
        f"part {place + 1}": [parts[place] if place < len(parts) else None for parts in lines]
        for place in range(width)
    }
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return frame, (f"an a-priori file of {len(lines):,} lines",), ("hst", text)
