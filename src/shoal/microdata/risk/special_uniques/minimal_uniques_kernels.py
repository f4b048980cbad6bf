"""The search for minimal uniques: all sets of keys in the order of binary counting, so that every subset of a set precedes it.

Different combinations of keys are called rows, and only rows of a single record can be unique. The rows are split into
classes that are equal on a set of keys; with one more key a class falls into smaller ones, and a row that is alone in its class
is unique. Classes in which nobody can become a minimal unique any more are dropped, and so whole branches of the search end.

The lowest keys have few values. All combinations of these values, the endings of rows, are bits of a few words: which endings a
class has says at once who is unique on any set of the lowest keys besides, and no class is split by them.
"""

from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel

_ONE = np.uint64(1)


class Sets(NamedTuple):
    """Sets of at most ``largest`` of the keys, numbered by their size and then in the order of counting.

    ``binomials[n, k]`` is how many sets of k there are among n keys, ``first[k]`` the number of the first set of k.
    """

    binomials: np.ndarray
    first: np.ndarray
    largest: int


class Endings(NamedTuple):
    """The values of the lowest ``keys`` of every row as one number, ``of_row``, below ``number``.

    ``alike[set, ending]`` has the bits of all endings with the same values on a set of these keys, none if one is missing.
    """

    keys: int
    number: int
    of_row: np.ndarray
    alike: np.ndarray


class Classes(NamedTuple):
    """Classes of rows: the ``members`` from a start to an end."""

    members: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


class Scratch(NamedTuple):
    """Room for splitting a class: rows by value, where they go, the value of each, and those that turned out to be alone."""

    rows_with: np.ndarray
    slot: np.ndarray
    value: np.ndarray
    alone: np.ndarray


class Candidates(NamedTuple):
    """Rows that no other of their class ends like, and the endings that their class has."""

    row: np.ndarray
    of_class: np.ndarray
    present: np.ndarray


class MinimalUniques(NamedTuple):
    """Minimal uniques of each row by size, the sum of their weights, also by key, and who is unique on which set."""

    by_size: np.ndarray
    score: np.ndarray
    by_key: np.ndarray
    unique: np.ndarray


class State(NamedTuple):
    """Where a search is: the next set as the bits of ``mask``, classes under the lowest key of their set, and room to work in.

    ``never`` has the bits of rows that are out of question from the start, ``out`` of those out of question on a set.
    """

    mask: np.ndarray
    never: np.ndarray
    out: np.ndarray
    members: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    classes: np.ndarray
    chosen: np.ndarray
    scratch: Scratch
    candidates: Candidates


def begin(
    columns: np.ndarray, several: np.ndarray, kinds: np.ndarray, endings: Endings, sets: Sets
) -> tuple[State, MinimalUniques]:
    """A search before its first set: all rows in one class, and nothing found.

    ``columns[key, row]`` is the value of a row, −1 if it is missing, and below ``kinds[key]``; ``several`` says which rows more
    than one record has.
    """
    keys, rows = columns.shape
    words = (rows + 63) >> 6
    # Those of several records are out of question from the start.
    bits = np.zeros(words * 64, dtype=np.uint8)
    bits[:rows] = several
    never = np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)
    most = int(kinds.max())
    state = State(
        np.zeros(1, dtype=np.int64),
        never,
        never.copy(),
        np.empty((keys + 1, rows), dtype=np.int32),
        np.zeros((keys + 1, rows // 2 + 1), dtype=np.int32),
        np.zeros((keys + 1, rows // 2 + 1), dtype=np.int32),
        np.zeros(keys + 1, dtype=np.int64),
        np.empty(keys, dtype=np.int64),
        Scratch(
            np.zeros(most, dtype=np.int32),
            np.zeros(most, dtype=np.int32),
            np.empty(rows, dtype=np.int32),
            np.empty(rows, dtype=np.int32),
        ),
        Candidates(
            np.empty(rows, dtype=np.int32),
            np.empty(rows, dtype=np.int32),
            np.empty((rows // 2 + 1, endings.alike.shape[2]), dtype=np.uint64),
        ),
    )
    state.members[keys] = np.arange(rows)
    state.ends[keys, 0] = rows
    state.classes[keys] = 1
    uniques = MinimalUniques(
        np.zeros((rows, sets.largest + 1), dtype=np.int32),
        np.zeros(rows),
        np.zeros((rows, keys)),
        # The largest sets are in no other.
        np.empty((sets.first[sets.largest], words), dtype=np.uint64),
    )
    return state, uniques


@kernel
def go_on(
    columns: np.ndarray,
    kinds: np.ndarray,
    endings: Endings,
    sets: Sets,
    weights: np.ndarray,
    state: State,
    uniques: MinimalUniques,
    steps: int,
) -> int:
    """Look at so many further sets, each with all sets of the lowest keys beside it; how many there were, fewer at the end.

    What is found grows: for each row its minimal uniques by size, the sum of their weights, and that sum by the key.
    """
    keys = columns.shape[0]
    members, starts, ends, classes = state.members, state.starts, state.ends, state.classes
    chosen, out, scratch = state.chosen, state.out, state.scratch
    mask, step = state.mask[0], np.int64(1) << endings.keys
    done = 0
    while done < steps and mask < np.int64(1) << keys:
        size = _elements(mask, chosen)
        key = keys
        if size > 0:
            key = chosen[0]
            # Classes of a set are kept under its lowest key: those of the set without that key, kept under the next, are not
            # overwritten before all sets between the two in the order of counting are done.
            before = chosen[1] if size > 1 else keys
            _unite(chosen, size, sets, uniques.unique, state.never, out)
            classes[key], alone = _split(
                Classes(members[before], starts[before], ends[before]),
                classes[before],
                columns[key],
                kinds[key],
                out,
                size < sets.largest,
                Classes(members[key], starts[key], ends[key]),
                scratch,
            )
            _note(scratch.alone[:alone], chosen, size, sets, weights, out, uniques)
        if size < sets.largest and endings.keys > 0:
            number = _list_candidates(
                Classes(members[key], starts[key], ends[key]), classes[key], out, endings, state.candidates
            )
            for lowest in range(1, step):
                size = _elements(mask | lowest, chosen)
                if size <= sets.largest:
                    _unite(chosen, size, sets, uniques.unique, state.never, out)
                    alone = _alone_by_endings(
                        state.candidates, number, endings.alike[lowest], endings.of_row, out, scratch.alone
                    )
                    _note(scratch.alone[:alone], chosen, size, sets, weights, out, uniques)
        mask += step
        while _elements(mask, chosen) > sets.largest:
            mask += mask & -mask
        done += 1
    state.mask[0] = mask
    return done


@kernel
def _elements(mask: int, chosen: np.ndarray) -> int:
    """The keys of a set, the lowest first, and how many there are."""
    size, key = 0, 0
    while mask and key < chosen.size:
        if mask & 1:
            chosen[size] = key
            size += 1
        mask >>= 1
        key += 1
    return size


@kernel
def _number(chosen: np.ndarray, size: int, left_out: int, sets: Sets) -> int:
    """The number of a set without one of its keys, or of the whole set if that is −1."""
    number, rank = 0, 0
    for position in range(size):
        if position != left_out:
            rank += 1
            number += sets.binomials[chosen[position], rank]
    return sets.first[rank] + number


@kernel
def _unite(
    chosen: np.ndarray, size: int, sets: Sets, unique: np.ndarray, never: np.ndarray, out: np.ndarray
) -> None:
    """Who is out of question on a set: those of several records, and those that it singles out without one of its keys."""
    for word in range(out.size):
        out[word] = never[word]
    if size > 1:
        for left_out in range(size):
            own = unique[_number(chosen, size, left_out, sets)]
            for word in range(out.size):
                out[word] |= own[word]


@kernel
def _note(
    alone: np.ndarray,
    chosen: np.ndarray,
    size: int,
    sets: Sets,
    weights: np.ndarray,
    out: np.ndarray,
    uniques: MinimalUniques,
) -> None:
    """Write down for whom a set is a minimal unique, and who is unique on it."""
    for row in alone:
        out[row >> 6] |= _ONE << np.uint64(row & 63)
        uniques.by_size[row, size] += 1
        uniques.score[row] += weights[size]
        for position in range(size):
            uniques.by_key[row, chosen[position]] += weights[size]
    if size < sets.largest:
        unique = uniques.unique[_number(chosen, size, -1, sets)]
        for word in range(out.size):
            unique[word] = out[word]


@kernel
def _split(
    parents: Classes,
    classes: int,
    values: np.ndarray,
    kinds: int,
    out: np.ndarray,
    keep: bool,
    children: Classes,
    scratch: Scratch,
) -> tuple[int, int]:
    """Split classes by a key: how many are left in which somebody may still become unique, and how many rows just did.

    Rows that are ``out`` of question are only those that others are like.
    """
    written, remaining, alone = 0, 0, 0
    for number in range(classes):
        start, end = parents.starts[number], parents.ends[number]
        if _all_out(parents.members, start, end, out):
            continue
        for item in range(start, end):
            value = values[parents.members[item]]
            scratch.value[item] = value
            if value >= 0:
                scratch.rows_with[value] += 1
        first = remaining
        for item in range(start, end):
            value = scratch.value[item]
            if value < 0:
                continue
            row = parents.members[item]
            if scratch.rows_with[value] == 1:
                if not _is_out(row, out):
                    scratch.alone[alone] = row
                    alone += 1
            elif keep:
                # The first row of its value makes room for all of them.
                if scratch.slot[value] == 0:
                    children.starts[remaining] = written
                    scratch.slot[value] = written + 1
                    written += scratch.rows_with[value]
                    children.ends[remaining] = written
                    remaining += 1
                children.members[scratch.slot[value] - 1] = row
                scratch.slot[value] += 1
        split, remaining = remaining, first
        for child in range(first, split):
            own_start, own_end = children.starts[child], children.ends[child]
            if not _all_out(children.members, own_start, own_end, out):
                children.starts[remaining], children.ends[remaining] = own_start, own_end
                remaining += 1
        if kinds < end - start:
            scratch.rows_with[:kinds] = 0
            scratch.slot[:kinds] = 0
        else:
            for item in range(start, end):
                value = scratch.value[item]
                if value >= 0:
                    scratch.rows_with[value] = 0
                    scratch.slot[value] = 0
    return remaining, alone


@kernel
def _list_candidates(
    own: Classes, classes: int, out: np.ndarray, endings: Endings, candidates: Candidates
) -> int:
    """List the rows that could become unique by the lowest keys; how many there are."""
    listed, noted = 0, 0
    twice = np.empty(candidates.present.shape[1], dtype=np.uint64)
    for number in range(classes):
        start, end = own.starts[number], own.ends[number]
        once = candidates.present[noted]
        once[:] = np.uint64(0)
        twice[:] = np.uint64(0)
        for item in range(start, end):
            ending = endings.of_row[own.members[item]]
            bit = _ONE << np.uint64(ending & 63)
            twice[ending >> 6] |= once[ending >> 6] & bit
            once[ending >> 6] |= bit
        before = listed
        for item in range(start, end):
            row = own.members[item]
            ending = endings.of_row[row]
            if not (twice[ending >> 6] >> np.uint64(ending & 63)) & _ONE and not _is_out(row, out):
                candidates.row[listed] = row
                candidates.of_class[listed] = noted
                listed += 1
        if listed > before:
            noted += 1
    return listed


@kernel
def _alone_by_endings(
    candidates: Candidates,
    number: int,
    alike: np.ndarray,
    of_row: np.ndarray,
    out: np.ndarray,
    alone: np.ndarray,
) -> int:
    """The candidates whose class has no other ending with the same values; how many there are."""
    written = 0
    for position in range(number):
        row = candidates.row[position]
        if _is_out(row, out):
            continue
        ending = of_row[row]
        present = candidates.present[candidates.of_class[position]]
        only = True
        for word in range(present.size):
            same = present[word] & alike[ending, word]
            own = _ONE << np.uint64(ending & 63) if word == ending >> 6 else np.uint64(0)
            if same != own:
                only = False
                break
        if only:
            alone[written] = row
            written += 1
    return written


@kernel
def _all_out(members: np.ndarray, start: int, end: int, out: np.ndarray) -> bool:
    """Whether nobody of a class can become a minimal unique."""
    item = start
    while item < end and _is_out(members[item], out):
        item += 1
    return item == end


@kernel
def _is_out(row: int, out: np.ndarray) -> bool:
    return (out[row >> 6] >> np.uint64(row & 63)) & _ONE != np.uint64(0)
