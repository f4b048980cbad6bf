"""What is to be said of columns that are released as they are: one remark for all of which the same is true."""

from collections.abc import Sequence

from shoal.errors import Message
from shoal.remarks import Remark, Severity

# A sentence that names more columns is not read.
NAMED = 8


def one_remark(
    kind: str, severity: Severity, names: Sequence[str], of_one: str, of_many: str, advice: str
) -> list[Remark]:
    """One remark for all columns of which the same is to be said; none for none.

    Its text names the first of many columns, its ``columns`` are all of them.

    >>> advice = "drop {it} unless {it is} public"
    >>> [remark] = one_remark("released-place", "warning", ["town"], "is a place", "are places", advice)
    >>> remark.text
    "column 'town' is released as it is and is a place; drop it unless it is public"
    """
    if not names:
        return []
    if len(names) == 1:
        advice = advice.replace("{it is}", "it is").replace("{it}", "it")
        text = f"column '{names[0]}' is released as it is and {of_one}; {advice}"
    else:
        advice = advice.replace("{it is}", "they are").replace("{it}", "them")
        text = f"columns {listed(names)} are released as they are and {of_many}; {advice}"
    return [Remark(kind, severity, tuple(names), Message(text))]


def warnings_on_joining(households: Sequence[str], weights: Sequence[str]) -> list[Remark]:
    """Numbers of households, by which records are joined, and sample weights.

    >>> [remark] = warnings_on_joining([], ["w"])
    >>> remark.text
    "column 'w' is released as it is and holds sample weights, which may be known of somebody; drop it unless it is needed"
    """
    joined = "the records of one household, so that who is recognised gives away the others"
    known = "sample weights, which may be known of somebody"
    of_households = (f"joins {joined}", f"join {joined}", "drop {it} or give out new numbers")
    of_weights = (f"holds {known}", f"hold {known}", "drop {it} unless {it is} needed")
    return [
        *one_remark("released-household", "warning", households, *of_households),
        *one_remark("released-weight", "warning", weights, *of_weights),
    ]


def listed(names: Sequence[str], most: int = NAMED) -> str:
    """Names of columns in a sentence; of many the first.

    >>> listed(["a", "b", "c"]), listed(list("abcd"), most=2)
    ("'a', 'b' and 'c'", "'a', 'b' and 2 more")
    """
    shown = [f"'{name}'" for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
