"""Runs cases: in a process that stays, since starting one takes longer than most runs, and some as a user would.

``python -m tests.fuzz.running`` is such a process: it reads cases as JSON lines, one after the other, and writes
what came of each.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.fuzz.case import Outcome

# What a run may take. Generous, so that a slow machine decides nothing: what is looked for grows beyond all bounds.
SECONDS = 600.0
MEGABYTES = 3000.0
_WRITABLE = 16 * 2**30


class Runner:
    """One process that runs cases; a run that does not end costs it its life, and the next gets a new one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, arguments: tuple[str, ...], folder: Path, temporary: Path) -> Outcome:
        """Run the command line in a folder."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.running"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                errors="surrogateescape",
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        began = time.monotonic()
        told = {
            "arguments": arguments,
            "folder": str(folder.resolve()),
            "temporary": str(temporary.resolve()),
        }
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        answer = _line(self._process)
        if answer is None:
            code = self.close()
            what = "did not end" if code is None else f"ended its process with {code}"
            return Outcome(-1, "", f"the run {what}", time.monotonic() - began)
        return Outcome(**json.loads(answer))

    def close(self) -> int | None:
        """End the process; how it had ended before, or None."""
        process, self._process = self._process, None
        if process is None:
            return None
        code = process.poll()
        process.kill()
        process.communicate()
        return code


def _line(process: "subprocess.Popen[str]") -> str | None:
    """What the process answers, or None if it is gone or takes too long."""
    import selectors

    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(SECONDS):
            return None
    answer = process.stdout.readline()
    if not answer:
        process.wait()
    return answer or None


def as_a_user(arguments: tuple[str, ...], folder: Path, temporary: Path) -> Outcome:
    """Run the command as a process of its own, as its user starts it."""
    began = time.monotonic()
    environment = {
        **os.environ,
        "TMPDIR": str(temporary.resolve()),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "shoal", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Outcome(-1, "", "the run did not end", SECONDS)
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return Outcome(done.returncode, out, err, time.monotonic() - began)


def serve() -> None:
    """Read cases and run them until there are no more."""
    resource.setrlimit(resource.RLIMIT_DATA, (_WRITABLE, resource.RLIM_INFINITY))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogateescape")
    os.environ["COLUMNS"] = "110"
    for line in sys.stdin:
        answers.write(json.dumps(_served(json.loads(line))) + "\n")
        answers.flush()


def _served(told: dict[str, Any]) -> dict[str, Any]:
    from shoal.cli.main import main

    os.chdir(told["folder"])
    os.environ["TMPDIR"] = tempfile.tempdir = told["temporary"]
    began, code = time.monotonic(), 0
    # Solvers written in other languages print past Python: what counts is what reaches the file descriptors.
    with _memory() as out, _memory() as err:
        sys.stdout.flush()
        sys.stderr.flush()
        kept = [(number, os.dup(number)) for number in (1, 2)]
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            main(told["arguments"])
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
        except BaseException:
            import traceback

            traceback.print_exc()
            code = 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, copy in kept:
                os.dup2(copy, number)
                os.close(copy)
            os.chdir("/")
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "code": code,
        "out": texts[0],
        "err": texts[1],
        "seconds": time.monotonic() - began,
        "megabytes": peak,
    }


def _memory() -> Any:
    """A file that is nowhere in the file system."""
    return os.fdopen(os.memfd_create("fuzz"), "w+b")


if __name__ == "__main__":
    serve()
