"""Tables beside each other that show different levels of one hierarchy, against linear programmes over the finest cells."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import shoal
from shoal.tables.files.public_files import read_public

TREE = {
    "north": "",
    "n1": "north",
    "n11": "n1",
    "n12": "n1",
    "n2": "north",
    "south": "",
    "s1": "south",
    "s2": "south",
}
LEAVES = ["n11", "n12", "n2", "s1", "s2"]
OTHER = {"region": TREE, "sector": {}, "size": {}}
FINEST = {"region": LEAVES, "sector": ["a", "b"], "size": ["k", "l"]}
ATOMS = list(product(*FINEST.values()))


def levels(rng: np.random.Generator) -> list[str]:
    """Codes that cover all regions, with some of those above them and not all."""
    found = []

    def go(code: str) -> None:
        below = [child for child, parent in TREE.items() if parent == code]
        shown = rng.random()
        if not below or (code and shown < 0.3):
            found.append(code)
            return
        if code and shown < 0.6:
            found.append(code)
        for child in below:
            go(child)

    go("")
    return found


def inside(name: str, code: str) -> list[str]:
    def above(leaf: str) -> set[str]:
        codes = {leaf, "total"}
        while leaf := OTHER[name].get(leaf, ""):
            codes.add(leaf)
        return codes

    return [leaf for leaf in FINEST[name] if code in above(leaf)]


def row(dimensions: list[str], key: tuple[str, ...]) -> np.ndarray:
    """Which of the finest cells a cell is the sum of."""
    wanted = {name: inside(name, code) for name, code in zip(dimensions, key, strict=True)}
    return np.array(
        [
            all(code in wanted.get(name, [code]) for name, code in zip(FINEST, atom, strict=True))
            for atom in ATOMS
        ],
        dtype=float,
    )


def published(
    rng: np.random.Generator, dimensions: list[str], values: np.ndarray, share: float
) -> tuple[pl.DataFrame, set[tuple[str, ...]]]:
    """All cells of a table with its figures, and those that are hidden."""
    codes = [[*(levels(rng) if name == "region" else FINEST[name]), "total"] for name in dimensions]
    keys = list(product(*codes))
    figures = [float(row(dimensions, key) @ values) for key in keys]
    hidden = {key for key, figure in zip(keys, figures, strict=True) if figure and rng.random() < share}
    columns = {name: [key[place] for key in keys] for place, name in enumerate(dimensions)}
    return pl.DataFrame({**columns, "value": figures}), hidden


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_levels_that_a_table_leaves_out_are_skipped(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 30, len(ATOMS)) * (rng.random(len(ATOMS)) > 0.15).astype(float)
    dimensions = [
        ["region", "sector"],
        [["region"], ["region", "size"], ["region", "sector"]][rng.integers(3)],
    ]
    (own, hidden), (other, gone) = (
        published(rng, names, values, rng.choice([0.3, 0.6, 0.9])) for names in dimensions
    )
    if not hidden:
        return
    cell = sorted(hidden)[rng.integers(len(hidden))]
    beside = other.with_columns(
        value=pl.Series(
            [None if line[:-1] in gone else line[-1] for line in other.iter_rows()], dtype=pl.Float64
        )
    )
    found = shoal.audit(
        own,
        [*hidden],
        dimensions=dimensions[0],
        value="value",
        sensitive=[cell],
        protection=0.1,
        hierarchies={"region": TREE},
        beside=beside,
    )
    known = [
        (row(names, line[:-1]), line[-1])
        for names, frame, away in ((dimensions[0], own, hidden), (dimensions[1], other, gone))
        for line in frame.iter_rows()
        if line[:-1] not in away
    ]
    goal = row(dimensions[0], cell)
    figure = float(goal @ values)
    equations = {"A_eq": np.array([one for one, _ in known]), "b_eq": [two for _, two in known]}
    least, most = (linprog(sign * goal, **(equations if known else {})) for sign in (1, -1))
    high = np.inf if most.status == 3 else -most.fun
    kept = least.fun <= 0.9 * figure + 1e-6 and high >= 1.1 * figure - 1e-6
    judged = found.together[0]
    assert judged.discloses is not None
    assert (judged.figures["too_narrow"] == 0) == kept


def test_a_table_without_a_level_of_its_hierarchy_adds_up() -> None:
    frame = pl.DataFrame(
        {"region": ["n11", "n12", "n2", "south", "_T"], "value": [1.0, 2.0, None, 4.0, 10.0]}
    )
    found = read_public(frame, "a table", hierarchies={"region": TREE})
    assert found.intervals() == {("n2",): (3.0, 3.0)}
