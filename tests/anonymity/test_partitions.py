"""Partition numbers, ranks and their inverse, against slow twins."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.anonymity.partition_twins import at_least, rank_by_sums, vectors

from shoal import InputError
from shoal.anonymity import partition_kernels as kernels
from shoal.anonymity import partitions
from shoal.anonymity.partitions import hardy_ramanujan, partition_count, ranks, unrank

MODULI = st.sampled_from(partitions._system(4).moduli + (97, 10_007))


@st.composite
def pairs(draw, largest_population=120):
    sizes = draw(st.lists(st.integers(1, 40), max_size=12))
    found: dict[int, int] = {}
    for size in sizes:
        if sum(s * c for s, c in found.items()) + size <= largest_population:
            found[size] = found.get(size, 0) + 1
    return tuple(sorted(found.items()))


def people(vector) -> int:
    return sum(size * count for size, count in vector)


@pytest.mark.parametrize("population", range(31))
def test_rank_agrees_with_enumeration(population):
    everything = list(vectors(population))
    assert partition_count(population) == len(everything)
    assert ranks(population, everything) == list(range(len(everything)))


@pytest.mark.parametrize("population", [0, 1, 2, 7, 15, 24])
def test_unrank_agrees_with_enumeration(population):
    everything = [list(vector) for vector in vectors(population)]
    assert [unrank(population, rank) for rank in range(len(everything))] == everything


@pytest.mark.parametrize("population", range(1, 41))
def test_the_worst_is_first_and_the_best_is_last(population):
    assert ranks(population, [[(1, population)], [(population, 1)]]) == [0, partition_count(population) - 1]


@settings(max_examples=60, deadline=None)
@given(pairs())
def test_rank_agrees_with_the_plain_sum(vector):
    assert ranks(people(vector), [vector]) == [rank_by_sums(people(vector), vector)]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, partition_count(700) - 1))
def test_rank_of_seven_hundred_agrees_with_the_plain_sum(rank):
    vector = unrank(700, rank)
    assert rank_by_sums(700, tuple(vector)) == rank


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_round_trip_at_ten_thousand(data):
    number = partition_count(10_000)
    # Small ranks, ranks near the best, and everything between in proportion of magnitude.
    rank = data.draw(
        st.one_of(st.integers(0, number - 1), st.integers(0, 10**9), st.integers(number - 10**9, number - 1))
    )
    vector = unrank(10_000, rank)
    assert people(vector) == 10_000
    assert ranks(10_000, [vector]) == [rank]


@pytest.mark.parametrize(
    "vector",
    [
        [(1, 10_000)],
        [(10_000, 1)],
        [(5_000, 2)],
        [(100, 100)],
        [(1, 2_500), (2_500, 1), (5_000, 1)],
        [(1, 1), (9_999, 1)],
        [(size, 1) for size in range(1, 140)] + [(270, 1)],
        [(50, 20), (120, 25), (400, 15)],
    ],
)
def test_round_trip_of_vectors_of_every_shape(vector):
    assert people(vector) == 10_000
    (rank,) = ranks(10_000, [vector])
    assert unrank(10_000, rank) == vector


def test_round_trip_at_fifty_thousand():
    vector = [(3, 100), (7, 200), (31, 300), (1_000, 8), (31_000, 1)]
    assert people(vector) == 50_000
    (rank,) = ranks(50_000, [vector])
    assert unrank(50_000, rank) == vector


def test_several_vectors_in_one_pass():
    several = [unrank(500, partition_count(500) * step // 7) for step in range(7)]
    assert ranks(500, several) == [partition_count(500) * step // 7 for step in range(7)]
    assert ranks(500, []) == []


def test_nobody_has_one_vector():
    assert ranks(0, [[]]) == [0]
    assert unrank(0, 0) == []


@pytest.mark.parametrize("rank", [-1, 5, 10**40])
def test_a_rank_outside_is_refused(rank):
    with pytest.raises(InputError, match="5 vectors"):
        unrank(4, rank)


@pytest.mark.parametrize("population", [-1, partitions.LARGEST_POPULATION + 1])
def test_a_population_outside_is_refused(population):
    for call in (partition_count, lambda n: ranks(n, []), lambda n: unrank(n, 0)):
        with pytest.raises(InputError, match="population"):
            call(population)


def test_hardy_ramanujan_gets_closer_and_never_overflows():
    errors = [float(hardy_ramanujan(n)) / partition_count(n) - 1 for n in (10, 100, 1000, 10_000)]
    assert errors == sorted(errors, reverse=True)
    assert 0 < errors[-1] < 0.005
    assert hardy_ramanujan(5_000_000) > 10**2000
    with pytest.raises(InputError):
        hardy_ramanujan(0)


@settings(max_examples=40, deadline=None)
@given(MODULI, st.integers(0, 90))
def test_kernel_partition_numbers(modulus, population):
    out = np.empty(population + 1, dtype=np.int64)
    kernels.partition_numbers(modulus, out)
    assert out.tolist() == [at_least(1, total) % modulus for total in range(population + 1)]


@settings(max_examples=40, deadline=None)
@given(MODULI, st.integers(1, 30), st.integers(0, 60))
def test_kernel_drop_part(modulus, part, population):
    totals = range(population + 1)
    counts = np.array([at_least(part, total) % modulus for total in totals], dtype=np.int64)
    out = np.empty_like(counts)
    kernels.drop_part(modulus, part, counts, out)
    assert out.tolist() == [at_least(part + 1, total) % modulus for total in totals]


def at_most(part: int, total: int) -> int:
    """Partitions into parts of at most this size."""
    column = [1] + [0] * total
    for size in range(1, part + 1):
        for place in range(size, total + 1):
            column[place] += column[place - size]
    return column[total]


@settings(max_examples=40, deadline=None)
@given(MODULI, st.integers(1, 30), st.integers(0, 60))
def test_kernel_add_part(modulus, part, population):
    totals = range(population + 1)
    counts = np.array([at_most(part - 1, total) % modulus for total in totals], dtype=np.int64)
    kernels.add_part(modulus, part, counts)
    assert counts.tolist() == [at_most(part, total) % modulus for total in totals]


QUESTIONS = st.lists(st.tuples(st.integers(1, 40), st.integers(0, 90)), min_size=1, max_size=12).map(sorted)


@settings(max_examples=60, deadline=None)
@given(MODULI, QUESTIONS)
def test_kernels_that_answer_questions(modulus, questions):
    parts, totals = np.array(questions, dtype=np.int64).T.copy()
    reach = np.maximum.accumulate(totals[::-1])[::-1].copy()
    counts = np.array([at_least(1, total) % modulus for total in range(reach[0] + 1)], dtype=np.int64)
    expected = [at_least(part, total) % modulus for part, total in questions]
    out = np.empty_like(parts)
    kernels.many_small_parts(modulus, counts, np.empty_like(counts), parts, totals, reach, out)
    assert out.tolist() == expected
    kernels.few_large_parts(modulus, counts, parts, totals, out)
    assert out.tolist() == expected


@settings(max_examples=30, deadline=None)
@given(
    MODULI,
    st.lists(st.integers(1, 50), min_size=1, max_size=6).map(lambda sizes: sorted(sizes, reverse=True)),
)
def test_kernel_table_of_few_parts(modulus, lengths):
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    out = np.empty(starts[-1], dtype=np.int64)
    kernels.table_of_few_parts(modulus, starts, np.empty(lengths[0], dtype=np.int64), out)
    expected = [
        at_most(number, total) % modulus for number, size in enumerate(lengths, 1) for total in range(size)
    ]
    assert out.tolist() == expected


@settings(max_examples=40, deadline=None)
@given(
    MODULI, st.lists(st.tuples(st.integers(0, 96), st.sampled_from([-1, 1]), st.integers(0, 3)), max_size=20)
)
def test_kernel_signed_sums(modulus, rows):
    terms, signs, owners = np.array(rows, dtype=np.int64).reshape(-1, 3).T.copy()
    out = np.zeros(4, dtype=np.int64)
    kernels.signed_sums(modulus, terms, signs, owners, out)
    expected = [sum(t * s for t, s, o in rows if o == owner) % modulus for owner in range(4)]
    assert out.tolist() == expected


def test_the_moduli_are_prime_and_wide_enough():
    system = partitions._system_for(partitions.LARGEST_POPULATION)
    assert len(set(system.moduli)) == len(system.moduli)
    assert all(2**51.999 < modulus < 2**52 for modulus in system.moduli)
    assert all(modulus % divisor for modulus in system.moduli[:3] for divisor in range(2, 2000))
    # Enough for the largest number that can occur, by the estimate that is never below it.
    assert system.product > hardy_ramanujan(partitions.LARGEST_POPULATION)


@pytest.mark.parametrize("number", [2, 3, 41, 43, 1681, 561, 3215031751, 2**31 - 1, 999_999_999_989, 1])
def test_primality(number):
    expected = number > 1 and all(number % divisor for divisor in range(2, min(number, 1_000_001)))
    assert partitions._is_prime(number) == expected


WARM = """
from shoal.anonymity import partition_kernels, partitions

def compiled():
    found = vars(partition_kernels).items()
    return {name: len(kernel.signatures) for name, kernel in found if hasattr(kernel, "signatures")}

partitions.warm_up()
before = compiled()
for population in (3, 300, 3000):
    number = partitions.partition_count(population)
    ranks = [0, number // 3, number - 2, number - 1]
    assert partitions.ranks(population, [partitions.unrank(population, rank) for rank in ranks]) == ranks
assert compiled() == before, (before, compiled())
"""


def test_warm_up_leaves_nothing_to_compile():
    subprocess.run([sys.executable, "-c", WARM], check=True)
