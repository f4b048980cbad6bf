"""What a table with changed figures says of singling out, linking and inference."""

from typing import Any

from shoal.numbers import counted
from shoal.report.provenance import Assurances
from shoal.tables.safety.audit import Audit


def reached_in_words(audit: Audit) -> list[tuple[str, str]]:
    """How narrow the intervals are in the end; nothing is hidden here."""
    return [(name.replace("hidden ", ""), text) for name, text in audit.reached_in_words()]


def insiders_in_words(count: int) -> str:
    """Who knows some cells anyway.

    >>> insiders_in_words(1), insiders_in_words(0)
    ('; 1 sole contributor who knows its own cells', '')
    """
    words = ("sole contributor who knows its own cells", "sole contributors who know their own cells")
    return f"; {counted(count, *words)}" if count else ""


def with_attacker(facts: list[tuple[str, Any]], changed: Any) -> list[tuple[str, Any]]:
    """The figures with the verdict as far as it goes."""
    return [(name, changed.safe_in_words if name == "safe" else value) for name, value in facts]


def assured(changed: Any, how: str) -> Assurances:
    """The attacker, small cells, other tables, and what can be computed of the sensitive cells."""
    problem = changed.audit.problem
    small = int(((changed.values > 0) & (changed.values < 3)).sum())
    words = [f"{name}: {text}" for name, text in reached_in_words(changed.audit)]
    return Assurances(
        f"{changed.attacker}.",
        f"{counted(small, 'published figure is', 'published figures are')} above 0 and below 3. Every figure is {how}, so that "
        "what looks like a single contributor need not be one.",
        "Not measured: what other tables of the same data give away together with this one. With the same secret a cell that is "
        "in several tables is drawn alike in all of them. shoal suppress and shoal audit take linked tables as one system.",
        f"Of {counted(int(problem.sensitive.size), 'sensitive cell')} none can be computed more closely than its levels allow "
        f"({'; '.join(words)}), by the attacker above{'; ' if changed.reservation else ''}{changed.reservation}."
        if problem.sensitive.size
        else "Nobody called a cell sensitive, so nothing was asked of what can be computed; the file of intervals says what can.",
    )
