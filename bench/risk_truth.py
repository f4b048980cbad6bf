"""Expected matches of samples beside the truth: populations that are known, with whole households drawn where there are any.

Each draw has other keys (4 to 8) and another fraction (1 to 20 %), chosen by a seed. ``python -m bench risk_truth`` takes a few;
``SHOAL_BENCH_DRAWS=140`` takes as many as the figures of the manual rest on. What is right within x % is |ln(estimate/truth)| <
ln(1 + x); figures of uniques are judged where the truth is 5 or more. CPU seconds have the limits of twice a prototype's.
"""

import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from bench.risk import people, row
from shoal.microdata.risk.counts import Classes, count_classes
from shoal.microdata.risk.estimates import cells_of_sample
from shoal.microdata.risk.households import Households
from shoal.microdata.risk.individual import expected_reidentifications
from shoal.microdata.risk.inputs import read_keys
from shoal.microdata.risk.loglinear import main_effects, risk_of_fit
from shoal.microdata.risk.matches.estimate import Estimated, MatchEstimate, estimate_matches

DRAWS = int(os.environ.get("SHOAL_BENCH_DRAWS", "24"))
FEWEST_RECORDS, LEAST_TRUTH = 300, 5.0
#: What must be reached, in percent of the draws; with few draws these are not judged.
WITHIN_10, WITHIN_25, COVERED = 80.0, 93.0, (88.0, 97.0)
JUDGED_FROM = 100
#: CPU seconds for so many records of 8 keys: twice those of the prototype.
MOST_SECONDS = {20_000: 2.6, 100_000: 10.4}


@dataclass(frozen=True)
class Population:
    """Everybody, the columns that may be keys, and the household that is drawn whole, if there are any."""

    name: str
    frame: pl.DataFrame
    columns: tuple[str, ...]
    household: str | None = None


@dataclass
class Tally:
    """Logarithms of estimate over truth, and whether the interval held the truth."""

    ratios: list[float] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)

    def add(self, estimated: Estimated, truth: float) -> None:
        if truth >= LEAST_TRUTH:
            self.ratios.append(math.log(max(estimated.value, 1e-9) / truth))
            self.covered.append(estimated.low <= truth <= estimated.high)

    def within(self, share: float) -> float:
        """The percent of the draws that are within so much of the truth."""
        return 100.0 * float(np.mean(np.abs(self.ratios) < math.log1p(share)))


def populations() -> list[Population]:
    folder = Path(os.environ.get("SHOAL_DATA", "data"))
    files = {
        "EU-SILC (synthetic)": ("eusilc/eusilcP.csv", ","),
        "Adult": ("adult/adult_uci_full.csv", ","),
        "NIST national": ("nist/national2019.csv", ","),
        "NIST Texas": ("nist/tx2019.csv", ","),
        "mach2019": ("arx-benchmark/genetic/mach2019_int.csv", ";"),
        "creditcard": ("arx-benchmark/genetic/creditcard_int.csv", ";"),
    }
    columns = {
        "EU-SILC (synthetic)": "region,hsize,age,gender,ecoStat,citizenship,main,eqsize",
        "Adult": "age,workclass,education,marital-status,occupation,relationship,race,sex,hours-per-week,native-country",
        "NIST national": "PUMA,AGEP,SEX,MSP,HISP,RAC1P,NPF,HOUSING_TYPE,OWN_RENT,INDP,INDP_CAT,EDU,PINCP_DECILE,DVET,DREM,DPHY",
        "mach2019": "age,familysize,gender,married,race,religion,Q1A,Q2A,Q3A",
        "creditcard": "LIMIT_BAL,SEX,EDUCATION,MARRIAGE,AGE,PAY_0,PAY_2,PAY_3",
    }
    columns["NIST Texas"] = columns["NIST national"]
    found = []
    for name, (path, separator) in files.items():
        if not (folder / path).exists():
            print(f"bench risk_truth: {path} is not below SHOAL_DATA; {name} is left out")
            continue
        frame = pl.read_csv(folder / path, separator=separator, infer_schema_length=None)
        household = "hid" if name.startswith("EU-SILC") else None
        found.append(Population(name, frame, tuple(columns[name].split(",")), household))
    return found


def draws(everybody: list[Population], number: int) -> Iterator[tuple[Population, list[str], pl.DataFrame]]:
    """Samples with the number F of those in the population who share the keys."""
    rng = np.random.default_rng(2026)
    done = 0
    while done < number:
        population = everybody[done % len(everybody)]
        size = min(int(rng.integers(4, 9)), len(population.columns))
        keys = rng.choice(population.columns, size, replace=False).tolist()
        fraction = math.exp(rng.uniform(math.log(0.01), math.log(0.2)))
        counted = population.frame.with_columns(F=pl.len().over(keys))
        if population.household is None:
            sample = counted.filter(pl.Series(rng.random(counted.height) < fraction))
        else:
            households = counted[population.household].unique().sort()
            drawn = households.filter(pl.Series(rng.random(len(households)) < fraction))
            sample = counted.filter(pl.col(population.household).is_in(drawn.implode()))
        truth = float((1 / sample["F"]).sum())
        if sample.height >= FEWEST_RECORDS and truth >= LEAST_TRUTH and sample.select(keys).n_unique() > 1:
            constant = any(sample[key].n_unique() == 1 for key in keys)
            if not constant:
                done += 1
                yield population, keys, sample


def classes_of(sample: pl.DataFrame, keys: list[str], size: int) -> tuple[np.ndarray, Classes]:
    coded = read_keys(nw.from_native(sample), keys, None)
    records = np.ones(sample.height, dtype=np.int64)
    weights = np.full(sample.height, size / sample.height)
    groups, classes = count_classes(
        coded.sample, coded.sizes, coded.missing, records, weights, wildcard=False
    )
    return groups.of_record, classes


def households_of(sample: pl.DataFrame, name: str | None) -> Households | None:
    if name is None:
        return None
    numbers = sample[name].rank("dense").to_numpy().astype(np.int64) - 1
    return Households.of(numbers, int(numbers.max()) + 1)


def estimated(
    classes: Classes, class_of: np.ndarray, size: int, households: Households | None
) -> tuple[MatchEstimate, float]:
    """The estimate and its CPU seconds."""
    began = time.process_time()
    estimate = estimate_matches(cells_of_sample(classes, size, class_of, households))
    assert estimate is not None
    return estimate, time.process_time() - began


def run() -> list[dict[str, Any]]:
    everybody = populations()
    rows: list[dict[str, Any]] = []
    if everybody:
        rows += against_truth(everybody)
    return [*rows, *seconds()]


def against_truth(everybody: list[Population]) -> list[dict[str, Any]]:
    tallies = {"expected matches": Tally(), "matches among uniques": Tally(), "population uniques": Tally()}
    of_population = {population.name: Tally() for population in everybody}
    small, others = Tally(), {"individual risk": Tally(), "log-linear, main effects": Tally()}
    took, lengths, predicted = [], [], []
    for population, keys, sample in draws(everybody, DRAWS):
        size = population.frame.height
        class_of, classes = classes_of(sample, keys, size)
        estimate, cpu = estimated(classes, class_of, size, households_of(sample, population.household))
        took.append(cpu)
        lengths.append(math.sqrt(estimate.matches.high / estimate.matches.low))
        alone = sample.filter(pl.len().over(keys) == 1)
        truth = float((1 / sample["F"]).sum())
        tallies["expected matches"].add(estimate.matches, truth)
        tallies["matches among uniques"].add(estimate.matches_among_uniques, float((1 / alone["F"]).sum()))
        tallies["population uniques"].add(estimate.population_uniques, float((alone["F"] == 1).sum()))
        of_population[population.name].add(estimate.matches, truth)
        if sample.height <= 0.02 * size:
            small.add(estimate.matches, truth)
        predicted.append(np.column_stack([estimate.risks[class_of], 1.0 / sample["F"].to_numpy()]))
        individual = expected_reidentifications(classes.counts, classes.populations, classes.records)
        main = risk_of_fit(
            classes.records, main_effects(classes.codes, classes.sizes, classes.records), sample.height / size
        )
        others["individual risk"].add(Estimated.counted(individual), truth)
        others["log-linear, main effects"].add(Estimated.counted(main.reidentifications), truth)
    rows = [row("draws", len(took), None, "draws")]
    for name, tally in tallies.items():
        judged = name == "expected matches" and len(took) >= JUDGED_FROM
        rows += accuracy(name, tally, judged=judged)
    for name, tally in [*of_population.items(), ("fractions up to 2 %", small)]:
        if tally.ratios:
            rows += accuracy(f"{name} ({len(tally.ratios)} draws)", tally, judged=False)
    for name, tally in others.items():
        rows += [
            row(f"{name}: within {100 * share:g} % of the truth", tally.within(share), None, "% of draws")
            for share in (0.1, 0.25)
        ]
    rows += [
        row("length of the interval: upper end / estimate, median", float(np.median(lengths)), None, "ratio"),
        row("CPU of an estimate, median", float(np.median(took)), None, "CPU s"),
        row("CPU of an estimate, largest", max(took), None, "CPU s"),
    ]
    return rows + calibration(np.concatenate(predicted))


def accuracy(name: str, tally: Tally, *, judged: bool) -> list[dict[str, Any]]:
    """How often a figure is near the truth, and how often its interval holds it."""
    near, nearer = tally.within(0.25), tally.within(0.1)
    held = 100.0 * float(np.mean(tally.covered))
    low, high = COVERED
    return [
        row(
            f"{name}: within 10 % of the truth",
            nearer,
            WITHIN_10 if judged else None,
            "% of draws",
            ok=not judged or nearer >= WITHIN_10,
        ),
        row(
            "… within 25 %",
            near,
            WITHIN_25 if judged else None,
            "% of draws",
            ok=not judged or near >= WITHIN_25,
        ),
        row(
            f"… interval holds the truth (aim: {low:g} to {high:g})",
            held,
            None,
            "% of draws",
            ok=not judged or low <= held <= high,
        ),
        row("… median of |ln(estimate/truth)|", float(np.median(np.abs(tally.ratios))), None, ""),
    ]


def calibration(pairs: np.ndarray) -> list[dict[str, Any]]:
    """The mean 1/F of records whose risk is estimated alike, over that estimate."""
    edges = (0.0, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01)
    rows = []
    for low, high in pairwise(edges):
        own = pairs[(pairs[:, 0] >= low) & (pairs[:, 0] < high)]
        if own.shape[0]:
            mean, truth = own.mean(axis=0)
            rows.append(row(f"records with a risk of about {mean:.3g}: mean 1/F", truth, None, "share"))
    return rows


def seconds() -> list[dict[str, Any]]:
    """CPU of the estimate where the file is large: generated people with 8 keys."""
    rows = []
    for records, limit in MOST_SECONDS.items():
        rng = np.random.default_rng(1)
        frame = people(records).with_columns(
            hours=pl.Series(rng.integers(0, 60, records)), origin=pl.Series(rng.geometric(0.4, records))
        )
        keys = [name for name in frame.columns if name not in ("weight", "household")]
        class_of, classes = classes_of(frame, keys, 50 * records)
        took = min(estimated(classes, class_of, 50 * records, None)[1] for _ in range(2))
        name = f"{records:,} records × {len(keys)} keys, {classes.number:,} classes"
        rows.append(row(name, took, limit, "CPU s", ok=took <= limit))
    return rows
