"""``shoal.risk``: who is at risk in a sample, for an intruder who knows who responded and for one who does not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shoal.arguments import checked
from shoal.errors import InputError, first_record, parameter
from shoal.microdata.columns.inputs import as_names, check_choice, read_frame
from shoal.microdata.columns.units import unit_column, unit_remarks
from shoal.microdata.risk.counts import Classes, count_classes
from shoal.microdata.risk.estimates import Estimates, estimate
from shoal.microdata.risk.households import Households
from shoal.microdata.risk.inputs import (
    Keys,
    check_columns,
    one_of_each,
    read_households,
    read_keys,
    read_weights,
    weight_columns,
)
from shoal.microdata.risk.keys import Groups
from shoal.microdata.risk.linking import check_written_alike, link
from shoal.microdata.risk.matches.estimate import Estimated
from shoal.microdata.risk.per_variable import contributions
from shoal.microdata.risk.remarks import (
    differing_totals,
    remarks_on_basis,
    remarks_on_time,
    remarks_on_weights,
)
from shoal.microdata.risk.result import RecordRisks, Respondents, Risk
from shoal.microdata.risk.riskiest import riskiest_records, shares_at_most
from shoal.microdata.risk.scenarios import (
    Basis,
    ClassRisks,
    Intruder,
    Scenario,
    Source,
    risk_when_known,
    risk_when_unknown,
    scenario,
)
from shoal.microdata.risk.special_uniques.search import SpecialUniques, Wanted
from shoal.microdata.risk.verify import recount, recount_matches
from shoal.numbers import counted, whole
from shoal.runtime.budget import Budget, Run
from shoal.runtime.observer import VERIFICATION, Observer, silent

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@checked
def risk(
    frame: "IntoDataFrame",
    quasi: Sequence[str],
    *,
    sample_weights: str | None = None,
    unit: str | None = None,
    household: str | None = None,
    population: int | None = None,
    population_file: Any = None,
    listed: Any = None,
    null: Literal["own", "wildcard"] = "own",
    respondents: Respondents = "known",
    special_uniques: bool = False,
    max_size: int | None = None,
    riskiest: int = 10,
    budget: Budget | None = None,
    observer: Observer = silent,
) -> Risk:
    """Measure who is at risk in a sample: alone, in the population, and through their households.

    Two intruders are told apart. The prosecutor knows who is in the sample, and finds a record among the f with the same keys:
    the risk is 1/f. The journalist does not, and has to reckon with everybody in the population: the risk is the expected 1/F,
    estimated by latent classes with a discount of rare values and a gamma layer, with a 90 % interval.

    Parameters
    ----------
    frame : DataFrame
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows.
    quasi : sequence of str
        The keys: columns an intruder may know.
    sample_weights : str, optional
        The column that says how much of the population a record stands for.
    unit : str, optional
        The column that says whose records these are: of a unit with several records of the same keys one is counted.
        ``"record"`` declares that each record is a unit. Not with ``household`` or ``special_uniques``, which are of records.
    household : str, optional
        The column that says which records are of one household: who finds one member finds all.
    population : int, optional
        How large the population is. Without weights every record stands for equally many of them.
    population_file : DataFrame, optional
        Everybody, with the same keys: then F is counted, and nothing is estimated.
    listed : DataFrame, optional
        Names with the same keys, as somebody else may have them, of fewer or more than there are records: ``linkage`` counts
        whom the data re-identifies.
    null : {"own", "wildcard"}, default "own"
        A missing value is a value of its own, or matches anything; then classes overlap, and a record with no value at all
        counts for everybody.
    respondents : {"known", "unknown"}, default "known"
        Whether an intruder may know who responded. ``estimates`` and ``worst_risk`` then count with the prosecutor, too.
    special_uniques : bool, default False
        Look for special uniques as well: for every record the sets of keys that single it out while no part of them does.
        A missing value matches nothing there.
    max_size : int, optional
        The largest number of keys in such a set; all by default.
    riskiest : int, default 10
        How many of the riskiest records are listed by their position.
    budget : Budget, optional
        How long to measure. When its seconds are over, log-linear models, what each key adds and special uniques of larger sets
        are left out, and ``not_measured`` names them; records are counted in any case.
    observer : callable, optional
        Called with a ``Progress`` now and then while it is measured.

    Returns
    -------
    Risk
        ``uniques``, ``pairs``, ``prosecutor`` and ``journalist`` (expected matches, largest and mean risk, with intervals),
        ``known`` and ``unknown`` (the same by counts and by the individual risk), ``population_uniques`` and ``loglinear`` by
        estimator, ``contributions`` of the keys,
        ``linkage`` with a list of names,
        ``riskiest`` records, ``records_at_risk`` (every record's own), ``special_uniques`` if asked for,
        ``not_measured`` for want of time, ``notes`` and ``warnings``; ``report()`` is a page.

    Raises
    ------
    InputError
        Before any work: a column is missing, constant or empty, weights are missing, 0 or negative, the population is smaller
        than the sample or lacks records of it, a household is not known.

    See Also
    --------
    anonymity : K and the anonymity vector of any table.
    recode : make keys coarser until nobody stands out.

    References
    ----------
    - R. Benedetti and L. Franconi, Statistical and technological solutions for controlled data dissemination, NTTS 1998.
    - C. Skinner and N. Shlomo, Assessing identification risk in survey microdata using log-linear models, JASA 103(483), 2008.
    - L. V. Zayatz, Estimation of the percent of unique population elements on a microdata file using the sample, 1991.
    - M. J. Elliot, A. M. Manning and R. W. Ford, A computational algorithm for handling the special uniques problem, 2002.
    - N. Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment, J. Official Statistics 17, 2001.

    Examples
    --------
    >>> import polars as pl, shoal
    >>> people = pl.DataFrame({"age": [31, 31, 47, 52], "sex": list("ffmf"), "w": [50, 50, 80, 20]})
    >>> measured = shoal.risk(people, ["age", "sex"], sample_weights="w")
    >>> measured.uniques, measured.pairs, round(measured.expected_persons, 4), round(measured.known.largest_risk, 2)
    (2, 2, 0.2507, 1.0)
    """
    check_choice("null", null, ("own", "wildcard"))
    check_choice("respondents", respondents, ("known", "unknown"))
    riskiest = whole(riskiest, "riskiest", least=0)
    if population is not None:
        population = whole(population, "population", least=1)
    if max_size is not None and not special_uniques:
        raise InputError(f"{parameter('max_size')} is about {parameter('special_uniques')}; name both")
    run = (budget or Budget()).start(observer)
    data, names, declared = read_frame(frame), as_names(quasi), unit
    unit = unit_column(unit, data.columns)
    check_columns(data, names, sample_weights, household, unit)
    if unit is not None and (household is not None or special_uniques):
        other = parameter("household") if household is not None else parameter("special_uniques")
        raise InputError(f"{other} is about records, so it does not go with {parameter('unit')}")
    if len(data) == 0:
        raise InputError("there are no records")
    people = None if population_file is None else read_frame(population_file)
    weights, basis = read_weights(data, sample_weights, population, people=people is not None)
    households = read_households(data, household)
    keys = read_keys(data, names, people)
    counts = np.ones(len(data), dtype=np.int64) if unit is None else one_of_each(data, unit, keys.sample)
    units = int(counts.sum())
    if basis == "fraction":
        weights = weights * (len(data) / units)
    equal = bool(weights.min() == weights.max())
    weights = weights * counts
    wanted = Wanted.of(keys.with_gaps(), max_size) if special_uniques else None
    groups, classes = _count(keys, counts, weights, null, run)
    class_of = groups.of_record[: len(data)]
    if listed is not None:
        check_written_alike(frame, listed, names)
    linkage = None if listed is None else link(frame, listed, names, null=null, counts=counts)
    if basis == "population":
        _check_included(classes, class_of, keys, null)

    unknown_by_class = risk_when_unknown(classes, basis)
    unknown, joint = scenario(unknown_by_class, classes, class_of, households)
    known, _ = scenario(risk_when_known(classes), classes, class_of, households)
    k, alone, pairs = classes.tally()
    size = _population_size(basis, weights, population, classes)
    estimates = Estimates()
    if basis in ("weights", "fraction") and size is not None:
        estimates = estimate(classes, size, class_of, households, run)
    best = ClassRisks.of(estimates.matches, unknown_by_class)
    own = RecordRisks(
        classes, best, unknown_by_class, class_of, joint, None if households is None else households.of_record
    )
    uniques, in_sample = _population_uniques(classes, basis, estimates, units, size)
    risky = riskiest_records(classes, best, unknown_by_class, class_of, riskiest)
    added = contributions(classes, names, basis, run)
    special = None if wanted is None else wanted.look(run)
    left_out = (*estimates.not_measured, *_left_out(names[len(added) :], special))
    stopped = run.closing()["stopped_by"] if left_out else None
    return Risk(
        quasi=tuple(names),
        null=null,
        basis=basis,
        respondents=respondents,
        records=len(data),
        unit=unit,
        units=units,
        population=size,
        k=k,
        uniques=alone,
        pairs=pairs,
        classes=int((classes.records > 0).sum()),
        households=None if households is None else households.number,
        prosecutor=Intruder.counted("sample", known),
        journalist=_journalist(estimates, classes, class_of, households, basis, unknown, known),
        unknown=unknown,
        known=known,
        quantiles=shares_at_most(own.individual),
        population_uniques=uniques,
        uniques_in_sample=in_sample,
        loglinear=estimates.loglinear,
        equal_weights=equal,
        contributions=added,
        riskiest=risky,
        remarks=(
            *remarks_on_basis(
                basis,
                equal_weights=equal,
                wildcard=null == "wildcard" and any(gone >= 0 for gone in keys.missing),
                estimated=bool(estimates.population_uniques),
                keys=names,
                candidates=weight_columns(data, but=(*names, unit, household)) if basis == "sample" else (),
            ),
            *remarks_on_weights(weights, basis, sample_weights),
            *estimates.remarks,
            *differing_totals(population, weights, basis, sample_weights),
            *remarks_on_time(left_out, stopped),
            *unit_remarks(data, declared, but=(*names, sample_weights, household)),
        ),
        records_at_risk=own,
        special_uniques=special,
        linkage=linkage,
        not_measured=left_out,
        stopped_by=stopped,
        _values=_values(data, names, [one.record - 1 for one in risky]),
    )


def _journalist(
    estimates: Estimates,
    classes: Classes,
    class_of: np.ndarray,
    households: Households | None,
    basis: Basis,
    unknown: Scenario,
    known: Scenario,
) -> Intruder:
    """Who does not know who responded, by the best estimate there is."""
    if estimates.matches is not None:
        matches = estimates.matches
        recount_matches(
            classes,
            class_of,
            None if households is None else households.of_record,
            units=matches.units,
            risks=(matches.risks, matches.low, matches.high),
            figures={
                name: (one.value, one.low, one.high)
                for name, one in (
                    ("expected matches", matches.matches),
                    ("matches among uniques", matches.matches_among_uniques),
                    ("population uniques", matches.population_uniques),
                )
            },
        )
        return Intruder.estimated(matches, classes, class_of, households, known)
    if basis != "population":
        source: Source = "sample" if basis == "sample" else "individual risk"
        return Intruder.counted(source, unknown)
    alone = (classes.records == 1) & (classes.counts == 1)
    populations = classes.populations[alone]
    return Intruder.counted(
        "population file",
        unknown,
        population_uniques=Estimated.counted(float((populations == 1).sum())),
        matches_among_uniques=Estimated.counted(float((1.0 / populations).sum())),
    )


def _left_out(keys: Sequence[str], special: SpecialUniques | None) -> list[str]:
    """What there was no time for, in words: what these keys add, and special uniques of larger sets."""
    texts = [f"what {', '.join(keys)} {'adds' if len(keys) == 1 else 'add'} to the risk"] if keys else []
    if special is not None and special.not_looked_at:
        more = f" of more than {counted(special.max_size, 'key')}" if special.max_size else ""
        texts.append(f"special uniques{more}")
    return texts


def _count(
    keys: Keys, records: np.ndarray, weights: np.ndarray, null: str, run: Run
) -> tuple[Groups, Classes]:
    """The classes of the sample; those of a population stand behind it, each for one of it and no record."""
    columns = keys.sample
    if keys.people is not None:
        columns = [np.concatenate(both) for both in zip(keys.sample, keys.people, strict=True)]
        others = keys.people[0].size
        records = np.concatenate([records, np.zeros(others, dtype=np.int64)])
        weights = np.concatenate([weights, np.ones(others)])
    wildcard = null == "wildcard"
    groups, classes = count_classes(columns, keys.sizes, keys.missing, records, weights, wildcard=wildcard)
    run.report(phase=VERIFICATION)
    recount(
        columns,
        keys.missing,
        records,
        weights,
        claimed=classes,
        class_of=groups.of_record,
        wildcard=wildcard,
    )
    run.report(phase="estimates")
    return groups, classes


def _check_included(classes: Classes, class_of: np.ndarray, keys: Keys, null: str) -> None:
    """Refuse a population that the sample cannot come from."""
    # Records that lack a value may be of others than those they are compatible with, so they count for nobody else here.
    fewer = np.flatnonzero((classes.populations < classes.records)[class_of])
    if fewer.size:
        gaps = [own[fewer] == gone for own, gone in zip(keys.sample, keys.missing, strict=True)]
        lacking = int(np.logical_or.reduce(gaps).sum()) if null == "own" else 0
        blanked = (
            f" ({lacking:,} lack a key: {parameter('null', 'wildcard')} lets a missing value match anything)"
        )
        raise InputError(
            f"the population has fewer with the same keys than the sample: {first_record(fewer)}"
            f"{blanked if lacking else ''}; it must hold everybody who is in the sample"
        )


def _population_size(
    basis: Basis, weights: np.ndarray, population: int | None, classes: Classes
) -> float | None:
    if basis == "sample":
        return None
    if basis == "population":
        return float(classes.weights.sum())
    return float(weights.sum()) if population is None else float(population)


def _population_uniques(
    classes: Classes, basis: str, estimates: Estimates, records: int, size: float | None
) -> tuple[dict[str, float], dict[str, float]]:
    """Uniques of the population by estimator, and how many of them are in the sample."""
    if basis == "population":
        alone = classes.populations == 1
        return {"counted": float(classes.weights[alone].sum())}, {
            "counted": float(classes.records[alone].sum())
        }
    uniques = dict(estimates.population_uniques)
    return uniques, {name: value * records / size for name, value in uniques.items() if size}


def _values(data: Any, names: Sequence[str], positions: Sequence[int]) -> tuple[tuple[Any, ...], ...]:
    if not positions:
        return ()
    columns = [data[name][list(positions)].to_list() for name in names]
    return tuple(zip(*columns, strict=True))
