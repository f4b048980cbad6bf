"""Runs the command in this process, as a user would see it: exit code, standard output, standard error."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from shoal.cli.main import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        lines = self.out.splitlines()
        assert len(lines) == 1, f"standard output must hold one JSON object, not {self.out!r}"
        loaded = json.loads(lines[0])
        assert isinstance(loaded, dict)
        return loaded


def shoal(*arguments: object) -> Outcome:
    out, err = io.StringIO(), io.StringIO()
    code: Any = None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            code = leaving.code
    return Outcome(int(code or 0), out.getvalue(), err.getvalue())
