"""Differences of nested areas: against the people themselves, and against linear programmes where cells are hidden."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.cli.running import shoal as run

import shoal
from shoal.errors import InputError
from shoal.tables.files.public_files import public_part, read_public
from shoal.tables.model.tabulation import tabulate
from shoal.tables.public_table import PublicTable
from shoal.tables.published_together import problem_of_public
from shoal.tables.safety.differences import Nest, nest_of
from shoal.tables.safety.judging import Shown
from shoal.tables.safety.together import tables_together


def people(seed: int, size: int = 60) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """People with a district and a grid square; some squares lie in one district, others across two."""
    rng = np.random.default_rng(seed)
    squares = [f"g{n}" for n in range(6)]
    home = {square: f"d{rng.integers(3)}" for square in squares}
    across = {square for square in squares if rng.random() < 0.35}
    grid = rng.choice(squares, size)
    district = [f"d{rng.integers(3)}" if own in across else home[own] for own in grid.tolist()]
    frame = pl.DataFrame({"district": district, "grid": grid, "age": rng.choice(["young", "old"], size)})
    inside: dict[str, list[str]] = {}
    for square in squares:
        if square not in across:
            inside.setdefault(home[square], []).append(square)
    return frame, inside


def nest(inside: dict[str, list[str]]) -> Nest:
    return Nest("grid", "district", {outer: tuple(inner) for outer, inner in inside.items()})


def as_file(inside: dict[str, list[str]]) -> pl.DataFrame:
    pairs = [(inner, outer) for outer, every in inside.items() for inner in every]
    return pl.DataFrame(pairs, schema=["grid", "district"], orient="row")


def by_counting(frame: pl.DataFrame, inside: dict[str, list[str]], below: int) -> set[tuple[str, str]]:
    """The districts and ages of which few people live outside of the squares that lie in them."""
    found = set()
    squares = set(frame["grid"].to_list())
    for district, every in inside.items():
        if not (set(every) & squares):
            continue
        for age in ("young", "old", "total"):
            of_age = frame if age == "total" else frame.filter(pl.col("age") == age)
            left = of_age.filter((pl.col("district") == district) & ~pl.col("grid").is_in(every)).height
            if 0 < left < below:
                found.add((district, age))
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_small_differences_are_those_that_counting_finds(seed: int, below: int) -> None:
    frame, inside = people(seed)
    one, two = (tabulate(frame, [area, "age"], rules=["frequency(1)"]) for area in ("district", "grid"))
    shown = [
        Shown(public_part(made.table, np.zeros(made.table.cells, dtype=bool)), None) for made in (one, two)
    ]
    for tables in (shown, shown[::-1]):
        found = tables_together(*tables, nests=[nest(inside)], difference=below)
        named = {(item["district"], item["age"]) for item in found.figures["small_differences"]}
        assert named == by_counting(frame, inside, below)
        assert found.discloses == bool(named)
        assert bool(found.cells) == bool(named)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_hidden_cells_keep_differences_as_uncertain_as_linear_programmes_say(seed: int) -> None:
    frame, inside = people(seed, 30)
    rng = np.random.default_rng(seed)
    made = [tabulate(frame, [area, "age"], rules=["frequency(1)"]) for area in ("district", "grid")]
    masks = [(rng.random(item.table.cells) < 0.3) & item.table.internal for item in made]
    shown = [Shown(public_part(item.table, mask)) for item, mask in zip(made, masks, strict=True)]
    found = tables_together(*shown, nests=[nest(inside)], difference=4)
    # All cells that could be: people by square, district and age, and what is left in variables of their own.
    place: dict[tuple[str, str, str], int] = {}
    values: list[float | None] = []
    rows: list[dict[int, float]] = []
    for item, mask, area in zip(made, masks, ("district", "grid"), strict=True):
        table = item.table
        own = []
        for cell in range(table.cells):
            key = table.key(cell)
            name = (
                (key["district"], "total", key["age"])
                if area == "district"
                else ("total", key["grid"], key["age"])
            )
            if name not in place:
                place[name] = len(values)
                values.append(None)
            own.append(place[name])
            if not mask[cell]:
                values[place[name]] = float(table.values[cell])
        for number in range(table.relations):
            members, signs = table.relation(number), table.signs_of(number)
            rows.append({own[cell]: float(sign) for cell, sign in zip(members.tolist(), signs, strict=True)})
    rests = {}
    for outer, every in inside.items():
        for age in ("young", "old", "total"):
            parts = [place["total", inner, age] for inner in every if ("total", inner, age) in place]
            if not parts or (outer, "total", age) not in place:
                continue
            rests[outer, age] = len(values)
            values.append(None)
            rows.append(
                {place[outer, "total", age]: -1.0, **dict.fromkeys(parts, 1.0), rests[outer, age]: 1.0}
            )
    matrix = np.zeros((len(rows), len(values)))
    for number, row in enumerate(rows):
        for cell, sign in row.items():
            matrix[number, cell] = sign
    bounds = [(0, None) if value is None else (value, value) for value in values]
    small = set()
    for name, cell in rests.items():
        goal = np.zeros(len(values))
        goal[cell] = 1.0
        least, most = (
            linprog(sign * goal, A_eq=matrix, b_eq=np.zeros(len(rows)), bounds=bounds) for sign in (1.0, -1.0)
        )
        assert least.status == 0 and most.status in (0, 3)
        top = np.inf if most.status == 3 else -most.fun
        if np.ceil(least.fun - 1e-6) >= 1 and np.floor(top + 1e-6) < 4:
            small.add(name)
    named = {(item["district"], item["age"]) for item in found.figures["small_differences"]}
    assert named == small and found.figures["differences"] == len(rests)


def test_the_command_refuses_and_names_what_is_given_away(tmp_path) -> None:
    frame = pl.DataFrame(
        {
            "district": ["d1"] * 10 + ["d2"] * 12,
            "grid": ["g1"] * 9 + ["g2"] + ["g2"] * 12,
        }
    )
    for area in ("district", "grid"):
        tabulate(frame, [area], rules=["frequency(1)"]).frame.select(area, "value").write_csv(
            tmp_path / f"{area}.csv"
        )
    pl.DataFrame({"grid": ["g1"], "district": ["d1"]}).write_csv(tmp_path / "map.csv")
    asked = ("audit", tmp_path / "district.csv", "--beside", tmp_path / "grid.csv")
    alone = run(*asked, "--json")
    assert alone.code == 0 and alone.json["together"][0]["discloses"] is False
    found = run(*asked, "--nested", tmp_path / "map.csv", "--json")
    assert found.code == 3 and found.json["safe"] is False
    together = found.json["together"][0]
    assert together["small_differences"] == [{"district": "d1", "grid": "total"}]
    assert together["cells"] == [{"district": "d1"}] and together["differences"] == 1
    told = run(*asked, "--nested", tmp_path / "map.csv", "--report", tmp_path / "r.html")
    assert "1 of 1 differences of nested areas are counts from 1 to 2" in " ".join(told.out.split())
    assert "differences of nested areas" in (tmp_path / "r.html").read_text()
    # From the other side the cells at fault are the squares that are taken away.
    turned = ("audit", tmp_path / "grid.csv", "--beside", tmp_path / "district.csv")
    other = run(*turned, "--nested", tmp_path / "map.csv", "--json")
    assert other.code == 3 and other.json["together"][0]["cells"] == [{"grid": "g1"}]
    # Nothing is small below 2 but a single person; hidden, it is uncertain.
    pl.DataFrame({"grid": ["g1", "g2", "total"], "value": [None, None, 22]}).write_csv(
        tmp_path / "hidden.csv"
    )
    good = run(
        "audit",
        tmp_path / "district.csv",
        "--beside",
        tmp_path / "hidden.csv",
        "--nested",
        tmp_path / "map.csv",
    )
    assert good.code == 0, good.err
    # Areas that no table has are left out, and named.
    pl.DataFrame({"grid": ["g1", "g8"], "district": ["d1", "d9"]}).write_csv(tmp_path / "map.csv")
    odd = run(*asked, "--nested", tmp_path / "map.csv", "--json")
    assert odd.code == 3 and odd.json["together"][0]["small_differences"] == together["small_differences"]
    told = odd.json["together"][0]["detail"]
    assert "2 nested areas are in none of the tables and left out: 'g8', 'd9'" in told
    # A list of which nothing is in both tables judges nothing.
    pl.DataFrame({"grid": ["g1", "g8"], "district": ["d9", "d1"]}).write_csv(tmp_path / "map.csv")
    nothing = run(*asked, "--nested", tmp_path / "map.csv", "--json")
    assert nothing.code == 3 and nothing.json["together"][0]["discloses"] is None
    assert "no area of --nested is in both tables" in nothing.json["together"][0]["detail"]


def test_wrong_maps_are_refused_in_one_line(tmp_path) -> None:
    tables = [
        PublicTable(("grid",), {("g1",): 4.0, ("total",): 9.0}, ()),
        PublicTable(("district",), {("d1",): 3.0, ("total",): 9.0}, ()),
    ]
    both = nest_of(
        pl.DataFrame({"grid": ["g1", "g1", "g2"], "district": ["d1", "d2", "d1"]}), "map.csv", tables
    )
    assert both.across == {"g1": ("d1", "d2")} and both.inside == {"d1": ("g2",)}
    more = PublicTable(("district",), {("d1",): 3.0, ("d2",): 0.0, ("total",): 9.0}, ())
    with pytest.raises(InputError, match="does every area lie in those that it is listed with"):
        tables_together(Shown(tables[0]), Shown(more), nests=[both])
    with pytest.raises(InputError, match="no dimension of the tables"):
        nest_of(pl.DataFrame({"square": ["g9"], "district": ["d1"]}), "map.csv", tables)
    with pytest.raises(InputError, match="must have two columns"):
        nest_of(pl.DataFrame({"grid": ["g1"]}), "map.csv", tables)
    assert nest_of(pl.DataFrame({"part": ["g1"], "whole": ["d1"]}), "map.csv", tables).part == "grid"
    with pytest.raises(InputError, match="count more than it does, the first at district d1"):
        tables_together(*map(Shown, tables), nests=[Nest("grid", "district", {"d1": ("g1",)})])
    with pytest.raises(InputError, match="beside"):
        shoal.audit(np.array([[1, 2], [3, 4]]), [("1", "1")], nested=pl.DataFrame({"a": ["x"], "b": ["y"]}))


def test_the_command_finds_what_only_a_union_gives_away(tmp_path) -> None:
    # g2 lies across both districts: neither differs by a small count from its squares, but both together do.
    lived = [
        ("d1", "g1", 9),
        ("d1", "g2", 6),
        ("d2", "g2", 5),
        ("d2", "g3", 8),
        ("d2", "g4", 2),
        ("d3", "g4", 7),
    ]
    frame = pl.DataFrame(
        [(district, grid) for district, grid, many in lived for _ in range(many)],
        schema=["district", "grid"],
        orient="row",
    )
    for area in ("district", "grid"):
        tabulate(frame, [area], rules=["frequency(1)"]).frame.select(area, "value").write_csv(
            tmp_path / f"{area}.csv"
        )
    frame.select("grid", "district").unique(maintain_order=True).write_csv(tmp_path / "map.csv")
    found = run("audit", tmp_path / "district.csv", "--beside", tmp_path / "grid.csv", "--nested", tmp_path / "map.csv",
                "--json")  # fmt: skip
    assert found.code == 3
    (together,) = found.json["together"]
    assert together["small_differences"] == [] and together["unions_complete"] is True
    (union,) = together["small_unions"]
    assert [cell["district"] for cell in union["areas"]] == ["d1", "d2"]
    assert sorted(cell["grid"] for cell in union["without"]) == ["g1", "g2", "g3"]
    assert together["cells"] == [{"district": "d1"}, {"district": "d2"}]
    assert "1 union of areas leaves a count from 1 to 2 without those inside" in together["detail"]


def overlapping(
    seed: int, size: int, districts: int, squares: int
) -> tuple[pl.DataFrame, dict[str, tuple[str, ...]]]:
    """People, and the districts that each square meets; some squares lie across two or three."""
    rng = np.random.default_rng(seed)
    meets = {}
    for number in range(squares):
        many = int(rng.choice([1, 1, 2, 2, 3]))
        chosen = np.sort(rng.choice(districts, min(many, districts), replace=False))
        meets[f"g{number}"] = tuple(f"d{own}" for own in chosen.tolist())
    grid = rng.choice(list(meets), size)
    district = [str(rng.choice(meets[own])) for own in grid.tolist()]
    return pl.DataFrame(
        {"district": district, "grid": grid, "age": rng.choice(["young", "old"], size)}
    ), meets


def nest_meeting(meets: dict[str, tuple[str, ...]]) -> Nest:
    pairs = [(inner, outer) for inner, every in meets.items() for outer in every]
    tables = [PublicTable((name,), {}, ()) for name in ("grid", "district")]
    return nest_of(pl.DataFrame(pairs, schema=["grid", "district"], orient="row"), "map.csv", tables)


def subsets(items: list[str]) -> list[frozenset[str]]:
    return [
        frozenset(one for n, one in enumerate(items) if code >> n & 1) for code in range(1, 1 << len(items))
    ]


def minimal(found: set[frozenset[str]], without: set[frozenset[str]]) -> set[frozenset[str]]:
    found = {one for one in found if not any(less <= one for less in without)}
    return {one for one in found if not any(less < one for less in found)}


def unions_named(found: dict, age: str) -> set[frozenset[str]]:
    return {
        frozenset(cell["district"] for cell in item["areas"])
        for item in found["small_unions"]
        if item["areas"][0]["age"] == age
    }


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(20, 90))
def test_small_unions_are_those_that_trying_all_finds(seed: int, below: int, size: int) -> None:
    frame, meets = overlapping(seed, size, 5, 8)
    made = [tabulate(frame, [area, "age"], rules=["frequency(1)"]) for area in ("district", "grid")]
    shown = [Shown(public_part(item.table, np.zeros(item.table.cells, dtype=bool))) for item in made]
    found = tables_together(*shown, nests=[nest_meeting(meets)], difference=below)
    assert found.figures["unions_complete"]
    districts, squares = (sorted(set(frame[name].to_list())) for name in ("district", "grid"))
    for age in ("young", "old", "total"):
        people_of = frame if age == "total" else frame.filter(pl.col("age") == age)
        bad = set()
        for areas in subsets(districts):
            inside = [one for one in squares if set(meets[one]) <= areas]
            if not areas <= {whole for one in inside for whole in meets[one]}:
                continue
            left = people_of.filter(
                pl.col("district").is_in(list(areas)) & ~pl.col("grid").is_in(inside)
            ).height
            if 1 <= left < below:
                bad.add(areas)
        single = {
            frozenset([item["district"]]) for item in found.figures["small_differences"] if item["age"] == age
        }
        assert unions_named(found.figures, age) == minimal(bad, single)
    assert found.discloses == bool(found.figures["small_differences"] or found.figures["small_unions"])


def checked_with_hidden_cells(seed: int) -> int:
    """Compare with all unions there are, each by two linear programmes over who may live where; how many were found."""
    below = 4
    frame, meets = overlapping(seed, 24, 3, 5)
    rng = np.random.default_rng(seed)
    made = [tabulate(frame, [area, "age"], rules=["frequency(1)"]) for area in ("district", "grid")]
    masks = [(rng.random(item.table.cells) < 0.25) & item.table.internal for item in made]
    shown = [Shown(public_part(item.table, mask)) for item, mask in zip(made, masks, strict=True)]
    found = tables_together(*shown, nests=[nest_meeting(meets)], difference=below)
    ages, districts, squares = (
        ("young", "old"),
        sorted(set(frame["district"].to_list())),
        sorted(set(frame["grid"].to_list())),
    )
    # People by square, district and age; squares lie in the districts they meet, all districts have people elsewhere.
    atoms = [(one, whole, age) for one in squares for whole in meets[one] for age in ages]
    atoms += [("elsewhere", whole, age) for whole in districts for age in ages]
    rows, right, hidden = [], [], {}
    for item, mask, place, area in zip(made, masks, (1, 0), ("district", "grid"), strict=True):
        for cell in range(item.table.cells):
            key = item.table.key(cell)
            row = np.array(
                [
                    key["age"] in (atom[2], "total")
                    and (
                        key[area] == atom[place]
                        or (key[area] == "total" and (place or atom[0] != "elsewhere"))
                    )
                    for atom in atoms
                ],
                dtype=float,
            )
            hidden[area, key[area], key["age"]] = bool(mask[cell])
            if not mask[cell]:
                rows.append(row)
                right.append(float(item.table.values[cell]))
    seen = 0
    for age in (*ages, "total"):
        bad = set()
        for areas in subsets(districts):
            forced = [one for one in squares if set(meets[one]) <= areas and not hidden["grid", one, age]]
            free = [one for one in squares if set(meets[one]) <= areas and hidden["grid", one, age]]
            for more in [frozenset[str](), *subsets(free)]:
                inside = [*forced, *more]
                # Of a figure that is shown, and that nothing is taken away from, nothing new is told.
                figures = {whole for whole in areas if not hidden["district", whole, age]}
                if not inside or not figures <= {whole for one in inside for whole in meets[one]}:
                    continue
                goal = np.array(
                    [
                        age in (atom[2], "total") and atom[1] in areas and atom[0] not in inside
                        for atom in atoms
                    ],
                    dtype=float,
                )
                least, most = (
                    linprog(sign * goal, A_eq=np.array(rows), b_eq=right, bounds=(0, None))
                    for sign in (1.0, -1.0)
                )
                top = np.inf if most.status == 3 else -most.fun
                if np.ceil(least.fun - 1e-6) >= 1 and np.floor(top + 1e-6) < below:
                    bad.add(areas)
        single = {
            frozenset([item["district"]]) for item in found.figures["small_differences"] if item["age"] == age
        }
        assert unions_named(found.figures, age) == minimal(bad, single)
        seen += len(unions_named(found.figures, age))
    return seen


def test_unions_with_hidden_cells_are_those_that_linear_programmes_find() -> None:
    assert sum(checked_with_hidden_cells(seed) for seed in range(25)) > 5


@pytest.mark.long
def test_unions_with_hidden_cells_at_length() -> None:
    assert sum(checked_with_hidden_cells(seed) for seed in range(1000, 1400)) > 80


def test_a_hidden_area_without_any_that_is_taken_away_counts_in_a_union() -> None:
    # Of d1 and d2 together 24 + 3 are known, and so are the 24 in squares of d2; nobody knows how the 3 live in both.
    districts = pl.DataFrame({"district": ["d0", "d1", "d2", "total"], "value": [10.0, None, None, 37.0]})
    squares = pl.DataFrame(
        {"grid": ["g1", "g2", "g3", "g4", "total"], "value": [None, 16.0, 8.0, None, 37.0]}
    )
    inside = as_file({"d1": ["g1"], "d2": ["g2", "g3"]})
    own = read_public(districts, "districts")
    problem, hidden = problem_of_public(own)
    names = [tuple(problem.table.key(int(cell)).values()) for cell in hidden]
    found = shoal.audit(problem, names, beside=squares, nested=inside, difference=5).together[0]
    assert found.discloses and found.figures["small_differences"] == []
    (union,) = found.figures["small_unions"]
    assert [item["district"] for item in union["areas"]] == ["d1", "d2"]
    assert [item["grid"] for item in union["without"]] == ["g2", "g3"]


def test_a_breakdown_without_its_total_is_looked_at_all_the_same() -> None:
    made = tabulate(pl.DataFrame({"district": ["d0"] * 9 + ["d1"] * 8}), ["district"], rules=["frequency(1)"])
    squares = pl.DataFrame({"grid": ["g0", "g1"], "value": [7.0, 8.0]})
    found = shoal.audit(made, [], beside=squares, nested=as_file({"d0": ["g0"], "d1": ["g1"]}))
    assert found.together[0].discloses and len(found.together[0].figures["small_differences"]) == 1
