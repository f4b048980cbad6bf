"""The text file the original program wrote for each method and data set (Herrington 2015, appendix A).

A block for every table, then the same figures as two columns for a spreadsheet.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean


@dataclass(frozen=True)
class Summary:
    """All runs of a method on one table: fastest, slowest and average CPU seconds; highest, lowest and average cost and
    generation of the last improvement; and how many runs found nothing.
    """

    name: str
    seconds: tuple[float, float, float]
    costs: tuple[float, float, float]
    generations: tuple[float, float, float] = (0, 0, 0)
    failures: int = 0

    @classmethod
    def of(
        cls,
        name: str,
        seconds: Sequence[float],
        costs: Sequence[float],
        generations: Sequence[float] = (),
        failures: int = 0,
    ) -> "Summary":
        """The summary of the runs that found something; the others are counted."""
        times, spent, steps = (list(figures) or [0.0] for figures in (seconds, costs, generations))
        return cls(
            name,
            (min(times), max(times), mean(times)),
            (max(spent), min(spent), mean(spent)),
            (max(steps), min(steps), mean(steps)),
            failures,
        )


def write(summaries: Sequence[Summary]) -> str:
    """The whole file."""
    blocks = "\n\n".join(block(summary) for summary in summaries)
    return f"{blocks}\n\n{spreadsheet(summaries)}"


def block(summary: Summary) -> str:
    """The block of one table."""
    (fastest, slowest, average), (highest, lowest, usual) = summary.seconds, summary.costs
    last, first, middle = summary.generations
    return "\n".join(
        [
            f"File: {summary.name}",
            f"Run times: Fastest {fastest:.6f}, Slowest {slowest:.6f}, Average {average:.6f}",
            f"Costs: Highest {highest:.0f}, Lowest {lowest:.0f}, Average {usual:.0f}",
            f"Generations: Highest {last:.0f}, Lowest {first:.0f}, Average {middle:.0f}",
            f"Failures: {summary.failures}",
        ]
    )


def spreadsheet(summaries: Sequence[Summary]) -> str:
    """Times and costs of all tables, one line each."""
    lines = ["Run times summary:", "       fastest, slowest, average"]
    lines += ["     " + ", ".join(f"{figure:.6f}" for figure in summary.seconds) for summary in summaries]
    lines += ["Costs summary:", "     highest, lowest, average"]
    lines += ["        " + ", ".join(f"{figure:.0f}" for figure in summary.costs) for summary in summaries]
    return "\n".join(lines) + "\n"


_BLOCK = re.compile(
    r"File: *(?P<name>.*?)\s*\n"
    r"Run times: *Fastest (?P<times>[^\n]*)\n"
    r"Costs: *Highest (?P<costs>[^\n]*)\n"
    r"Generations: *Highest (?P<steps>[^\n]*)\n"
    r"Failures: *(?P<failures>\d+)"
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def read(data: bytes) -> list[Summary]:
    """The summaries of a file in UTF-8, or in UTF-16 as the original wrote it; a spreadsheet alone is enough.

    >>> one = Summary("ds10000cells01_0.txt", (1.5, 2.5, 2.0), (8625, 7224, 7951), (110, 0, 11))
    >>> read(write([one]).encode()) == [one]
    True
    """
    sixteen = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = data.decode("utf-16" if sixteen else "utf-16-le" if data[1:2] == b"\0" else "utf-8-sig")
    text = text.replace("\r\n", "\n")
    found = [
        Summary(
            match["name"],
            _three(match["times"]),
            _three(match["costs"]),
            _three(match["steps"]),
            int(match["failures"]),
        )
        for match in _BLOCK.finditer(text)
    ]
    if found:
        return found
    _, _, rest = text.partition("Run times summary:")
    times, _, costs = rest.partition("Costs summary:")
    pairs = zip(_columns(times), _columns(costs), strict=True)
    return [Summary(str(place), seconds, spent) for place, (seconds, spent) in enumerate(pairs, start=1)]


def _three(text: str) -> tuple[float, float, float]:
    first, second, third = (float(number) for number in _NUMBER.findall(text))
    return first, second, third


def _columns(text: str) -> list[tuple[float, float, float]]:
    return [_three(line) for line in text.splitlines() if _NUMBER.match(line.strip())]
