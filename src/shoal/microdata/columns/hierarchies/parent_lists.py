"""Hierarchies as lists of codes with their parents, or in a ``.hrc`` file of τ-ARGUS, where marks show how deep a code is."""

from collections.abc import Mapping, Sequence

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.hierarchy import BLANK, Row

# A code with these parents is directly below the root.
_TOP = (None, "", BLANK)


def rows_from_pairs(pairs: Sequence[tuple[str | None, str | None]], line: int = 1) -> list[Row]:
    """Rows from codes and their parents; ``line`` is the number of the first pair in messages.

    A code that is nobody's parent is a value. One that is less deep than others stays itself on the levels between; one at
    the top may be its own parent.

    >>> rows_from_pairs([("berlin", "east"), ("bonn", "west"), ("east", ""), ("west", "")])
    [('berlin', 'east', '*'), ('bonn', 'west', '*')]
    """
    parents: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, (code, parent) in enumerate(pairs, start=line):
        if code is None or code in ("", BLANK):
            if parent in _TOP:
                continue
            raise InputError(f"line {number} has no code")
        above = BLANK if parent is None or parent in _TOP or parent == code else parent
        if parents.setdefault(code, above) != above:
            raise InputError(f"line {number} gives the code of line {lines[code]} a second parent")
        lines.setdefault(code, number)
    inner = set(parents.values())
    lineages = [_lineage(code, parents, lines) for code in parents if code not in inner]
    if not lineages:
        if not parents:
            raise InputError("it is empty")
        raise InputError(f"it goes round in circles at line {min(lines.values())}")
    # Whatever no value leads to goes round in a circle of its own.
    reached = {code for lineage in lineages for code in lineage}
    lost = [number for code, number in lines.items() if code not in reached]
    if lost:
        raise InputError(f"it goes round in circles at line {min(lost)}")
    depth = max(map(len, lineages))
    return [(*[lineage[0]] * (depth - len(lineage)), *lineage, BLANK) for lineage in lineages]


def _lineage(code: str, parents: Mapping[str, str], lines: Mapping[str, int]) -> list[str]:
    found = [code]
    seen = {code}
    while (above := parents.get(found[-1], BLANK)) != BLANK:
        if above in seen:
            raise InputError(f"it goes round in circles at line {lines[above]}")
        found.append(above)
        seen.add(above)
    return found


def rows_from_hrc(text: str) -> list[Row]:
    r"""Rows from a text with one code in each line, after as many ``@`` as it is levels below the first.

    >>> rows_from_hrc("east\n@berlin\nwest\n@bonn")
    [('berlin', 'east', '*'), ('bonn', 'west', '*')]
    """
    above: list[str] = []
    pairs: list[tuple[str | None, str | None]] = []
    first: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.strip().lstrip("@").strip()
        if not code:
            # Later lines keep their numbers.
            pairs.append((None, None))
            continue
        depth = len(line.strip()) - len(line.strip().lstrip("@"))
        if depth > len(above):
            raise InputError(f"the code of line {number} is more than one level below the one before")
        if code in first:
            raise InputError(f"the code of line {number} was there in line {first[code]}")
        first[code] = number
        above[depth:] = [code]
        pairs.append((code, above[depth - 1] if depth else None))
    return rows_from_pairs(pairs)
