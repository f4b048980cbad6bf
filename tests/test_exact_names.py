"""Names of columns that Polars takes for patterns: every operation does the same as with plain names."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as run

import shoal
from shoal.errors import InputError
from shoal.operations import OPERATIONS

PLAIN = ("zqa", "zqb", "zqc", "zqd", "zqe", "zqf", "zqg", "zqh", "zqi")
ODD = ("*", "^sec.*", "sector", "a.b", ".*", "^(", "q$", "$^", "col('*')")

# The commands with names in braces; ``people.csv`` has two keys, a text, two numbers, a unit, a weight and a number of each
# record.
KEYS, NUMBERS = "{0},{1}", "{3},{4}"
COMMANDS = {
    "anonymity": [
        f"anonymity people.csv --quasi {KEYS} --confidential {{2}} --model distinct(2) --model closeness(0.5,equal)",
        f"anonymity people.csv --quasi {KEYS} --unit {{5}} --null wildcard",
        f"anonymity people.parquet --quasi {KEYS} --engine stream",
    ],
    "risk": [
        f"risk people.csv --quasi {KEYS},{{2}} --sample-weights {{6}} --household {{5}} --special-uniques --risks out.csv"
    ],
    "recode": [
        f"recode people.csv --quasi {KEYS} -k 3 --suppress 0.2 --drop {{5}} --order sorted --method lattice "
        "-o out.csv --mapping map.csv",
        f"recode people.csv --quasi {KEYS} -k 3 --method local-suppression --by {{2}} --seed 1 -o out.csv",
        f"recode people.csv --quasi {{2}} -k 4 --average {NUMBERS} --drop {KEYS},{{5}} -o out.csv",
    ],
    "microaggregate": [
        f"microaggregate people.csv --columns {NUMBERS} -k 3 --by {{2}} --drop {KEYS} --order sorted -o out.csv",
        f"microaggregate people.csv --columns {{0}},{NUMBERS} -k 3 --ordinal {{1}}=p<q<r --unit {{5}} --quasi {{2}} -o out.xlsx",
        f"microaggregate people.parquet --columns {NUMBERS} -k 3 --drop {{5}} --engine stream -o parts",
    ],
    "perturb": [
        "perturb people.csv --method pram --columns {1},{2} --change 0.3 --by {0} --drop {5} --seed 1 -o out.csv",
        f"perturb people.csv --method rank-swap --columns {NUMBERS} --window 20 --order sorted --seed 1 -o out.csv",
        "perturb people.csv --method record-swap --household {7} --regions {0},{2} --quasi {1} --share 0.2 --seed 1 -o out.csv",
    ],
    "compare": [
        f"compare people.csv changed.csv --paired-by-position --columns {{0}},{{1}} --quasi {KEYS} --attacks mahalanobis",
        f"compare people.csv changed.csv --key {{7}} --columns {{0}},{NUMBERS} --utility pmse",
    ],
    "group": [f"group people.csv --columns {{0}},{NUMBERS},{{6}} -k 5 --method exact"],
    "hierarchy": ["hierarchy people.csv --columns {0},{1},{3} -o trees"],
    "assign": [
        f"assign people.csv slots.csv --quasi {KEYS} --key {{7}} --eligible allowed.csv --seed 1 -o out.csv"
    ],
    "tabulate": [
        f"tabulate people.csv --dimensions {KEYS} --value {{3}} --contributor {{5}} --weight {{6}} --missing category -o out.csv",
        f"tabulate people.csv --dimensions {KEYS} --value {{3}} --further-value {{4}} -o out.csv",
    ],
    "suppress": [
        f"suppress people.csv --dimensions {KEYS} --value {{3}} --rule frequency(3) --rows {{1}} --columns {{0}} "
        "-o out.csv --published public.csv",
        f"suppress cells.csv --dimensions {KEYS} --value {{3}} --contributors-column {{4}} --source aggregated -o out.csv",
    ],
    "audit": [
        f"audit people.csv pattern.csv --dimensions {KEYS} --value {{3}} --rule frequency(3)",
        "audit shown.csv --beside other.csv",
    ],
    "round": [
        f"round people.csv --dimensions {KEYS},{{2}} --base 5 --small-totals --seed 1 --sensitive near.csv -o out.csv"
    ],
    "adjust": [
        f"adjust people.csv --dimensions {KEYS} --value {{3}} --rule frequency(4) --seed 1 -o out.csv"
    ],
    "perturb-table": [
        f"perturb-table people.csv --dimensions {KEYS},{{2}} --record {{7}} --seed 1 -o out.csv"
    ],
}


def write_files(folder: Path, names: tuple[str, ...]) -> None:
    """The same files under other names of columns."""
    rng = np.random.default_rng(5)
    size = 60
    people = pl.DataFrame(
        {
            names[0]: rng.integers(1, 4, size),
            names[1]: rng.choice(["p", "q", "r"], size),
            names[2]: rng.choice(["u", "v"], size),
            names[3]: rng.gamma(2.0, 100.0, size).round(2),
            names[4]: rng.normal(50.0, 9.0, size).round(1),
            names[5]: [f"h{number // 2}" for number in range(size)],
            names[6]: rng.uniform(3.0, 9.0, size).round(2),
            names[7]: [f"r{number}" for number in range(size)],
        }
    )
    people.write_csv(folder / "people.csv")
    people.write_parquet(folder / "people.parquet")
    changed = people.get_column(names[3]) * 1.01
    people.with_columns(changed).write_csv(folder / "changed.csv")
    slots = pl.DataFrame({"slot": ["m", "n"], "capacity": [40, 40], names[8]: ["1", "2"]})
    slots.write_csv(folder / "slots.csv")
    pl.DataFrame({names[1]: ["p", "q", "r", "r"], "slot": ["m", "n", "m", "n"]}).write_csv(
        folder / "allowed.csv"
    )
    cells = [(a, b, 10.0 * (a == "x") + 5.0 * (b == "k") + 2.0, 2) for a in "xy" for b in "kl"]
    pl.DataFrame(cells, schema=[names[0], names[1], names[3], names[4]], orient="row").write_csv(
        folder / "cells.csv"
    )
    pairs = [("1", "p"), ("1", "q"), ("2", "p"), ("2", "q")]
    pl.DataFrame(pairs, schema=[names[0], names[1]], orient="row").write_csv(folder / "pattern.csv")
    near = pl.DataFrame([("1", "p", "u")], schema=list(names[:3]), orient="row")
    near.write_csv(folder / "near.csv")
    shown = [("x", "k", 3.0), ("x", "l", None), ("y", "k", 1.0), ("y", "l", 2.0)]
    pl.DataFrame(shown, schema=[names[0], names[1], "value"], orient="row").write_csv(folder / "shown.csv")
    pl.DataFrame({names[0]: ["x", "y"], "value": [7.0, 3.0]}).write_csv(folder / "other.csv")


def outcome(
    folder: Path, command: str, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> list[object]:
    """What a command says and writes, whatever the columns are called."""
    folder.mkdir()
    write_files(folder, names)
    monkeypatch.chdir(folder)
    before = {path.name for path in folder.iterdir()}
    done = run(*command.format(*names).split(), "--json", "--quiet")
    assert done.code in (0, 3), done.err
    told: dict[str, object] = done.json
    found: list[object] = [
        done.code,
        {key: value for key, value in told.items() if isinstance(value, int | bool)},
    ]
    new = (item for item in sorted(folder.glob("*.csv")) if item.name not in before)
    return [*found, *(path.read_text().splitlines() for path in new)]


def test_every_operation_is_tried() -> None:
    assert set(COMMANDS) == set(OPERATIONS)


@pytest.mark.parametrize("command", [command for commands in COMMANDS.values() for command in commands])
def test_names_of_columns_are_no_patterns(command: str, tmp_path, monkeypatch) -> None:
    plain = outcome(tmp_path / "plain", command, PLAIN, monkeypatch)
    odd = outcome(tmp_path / "odd", command, ODD, monkeypatch)
    assert len(plain) == len(odd) and plain[:2] == odd[:2]
    rename = dict(zip(PLAIN, ODD, strict=True))
    for one, two in zip(plain[2:], odd[2:], strict=True):
        if "--seed" in command:
            # What is drawn depends on names, too.
            one, two = one[:1], two[:1]
        assert [re.sub("zq[a-i]", lambda found: rename[found.group()], line) for line in one] == two


@pytest.mark.parametrize("command", [commands[-1] for commands in COMMANDS.values()])
def test_names_that_polars_cannot_work_with_are_refused_in_one_line(
    command: str, tmp_path, monkeypatch
) -> None:
    names = ("^sec.*$", *PLAIN[1:])
    write_files(tmp_path, names)
    monkeypatch.chdir(tmp_path)
    done = run(*command.format(*names).split())
    assert done.code == 2 and "the name of column 1 of " in done.err and "give it another name" in done.err
    assert "^sec" not in done.err and len(done.err.splitlines()) == 1


def test_frames_with_such_names_are_refused() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "^a$": [1, 2, 3, 4]})
    for call in (
        lambda: shoal.recode(frame, ["a"], k=2),
        lambda: shoal.tabulate(frame, ["a"]),
        lambda: shoal.assign(frame, pl.DataFrame({"slot": ["m"], "capacity": [4]}), quasi=["a"]),
    ):
        with pytest.raises(InputError, match=r"name of column 2 of the .* stands for a pattern"):
            call()
    # Where columns are looked at one by one, they may be called as they like.
    assert shoal.anonymity(frame, ["a"]).k == 2
    assert shoal.anonymity(frame, ["a", "^a$"]).k == 1
