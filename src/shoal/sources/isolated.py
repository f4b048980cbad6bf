"""Reading with pyreadstat in a process of its own.

The C library behind it crashes on some damaged files, or asks for memory without end. That must be an error message,
not the end of a workbench, so the file is parsed by a child with limits, which hands back an Arrow stream.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

_READERS = {"spss": "read_sav", "stata": "read_dta", "sas": "read_sas7bdat"}
_PROGRAM = "from shoal.sources.isolated import main; main()"
#: What a child may use beyond what its libraries need: bytes of memory and seconds of work per byte of the file.
_MEMORY, _MEMORY_PER_BYTE = 4 << 30, 100
_SECONDS, _SECONDS_PER_BYTE = 120, 1e-5


def read_isolated(
    path: Path, kind: str, columns: Sequence[str] | None, encoding: str | None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The frame as pyreadstat gives it, and what it says about the variables.

    Columns that the file lacks are left out; the names of all are in the second part.
    """
    request = json.dumps({"path": str(path), "kind": kind, "columns": columns, "encoding": encoding})
    child = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=request.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    if child.returncode != 0:
        # The one who asked knows what kind of file it should have been.
        raise ValueError(f"the reader ended with {child.returncode}")
    head, _, body = child.stdout.partition(b"\n")
    frame = pl.read_ipc_stream(io.BytesIO(body))
    return frame, json.loads(head)


def main() -> None:
    """The child: a request on standard input, the answer on standard output."""
    request = json.loads(sys.stdin.buffer.read())
    path, kind = Path(request["path"]), request["kind"]
    _limit(path.stat().st_size)
    import pyreadstat

    reader = getattr(pyreadstat, _READERS[kind])
    options: dict[str, Any] = {"encoding": request["encoding"]} if request["encoding"] else {}
    names = None
    if request["columns"] is not None:
        _, head = reader(str(path), metadataonly=True, output_format="polars", **options)
        names = head.column_names
        options["usecols"] = [name for name in dict.fromkeys(request["columns"]) if name in names]
    if kind == "spss":
        # The codes declared missing are asked for, since only then are their ranges told.
        options["user_missing"] = True
    frame, meta = reader(str(path), output_format="polars", **options)
    answer = {
        "names": names or meta.column_names,
        "file": meta.file_label or "",
        "notes": list(meta.notes or ()),
        "variables": meta.column_names_to_labels,
        "values": {name: list(values.items()) for name, values in (meta.variable_value_labels or {}).items()},
        "missing": meta.missing_ranges,
        "formats": meta.original_variable_types,
        "storage": meta.readstat_variable_types,
        "measures": meta.variable_measure,
        "widths": meta.variable_display_width,
    }
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
    frame.write_ipc_stream(sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _limit(size: int) -> None:
    """Let the system stop a child that a few damaged bytes send astray."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        for what, amount in (
            (resource.RLIMIT_AS, _MEMORY + _MEMORY_PER_BYTE * size),
            (resource.RLIMIT_CPU, int(_SECONDS + _SECONDS_PER_BYTE * size)),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(what, (amount, amount))
