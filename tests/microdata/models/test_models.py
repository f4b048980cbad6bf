"""Models measure what their papers say, and what they call hopeless no part can mend."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import InputError
from shoal.microdata.models.histogram import counted, merged
from shoal.microdata.models.model import (
    Closeness,
    ConfidentialColumn,
    DistinctDiversity,
    EntropyDiversity,
    Evidence,
    KMap,
    LargestRisk,
    Likeness,
    Presence,
    RecursiveDiversity,
)
from shoal.microdata.models.reading import FORMS, read_model

counts = st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any)
MODELS = [
    DistinctDiversity("c", 2),
    DistinctDiversity("c", 3),
    EntropyDiversity("c", 1.8),
    RecursiveDiversity("c", 2.0, 2),
    Closeness("c", 0.3),
    Closeness("c", 0.25, "ordered"),
    Closeness("c", 0.3, "hierarchical"),
    Likeness("c", 0.7),
    Likeness("c", 2.0, enhanced=True),
]


def evidence(classes: list[list[int]], whole: list[int]) -> Evidence:
    """Classes given by how often each value occurs, and all data likewise."""
    pairs = [(place, value, n) for place, own in enumerate(classes) for value, n in enumerate(own) if n]
    place, value, number = (np.array(column) for column in zip(*pairs, strict=True))
    shares = np.array(whole) / sum(whole)
    tree = np.array([[0, 1, 2], [0, 0, 1]], dtype=np.int32)
    column = ConfidentialColumn("c", shares, -1, tree)
    histogram = counted(place, value, number, len(classes), 3)
    return Evidence(np.array([sum(own) for own in classes]), None, {"c": histogram}, {"c": column})


def plainly(model: object, own: list[int], whole: list[int]) -> float:
    """What a model measures, from its definition."""
    known = sorted((n for n in own if n), reverse=True)
    p, q = [n / sum(own) for n in own], [n / sum(whole) for n in whole]
    if isinstance(model, DistinctDiversity):
        return len(known)
    if isinstance(model, EntropyDiversity):
        return math.exp(-sum(x * math.log(x) for x in p if x))
    if isinstance(model, RecursiveDiversity):
        rest = sum(known[model.l - 1 :])
        return known[0] / rest if rest else math.inf
    if isinstance(model, Likeness):
        return max(0.0, *[(x - y) / y for x, y in zip(p, q, strict=True) if x])
    difference = [x - y for x, y in zip(p, q, strict=True)]
    if model.distance == "equal":
        return sum(map(abs, difference)) / 2
    if model.distance == "ordered":
        return sum(abs(sum(difference[: end + 1])) for end in range(2)) / 2
    leaves = sum(map(abs, difference))
    return (leaves + abs(difference[0] + difference[1]) + abs(difference[2])) / 4


@settings(max_examples=60, deadline=None)
@given(st.lists(counts, min_size=1, max_size=4), st.lists(st.integers(1, 5), min_size=3, max_size=3))
def test_what_is_measured_is_what_the_papers_say(classes: list[list[int]], whole: list[int]) -> None:
    for model in MODELS:
        measured = model.measured(evidence(classes, whole))
        expected = [plainly(model, own, whole) for own in classes]
        assert np.allclose(measured, expected), model


@settings(max_examples=40, deadline=None)
@given(counts, st.lists(st.integers(1, 5), min_size=3, max_size=3))
def test_nothing_mends_what_is_hopeless(own: list[int], whole: list[int]) -> None:
    parts = [list(part) for part in product(*[range(n + 1) for n in own]) if any(part)]
    for model in MODELS:
        if model.hopeless(evidence([own], whole))[0]:
            assert model.fails(evidence(parts, whole)).all(), model
        # What fails no demand is not hopeless.
        assert not (model.hopeless(evidence(parts, whole)) & ~model.fails(evidence(parts, whole))).any(), (
            model
        )


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(0, 6), st.integers(2, 5), st.floats(0.05, 1.0))
def test_population_models_are_about_all_parts(people: int, others: int, k: int, most: float) -> None:
    classes = Evidence(np.array([people]), np.array([people + others]))
    parts = [(p, o) for p in range(1, people + 1) for o in range(others + 1)]
    finer = Evidence(np.array([p for p, _ in parts]), np.array([p + o for p, o in parts]))
    for model in (KMap(k), Presence(0.0, most)):
        if model.hopeless(classes)[0]:
            assert model.fails(finer).all()


def test_missing_values_say_nothing_for_diversity() -> None:
    histogram = counted(np.zeros(3, dtype=int), np.array([0, 1, 2]), np.ones(3, dtype=int), 1, 3)
    column = ConfidentialColumn("c", np.ones(3) / 3, missing=2)
    found = Evidence(np.array([3]), None, {"c": histogram}, {"c": column})
    assert DistinctDiversity("c", 2).measured(found)[0] == 2
    assert EntropyDiversity("c", 2).measured(found)[0] == pytest.approx(2)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=25))
def test_histograms_count_and_join(rows: list[tuple[int, int, int]]) -> None:
    place, value, number = (np.array(column) for column in zip(*rows, strict=True))
    plain = np.zeros((6, 4), dtype=int)
    np.add.at(plain, (place, value), number)

    def table(histogram: object, size: int) -> np.ndarray:
        found = np.zeros((size, 4), dtype=int)
        for one in range(size):
            run = slice(histogram.starts[one], histogram.starts[one + 1])
            assert (np.diff(histogram.values[run]) > 0).all()
            found[one, histogram.values[run]] = histogram.counts[run]
        return found

    made = counted(place, value, number, 6, 4)
    assert (table(made, 6) == plain).all()
    groups = np.array([0, 1, 0, 1, 2, 2])
    joined = np.stack([plain[groups == group].sum(axis=0) for group in range(3)])
    assert (table(merged(made, groups, 3, 4), 3) == joined).all()


def test_models_are_read_from_texts() -> None:
    texts = [
        "distinct(3)",
        "entropy(2.5)",
        "recursive(3,2)",
        "closeness(0.2)",
        "closeness(0.15,ordered)",
        "likeness(1)",
    ]
    for text in [*texts, "enhanced-likeness(1)"]:
        assert read_model(text, ["c"])[0].text == text
    assert (
        read_model("largest-risk(0.3)") == [LargestRisk(0.3)]
        and LargestRisk(0.3).k == 4
        and LargestRisk(0.2).k == 5
    )
    assert len(read_model("distinct(2)", ["c", "d"])) == 2
    assert len(FORMS) == 10


@pytest.mark.parametrize(
    "text",
    [
        "distinct",
        "distinct(1)",
        "distinct(2.5)",
        "entropy(1)",
        "closeness(2)",
        "closeness(0.1,near)",
        "presence(0.5,0.1)",
    ]
    + ["recursive(3)", "distinct(2,3)", "k-map(x)", "average-risk(0)", "nothing(1)"],
)
def test_models_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_model(text, ["c"])
