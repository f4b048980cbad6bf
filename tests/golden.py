"""The same commands before and after a change that must change nothing.

    python -m tests.golden record before/     in the old tree
    python -m tests.golden compare before/    in the new one: prints what differs, exits with 1 if anything does
    python -m tests.golden compare before/ --only recode risk     some commands, and those whose files they read

Every file a command writes is compared byte for byte, its exit code, and its JSON without times; of warnings and notes how many
there are.
"""

import argparse
import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

# One command a line; later ones may read what earlier ones wrote. Reports hold times and are left out.
COMMANDS = """
generate people --population 400 --distribution spain --postcodes 4 -o people.csv
generate slots --number 20 --persons 400 --max-capacity 40 -o slots.csv
generate table --rows 12 --columns 10 --sensitive 8 -o table.csv
generate instance f4 --size 45 -o instance.json
anonymity people.csv --quasi AGE,CP,SEX
anonymity people.csv --quasi CP,SEX --unit ID
anonymity people.csv --quasi AGE --require-k 50
microaggregate firms.csv -k 3 --columns turnover,staff,wages -o all.csv --labels labels.txt
microaggregate firms.csv -k 3 --columns turnover,staff,wages --method mdav -o mdav.csv
microaggregate firms.csv -k 3 --columns turnover,staff,wages --method v-mdav -o v-mdav.csv
microaggregate firms.csv -k 3 --columns turnover,staff,wages --method projection -o projection.parquet
microaggregate firms.csv -k 3 --columns turnover,staff,wages --method blocks -o blocks.csv
microaggregate firms.csv -k 3 --columns turnover,staff,wages --method ls --iterations 5 -o ls.csv
microaggregate firms.csv -k 3 --columns turnover,staff,wages --method lsc --iterations 5 -o lsc.csv
microaggregate firms.csv -k 3 --columns turnover,staff,wages --method ilsm --iterations 50 -o ilsm.csv
microaggregate firms.csv -k 3 --columns turnover,staff,wages --method ilsmc --iterations 50 -o ilsmc.csv
microaggregate firms.csv -k 3 --columns turnover,staff,wages --method ils --iterations 300 --threads 1 -o ils.csv
microaggregate firms.csv -k 3 --columns turnover --by region --order sorted -o strata.csv
microaggregate firms.csv -k 3 --columns turnover --method univariate --aggregate median -o median.csv
microaggregate firms.csv -k 3 --groups turnover,staff;wages,profit -o groups.csv
microaggregate firms.csv -k 3 --groups auto --columns turnover,staff,wages,profit -o auto.csv
microaggregate gaps.csv -k 3 --columns turnover,staff --missing aside -o aside.csv
microaggregate firms.csv -k 3 --columns turnover,staff --start labels.txt --method ilsm --iterations 20 -o again.csv
microaggregate firms.csv -k 3 --columns turnovre -o never.csv
microaggregate firms.csv -k 3 --columns turnover --require-k 60 -o never.csv
group firms.csv -k 3 --columns turnover,staff,wages,profit
group firms.csv -k 3 --columns turnover,staff,wages,profit --method exact
group firms.csv -k 3 --columns turnover,staff,wages,profit --method d-gomm --iterations 300
compare firms.csv all.csv --key firm --columns turnover,staff,wages
compare firms.csv all.csv --key firm --columns turnover,staff --known turnover;staff --scaling z-score
tabulate firms.csv --dimensions region,size --value turnover --contributor firm \
--rule p-percent(10) --rule frequency(3) -o cells.csv
tabulate firms.csv --dimensions region,size --rule frequency(3) -o counts.csv
suppress table.csv --sensitive table.sensitive.csv -o pattern.csv --published public.csv
suppress table.csv --sensitive table.sensitive.csv --method exact -o exact.csv
suppress table.csv --sensitive table.sensitive.csv --method hypercube -o hypercube.csv
suppress table.csv --sensitive table.sensitive.csv --method shortest-path -o shortest.csv
suppress table.csv --sensitive table.sensitive.csv --method heurgene --iterations 20 -o heurgene.csv
suppress table.csv --sensitive table.sensitive.csv --method gensup --iterations 20 -o gensup.csv
suppress table.csv --sensitive table.sensitive.csv --method general -o general.csv
suppress cells.csv -o cells-pattern.csv --published cells-public.csv
suppress counts.csv -o counts-pattern.csv
suppress table.csv --sensitive table.sensitive.csv -o pattern.jj
audit table.csv pattern.csv --sensitive table.sensitive.csv -o intervals.csv
audit cells.csv cells-pattern.csv -o cells-intervals.csv
audit table.csv table.sensitive.csv --sensitive table.sensitive.csv
assign people.csv slots.csv --quasi AGE,SEX -o plan.csv --seed 3
assign people.csv slots.csv --quasi SEX,CP --objective vector --iterations 2000 -o vector.csv --seed 3
assign --group-sizes 4,4,5,2 --capacities 4,2,4,3,2
assign --group-sizes 28,72,44,56 --capacities 100,100,50 --objective vector
assign --group-sizes 4,4,5,2 --capacities 4,2,4,3,2 --method genetic --iterations 200
assign --group-sizes 4,4,5,2 --capacities 4,2,4,3,2 --method branch-and-bound
assign --group-sizes 4,4,5,2 --capacities 4,2,4,3,2 --method annealing
assign --group-sizes 4,4,5,2 --capacities 4,2,4,3,2 --method greedy
assign --group-sizes 4,4 --capacities 4,2
study anonymity-vectors --quick --results study
recode firms.csv --quasi region,size,staff -k 3 --drop firm --secret secret.txt -o recoded.csv
recode firms.csv --quasi region,size,staff -k 3 --drop firm --method lattice --suppress 0.05 -o lattice.csv
recode firms.csv --quasi region,size,staff -k 3 --drop firm --method local -o local.csv
recode firms.csv --quasi region,size,staff -k 3 --drop firm --method local-suppression --secret secret.txt -o blanked.csv
recode firms.csv --quasi region,size,staff -k 3 --hierarchy staff=intervals(10,20,40) --model distinct(2) --confidential wages \
--method lattice --suppress 0.1 -o models.csv --mapping mapping.json
recode firms.csv --quasi region,size,staff -k 3 --apply mapping.json --suppress 0.1 -o applied.csv
recode firms.csv --quasi region,size -k 30
hierarchy firms.csv --columns staff
risk firms.csv --quasi region,size,staff --population 900
risk firms.csv --quasi region,size --sample-weights staff
compare firms.csv recoded.csv --paired-by-position --quasi region,size,staff
group firms.csv -k 3 --columns turnover,staff,wages,profit --method gomm --iterations 200
perturb firms.csv --method pram --columns region,size --change 0.2 --secret secret.txt -o pram.csv
perturb firms.csv --method rank-swap --columns turnover,staff --window 10 --secret secret.txt -o swapped.csv
perturb firms.csv --method noise --columns turnover,staff --amount 0.2 --secret secret.txt -o noise.csv
perturb firms.csv --method shuffle --columns turnover,staff --secret secret.txt -o shuffled.csv
round counts.csv --base 5 --secret secret.txt -o rounded.csv
adjust table.csv --sensitive table.sensitive.csv --secret secret.txt -o adjusted.csv
perturb-table firms.csv --dimensions region,size --record firm --secret secret.txt -o perturbed.csv
microaggregate firms.parquet -k 3 --columns turnover,staff,wages --engine stream -o stream.parquet
microaggregate firms.parquet -k 3 --columns turnover,staff,wages --engine spark -o spark.parquet
anonymity firms.parquet --quasi region,size --engine spark
plan firms.csv -o drafted.toml
release plan.toml -o released
verify released
diff released released
sweep plan.toml --set microaggregate.k=3,5
""".strip().splitlines()

# Times, what names the folder, and what says the same in other words.
LEFT_OUT = {
    "remarks",
    "seconds",
    "labels",
    "record_links",
    "phases",
    "elapsed",
    "cpu_seconds",
    "output",
    "published",
    "report",
}


# What holds times, a new secret or new names of files; what a release publishes is compared.
DRAWN_ANEW = (
    "study",
    "spark.parquet",
    ".firms.sweep",
    "released/internal",
    "released/public/manifest.json",
    ".shoal-register",
)

PLAN = """
[release]
name = "firms"
type = "scientific"

[sources.firms]
data = "firms.csv"

[sources.firms.roles]
firm = "identifier"
region = "quasi-identifier"
size = "quasi-identifier"

[[steps]]
do = "drop"
columns = ["firm"]

[[steps]]
do = "microaggregate"
k = 3
columns = ["staff", "turnover", "wages", "profit"]
by = ["region", "size"]

[outputs]
"firms.csv" = "microaggregate"
"""


def prepare(folder: Path) -> None:
    """The data that no command can generate: firms with a region, a size class and amounts that belong together."""
    rows = []
    for number in range(60):
        staff = 1 + (number * 37) % 83
        turnover = 10 * staff + (number * 101) % 97
        rows.append(
            {
                "firm": f"F{number:03}",
                "region": "nsw"[number % 3],
                "size": "small" if staff < 40 else "large",
                "staff": staff,
                "turnover": turnover,
                "wages": 3 * staff + (number * 53) % 41,
                "profit": turnover - 7 * staff + (number * 29) % 31,
            }
        )
    frame = pl.DataFrame(rows)
    frame.write_csv(folder / "firms.csv")
    frame.write_parquet(folder / "firms.parquet")
    (folder / "plan.toml").write_text(PLAN)
    secret = folder / "secret.txt"
    secret.write_text(f"shoal secret {'0123456789abcdef' * 2}\n")
    secret.chmod(0o600)
    frame.with_columns(
        pl.when(pl.int_range(60) % 11 == 0).then(None).otherwise(pl.col("staff")).alias("staff")
    ).write_csv(folder / "gaps.csv")


def outcome(command: str, folder: Path) -> dict[str, Any]:
    """Exit code, JSON without times, and the digest of every file the command wrote."""
    before = _digests(folder)
    done = subprocess.run(
        [sys.executable, "-m", "shoal", *command.split(), "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path("src").resolve())},
        capture_output=True,
        text=True,
    )
    after = _digests(folder)
    try:
        found = _without_times(json.loads(done.stdout.replace(str(folder), "")))
    except ValueError:
        found = {"not JSON": done.stdout[-300:] + done.stderr[-300:]}
    return {
        "exit": done.returncode,
        "json": found,
        "files": {name: digest for name, digest in after.items() if before.get(name) != digest},
    }


def _digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not str(path.relative_to(folder)).startswith(DRAWN_ANEW)
    }


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: len(item) if name in ("warnings", "notes") else _without_times(item)
            for name, item in value.items()
            if name not in LEFT_OUT
        }
    if isinstance(value, list):
        return [_without_times(item) for item in value]
    return value


def needed(only: list[str]) -> list[str]:
    """The commands whose first word is in ``only``, and those that write what they read; all if ``only`` is empty."""
    chosen: list[str] = []
    read: set[str] = set()
    for command in reversed(COMMANDS):
        words = command.split()
        writes = [
            name for option, name in itertools.pairwise(words) if option in ("-o", "--labels", "--mapping")
        ]
        if not only or words[0] in only or any(name.split(".")[0] in read for name in writes):
            chosen.append(command)
            read |= {name.split(".")[0] for name in words[1:] if "." in name}
    return chosen[::-1]


def run(folder: Path, only: list[str]) -> dict[str, dict[str, Any]]:
    """The outcome of every command, or of those that are needed for some, run in ``folder``."""
    prepare(folder)
    found = {}
    for command in needed(only):
        print(command, file=sys.stderr, flush=True)
        found[command] = outcome(command, folder)
    return found


def differences(before: Any, after: Any, where: str = "") -> list[str]:
    """Where two outcomes differ, one line each."""
    if isinstance(before, dict) and isinstance(after, dict):
        lines = []
        for name in dict.fromkeys([*before, *after]):
            # No remarks are as good as an empty list of them.
            absent = 0 if name in ("warnings", "notes") else "absent"
            lines += differences(before.get(name, absent), after.get(name, absent), f"{where}/{name}")
        return lines
    return [] if before == after else [f"{where}: {str(before)[:200]} → {str(after)[:200]}"]


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="commands to compare, by their first word")
    asked = parser.parse_args()
    kept = asked.folder / "golden.json"
    with tempfile.TemporaryDirectory() as place:
        found = run(Path(place), asked.only)
        if asked.what == "record":
            shutil.copytree(place, asked.folder, dirs_exist_ok=True)
            kept.write_text(json.dumps(found, indent=1, ensure_ascii=False))
            return
    lines = [
        f"{command}: {line}"
        for command, old in json.loads(kept.read_text()).items()
        if command in found
        for line in differences(old, found[command])
    ]
    print("\n".join(lines) or f"{len(found)} commands, nothing differs")
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
