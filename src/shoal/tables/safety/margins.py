"""Totals that nobody prints: two tables of the same data have the same sums over the dimensions that only one of them has."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations

from shoal.errors import parameter
from shoal.tables.public_table import TOTAL, Key, PublicTable, Relation, codes_above, codes_below, shown_above
from shoal.tables.safety.spreading import united

Span = frozenset[int]

#: Why nothing can be said of two tables.
NO_CELL = (
    "they have no cell in common; what stands beside a table is a published one, of dimensions and codes that are named alike, "
    "and no records"
)


def one_system(
    tables: Sequence[PublicTable], low: float | None, bounds: Mapping[Key, tuple[float, float]]
) -> tuple[PublicTable | None, str, str]:
    """Tables over the same dimensions as one, with what is to be said of it; ``None`` and why if they have nothing in common.

    Last is why nothing can be concluded if nothing is found, where sums of codes are uncertain. Totals that a table does not
    print are the sums of the codes that it shows, unless the figures of the others contradict.
    """
    wide = with_margins(tables)
    if not set.intersection(*(set(table.cells) for table in wide)):
        return None, NO_CELL, ""
    plain = united(tables[0].dimensions, tables)
    more = [
        item
        for own, table in zip(tables, wide, strict=True)
        for item in table.relations[len(own.relations) :]
    ]
    if not more:
        return plain, "", ""
    places = sorted({place for item in more for place in spanned(item.parts[0]) - spanned(item.total)})
    names = ", ".join(f"'{plain.dimensions[place]}'" for place in places)
    whole = united(plain.dimensions, wide)
    # Sums of which every figure is shown are no part of the linear programme.
    added_up = not replace(whole, relations=tuple(more)).wrong()
    if added_up and whole.intervals(low, bounds=bounds, of=[]) is not None:
        told = f"; totals of {names} that are not printed were taken to be the sums of the codes"
        return whole, told, doubt_of(tables, wide, whole)
    why = f"sums of the codes of {names} are not the totals that the other shows"
    if set.intersection(*(set(table.cells) for table in tables)):
        return plain, f"; {why}, and were left out", ""
    return (
        None,
        f"{why}: they are of different data, or not all codes are shown, or subtotals are among them",
        "",
    )


def doubt_of(tables: Sequence[PublicTable], wide: Sequence[PublicTable], whole: PublicTable) -> str:
    """Of which dimensions subtotals may have been added to their parts, if figures are hidden that would show it."""
    unsure = set[int]()
    for number, (own, table) in enumerate(zip(tables, wide, strict=True)):
        more = table.relations[len(own.relations) :]
        certain = _confirmed(more, whole)
        for place in {
            place for item in more for place in spanned(item.parts[0]) - spanned(item.total)
        } - certain:
            codes = {key[place] for key in own.cells}
            tree = own.trees.get(own.dimensions[place], {})
            # A subtotal has two codes below it at least, and sums of the same codes are equal whatever these are.
            unnamed = TOTAL not in codes and len(codes) > 2 and codes - tree.keys() - set(tree.values())
            if unnamed and any(
                {key[place] for key in other.cells} != codes
                for foreign, other in enumerate(tables)
                if foreign != number
            ):
                unsure.add(place)
    if not unsure:
        return ""
    names = ", ".join(f"'{whole.dimensions[place]}'" for place in sorted(unsure))
    return (
        f"cannot be judged: subtotals may be among the codes of {names}, and hidden figures leave open whether the codes add up "
        f"to the totals of the other; name all codes and what is above them with {parameter('hierarchy')}"
    )


def _confirmed(relations: Sequence[Relation], whole: PublicTable) -> set[int]:
    """The dimensions whose codes add up, somewhere, to a total that is shown."""
    found = set[int]()
    below: dict[Key, Span] = {}
    for item in relations:
        if any(whole.cells[part] is None and part not in below for part in item.parts):
            continue
        summed = spanned(item.parts[0]) - spanned(item.total)
        summed = summed.union(*(below.get(part, ()) for part in item.parts))
        if whole.cells[item.total] is None:
            below[item.total] = summed
        else:
            found |= summed
    return found


def with_margins(tables: Sequence[PublicTable]) -> list[PublicTable]:
    """The tables, all over the same dimensions, each with the totals that it does not print and others may know.

    >>> one = PublicTable(("a", "b"), {("x", "p"): 1.0, ("x", "q"): None}, ())
    >>> two = PublicTable(("a", "b"), {("x", "total"): 3.0}, ())
    >>> [relation.total for relation in with_margins([one, two])[0].relations]
    [('x', 'total'), ('total', 'total')]
    """
    spans = [largest(spanned(key) for key in table.cells) for table in tables]
    found = []
    for number, table in enumerate(tables):
        others = [item for place, item in enumerate(tables) if place != number]
        meeting = {
            own & other
            for own in spans[number]
            for place, foreign in enumerate(spans)
            if place != number
            for other in foreign
        }
        found.append(_with_sums(table, spans[number], meeting, _summable(table, others)))
    return found


def _with_sums(table: PublicTable, spans: set[Span], meeting: set[Span], summable: Span) -> PublicTable:
    cells = dict(table.cells)
    relations: list[Relation] = []
    printed = table.cells.keys() - table.unprinted
    known = {(item.total, frozenset(item.parts)) for item in table.relations if item.total in table.unprinted}
    blocks: dict[Span, list[Key]] = {}
    for key in table.cells:
        blocks.setdefault(spanned(key), []).append(key)

    def add(span: Span, dimension: int, above: Mapping[str, str]) -> None:
        """Add the cells right above some codes of a dimension, where the table does not print them."""
        found: dict[Key, list[Key]] = {}
        for key in blocks[span]:
            if key[dimension] in above:
                found.setdefault((*key[:dimension], above[key[dimension]], *key[dimension + 1 :]), []).append(
                    key
                )
        for key, parts in found.items():
            if key in printed or (key, frozenset(parts)) in known:
                continue
            if key not in cells:
                cells[key] = None
                blocks.setdefault(spanned(key), []).append(key)
            known.add((key, frozenset(parts)))
            relations.append(Relation(key, tuple(parts)))

    levels = [
        _levels(codes_below((key[place] for key in table.cells), table.trees.get(name, {})))
        for place, name in enumerate(table.dimensions)
    ]
    for span in spans:
        wanted = [own for own in _subsets(span, meeting) if span - own <= summable]
        for place in sorted(span) if wanted else ():
            for above in reversed(levels[place][1:]):
                add(span, place, above)
        for own in wanted:
            left = span
            # Those that no other table has first: then fewer sums are needed.
            for place in sorted(
                span - own, key=lambda dimension: (dimension in frozenset().union(*meeting), dimension)
            ):
                add(left, place, levels[place][0])
                left -= {place}
    return replace(
        table,
        cells=cells,
        relations=(*table.relations, *relations),
        unprinted=table.unprinted | (cells.keys() - table.cells.keys()),
    )


def _levels(below: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """The code above each code, level by level, the highest first.

    >>> _levels({"total": ["n", "s"], "n": ["n1"]})
    [{'n': 'total', 's': 'total'}, {'n1': 'n'}]
    """
    found = [dict.fromkeys(below.get(TOTAL, ()), TOTAL)]
    while lower := {code: above for above in found[-1] for code in below.get(above, ())}:
        found.append(lower)
    return found


def _subsets(span: Span, meeting: set[Span]) -> Iterator[Span]:
    """What a table may have in common with others: all dimensions that both have, or some of them."""
    common = largest(own & span for own in meeting)
    every = (
        chain.from_iterable(combinations(sorted(own), size) for size in range(len(own), -1, -1))
        for own in common
    )
    yield from dict.fromkeys(frozenset(own) for own in chain.from_iterable(every))


def _summable(table: PublicTable, others: Sequence[PublicTable]) -> Span:
    """The dimensions whose codes in the table are all there are, as far as others show."""
    found = set()
    for place, name in enumerate(table.dimensions):
        own = {key[place] for key in table.cells}
        # Several figures side by side have no total, and with subtotals that nobody named codes count twice.
        if name == "figure" or (name in table.unknown and TOTAL in own):
            continue
        foreign = {key[place] for other in others for key in other.cells} - own - {TOTAL}
        trees = [item.trees[name] for item in (table, *others) if name in item.trees]
        foreign -= {code for tree in trees for code in codes_above(own, tree)}
        if all(any(shown_above(code, tree, own) != TOTAL for tree in trees) for code in foreign):
            found.add(place)
    return frozenset(found)


def spanned(key: Key) -> Span:
    """The dimensions in which a cell does not stand at the total."""
    return frozenset(place for place, code in enumerate(key) if code != TOTAL)


def largest(spans: Iterable[Span]) -> set[Span]:
    """Those that lie in no other."""
    every = set(spans)
    return {span for span in every if not any(span < other for other in every)}
