"""Runs that must end well, and whose every figure is computed again from the files alone.

Nothing here is shared with the code under test: files are read by the standard library, programmes solved by SciPy.
"""

import csv
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog
from tests.fuzz.case import Case
from tests.fuzz.draw import Draw

_CLOSE = 1e-6


def recomputed(draw: Draw, folder: Path) -> Case:
    """A run of some command on files that are in order."""
    return draw.choice(
        (
            _microaggregate,
            _microaggregate,
            _suppress,
            _suppress,
            _audit,
            _tabulate,
            _one_dimension,
            _round,
            _release,
            _sizes,
            _people,
            _anonymity,
            _compare,
            _group,
        )
    )(draw, folder)


def table_of(path: Path) -> list[dict[str, str]]:
    """The records of a text file, as texts."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _put(path: Path, names: Sequence[str], records: Sequence[Sequence[Any]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *records])
    return path.name


def _people_file(draw: Draw, folder: Path, size: int, name: str = "in.csv") -> tuple[str, list[str]]:
    """People with two categories and three measurements, some of them equal."""
    numbers = draw.choice(
        (
            lambda: round(draw.gauss(0, 50), 3),
            lambda: draw.randint(0, 9),
            lambda: round(draw.lognormvariate(5, 2), 2),
        )
    )
    records = [
        (
            place + 1000,
            draw.choice("fm"),
            draw.choice(("11", "12", "13")),
            numbers(),
            numbers(),
            draw.randint(1, 400) / 4,
        )
        for place in range(size)
    ]
    return _put(folder / name, ("person", "sex", "zip", "income", "wealth", "hours"), records), [
        "income",
        "wealth",
        "hours",
    ]


def _crowds(records: Sequence[Mapping[str, str]], names: Sequence[str]) -> Counter[int]:
    """How many crowds there are of each size."""
    return Counter(Counter(tuple(record[name] for name in names) for record in records).values())


def _equal(what: str, told: Any, found: Any) -> None:
    close = (
        math.isclose(told, found, rel_tol=_CLOSE, abs_tol=_CLOSE)
        if isinstance(found, float)
        else told == found
    )
    assert close, f"{what} is told as {told!r} and is {found!r}"


# Records


def _microaggregate(draw: Draw, folder: Path) -> Case:
    k = draw.choice((2, 2, 3, 4, 5))
    size = draw.choice((*range(k, 3 * k + 1), 17, 30, 45))
    data, numeric = _people_file(draw, folder, size)
    columns = draw.sample(numeric, draw.randint(1, 3))
    arguments = [
        "microaggregate",
        data,
        "-k",
        str(k),
        "--columns",
        ",".join(columns),
        "--drop",
        "person",
        "-o",
        "out.csv",
        "--labels",
        "labels.txt",
    ]
    arguments += (
        [
            "--method",
            draw.choice(("auto", "auto", "mdav", "v-mdav", "ils", "ilsmc", "blocks", "projection")),
        ]
        if draw.random() < 0.8
        else []
    )
    arguments += ["--aggregate", draw.choice(("median", "rounded-mean"))] if draw.random() < 0.2 else []
    arguments += ["--iterations", str(draw.choice((0, 10, 300)))] if draw.random() < 0.7 else []
    if draw.random() < 0.3:
        arguments += ["--quasi", ",".join(draw.sample(["sex", "zip", *columns], draw.randint(1, 3)))]

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        before, after = table_of(folder / data), table_of(folder / "out.csv")
        labels = [
            int(line) for line in (folder / "labels.txt").read_text().split() if line.lstrip("-").isdigit()
        ]
        _equal("number of records", figures["records"], size)
        assert len(before) == len(after) == len(labels) == size, "not every record is released and labelled"
        assert "person" not in after[0], "a dropped column is released"
        sizes = Counter(labels)
        _equal("clusters", figures["clusters"], len(sizes))
        _equal("smallest cluster", figures["min_cluster"], min(sizes.values()))
        _equal("largest cluster", figures["max_cluster"], max(sizes.values()))
        assert min(sizes.values()) >= k, "a group is smaller than k"
        _equal("K of the release", figures["k_release"], min(_crowds(after, figures["quasi"])))
        if "k_protected" in figures:
            _equal("K over the protected columns", figures["k_protected"], min(_crowds(after, columns)))
        assert min(_crowds(after, columns)) >= k, "K over the protected columns is below k"
        for name in before[0]:
            if name not in (*columns, "person"):
                assert [record[name] for record in before] == [record[name] for record in after], (
                    f"{name} was changed"
                )
        _losses(figures, before, after, labels, columns, mean="--aggregate" not in arguments)

    return Case(
        "microaggregate", (*arguments, "--json"), writes=("out.csv", "labels.txt"), check=check, sound=True
    )


def _losses(
    figures: Mapping[str, Any],
    before: Any,
    after: Any,
    labels: Sequence[int],
    columns: Sequence[str],
    *,
    mean: bool,
) -> None:
    old = np.array([[float(record[name]) for name in columns] for record in before])
    new = np.array([[float(record[name]) for name in columns] for record in after])
    spread = old.std(axis=0, ddof=1) if len(old) > 1 else np.zeros(old.shape[1])
    varies = spread > 1e-12 * np.abs(old).max(axis=0)
    unit = np.where(varies, spread, 1.0)
    sse, sst = (
        float((((old - new) / unit) ** 2).sum()),
        float((((old - old.mean(axis=0)) / unit) ** 2)[:, varies].sum()),
    )
    _equal("SSE", figures["sse"], sse)
    _equal("SST", figures["sst"], sst)
    loss = 100 * sse / sst if sst > 0 else 0.0
    _equal("loss", figures["loss_percent"], loss)
    for label in set(labels):
        members = [place for place, one in enumerate(labels) if one == label]
        assert (new[members] == new[members[0]]).all(), "a group has different values"
        if mean:
            assert np.allclose(new[members[0]], old[members].mean(axis=0), rtol=1e-9, atol=1e-9), (
                "a mean is not the mean"
            )
    bound = figures["bound_percent"]
    if bound is not None:
        assert bound <= loss * (1 + 1e-9) + 1e-9, f"the bound {bound} is above the loss {loss}"
        if len(old) <= 8 and mean:
            best = 100 * _best((old / unit)[:, varies], figures["k"]) / sst if sst > 0 else 0.0
            assert bound <= best * (1 + 1e-9) + 1e-9, (
                f"the bound {bound} is above what can be reached, {best}"
            )
            if figures["optimal"]:
                _equal("the least loss", loss, best)


def _best(points: np.ndarray, k: int) -> float:
    """The least SSE of all ways to part a few records into groups of at least k."""

    def part(left: tuple[int, ...]) -> Iterator[float]:
        if not left:
            yield 0.0
            return
        from itertools import combinations

        for size in range(k - 1, len(left)):
            for others in combinations(left[1:], size):
                group = points[[left[0], *others]]
                here = float(((group - group.mean(axis=0)) ** 2).sum())
                rest = tuple(place for place in left[1:] if place not in others)
                yield from (here + more for more in part(rest))

    return min(part(tuple(range(len(points)))))


def _anonymity(draw: Draw, folder: Path) -> Case:
    size = draw.choice((1, 2, 9, 30, 200))
    data, _ = _people_file(draw, folder, size)
    quasi = draw.sample(["sex", "zip", "hours"], draw.randint(1, 3))

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        vector = _crowds(table_of(folder / data), quasi)
        _equal("K", figures["k"], min(vector))
        _equal("vector", {int(key): count for key, count in figures["vector"].items()}, dict(vector))
        _equal("classes", figures["classes"], sum(vector.values()))
        _equal("largest risk", figures["maximum_risk"], 1 / min(vector))
        for limit, people in figures["below"].items():
            _equal(
                f"people below {limit}",
                people,
                sum(key * count for key, count in vector.items() if key < int(limit)),
            )

    return Case(
        "anonymity", ("anonymity", data, "--quasi", ",".join(quasi), "--json"), check=check, sound=True
    )


def _compare(draw: Draw, folder: Path) -> Case:
    data, _ = _people_file(draw, folder, draw.choice((5, 12, 40)))
    columns = ["income", "hours"]
    records = [
        {**record, **{name: str(round(float(record[name]) / 40) * 40) for name in columns}}
        for record in table_of(folder / data)
    ]
    draw.shuffle(records)
    _put(folder / "safe.csv", list(records[0]), [list(record.values()) for record in records])
    arguments = (
        "compare",
        data,
        "safe.csv",
        "--key",
        "person",
        "--columns",
        ",".join(columns),
        "--quasi",
        "sex,income",
        "--json",
    )

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        before, after = (
            {record["person"]: record for record in table_of(folder / name)} for name in (data, "safe.csv")
        )
        _equal("K", figures["k"], min(_crowds(list(after.values()), ["sex", "income"])))
        _equal("records", figures["records"], len(before))
        wrong, all_of_it = 0.0, 0.0
        for name in columns:
            old = np.array([float(record[name]) for record in before.values()])
            new = np.array([float(after[person][name]) for person in before])
            if (spread := old.std(ddof=1)) > 0:
                wrong += float((((old - new) / spread) ** 2).sum())
                all_of_it += float((((old - old.mean()) / spread) ** 2).sum())
        if all_of_it > 0:
            _equal("SSE in percent", figures["sse_percent"], 100 * wrong / all_of_it)
        for name in ("id", "id_sd", "dld", "pld"):
            assert -_CLOSE <= figures[name] <= 100 + _CLOSE, f"{name} is no percentage"
        assert figures["worst_risk"]["percent"] >= max(figures["dld"], figures["pld"]) - _CLOSE, (
            "the worst risk is not the worst"
        )

    return Case("compare", arguments, check=check, sound=True)


def _group(draw: Draw, folder: Path) -> Case:
    data, numeric = _people_file(draw, folder, draw.choice((12, 30)))
    arguments = ("group", data, "-k", "3", "--columns", ",".join(numeric), "--iterations", "3", "--json")

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        _equal(
            "columns in groups",
            sorted(name for group in figures["groups"] for name in group),
            sorted(numeric),
        )
        assert figures["bound"] is None or figures["bound"] <= figures["score"] + _CLOSE, (
            "the bound is above the score"
        )

    return Case("group", arguments, check=check, sound=True)


# Tables


def _matrix(draw: Draw, folder: Path) -> dict[tuple[str, str], float]:
    """A matrix with its totals, in a file and by its cells."""
    rows, columns = "nesw"[: draw.randint(2, 4)], "abcd"[: draw.randint(2, 4)]
    cells = {
        (row, column): float(draw.choice((draw.randint(1, 9), draw.randint(1, 99))))
        for row in rows
        for column in columns
    }
    for row in rows:
        cells[row, "total"] = sum(cells[row, column] for column in columns)
    for column in (*columns, "total"):
        cells["total", column] = sum(cells[row, column] for row in rows)
    names = (*columns, "total")
    _put(
        folder / "table.csv",
        ("row", *names),
        [(row, *(f"{cells[row, name]:g}" for name in names)) for row in (*rows, "total")],
    )
    return cells


def _relations(
    cells: Mapping[tuple[str, str], float],
) -> Iterator[tuple[tuple[str, str], list[tuple[str, str]]]]:
    """Every total with what it is the sum of."""
    rows, columns = (
        list(dict.fromkeys(row for row, _ in cells)),
        list(dict.fromkeys(column for _, column in cells)),
    )
    for row in rows:
        yield (row, "total"), [(row, column) for column in columns if column != "total"]
    for column in columns:
        yield ("total", column), [(row, column) for row in rows if row != "total"]


def _interval(
    cells: Mapping[tuple[str, str], float], hidden: Sequence[tuple[str, str]], cell: tuple[str, str]
) -> tuple[float, float]:
    """What somebody who knows the published cells, and that none is below 0, can compute of a hidden one."""
    place = {one: number for number, one in enumerate(hidden)}
    left, right = [], []
    for total, parts in _relations(cells):
        row, known = np.zeros(len(hidden)), 0.0
        for one, sign in [(total, -1.0), *((part, 1.0) for part in parts)]:
            if one in place:
                row[place[one]] += sign
            else:
                known += sign * cells[one]
        if row.any():
            left.append(row)
            right.append(-known)
    ends = []
    for sign in (1.0, -1.0):
        objective = np.zeros(len(hidden))
        objective[place[cell]] = sign
        found = linprog(
            objective, A_eq=np.array(left), b_eq=np.array(right), bounds=(0, None), method="highs"
        )
        ends.append(sign * found.fun if found.status == 0 else sign * -math.inf)
    return ends[0], ends[1]


def _levels(
    cells: Mapping[tuple[str, str], float], chosen: Sequence[tuple[str, str]], share: float
) -> dict[tuple[str, str], float]:
    return {cell: share * cells[cell] for cell in chosen}


def _chosen(
    draw: Draw, folder: Path, cells: Mapping[tuple[str, str], float], most: int
) -> list[tuple[str, str]]:
    inner = [cell for cell in cells if "total" not in cell]
    chosen = draw.sample(inner, draw.randint(1, most))
    _put(folder / "cells.csv", ("row", "column"), chosen)
    return chosen


def _suppress(draw: Draw, folder: Path) -> Case:
    cells = _matrix(draw, folder)
    chosen = _chosen(draw, folder, cells, 3)
    share = draw.choice((0.0, 0.1, 0.2, 0.5))
    method = draw.choice(
        ("auto", "auto", "exact", "hypercube", "shortest-path", "heurgene", "gensup", "general")
    )
    arguments = [
        "suppress",
        "table.csv",
        "--sensitive",
        "cells.csv",
        "--protection",
        str(share),
        "--method",
        method,
    ]
    arguments += ["-o", "pattern.csv", "--published", "public.csv", "--json"]
    arguments += ["--iterations", "50"] if draw.random() < 0.7 else []

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        if "error" in figures:  # there is no safe pattern, or this method finds none
            return
        kinds = {
            (record["row"], record["column"]): record["kind"] for record in table_of(folder / "pattern.csv")
        }
        _equal("primary cells", {cell for cell, kind in kinds.items() if kind == "primary"}, set(chosen))
        more = [cell for cell, kind in kinds.items() if kind == "complementary"]
        _equal("complementary cells", figures["complementary"], len(more))
        _equal("cost", figures["cost"], float(sum(cells[cell] for cell in more)))
        if figures["bound"] is not None:
            assert figures["bound"] <= figures["cost"] * (1 + 1e-9) + 1e-9, "the bound is above the cost"
        public = {
            (row["row"], name): text
            for row in table_of(folder / "public.csv")
            for name, text in row.items()
            if name != "row"
        }
        _equal("cells that are published", set(public), set(cells))
        for cell, text in public.items():
            assert (text == "") if cell in kinds else math.isclose(float(text), cells[cell]), (
                f"{cell} is published wrongly"
            )
        assert figures["safe"] is True, "an unsafe pattern was written"
        for cell, level in _levels(cells, chosen, share).items():
            low, high = _interval(cells, list(kinds), cell)
            assert high >= cells[cell] + level - 1e-5 * max(1, level), (
                f"the attacker's maximum of {cell} is too low"
            )
            assert low <= cells[cell] - min(level, cells[cell]) + 1e-5 * max(1, level), (
                f"the attacker's minimum of {cell} is too high"
            )
            assert high - low > 1e-6, f"{cell} is disclosed exactly"

    return Case("suppress", tuple(arguments), writes=("pattern.csv", "public.csv"), check=check, sound=True)


def _audit(draw: Draw, folder: Path) -> Case:
    cells = _matrix(draw, folder)
    chosen = _chosen(draw, folder, cells, 2)
    share = draw.choice((0.1, 0.3))
    hidden = draw.sample(list(cells), draw.randint(1, min(9, len(cells))))
    hidden = list(dict.fromkeys([*(chosen if draw.random() < 0.8 else []), *hidden]))
    _put(
        folder / "pattern.csv",
        ("row", "column", "kind"),
        [(*cell, "primary" if cell in chosen else "complementary") for cell in hidden],
    )
    arguments = (
        "audit",
        "table.csv",
        "pattern.csv",
        "--sensitive",
        "cells.csv",
        "--protection",
        str(share),
        "-o",
        "intervals.csv",
        "--json",
    )

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        written = {(record["row"], record["column"]): record for record in table_of(folder / "intervals.csv")}
        safe = True
        for cell in dict.fromkeys([*hidden, *chosen]):
            low, high = _interval(cells, hidden, cell) if cell in hidden else (cells[cell], cells[cell])
            told = written[cell]
            for name, value in (("min", low), ("max", high)):
                said = float(told[name] or "inf")
                same = math.isclose(said, value, rel_tol=1e-5, abs_tol=1e-4) or said == value
                assert same, f"the {name} of {cell} is told as {said} and is {value}"
            if cell in chosen:
                level = share * cells[cell]
                wide = (
                    high >= cells[cell] + level - 1e-6 and low <= cells[cell] - min(level, cells[cell]) + 1e-6
                )
                safe &= wide and cell in hidden
        _equal("safe", figures["safe"], safe)

    return Case("audit", arguments, writes=("intervals.csv",), check=check, sound=True)


def _tabulate(draw: Draw, folder: Path) -> Case:
    data, _ = _people_file(draw, folder, draw.choice((4, 15, 60)))
    least, percent = draw.choice((2, 3, 5)), draw.choice((5, 10, 30))
    rules = [f"frequency({least})", f"p-percent({percent})"]
    arguments = ["tabulate", data, "--dimensions", "sex,zip", "--value", "hours", "-o", "out.csv", "--json"]
    arguments += [part for rule in rules for part in ("--rule", rule)]

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        contributions: dict[tuple[str, str], list[float]] = defaultdict(list)
        for record in table_of(folder / data):
            for sex in (record["sex"], "total"):
                for code in (record["zip"], "total"):
                    contributions[sex, code].append(float(record["hours"]))
        sensitive = 0
        for row in table_of(folder / "out.csv"):
            found = sorted(contributions.get((row["sex"], row["zip"]), []), reverse=True)
            name = f"cell {row['sex']}, {row['zip']}"
            _equal(f"value of {name}", float(row["value"]), float(sum(found)))
            _equal(f"contributors of {name}", int(row["contributors"]), len(found))
            rest = sum(found[2:])
            unsafe = bool(found) and (len(found) < least or rest < percent * found[0] / 100 - 1e-9)
            _equal(f"whether {name} is sensitive", row["status"] == "u", unsafe)
            sensitive += unsafe
        _equal("sensitive cells", figures["sensitive"], sensitive)

    return Case("tabulate", tuple(arguments), writes=("out*",), check=check, sound=True)


def _one_dimension(draw: Draw, folder: Path) -> Case:
    """A ready-made table of one dimension, with or without its total, whose columns may be called like patterns."""
    code, value, count = draw.choice(
        (("a", "v", "n"), ("*", "^", "v"), ("a.b", "*", "$"), ("^(", "sector", "*"))
    )
    cells = {f"c{place}": (draw.randint(5, 90), draw.randint(1, 9)) for place in range(draw.randint(2, 6))}
    whole = tuple(map(sum, zip(*cells.values(), strict=True)))
    rows = [(name, *figures) for name, figures in cells.items()]
    rows += [("Total", *whole)] if draw.random() < 0.5 else []
    _put(folder / "in.csv", (code, value, count), rows)
    least = draw.choice((2, 4))
    arguments = ["suppress", "in.csv", "--dimensions", code, "--value", value, "--contributors-column", count]
    arguments += ["--source", "aggregated", "--rule", f"frequency({least})"]
    arguments += ["-o", "pattern.csv", "--published", "public.csv", "--json"]

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        if "error" in figures:  # a single cell that is not empty has nothing to hide among
            return
        hidden = {row[code] for row in table_of(folder / "pattern.csv")}
        few = {name for name, (_, contributors) in cells.items() if contributors < least}
        assert few <= hidden and len(hidden) != 1, "what few contribute to is not hidden, or by itself"
        for row in table_of(folder / "public.csv"):
            name = row[code]
            shown = whole[0] if name not in cells else cells[name][0]
            assert (row["value"] == "") if name in hidden else math.isclose(float(row["value"]), shown), (
                f"{name} is published wrongly"
            )

    return Case("suppress", tuple(arguments), writes=("pattern.csv", "public.csv"), check=check, sound=True)


def _round(draw: Draw, folder: Path) -> Case:
    """Counts of up to four dimensions to multiples of a base, with a limit of work or of time."""
    codes = [
        [f"{name}{place}" for place in range(draw.randint(2, 3))] for name in "abcd"[: draw.randint(1, 4)]
    ]
    names = [own[0][0] for own in codes]
    records = [[draw.choice(own) for own in codes] for _ in range(draw.choice((12, 40, 90)))]
    _put(folder / "in.csv", names, records)
    base = draw.choice((3, 5))
    arguments = ["round", "in.csv", "--dimensions", ",".join(names), "--base", str(base), "--small-totals"]
    arguments += draw.choice((["--iterations", "50"], ["--time-limit", "2"], ["--iterations", "200"]))
    # With a rule, what whole numbers give away is looked for, too: of four dimensions that ends with the limit alone.
    arguments += draw.choice(([], ["--rule", "frequency(3)"]))
    arguments += ["-o", "out.csv", "--json"]

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        if "error" in figures:  # nothing that adds up was found by then
            return
        rounded = {
            tuple(row[name] for name in names): float(row["value"]) for row in table_of(folder / "out.csv")
        }
        assert all(value >= 0 and value % base == 0 for value in rounded.values()), "no multiple of the base"
        for key, value in rounded.items():
            counted = sum(
                all(code in ("total", one) for code, one in zip(key, record, strict=True))
                for record in records
            )
            assert abs(value - counted) < base * figures["steps"], f"{key} is too far from its count"
            for place in range(len(names)):
                parts = [
                    figure
                    for other, figure in rounded.items()
                    if key[place] == "total"
                    and other[place] != "total"
                    and all(
                        one == two
                        for at, (one, two) in enumerate(zip(key, other, strict=True))
                        if at != place
                    )
                ]
                assert not parts or sum(parts) == value, f"{key} is not the sum of its parts"

    return Case("round", tuple(arguments), writes=("out.csv",), check=check, sound=True)


_PATTERNS = ("O", "O'Brien", "*", "^O", "a.b", "income")
_STEPS = {
    "microaggregate": 'unit = "record"\nk = {k}\ncolumns = {protected}\nquasi = {protected}',
    "recode": 'unit = "record"\nk = {k}\nquasi = ["sex", "zip"]',
    "perturb": 'method = "noise"\ncolumns = {protected}',
}


def _release(draw: Draw, folder: Path) -> Case:
    """A plan whose last step drops columns that were protected, or left as they are, before; names may be patterns."""
    data, written = _people_file(draw, folder, draw.choice((20, 45)))
    numeric = draw.sample(_PATTERNS, len(written))
    records = table_of(folder / data)
    names = [*list(records[0])[: -len(written)], *numeric]
    _put(folder / data, names, [tuple(record.values()) for record in records])
    do = draw.choice(("microaggregate", *_STEPS))
    protected = draw.sample(numeric, draw.randint(1, 2))
    dropped = draw.sample([*numeric, "zip"], draw.randint(1, 2))
    roles = {"person": "identifier", "sex": "quasi-identifier", "zip": "quasi-identifier"}
    roles |= dict.fromkeys(numeric, "measurement")
    k = draw.choice((2, 3))
    plan = ['[release]\nname = "fuzz"', f'[sources.people]\ndata = "{data}"', "[sources.people.roles]"]
    plan += [f'"{name}" = "{role}"' for name, role in roles.items()]
    plan += [f'[[steps]]\ndo = "{do}"\n' + _STEPS[do].format(k=k, protected=json.dumps(protected))]
    plan += [
        f'[[steps]]\ndo = "drop"\ncolumns = {json.dumps(dropped)}',
        '[outputs]\n"safe.csv" = "drop"',
    ]
    (folder / "plan.toml").write_text("\n".join(plan) + "\n", encoding="utf-8")
    arguments = ("release", "plan.toml", "-o", "released", "--json")

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        if "error" in figures:
            return
        after = table_of(folder / "released" / "public" / "safe.csv")
        kept = [name for name, role in roles.items() if name not in dropped and role != "identifier"]
        _equal("columns", sorted(after[0]), sorted(kept))
        averaged = [name for name in protected if name in kept and do == "microaggregate"]
        assert not averaged or min(_crowds(after, averaged)) >= k, (
            "fewer than k records are averaged together"
        )
        changed = [] if do == "recode" else protected
        said = " ".join(str(item) for item in figures.get("warnings", ()))
        unique = [
            name
            for name in numeric
            if name in kept and name not in changed and len({r[name] for r in after}) == len(after)
        ]
        silent = [name for name in unique if f"'{name}'" not in said]
        assert do == "perturb" or not silent or "more" in said, (
            f"nothing is said of a column that is released as it is: {silent}"
        )

    return Case("release", arguments, writes=("released/*", ".shoal-register.json"), check=check, sound=True)


# Appointments


def _plan(figures: Mapping[str, Any], crowds: Counter[int], before: Counter[int]) -> None:
    """What a plan says of itself, given the crowds it makes and those there were."""
    _equal("K", figures["k"], min(crowds))
    _equal("vector", {int(size): count for size, count in figures["vector"].items()}, dict(crowds))
    _equal("K before", figures["k_before"], min(before))
    assert figures["k"] <= figures["k_bound"] <= figures["k_before"], "the bound of K cannot be"


def _sizes(draw: Draw, folder: Path) -> Case:
    sizes = [draw.randint(1, 7) for _ in range(draw.randint(1, 5))]
    seats = [draw.randint(1, 6) for _ in range(draw.randint(1, 6))]
    while sum(seats) < sum(sizes):
        seats.append(draw.randint(1, 6))
    objective = draw.choice(("k", "vector"))
    arguments = [
        "assign",
        "--group-sizes",
        ",".join(map(str, sizes)),
        "--capacities",
        ",".join(map(str, seats)),
        "--objective",
        objective,
        "--json",
    ]
    arguments += ["--iterations", "200"] if draw.random() < 0.5 else []

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        matrix = np.array(figures["matrix"])
        _equal("sizes of the groups", matrix.sum(axis=1).tolist(), sizes)
        assert (matrix >= 0).all() and (matrix.sum(axis=0) <= seats).all(), (
            "a slot has more people than seats"
        )
        _plan(figures, Counter(matrix[matrix > 0].tolist()), Counter(sizes))
        if objective == "k":
            best = _best_k(sizes, seats)
            assert figures["k"] <= best <= figures["k_bound"], (
                f"the best K is {best}, not between what is told"
            )
            assert figures["k"] == best or not figures["optimal"], "a plan that is not optimal is called so"

    return Case("assign", tuple(arguments), check=check, sound=True)


def _best_k(sizes: Sequence[int], seats: Sequence[int]) -> int:
    """The largest K of any plan, by trying all of them for one K after the other."""
    from functools import cache

    def fits(k: int) -> bool:
        @cache
        def group(number: int, free: tuple[int, ...]) -> bool:
            if number == len(sizes):
                return True
            return any(group(number + 1, left) for left in set(spread(sizes[number], free, 0)))

        def spread(people: int, free: tuple[int, ...], slot: int) -> Iterator[tuple[int, ...]]:
            if people == 0:
                yield tuple(sorted(free))
            elif slot < len(free):
                yield from spread(people, free, slot + 1)
                for some in range(k, min(people, free[slot]) + 1):
                    yield from spread(
                        people - some, (*free[:slot], free[slot] - some, *free[slot + 1 :]), slot + 1
                    )

        return group(0, tuple(sorted(seats)))

    return max((k for k in range(1, min(sizes) + 1) if fits(k)), default=0)


def _people(draw: Draw, folder: Path) -> Case:
    size = draw.choice((6, 20, 50))
    data, _ = _people_file(draw, folder, size)
    room = [draw.randint(2, size) for _ in range(draw.randint(1, 5))]
    while sum(room) < size:
        room.append(draw.randint(2, size))
    _put(
        folder / "slots.csv",
        ("slot", "capacity", "centre"),
        [(place, seats, "AB"[place % 2]) for place, seats in enumerate(room)],
    )
    known = draw.choice((None, "centre"))
    arguments = [
        "assign",
        data,
        "slots.csv",
        "--quasi",
        "sex,zip",
        "-o",
        "out.csv",
        "--json",
        "--iterations",
        "300",
    ]
    arguments += ["--known", known] if known else []

    def check(folder: Path, figures: Mapping[str, Any]) -> None:
        before, after = table_of(folder / data), table_of(folder / "out.csv")
        _equal(
            "people",
            sorted(record["person"] for record in after),
            sorted(record["person"] for record in before),
        )
        loads = Counter(int(record["slot"]) for record in after)
        assert all(loads[slot] <= seats for slot, seats in enumerate(room)), (
            "a slot has more people than seats"
        )
        assert all(record["centre"] == "AB"[int(record["slot"]) % 2] for record in after), (
            "a centre is not that of its slot"
        )
        _plan(figures, _crowds(after, ["sex", "zip", known or "slot"]), _crowds(before, ["sex", "zip"]))

    return Case("assign", tuple(arguments), writes=("out.csv",), check=check, sound=True)
