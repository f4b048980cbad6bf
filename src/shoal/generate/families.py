"""The instance families of the published experiments on seating groups in rooms (Moro Lías 2024)."""

from collections.abc import Callable
from dataclasses import dataclass

from shoal.errors import InputError, unknown
from shoal.generate.limits import check_count
from shoal.runtime.seeds import Seeds


@dataclass(frozen=True)
class Instance:
    """Group sizes, room capacities, and the best K where it is known by a formula or by proof."""

    name: str
    groups: tuple[int, ...]
    capacities: tuple[int, ...]
    best: int | None = None


def _pairs(size: int, seeds: Seeds) -> list[int]:
    """Four pairs A, B with A + B = size and A between a half and three quarters of it."""
    generator = seeds.child("pairs").generator()
    pairs: list[int] = []
    for large in generator.integers(-(-size // 2), 3 * size // 4, 4, endpoint=True).tolist():
        pairs += [large, size - large]
    return pairs


def _restrictive(x: int) -> int:
    return {1: 1, 2: 2, 3: 2}.get(x, x - 2)


def _f1(x: int, seeds: Seeds) -> Instance:
    return Instance("f1", (x,) * 5, (x,) * 5, x)


def _f2(x: int, seeds: Seeds) -> Instance:
    return Instance("f2", (_even(x),) * 5, (x // 2,) * 10, x // 2)


def _f3(x: int, seeds: Seeds) -> Instance:
    return Instance("f3", (_even(x) // 2,) * 10, (x,) * 5, x // 2)


def _f4(x: int, seeds: Seeds) -> Instance:
    return Instance("f4", (x + 2, 2 * x, 3 * x - 2), (x, x, x, x, 2 * x), _restrictive(x))


def _f4n(x: int, seeds: Seeds) -> Instance:
    return Instance("f4n", (x + 2, 2 * x, 3 * x - 2), (x, x, x, x, 2 * x, x), x - 1 if x >= 3 else None)


def _f5(x: int, seeds: Seeds) -> Instance:
    return Instance("f5", (2 * x,) * 3, (x, 2 * x, 2 * x, x), x)


def _f5n(x: int, seeds: Seeds) -> Instance:
    return Instance("f5n", (2 * x,) * 3, (x, 2 * x, 2 * x, x, x), x)


def _f6n(x: int, seeds: Seeds) -> Instance:
    return Instance("f6n", (x,) * 5, (x,) * 6, x)


def _f7(x: int, seeds: Seeds) -> Instance:
    pairs = _pairs(x, seeds)
    return Instance("f7", tuple(pairs), (x,) * 4, min(pairs))


def _f7n(x: int, seeds: Seeds) -> Instance:
    pairs = _pairs(x, seeds)
    return Instance("f7n", tuple(pairs), (x,) * 5, min(pairs))


def _f8(x: int, seeds: Seeds) -> Instance:
    pairs = _pairs(x, seeds)
    return Instance("f8", (x,) * 4, tuple(pairs))


def _f8n(x: int, seeds: Seeds) -> Instance:
    return Instance("f8n", (_even(x),) * 4, (*_pairs(x, seeds), x // 2, x // 2))


def _even(x: int) -> int:
    if x % 2:
        raise InputError(f"this family needs an even size, not {x}")
    return x


FAMILIES: dict[str, Callable[[int, Seeds], Instance]] = {
    "f1": _f1,
    "f2": _f2,
    "f3": _f3,
    "f4": _f4,
    "f4n": _f4n,
    "f5": _f5,
    "f5n": _f5n,
    "f6n": _f6n,
    "f7": _f7,
    "f7n": _f7n,
    "f8": _f8,
    "f8n": _f8n,
}

# Fixed instances: the tuning cases, the author's samples, and small ones of the literature.
FIXED: dict[str, Instance] = {
    one.name: one
    for one in (
        Instance("t1", (28, 72, 44, 56, 48, 52, 44, 56, 36, 64), (100,) * 6, 28),
        Instance("t2", (100,) * 5, (85, 100, 100, 100, 100, 100), 100),
        Instance("t3", (100,) * 5, (28, 72, 44, 56, 48, 52, 44, 56, 36, 64, 50, 50), 44),
        Instance("sample1", (3, 4, 3), (6, 4, 3), 3),
        Instance("sample2", (500, 200, 300), (500, 500), 200),
        Instance(
            "sample3", (5000, 2000, 1500, 1500, 10000), (5000, 2000, 10, 20, 3000, 4000, 4000, 2000), 1500
        ),
        Instance("sample4", (9,), (10, 1), 9),
        Instance("sample5", (60, 30, 30, 60), (30,) * 6, 30),
        Instance("sample6", (370, 250, 400), (370, 70, 130, 270, 70, 130, 120), 120),
        Instance("sample7", (39, 27, 42, 39, 27, 42), (38, 8, 14, 28, 8, 14, 13, 38, 8, 41, 14, 13), 8),
        Instance("sample8", (20, 10, 10, 18), (3, 7, 7, 8, 5, 9, 5, 7, 10), 4),
        Instance("sample9", (22, 12, 4, 2), (4,) * 10, 2),
        Instance("sample10", (100,) * 4, (23, 77, 50, 50, 25, 75, 60, 40), 23),
        Instance("sample11", (230, 770, 500, 500, 250, 750, 600, 400), (1000,) * 5, 230),
        Instance("m15", (4, 4, 5, 2), (4, 2, 4, 3, 2), 2),
        Instance("m21", (5, 4, 7, 5, 9), (5, 8, 7, 4, 6), 3),
        Instance("m50", (5, 4, 7, 5, 9, 9, 5, 6), (5, 15, 4, 6, 13, 7), 4),
    )
}


def family(name: str, size: int = 100, *, seeds: Seeds | None = None) -> Instance:
    """An instance of a family, or a fixed one, by name.

    >>> family("f4", 10)
    Instance(name='f4', groups=(12, 20, 28), capacities=(10, 10, 10, 10, 20), best=8)
    """
    if name in FIXED:
        return FIXED[name]
    if name not in FAMILIES:
        raise unknown("family", name, [*FAMILIES, *FIXED])
    # A family is a handful of numbers, however large they are; beyond this their sums would leave 64 bits.
    check_count("the size", size, most=10**15)
    return FAMILIES[name](size, seeds or Seeds())
