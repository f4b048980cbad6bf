"""``risk`` as an operation: from data by its name to who is at risk in it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter
from shoal.microdata.risk.settings import RiskSettings
from shoal.operation import DataName, Operation, Product, Workplace, call
from shoal.settings import EACH_RECORD

if TYPE_CHECKING:
    from shoal.microdata.risk.result import Risk

# Sums of many small numbers may miss a limit they meet by their last digits.
_ROUNDING = 1e-9


def run(settings: RiskSettings, workplace: Workplace) -> "Risk":
    """Measure the records."""
    from shoal.microdata.risk.api import risk

    workplace.say("reading")
    wanted = [*settings.quasi, settings.sample_weights, settings.unit, settings.household]
    # One of the other columns may be the unit or hold the weights that nobody named.
    known = (settings.sample_weights, settings.population, settings.population_file)
    unweighted = all(item is None for item in known)
    every = settings.unit in (None, EACH_RECORD) or unweighted
    columns = None if every else [name for name in dict.fromkeys(wanted) if name]
    records = workplace.records(settings.data, columns=columns)
    everybody: Any = None
    if settings.population_file is not None:
        people = workplace.records(settings.population_file, columns=list(settings.quasi), like=records)
        everybody = people.as_written
    names: Any = None
    if settings.listed is not None:
        names = workplace.records(settings.listed, columns=list(settings.quasi), like=records).as_written
    workplace.say("measuring")
    return call(risk, settings, workplace, records.as_written, population_file=everybody, listed=names)


def reads(settings: RiskSettings) -> list[DataName]:
    """The records, and the population and a list of names if there are files of them."""
    every = (settings.data, settings.population_file, settings.listed)
    return [name for name in every if name is not None]


def check(settings: RiskSettings, written: frozenset[str]) -> None:
    """Refuse what does not go together, before anything is read."""
    if settings.max_size is not None and not settings.special_uniques:
        raise InputError(f"{parameter('max_size')} is about {parameter('special_uniques')}; name both")
    if "uniques" in written and not settings.special_uniques:
        raise InputError(f"{parameter('uniques')} needs special uniques: {parameter('special_uniques')}")
    if settings.show_values and settings.riskiest == 0:
        raise InputError(
            f"{parameter('show_values')} shows the records of {parameter('riskiest')}, which is 0"
        )


def gate(result: "Risk", settings: RiskSettings) -> str | None:
    """What is required must hold by the upper end of the interval, and for 1/f where it may be known who responded."""
    refused = _refusals(result, settings)
    if not refused:
        return None
    if result.respondents == "known" and not _refusals(replace(result, respondents="unknown"), settings):
        refused.append(
            f"if nobody can know who responded, say {parameter('respondents', 'unknown')}, and 1/f is left out"
        )
    return "; ".join(refused)


def _refusals(result: "Risk", settings: RiskSettings) -> list[str]:
    """Why the result is refused, if it is."""
    from shoal.microdata.risk.estimates import MATCHES

    refused = []
    # Nobody finds more than the prosecutor, so that it is enough to know what that is.
    unknown = MATCHES in result.not_measured and result.respondents == "unknown"
    limit = settings.require_reidentifications
    if limit is not None:
        name, value = max(result.estimates.items(), key=lambda item: item[1])
        if value > limit * (1 + _ROUNDING):
            refused.append(
                f"up to {value:.6g} correct matches are expected ({name}), above the {limit:g} allowed"
            )
        if unknown:
            refused.append(f"{MATCHES} was not made in time, so how many there may be is not known")
    most = settings.require_risk
    if most is not None and unknown:
        refused.append(f"{MATCHES} was not made in time, so the largest risk is not known")
    if most is not None and result.worst_risk > most * (1 + _ROUNDING):
        refused.append(f"the largest risk may be {result.worst_risk:.6g}, above the {most:g} allowed")
    if settings.null == "wildcard" and not (limit is most is None or settings.accept_wildcard):
        refused.append(
            f"risk was counted with missing values that match anything, which hides nobody whose values are shown: use "
            f"{parameter('null', 'own')}, or let it pass with {parameter('accept_wildcard')}"
        )
    return refused


def _risks(result: "Risk", settings: RiskSettings) -> Any:
    """The risk of every record, in a file that says that it is internal."""
    from shoal.sources.internal import marked

    return marked(result.records_at_risk.frame())


def _uniques(result: "Risk", settings: RiskSettings) -> Any:
    """The special uniques of every record, if they were asked for."""
    if result.special_uniques is None:
        return None
    from shoal.microdata.risk.special_uniques.report import frame
    from shoal.sources.internal import marked

    return marked(frame(result.special_uniques, result.quasi))


OPERATION = Operation(
    name="risk",
    title="Measure risk of a sample",
    summary="Measure who is at risk in a sample: weights, households, population.",
    description="Prints uniques, expected correct matches with their interval and the largest risk, for an intruder who knows "
    "who responded (prosecutor) and one who does not (journalist), other estimates, and what each key adds. Ctrl-C or "
    f"{parameter('time_limit')} end it with what is known by then.",
    examples=(
        "shoal risk survey.csv --quasi age,sex,region --sample-weights weight --household hid --report risk.html",
        "shoal risk survey.csv --quasi age,sex,region --population 5500000 --require-reidentifications 5",
        "shoal risk survey.csv --quasi age,sex,postcode --list voters.csv",
        "shoal risk survey.csv --quasi age,sex,region,education --special-uniques --max-size 3 --uniques uniques.csv",
    ),
    doing="measuring",
    settings=RiskSettings,
    run=run,
    reads=reads,
    check=check,
    gate=gate,
    titled=lambda settings: f"Risk of the sample {settings.data} by {', '.join(settings.quasi)}",
    products=(
        Product(
            "risks",
            "Write the count, the population and the risk with its interval of every record; internal.",
            _risks,
            internal=True,
            files=(("risks.csv", "Risk of every record, internal"),),
        ),
        Product(
            "uniques",
            "Write the special uniques of every record: how many, scores, and the part of each key; internal.",
            _uniques,
            internal=True,
            files=(("special-uniques.csv", "Special uniques of every record, internal"),),
            lacking="",
        ),
    ),
    reporter="shoal.microdata.risk.report",
    function="shoal.microdata.risk.api:risk",
    apart=frozenset({"show_values", "require_reidentifications", "require_risk", "accept_wildcard"}),
)
