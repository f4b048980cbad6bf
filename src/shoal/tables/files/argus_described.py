"""Rows of a file with metadata of τ-ARGUS that describe them: what they say where nobody said otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter
from shoal.tables.files.argus_data import read_described
from shoal.tables.files.argus_metadata import Metadata, read_metadata

if TYPE_CHECKING:
    import polars as pl

#: What metadata may say of the rows of a file.
DESCRIBED = (
    *("dimensions", "source", "value", "total", "contributors_column", "largest_columns", "status_column"),
    "level_columns",
)


@dataclass(frozen=True)
class Described:
    """The rows; what the metadata say of them by the names that ``tabulate`` has for it; and the column of costs, if any."""

    frame: "pl.DataFrame"
    options: Mapping[str, Any]
    hierarchies: Mapping[str, dict[str, str]] = field(repr=False)
    cost: str | None = None

    def with_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """All that is said of the rows: by somebody, and else by the metadata."""
        own = {name: value for name, value in options.items() if name != "metadata"}
        return {
            **self.options,
            **own,
            "hierarchies": {**self.hierarchies, **(options.get("hierarchies") or {})},
        }


def beside(data: str) -> str | None:
    """The metadata beside a file of τ-ARGUS."""
    if not data.lower().endswith((".tab", ".asc")):
        return None
    stem = data[: data.rindex(".")]
    return next((name for name in (f"{stem}.rda", f"{stem}.RDA") if Path(name).is_file()), None)


def described(data: Path, metadata: Metadata, options: Mapping[str, Any]) -> Described:
    """What is in a file, and what its metadata say beyond the ``options``: what somebody says comes before that."""
    frame = read_described(data, metadata)
    dimensions = list(options.get("dimensions") or (metadata.dimensions if metadata.aggregated else []))
    source = options.get("source") or ("aggregated" if metadata.aggregated else "records")
    codes = {
        name: [code for code in frame[name].unique(maintain_order=True).to_list() if code is not None]
        for name in dimensions
        if name in frame.columns
    }
    said: dict[str, Any] = {"dimensions": dimensions, "source": source}
    if source == "aggregated":
        totals = metadata.totals(dimensions)
        codes = {name: [code for code in own if code != totals.get(name)] for name, own in codes.items()}
        said |= {
            "value": metadata.value,
            "total": [f"{name}={code}" for name, code in totals.items()],
            "contributors_column": next(iter(metadata.named("FREQUENCY")), None),
            "largest_columns": metadata.named("MAXSCORE"),
            "status_column": next(iter(metadata.named("STATUS")), None),
            "level_columns": [*metadata.named("LOWERPL"), *metadata.named("UPPERPL")],
        }
    others = [name for name in dimensions if name not in (options.get("hierarchies") or {})]
    return Described(
        frame,
        {name: value for name, value in said.items() if name not in options},
        metadata.hierarchies(others, codes),
        next(iter(metadata.named("COSTVAR")), None),
    )


def rows_described(data: Any, options: Mapping[str, Any]) -> Described:
    """The same in Python, where ``metadata`` may be among what was given, or beside the file."""
    named = options.get("metadata")
    if not isinstance(data, str | Path):
        raise InputError(f"{parameter('metadata')} describes a file of τ-ARGUS; give its path, not its rows")
    if not Path(data).is_file():
        raise InputError(f"file '{data}' is not there")
    name = beside(str(data)) if named is None else str(named)
    if name is None:
        raise InputError(
            f"'{data}' needs the metadata of τ-ARGUS that describe it: name them with {parameter('metadata')}"
        )
    if not Path(name).is_file():
        raise InputError(f"file '{name}' is not there")
    return described(Path(data), read_metadata(Path(name)), options)
