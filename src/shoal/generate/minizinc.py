"""A seating problem as a constraint model for MiniZinc, and its answer where MiniZinc is installed.

The model is that of Moro Lías (2024, chapter 6): a matrix of counts, rows that add up to their groups, columns that fit
their rooms, and the smallest positive count as large as possible.
"""

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: The model alone; data come in a file of their own.
MODEL = """% Groups of people who cannot be told apart are seated in rooms; the smallest crowd in a room shall be large.
int: kGroups;
array[1..kGroups] of int: kGroupVector;
int: rooms;
array[1..rooms] of int: roomCapacity;

constraint assert(kGroups > 0, "there must be a group");
constraint assert(rooms > 0, "there must be a room");
constraint assert(forall(g in 1..kGroups)(kGroupVector[g] > 0), "groups must have people");
constraint assert(forall(r in 1..rooms)(roomCapacity[r] > 0), "rooms must have seats");
constraint assert(sum(kGroupVector) <= sum(roomCapacity), "there are too few seats");

var 1..min(kGroupVector): kLevel;
array[1..kGroups, 1..rooms] of var 0..max(kGroupVector): groupRoomCounts;

constraint forall(g in 1..kGroups)(sum(r in 1..rooms)(groupRoomCounts[g, r]) = kGroupVector[g]);
constraint forall(r in 1..rooms)(sum(g in 1..kGroups)(groupRoomCounts[g, r]) <= roomCapacity[r]);
% Who is in a room is there with at least kLevel others of the group, and somewhere with exactly as many.
constraint forall(g in 1..kGroups, r in 1..rooms)(
  groupRoomCounts[g, r] = 0 \\/ groupRoomCounts[g, r] >= kLevel);
constraint exists(g in 1..kGroups, r in 1..rooms)(groupRoomCounts[g, r] = kLevel);

solve maximize kLevel;

output ["K-level: \\(kLevel)\\n", "Groups: \\(kGroupVector)\\n", "Capacities: \\(roomCapacity)\\n"] ++
  ["Room \\(r):" ++ concat([ "\\t\\(groupRoomCounts[g, r])" | g in 1..kGroups ]) ++ "\\n" | r in 1..rooms];
"""


def data(groups: Sequence[int], capacities: Sequence[int]) -> str:
    """The data of a problem as assignments.

    >>> print(data([3, 4, 3], [6, 4, 2]))
    kGroups = 3;
    kGroupVector = [3, 4, 3];
    rooms = 3;
    roomCapacity = [6, 4, 2];
    """
    return "\n".join(
        [
            f"kGroups = {len(groups)};",
            f"kGroupVector = {list(groups)};",
            f"rooms = {len(capacities)};",
            f"roomCapacity = {list(capacities)};",
        ]
    )


def model(groups: Sequence[int], capacities: Sequence[int]) -> str:
    """Model and data in one text, which MiniZinc solves as it is."""
    return f"{MODEL}\n{data(groups, capacities)}\n"


@dataclass(frozen=True)
class Answer:
    """What MiniZinc said: the best K it found (``None`` for none), whether it is proved, and the seconds it took."""

    k: int | None
    proved: bool
    seconds: float


def installed() -> bool:
    """Whether MiniZinc and Gecode are there."""
    return shutil.which("minizinc") is not None and shutil.which("fzn-gecode") is not None


def solve(groups: Sequence[int], capacities: Sequence[int], *, seconds: float = 300.0) -> Answer:
    """Let Gecode solve a problem; after so many seconds the best so far counts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seating.mzn"
        path.write_text(model(groups, capacities), encoding="ascii")
        began = time.monotonic()
        command = ["minizinc", "--solver", "gecode", "--time-limit", str(int(1000 * seconds)), str(path)]
        try:
            said = subprocess.run(
                command, capture_output=True, text=True, timeout=seconds + 60.0, check=False
            ).stdout
        except subprocess.TimeoutExpired:
            said = ""
        found = re.findall(r"^K-level: (\d+)$", said, flags=re.MULTILINE)
        k = int(found[-1]) if found else None
        return Answer(k, k is not None and "==========" in said, time.monotonic() - began)
