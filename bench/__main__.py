"""``make bench``: every benchmark as a ratio or a count, never as bare seconds.

A benchmark is a module of this folder with a function ``run()`` that returns rows
``{"name", "measured", "limit", "unit", "ok"}``; one without a limit informs. ``python -m bench NAME …`` runs only those named.
"""

import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table


def main(names: list[str]) -> int:
    found = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    chosen = names or [name for name in found if not name.startswith("peers_")]
    failed = 0
    console = Console()
    for name in chosen:
        if name not in found:
            console.print(f"there is no benchmark {name}; there are: {', '.join(found)}")
            return 2
        table = Table(title=name, title_justify="left")
        for column in ("benchmark", "measured", "limit", "unit", "ok"):
            table.add_column(column, justify="right" if column in ("measured", "limit") else "left")
        for row in import_module(f"bench.{name}").run():
            limit = row.get("limit")
            failed += not row["ok"]
            table.add_row(
                row["name"],
                f"{row['measured']:.4g}",
                "" if limit is None else f"{limit:.4g}",
                row["unit"],
                "[bold red]NO" if not row["ok"] else "" if limit is None else "yes",
            )
        console.print(table)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
