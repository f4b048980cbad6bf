"""Reading in a process of its own, for libraries that a damaged or hostile file can bring down.

The library behind SPSS, Stata and SAS crashes on some damaged files, that of Excel asks for as much memory as a
sheet seems to span. That must be an error message, not the end of a workbench, so such a file is parsed by a child
with limits, which hands back an Arrow stream.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError

_PROGRAM = "from shoal.sources.isolated import main; main()"
#: What a child may use beyond what its libraries need: bytes of memory and seconds of work per byte of the file.
_MEMORY, _MEMORY_PER_BYTE = 4 << 30, 100
_SECONDS, _SECONDS_PER_BYTE = 120, 1e-5
_OUT_OF_MEMORY = b"memory allocation of"


class OutOfMemory(ValueError):
    """The child asked for more memory than a file of its size may need."""


def read_isolated(parser: str, path: Path, request: Mapping[str, Any]) -> tuple[pl.DataFrame, dict[str, Any]]:
    """What the parser (``module:function``) makes of the file: a frame, and what else it says, as JSON holds it.

    The parser is called in the child with the path and the request. Its ``InputError`` is raised here too; any other
    end of it is a ``ValueError``.
    """
    question = json.dumps({"parser": parser, "path": str(path), "request": dict(request)})
    child = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=question.encode(),
        capture_output=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    if child.returncode != 0:
        # The one who asked knows what kind of file it should have been.
        kind = OutOfMemory if _OUT_OF_MEMORY in child.stderr or b"MemoryError" in child.stderr else ValueError
        raise kind(f"the reader ended with {child.returncode}")
    head, _, body = child.stdout.partition(b"\n")
    answer = json.loads(head)
    if "refused" in answer:
        raise InputError(answer["refused"])
    return pl.read_ipc_stream(io.BytesIO(body)), answer


def main() -> None:
    """The child: a question on standard input, the answer on standard output."""
    question = sys.stdin.buffer.read()
    _limit(Path(json.loads(question)["path"]).stat().st_size)
    sys.stdout.buffer.write(answered(question))
    sys.stdout.buffer.flush()


def answered(question: bytes) -> bytes:
    """What the child says: a line of JSON, and the frame after it."""
    asked = json.loads(question)
    module, _, function = asked["parser"].partition(":")
    output = io.BytesIO()
    try:
        frame, answer = getattr(import_module(module), function)(Path(asked["path"]), **asked["request"])
    except InputError as error:
        output.write(json.dumps({"refused": error.template}).encode() + b"\n")
    else:
        output.write(json.dumps(answer).encode() + b"\n")
        frame.write_ipc_stream(output)
    return output.getvalue()


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
