"""What every run must keep to, whatever it was given."""

import fnmatch
import hashlib
import itertools
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.case import Case, Outcome
from tests.fuzz.running import MEGABYTES

# Done, bad input, infeasible or unsafe or a gate failed, interrupted.
_CODES = (0, 2, 3, 130)
_KINDS = {2: "input", 3: "infeasible", 130: "interrupt"}
# What a run that ends with 3 may write all the same: the verdict was asked for.
_VERDICTS = {
    "audit": "*",
    "compare": "report",
    "anonymity": "report",
    "risk": "report",
    "microaggregate": "report",
    "assign": "report",
}


@dataclass(frozen=True)
class Snapshot:
    """The files of a folder by their content."""

    files: Mapping[str, str]

    @classmethod
    def of(cls, folder: Path) -> "Snapshot":
        return cls(
            {
                str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }
        )

    def changed_since(self, before: "Snapshot") -> list[str]:
        names = {*self.files, *before.files}
        return sorted(name for name in names if self.files.get(name) != before.files.get(name))


def defects(
    case: Case, outcome: Outcome, before: Snapshot, after: Snapshot, leftovers: list[str]
) -> list[str]:
    """All that is wrong with a run."""
    found = []
    if outcome.code not in _CODES:
        found.append(f"exit code {outcome.code}")
    if case.sound and outcome.code not in (0, 3):
        found.append(f"exit code {outcome.code} though nothing is wrong with what was asked")
    found += _printed(case, outcome)
    found += _written(case, outcome, before, after)
    found += [f"left in the temporary folder: {name}" for name in leftovers]
    if outcome.megabytes > MEGABYTES:
        found.append(f"took {outcome.megabytes:.0f} MB")
    return found


def _printed(case: Case, outcome: Outcome) -> list[str]:
    found = []
    lines = outcome.err.splitlines()
    if "Traceback (most recent call last)" in outcome.err + outcome.out:
        found.append("a traceback")
    told = [line for line in lines if line.startswith("shoal: ")]
    if case.as_json:
        try:
            figures = outcome.figures
            if outcome.code == 2 and figures.get("kind") != "input":
                found.append("an error without its kind")
            if told:
                found.append("an error on standard error beside the JSON object")
        except ValueError as error:
            found.append(str(error))
    elif outcome.code in _KINDS and (len(told) != 1 or lines[-1] != told[0]) and not _verdict(case, outcome):
        found.append(f"{len(told)} error lines on standard error instead of one at its end")
    elif outcome.code == 0 and told:
        found.append("an error line though it ended well")
    # A verdict names cells as a result does.
    whole = outcome.code == 0 or _verdict(case, outcome)
    seen = outcome.err if case.open_output and whole else outcome.err + outcome.out
    found += [f"shows the value {value}" for value in case.shown_in(seen)[:3]]
    if strange := _strange(outcome.err if case.as_json else outcome.err + outcome.out):
        found.append(f"prints control characters: {strange!r}")
    return found


def _verdict(case: Case, outcome: Outcome) -> bool:
    """Whether the answer itself is the reason for the exit code: an audit that finds the table unsafe."""
    return outcome.code == 3 and case.name == "audit" and bool(outcome.out)


def _strange(text: str) -> str:
    """Characters that a terminal would obey instead of showing them."""
    kinds = {sign for sign in text if sign not in "\n" and unicodedata.category(sign) == "Cc"}
    return "".join(
        sorted(
            kinds
            | {sign for sign in text if sign in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}
        )
    )


def _written(case: Case, outcome: Outcome, before: Snapshot, after: Snapshot) -> list[str]:
    found = []
    for name in after.changed_since(before):
        if (".shoal-" in name and name not in case.writes) or name.endswith(("-journal", ".tmp")):
            found.append(f"left behind: {name}")
        elif name not in after.files:
            found.append(f"removed: {name}")
        elif not any(fnmatch.fnmatch(name, pattern) for pattern in case.writes):
            found.append(f"wrote {name}, which nobody asked for")
        elif outcome.code != 0 and not _verdict_file(case, outcome, name):
            found.append(f"wrote {name} and left with {outcome.code}")
    if "owned" in after.files:
        found.append("ran what was a name")
    return found


def _verdict_file(case: Case, outcome: Outcome, name: str) -> bool:
    allowed = _VERDICTS.get(case.name)
    if outcome.code == 130:
        return True
    if outcome.code != 3 or allowed is None:
        return False
    arguments = [*case.arguments, ""]
    reports = {after for option, after in itertools.pairwise(arguments) if option == "--report"}
    reports |= {text.partition("=")[2] for text in arguments if text.startswith("--report=")}
    return allowed == "*" or name in reports
