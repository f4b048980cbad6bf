"""The command ``shoal``: its sub-commands, exit codes, and errors in one line.

Exit codes: 0 done and verified, 2 bad input, 3 infeasible, unsafe or a gate failed, 130 interrupted.
"""

import errno
import json
import os
import sys
from typing import NoReturn

from shoal.cli.interrupts import interrupts
from shoal.cli.leaving import Leave
from shoal.cli.output import discard, harmless
from shoal.errors import Infeasible, InputError, as_option, spelled

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and leave with the right exit code; no traceback ever reaches a user."""
    given = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in given
    interrupts.reset()
    before = _written()
    try:
        from shoal.cli.program import run

        result = run(given or ["--help"])
        code = result if isinstance(result, int) else 0
        sys.stdout.flush()
        # A search that was asked to stop ends well; what asked for it is told by the exit code.
        code = 130 if interrupts.pressed and code == 0 else code
        if code == 130 and not interrupts.announced:  # the command-line library keeps the exception to itself
            code = _interrupted(before, as_json)
    except Leave as done:
        code = done.code
    except KeyboardInterrupt:
        code = _interrupted(before, as_json)
    except InputError as error:
        # Where nothing is kept, what comes after an interruption comes of it.
        lost = interrupts.pressed and not interrupts.announced
        code = (
            _interrupted(before, as_json) if lost else _fail(spelled(error, as_option), "input", 2, as_json)
        )
    except Infeasible as error:
        code = _fail(spelled(error, as_option), "infeasible", 3, as_json)
    except BrokenPipeError:
        # The reader of a pipe went away (shoal … | head): not our error, and nobody is left to tell.
        discard()
        code = 0
    except OSError as error:
        code = _disk_full(before) if error.errno in _FULL else _unexpected(error, as_json)
    except Exception as error:
        # Some libraries turn an interruption into an error of their own.
        code = _interrupted(before, as_json) if interrupts.pressed else _unexpected(error, as_json)
    sys.exit(code)


def _disk_full(before: int) -> int:
    """Standard output, or a temporary file, found no room; what it holds cannot be trusted, so the words go elsewhere."""
    discard()
    rest = "the results were written before" if _written() > before else "nothing was written"
    return _fail(f"the disk is full; {rest}", "input", 2, as_json=False)


def _written() -> int:
    """How many outputs are in their places, asked only of a command that came so far as to have any."""
    outputs = sys.modules.get("shoal.sources.outputs")
    return len(outputs.written()) if outputs is not None else 0


def _interrupted(before: int, as_json: bool) -> int:
    finished = _written() > before
    text = "interrupted after the results were written" if finished else "interrupted; nothing was written"
    # One JSON object is all that standard output may hold.
    return _fail(text, "interrupt", 130, as_json and not interrupts.reported)


def _unexpected(error: Exception, as_json: bool) -> int:
    if hasattr(error, "format_message"):  # a usage error of the command-line library
        return _fail(str(error.format_message()).replace("\n", " "), "input", 2, as_json)
    if os.environ.get("SHOAL_DEBUG"):
        raise error
    # A name the system refuses: too long, a loop of links.
    if isinstance(error, OSError) and error.filename is not None:
        return _fail(f"'{error.filename}' cannot be used: {error.strerror}", "input", 2, as_json)
    if isinstance(error, MemoryError):
        return _fail("not enough memory for this much data", "internal", 1, as_json)
    # The message of an unexpected error may quote data, so only its kind is shown.
    text = f"internal error ({type(error).__name__}); run again with SHOAL_DEBUG=1 to see where, and please report it"
    return _fail(text, "internal", 1, as_json)


def _fail(text: str, kind: str, code: int, as_json: bool) -> int:
    line = " ".join(text.split())
    if as_json:
        sys.stdout.write(json.dumps({"error": line, "kind": kind}, ensure_ascii=False) + "\n")
    else:
        sys.stderr.write(f"shoal: {harmless(line)}\n")
    return code


if __name__ == "__main__":
    main()
