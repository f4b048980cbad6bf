"""``shoal.verify_release``: check a release by its files, independently of how it was made."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.release.gates.judge import GateOutcome
from shoal.release.release_reader import open_release
from shoal.release.verify.check import Check
from shoal.release.verify.inside import inside_checks, measured_gates, table_checks
from shoal.release.verify.originals import original_checks
from shoal.release.verify.public import public_checks
from shoal.report.glance import Glance


@dataclass(frozen=True, repr=False)
class Verification(Glance):
    """What was checked of a release, and the gates as they were measured again."""

    folder: Path
    checks: tuple[Check, ...]
    gates: tuple[GateOutcome, ...] = field(default=())

    @property
    def verified(self) -> bool:
        """Whether nothing that was checked fails."""
        return not self.failures

    @property
    def failures(self) -> tuple[str, ...]:
        """What fails, a line for each."""
        failed = [f"{check.name}: {check.detail}" for check in self.checks if check.passed is False]
        gates = [
            f"gate '{gate.name}' of step '{gate.step}': {gate.value:g}, and the limit is {gate.limit:g}"
            for gate in self.gates
            if not gate.passed
        ]
        return (*failed, *gates)

    @property
    def unchecked(self) -> int:
        """How many statements of the release could not be checked from what is there."""
        return sum(check.unchecked for check in self.checks)

    def glance(self) -> dict[str, Any]:
        """The verdict, and how much was looked at."""
        return {
            "verified": self.verified,
            "checks": len(self.checks),
            "failures": len(self.failures),
            "gates": len(self.gates),
            "unchecked": self.unchecked,
        }

    def to_dict(self) -> dict[str, Any]:
        """As the command line prints it."""
        return {
            "verified": self.verified,
            "unchecked": self.unchecked,
            "checks": [check.as_json() for check in self.checks],
            "gates": [gate.as_json() for gate in self.gates],
        }


def verify_release(
    folder: "str | os.PathLike[str]", *, originals: "str | os.PathLike[str] | None" = None
) -> Verification:
    """Check a release independently of how it was made.

    From ``public`` alone: hashes, that all files are there and nothing else, K of released records, and that published tables
    add up. Where ``internal`` is there, too: that both parts agree and nothing of the one is in the other, modes of the files,
    the gates that need no original, and what can be computed of hidden cells beside the levels they need. With ``originals``
    also losses, record links, the fingerprints of the inputs and every gate.

    Parameters
    ----------
    folder : path
        A release, or its public part alone.
    originals : path, optional
        Where the data is that it was made of: a plan, whose sources are read, or the folder in which they are.

    Returns
    -------
    Verification
        ``verified``, ``unchecked`` (how many statements could not be checked), ``checks`` (name, passed, detail), ``gates``
        measured again, and ``failures``, a line for each.

    Raises
    ------
    InputError
        The folder is no release, or the originals cannot be read.

    See Also
    --------
    release : make one.
    diff_releases : what two of them give away together.

    Examples
    --------
    >>> import pathlib, polars as pl, shoal, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pl.DataFrame({"age": [31, 38, 47, 44] * 5, "sex": list("ffmm") * 5}).write_csv(folder / "people.csv")
    >>> text = '''
    ... [release]
    ... name = "survey"
    ... [sources.people]
    ... data = "people.csv"
    ... roles = {age = "quasi-identifier", sex = "quasi-identifier"}
    ... [[steps]]
    ... do = "recode"
    ... quasi = ["age", "sex"]
    ... [gates.recode]
    ... k = 5
    ... [outputs]
    ... "safe.csv" = "recode"
    ... '''
    >>> _ = (folder / "plan.toml").write_text(text)
    >>> done = shoal.release(folder / "plan.toml")
    >>> shoal.verify_release(done.folder, originals=folder).verified
    True
    >>> _ = (done.folder / "public" / "more.txt").write_text("what is this?")
    >>> shoal.verify_release(done.folder).failures
    ("files: 'more.txt' is in no manifest",)
    """
    opened = open_release(folder, originals)
    checks = list(public_checks(opened))
    gates: list[GateOutcome] = []
    if opened.internal is not None:
        tables = table_checks(opened)
        checks += inside_checks(opened)
        checks += [check for own in tables.values() for check in own]
        more, gates = measured_gates(opened, tables)
        checks += more
    if opened.originals is not None:
        checks += original_checks(opened)
    return Verification(Path(folder), tuple(checks), tuple(gates))
