"""The compiled heart of the search: part of a release is taken back and made anew, and kept if it is no dearer."""

from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below, uniform

# Combinations that are taken back at once, at most, and steps that can be undone.
_FREED = 96
_STEPS = 4096
# Classes of more parts are not taken back whole.
_LARGE = 24
# Patterns of more combinations are not searched for those who would rather be there.
_CROWD = 400


class Search(NamedTuple):
    """What the search looks at and what it changes.

    ``amounts[row, place]`` records of a combination are under a mask, ``out[row]`` are left out; most are
    under the mask ``mainly[row]``, as far as that was seen; ``people`` are in each
    pattern, and ``spare`` could be given to it by combinations that are as they were and have more than k.
    """

    k: int
    numbers: np.ndarray
    places: np.ndarray
    starts: np.ndarray
    members: np.ndarray
    costs: np.ndarray
    kinds: np.ndarray
    leave: np.ndarray
    records: np.ndarray
    weights: np.ndarray
    touched: np.ndarray
    splittable: np.ndarray
    needy: np.ndarray
    amounts: np.ndarray
    out: np.ndarray
    mainly: np.ndarray
    people: np.ndarray
    spare: np.ndarray
    free: np.ndarray
    room: np.ndarray


@kernel
def _weight(search: Search, row: int, amount: int) -> int:
    return amount if search.splittable[row] else search.weights[row]


@kernel
def _spare(search: Search, row: int) -> int:
    if not search.splittable[row]:
        return 0
    return max(0, search.amounts[row, 0] - search.k)


@kernel
def shift(search: Search, row: int, mask: int, amount: int) -> float:
    """Put so many records of a combination under a mask, or take them away if negative; what that costs."""
    if mask < 0:
        touched = abs(amount) if search.splittable[row] else search.touched[row]
        search.room[0] -= touched if amount > 0 else -touched
        search.out[row] += amount
        return amount * search.leave[row]
    before = _spare(search, row)
    search.amounts[row, mask] += amount
    if amount > 0 and (
        search.mainly[row] < 0 or search.amounts[row, mask] >= search.amounts[row, search.mainly[row]]
    ):
        search.mainly[row] = mask
    weight = _weight(search, row, abs(amount))
    search.people[search.numbers[row, mask]] += weight if amount > 0 else -weight
    if mask == 0:
        change = _spare(search, row) - before
        if change != 0:
            for other in range(1, search.numbers.shape[1]):
                if search.numbers[row, other] >= 0:
                    search.spare[search.numbers[row, other]] += change
    return amount * search.costs[search.kinds[row], mask]


class _Log(NamedTuple):
    rows: np.ndarray
    places: np.ndarray
    amounts: np.ndarray
    size: np.ndarray
    change: np.ndarray


@kernel
def _new_log() -> _Log:
    return _Log(
        np.empty(_STEPS, dtype=np.int64),
        np.empty(_STEPS, dtype=np.int64),
        np.empty(_STEPS, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(1),
    )


@kernel
def _do(search: Search, log: _Log, row: int, mask: int, amount: int) -> bool:
    number = log.size[0]
    if number == _STEPS:
        return False
    log.rows[number], log.places[number], log.amounts[number] = row, mask, amount
    log.size[0] = number + 1
    log.change[0] += shift(search, row, mask, amount)
    return True


@kernel
def _undo(search: Search, log: _Log) -> None:
    for number in range(log.size[0] - 1, -1, -1):
        shift(search, log.rows[number], log.places[number], -log.amounts[number])


@kernel
def _free_part(
    search: Search, log: _Log, row: int, mask: int, freed: np.ndarray, waiting: np.ndarray, count: int
) -> int:
    """Take back what is under a mask; how many combinations are free then, or −1 if there is no room for more."""
    amount = search.out[row] if mask < 0 else search.amounts[row, mask]
    if not _do(search, log, row, mask, -amount):
        return -1
    for number in range(count):
        if freed[number] == row:
            waiting[number] += amount
            return count
    if count == _FREED:
        return -1
    freed[count], waiting[count] = row, amount
    return count + 1


@kernel
def _free_row(search: Search, log: _Log, row: int, freed: np.ndarray, waiting: np.ndarray, count: int) -> int:
    """Take back a combination with all that shares its patterns, or alone where enough others stay."""
    if search.out[row] > 0:
        count = _free_part(search, log, row, -1, freed, waiting, count)
        if count < 0:
            return -1
    for place in range(search.numbers.shape[1]):
        amount = search.amounts[row, place]
        if amount == 0:
            continue
        pattern = search.numbers[row, place]
        parts = 0
        if place > 0:
            for item in range(search.starts[pattern], search.starts[pattern + 1]):
                if search.amounts[search.members[item], place] > 0:
                    parts += 1
                    if parts > _LARGE:
                        break
        if parts > _LARGE:
            if search.people[pattern] - _weight(search, row, amount) >= search.k:
                count = _free_part(search, log, row, place, freed, waiting, count)
        else:
            for item in range(search.starts[pattern], search.starts[pattern + 1]):
                other = search.members[item]
                if search.amounts[other, place] > 0:
                    count = _free_part(search, log, other, place, freed, waiting, count)
                    if count < 0:
                        return -1
        if count < 0:
            return -1
    return count


@kernel
def _noise(pattern: int, salt: int) -> float:
    mixed = (np.uint64(pattern) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return float(mixed >> np.uint64(40)) * (1.0 / 16777216.0)


@kernel
def _give(search: Search, log: _Log, pattern: int, lacking: int) -> bool:
    """Let combinations that have more than k give records to a pattern."""
    place = search.places[pattern]
    for item in range(search.starts[pattern], search.starts[pattern + 1]):
        row = search.members[item]
        amount = min(lacking, _spare(search, row))
        if amount > 0:
            if not _do(search, log, row, 0, -amount) or not _do(search, log, row, place, amount):
                return False
            lacking -= amount
            if lacking == 0:
                return True
    return lacking == 0


@kernel
def _attract(search: Search, log: _Log, pattern: int) -> bool:
    """Let others into a pattern that pay more where they are, and can leave."""
    if search.starts[pattern + 1] - search.starts[pattern] > _CROWD:
        return True
    place = search.places[pattern]
    for item in range(search.starts[pattern], search.starts[pattern + 1]):
        row = search.members[item]
        cost = search.costs[search.kinds[row], place]
        for other in range(1, search.numbers.shape[1]):
            amount = search.amounts[row, other]
            if amount == 0 or search.costs[search.kinds[row], other] <= cost:
                continue
            slack = search.people[search.numbers[row, other]] - search.k
            if search.splittable[row]:
                amount = min(amount, slack)
            elif search.weights[row] > slack:
                amount = 0
            if amount > 0 and not (
                _do(search, log, row, other, -amount) and _do(search, log, row, place, amount)
            ):
                return False
    return True


@kernel
def _rebuild(
    search: Search,
    log: _Log,
    freed: np.ndarray,
    waiting: np.ndarray,
    count: int,
    spread: float,
    salt: int,
) -> bool:
    """Find a place for all that are free, the cheapest for each record first; false if there is none.

    A pattern that is not used and has too few costs what those lack who are given to it. Costs are raised by up to
    ``spread`` of themselves, differently each time.
    """
    places = search.numbers.shape[1]
    free = search.free
    done = True
    for number in range(count):
        row = freed[number]
        weight = _weight(search, row, waiting[number])
        for place in range(places):
            if search.numbers[row, place] >= 0:
                free[search.numbers[row, place]] += weight
    while done:
        best, chosen, where = np.inf, -1, -1
        for number in range(count):
            if waiting[number] == 0:
                continue
            row = freed[number]
            kind = search.kinds[row]
            touched = waiting[number] if search.splittable[row] else search.touched[row]
            if search.leave[row] < best and touched <= search.room[0]:
                best, chosen, where = search.leave[row], number, -1
            for place in range(places):
                cost = search.costs[kind, place]
                pattern = search.numbers[row, place]
                if cost >= best or pattern < 0:
                    continue
                if search.people[pattern] < search.k:
                    lacking = search.k - free[pattern]
                    if lacking > 0:
                        if search.spare[pattern] < lacking or free[pattern] == 0:
                            continue
                        cost *= search.k / free[pattern]
                cost *= 1.0 + spread * _noise(pattern, salt)
                if cost < best:
                    best, chosen, where = cost, number, place
        if chosen < 0:
            break
        row = freed[chosen]
        pattern = -1 if where < 0 else search.numbers[row, where]
        opens = pattern >= 0 and search.people[pattern] < search.k
        if opens:
            lacking = search.k - free[pattern]
        for number in range(count):
            other = freed[number]
            if waiting[number] == 0 or not (
                number == chosen or (opens and search.numbers[other, where] == pattern)
            ):
                continue
            weight = _weight(search, other, waiting[number])
            for place in range(places):
                if search.numbers[other, place] >= 0:
                    free[search.numbers[other, place]] -= weight
            done = done and _do(search, log, other, where, waiting[number])
            waiting[number] = 0
        if opens:
            if lacking > 0:
                done = done and _give(search, log, pattern, lacking)
            done = done and _attract(search, log, pattern)
    for number in range(count):
        if waiting[number] > 0:
            done = False
            row = freed[number]
            weight = _weight(search, row, waiting[number])
            for place in range(places):
                if search.numbers[row, place] >= 0:
                    free[search.numbers[row, place]] -= weight
    return done


@kernel
def _near(search: Search, row: int, state: np.ndarray) -> int:
    """A combination that shares a pattern with another, a cheap one rather than a dear one."""
    places = search.numbers.shape[1]
    for _ in range(8):
        share = uniform(state)
        place = int(places * share * share)
        pattern = search.numbers[row, place]
        if pattern >= 0:
            begin, end = search.starts[pattern], search.starts[pattern + 1]
            return search.members[begin + below(state, end - begin)]
    return row


@kernel
def search_on(search: Search, iterations: int, state: np.ndarray, cost: float) -> float:
    """Take back and make anew so many times; the cost then, which is never above the cost before."""
    log = _new_log()
    freed = np.empty(_FREED, dtype=np.int64)
    waiting = np.zeros(_FREED, dtype=np.int64)
    for _ in range(iterations):
        log.size[0] = 0
        log.change[0] = 0.0
        row = search.needy[below(state, search.needy.size)]
        wanted = 2 + below(state, 16)
        spread = 0.3 * uniform(state)
        salt = below(state, 1 << 30)
        count = _free_row(search, log, row, freed, waiting, 0)
        tries = 0
        while 0 <= count < wanted and tries < 40:
            tries += 1
            other = _near(search, row, state)
            if search.records[other] >= 2 * search.k:
                continue
            count = _free_row(search, log, other, freed, waiting, count)
            if uniform(state) < 0.3:
                row = other
        if count < 0:
            _undo(search, log)
            continue
        if not _rebuild(search, log, freed, waiting, count, spread, salt) or log.change[0] > 1e-9 * max(
            1.0, cost
        ):
            _undo(search, log)
        else:
            cost += log.change[0]
    return cost


@kernel
def waiting_for(search: Search, rows: np.ndarray, places: np.ndarray, count: np.ndarray) -> None:
    """How many people of some combinations could use each pattern under some masks."""
    for row in rows:
        for place in places:
            pattern = search.numbers[row, place]
            if pattern >= 0:
                count[pattern] += search.weights[row]


@kernel
def _movable(search: Search, row: int) -> int:
    """How many records of a combination can leave where they are mostly, without anybody else."""
    place = search.mainly[row]
    if place < 0 or search.amounts[row, place] == 0:
        return 0
    slack = search.people[search.numbers[row, place]] - search.k
    if search.splittable[row]:
        return max(0, min(slack, search.amounts[row, place]))
    return search.amounts[row, place] if search.weights[row] <= slack else 0


@kernel
def _fetch(
    search: Search, pattern: int, lacking: int, allowed: float, waiting: np.ndarray, chosen: np.ndarray
) -> int:
    """Others who can come to a pattern, those first who cost least in addition; ``chosen`` is filled with them."""
    place = search.places[pattern]
    size = 0
    prices = np.empty(chosen.size)
    found = 0
    for item in range(search.starts[pattern], search.starts[pattern + 1]):
        row = search.members[item]
        if waiting[row] > 0 or search.mainly[row] == place:
            continue
        amount = _movable(search, row)
        if amount == 0:
            continue
        kind = search.kinds[row]
        each = search.costs[kind, place] - search.costs[kind, search.mainly[row]]
        if each > allowed + 1e-9:
            continue
        at = size
        if size == chosen.size:
            if prices[size - 1] <= each:
                continue
            at = size - 1
        else:
            size += 1
        while at > 0 and prices[at - 1] > each:
            prices[at], chosen[at] = prices[at - 1], chosen[at - 1]
            at -= 1
        prices[at], chosen[at] = each, row
        if each <= 0.0:
            found += _weight(search, row, amount)
            if found >= 2 * lacking:
                break
    return size


@kernel
def open_in_order(search: Search, order: np.ndarray, score: float, waiting: np.ndarray) -> None:
    """Use patterns, one after the other, for all who wait, if a record of theirs costs at most the score.

    Others come from where they are not needed, if so many are lacking.
    """
    chosen = np.empty(2 * search.k, dtype=np.int64)
    log = _new_log()
    for pattern in order:
        begin, end, place = search.starts[pattern], search.starts[pattern + 1], search.places[pattern]
        found, price = 0, 0.0
        records = 0
        for item in range(begin, end):
            row = search.members[item]
            if waiting[row] > 0:
                found += _weight(search, row, waiting[row])
                records += waiting[row]
                price += waiting[row] * search.costs[search.kinds[row], place]
        if records == 0 or price > score * records + 1e-9:
            continue
        lacking = search.k - found if search.people[pattern] < search.k else 0
        if lacking > 0:
            allowed = score * records - price
            size = _fetch(search, pattern, lacking, allowed, waiting, chosen)
            log.size[0] = 0
            log.change[0] = 0.0
            for number in range(size):
                row = chosen[number]
                amount = _movable(search, row)
                if amount == 0:
                    continue
                if search.splittable[row]:
                    amount = min(amount, lacking)
                lacking -= _weight(search, row, amount)
                _do(search, log, row, search.mainly[row], -amount)
                _do(search, log, row, place, amount)
                if lacking <= 0 or log.size[0] > _STEPS - 2:
                    break
            if lacking > 0 or log.change[0] > allowed + 1e-9:
                _undo(search, log)
                continue
        for item in range(begin, end):
            row = search.members[item]
            if waiting[row] > 0:
                shift(search, row, place, waiting[row])
                waiting[row] = 0


@kernel
def attract_all(search: Search, order: np.ndarray) -> None:
    """Let others into each pattern that is used where they pay less."""
    log = _new_log()
    for pattern in order:
        if search.people[pattern] >= search.k:
            log.size[0] = 0
            _attract(search, log, pattern)


@kernel
def put_all(search: Search, rows: np.ndarray, places: np.ndarray, records: np.ndarray) -> float:
    """Put parts of combinations under masks; what that costs."""
    cost = 0.0
    for part in range(rows.size):
        cost += shift(search, rows[part], places[part], records[part])
    return cost
