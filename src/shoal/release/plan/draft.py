"""Drafting a plan: what a person would otherwise write by hand, with the reason for every guess."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from shoal import sources
from shoal.errors import InputError, parameter, unknown
from shoal.microdata.columns.names import Meaning, meanings
from shoal.microdata.columns.roles import Guess, guess_roles
from shoal.microdata.columns.units import possible_units
from shoal.release.gates.knowable import nearly_unique
from shoal.release.plan.reader import parse_plan
from shoal.release.plan.written import comment, toml_value
from shoal.settings import EACH_RECORD

if TYPE_CHECKING:
    import polars as pl

#: The k that a kind of release usually asks for.
_K = {"public": 10, "scientific": 5, "secure": 3}
#: What a policy may limit besides k, and what each limit says.
POLICIES = {
    "reidentifications": "records that are expected to be found, at most",
    "linkage": "percent of records that an intruder finds by linkage, at most",
    "loss": "percent lost, at most",
}


@dataclass(frozen=True)
class Wanted:
    """What is to be released of the data: records, unless dimensions of a table are named, or slots for its people.

    ``policy`` has the limits of gates on records besides k, by the names of the gates.
    """

    kind: str = "scientific"
    dimensions: tuple[str, ...] = ()
    value: str | None = None
    slots: str | None = None
    policy: Mapping[str, float] = field(default_factory=dict)


def draft_plan(
    data: str, *, wanted: Wanted | None = None, name: str | None = None, folder: Path = Path()
) -> str:
    """A commented plan: of records identifiers dropped, keys recoded, measurements averaged; of a table its cells added up and
    hidden; of people appointments. Gates stand before anything goes out.

    >>> import polars as pl, tempfile
    >>> place = Path(tempfile.mkdtemp()) / "people.csv"
    >>> pl.DataFrame({"name": ["Ode", "Rim"], "age": [31, 40], "income": [1500, 900]}).write_csv(place)
    >>> text = draft_plan(str(place), folder=place.parent)
    >>> 'do = "drop"' in text, 'quasi = ["age"]' in text
    (True, True)
    """
    wanted = wanted or Wanted()
    for gate in wanted.policy:
        if gate not in POLICIES:
            raise unknown("gate", gate, POLICIES)
        if wanted.dimensions or wanted.slots is not None:
            raise InputError(f"{parameter('policy')} is about releases of records")
    frame = sources.read(data).frame
    if not frame.height:
        raise InputError("there are no records to plan a release for")
    for column in (*wanted.dimensions, *([] if wanted.value is None else [wanted.value])):
        if column not in frame.columns:
            raise unknown("column", column, frame.columns, where="in the data")
    if wanted.value is not None and not wanted.dimensions:
        raise InputError(f"a table of '{wanted.value}' needs {parameter('dimensions')}")
    if wanted.dimensions and wanted.slots is not None:
        raise InputError(f"{parameter('dimensions')} and {parameter('slots')} do not go together")
    guesses = guess_roles(frame)
    parts = [_about(name or _title(data), wanted.kind), _source(data, folder, guesses)]
    units = possible_units(frame, guesses)
    if wanted.slots is not None:
        _ = sources.read(wanted.slots)
        parts += _appointments(guesses, wanted.slots, folder)
    elif wanted.dimensions:
        parts += _table(guesses, wanted)
    else:
        parts += [_whose(name, values, frame.height) for name, values in units.items()]
        parts += _steps(guesses, wanted, frame, list(units))
    text = "\n".join(parts)
    # What is drafted is a plan; a name that cannot be one is told now.
    parse_plan(text, folder, "the draft")
    return text


def _title(data: str) -> str:
    stem = Path(data.split("::")[-1] if "://" in data else data.split("::")[0]).stem
    return "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in stem) or "release"


def _about(title: str, kind: str) -> str:
    return f"""\
# A plan for 'shoal release'. Everything here was guessed from the data: read it, and change what is wrong.

[release]
name = {toml_value(title)}
type = {toml_value(kind)}                    # public, scientific (use under contract) or secure (use in a room)
# Whom it must hold against: "respondents" (knows who is in the data), "register" (holds one of the population),
# "neighbour" (knows one of the population, but not whether they are in the data).
intruders = {toml_value(["register", "neighbour"] if kind == "public" else ["register"])}
seed = 0                                # where searches begin; what protects is drawn from a secret that is made when it runs
"""


def _location(data: str, folder: Path) -> str:
    if "://" in data:
        return "${SHOAL_SOURCE}::" + data.partition("::")[2]
    path, *sheet = data.split("::")
    return "::".join([os.path.relpath(Path(path).resolve(), folder.resolve()), *sheet])


def _source(data: str, folder: Path, guesses: Sequence[Guess]) -> str:
    outside = "# Set SHOAL_SOURCE to the address of the database, so that no password stands in the plan.\n"
    note = outside if "://" in data else ""
    roles = "\n".join(
        f"{toml_value(guess.column)} = {toml_value(guess.role)}".ljust(48) + f"  {comment(guess.reason)}"
        for guess in guesses
    )
    return f"""\
[sources.data]
{note}data = {toml_value(_location(data, folder))}

# What each column is to an intruder: identifier, quasi-identifier, measurement, confidential, weight, household, unit, other.
[sources.data.roles]
{roles}
"""


def _by_role(guesses: Sequence[Guess]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for guess in guesses:
        found.setdefault(guess.role, []).append(guess.column)
    return found


def births_beside_age(guesses: Sequence[Guess]) -> list[str]:
    """The columns with a time of birth, where another one tells the age."""
    born = [
        guess.column
        for guess in guesses
        if guess.role == "quasi-identifier" and Meaning.BIRTH in meanings(guess.column)
    ]
    ages = any(guess.kind == str(Meaning.AGE) for guess in guesses)
    return born if ages else []


def _steps(
    guesses: Sequence[Guess], wanted: Wanted, frame: "pl.DataFrame", units: Sequence[str]
) -> list[str]:
    kind = wanted.kind
    births = births_beside_age(guesses)
    by_role = _by_role([guess for guess in guesses if guess.column not in births])
    k = _K[kind]
    parts, last = [], ""
    quasi, numbers = by_role.get("quasi-identifier", []), by_role.get("measurement", [])
    # What may say whose the records are stays until they are counted.
    units = [name for name in units if quasi or numbers]
    identifiers = [name for name in by_role.get("identifier", []) if name not in units]
    if identifiers:
        parts.append(_step("drop", {"columns": identifiers}, "Who somebody is, is not released."))
        if kind != "public":
            parts.append(_PSEUDONYMS)
        last = "drop"
    if births:
        why = (
            "A time of birth determines the age, so that recoding one of them protects nobody: the ages are released. To\n"
            "# release the times of birth instead, name the ages here and the times of birth below."
        )
        parts.append(_step("drop", {"name": "births", "columns": births}, why))
        last = "births"
    household = by_role.get("household", [])
    if quasi:
        about: dict[str, object] = {"quasi": quasi, "k": k}
        weight = by_role.get("weight", [])
        if weight:
            about["sample_weights"] = weight[0]
        if household:
            about["household"] = household[0]
        if units:
            about["drop"] = [] if numbers else units
        why = f"Keys are made coarser until every class has at least {k} records, or units where a column says whose they are."
        parts.append(_step("recode", about, why, units))
        last = "recode"
    if household and kind != "secure":
        why = "The numbers of households join records: who recognises one of them has found the others."
        parts.append(_step("drop", {"name": "households", "columns": household}, why))
        last = "households"
    unique = nearly_unique(frame, by_role.get("weight", []))
    if unique:
        first = comment(
            f"Column {', '.join(repr(name) for name in unique)} goes out as it is. Few records share"
        )
        parts.append(f"{first}\n{_WEIGHTS.format(columns=toml_value(unique))}")
    if by_role.get("confidential"):
        columns = toml_value(by_role["confidential"][:1])
        parts.append(_PERTURBED.format(columns=columns))
    if numbers:
        own = {
            "columns": numbers,
            "k": k,
            **({"quasi": quasi} if quasi else {}),
            **({"drop": units} if units else {}),
        }
        parts.append(_step("microaggregate", own, f"Numbers become means of at least {k} records.", units))
        last = "microaggregate"
    if not last:
        raise InputError("no column looks like anything that has to be protected; write the plan by hand")
    if quasi:
        also = [*numbers, *by_role.get("weight", [])]
        parts.append(_gates(last, "microaggregate" if numbers else "recode", wanted, frame.height, also))
    elif wanted.policy:
        raise InputError(f"no column is a key, so that {parameter('policy')} has nothing to judge")
    parts.append(
        f'# What goes out; everything else stays in the internal part.\n[outputs]\n"data.csv" = {toml_value(last)}\n'
    )
    return parts


def _gates(last: str, lossy: str, wanted: Wanted, records: int, also: Sequence[str]) -> str:
    """The gate on k, and those of the policy; the others are left out, since what may be found is for their owner to say.

    Loss is that of the step ``lossy``. Columns ``also`` are known beside the keys. Without them k implies limits that then cannot
    fail, so that these are refused.
    """
    k = _K[wanted.kind]
    implied = {"reidentifications": records / k} | ({} if also else {"linkage": 100.0 / k})
    lines = [(f"k = {k}", "at least so many records, or units, alike in all declared quasi-identifiers")]
    own: list[tuple[str, str]] = []
    for gate, meaning in POLICIES.items():
        limit = wanted.policy.get(gate)
        of_step = own if gate == "loss" and lossy != last else lines
        if limit is None:
            of_step.append((f"# {gate} =", f"{meaning}: your policy"))
            continue
        if limit >= implied.get(gate, math.inf):
            raise InputError(
                f"a limit of {limit:g} on {gate} cannot fail, since k = {k} keeps it at {implied[gate]:g}; lower it, or leave it "
                f"out of {parameter('policy')}"
            )
        known = f"; whoever knows {comment(', '.join(also)).removeprefix('# ')} as well finds more"
        of_step.append((f"{gate} = {limit:g}", meaning + (known if also and gate == "linkage" else "")))
    blocks = [(last, lines), (lossy, own)] if "loss" in wanted.policy and own else [(last, lines)]
    text = "\n".join(
        f"[gates.{step}]\n" + "".join(f"{line.ljust(40)}  # {why}\n" for line, why in every)
        for step, every in blocks
    )
    return f"# What must hold before anything is published.\n{text}"


def _table(guesses: Sequence[Guess], wanted: Wanted) -> list[str]:
    about: dict[str, object] = {"dimensions": list(wanted.dimensions)}
    who = _by_role(guesses).get("identifier", [])
    if wanted.value is not None:
        about["value"] = wanted.value
    if who:
        about["contributor"] = who[0]
    about["rules"] = ["frequency(3)"] if wanted.value is None else ["frequency(3)", "p-percent(10)"]
    why = "Cells of fewer than three contributors are sensitive" + (
        "."
        if wanted.value is None
        else ", and those in which one could be estimated\n# within ten percent by another."
    )
    hidden = (
        "Further cells are hidden, as few as possible, so that none of them can be computed from the totals."
    )
    return [
        _step("tabulate", about, why),
        _step("suppress", {"symbol": "x"}, hidden),
        "# What must hold before anything is published.\n[gates.suppress]\n"
        f"{'safe = true'.ljust(40)}  # every table audited safe\n",
        "# What goes out; everything else stays in the internal part. A name that ends in .xlsx is a workbook.\n"
        '[outputs]\n"table.csv" = "suppress"\n',
        '# What is kept inside.\n[internal]\n"pattern.csv" = "suppress.output"\n',
    ]


def _appointments(guesses: Sequence[Guess], slots: str, folder: Path) -> list[str]:
    quasi = _by_role(guesses).get("quasi-identifier", [])
    if not quasi:
        raise InputError(
            "no column looks like anything that may be known of somebody; write the plan by hand"
        )
    about: dict[str, object] = {"people": "data", "slots": "slots", "quasi": quasi}
    return [
        f"[sources.slots]\ndata = {toml_value(_location(slots, folder))}\n",
        _step("assign", about, "Crowds of people who cannot be told apart are kept together."),
        "# What must hold before anything is given out.\n[gates.assign]\n"
        f"{'k = 2'.ljust(40)}  # at least so many people alike in a slot\n",
        '# Appointments are for the centres: they stay inside.\n[internal]\n"appointments.csv" = "assign"\n',
    ]


_PSEUDONYMS = """\
# In the place of the step above, for those who must follow somebody: pseudonyms under a key from outside, others in each release.
# [[steps]]
# do = "pseudonymise"
# columns = [...]
# key = "env:SHOAL_KEY"
"""
_WEIGHTS = """\
# such a weight, and the gate on k does not count it: whoever knows it finds the record. Take it out unless it is needed; if
# no step follows, [gates] and [outputs] then name this one.
# [[steps]]
# name = "weights"
# do = "drop"
# columns = {columns}
"""
_PERTURBED = """\
# What is confidential can be changed by chance, too: one value in ten becomes another one.
# [[steps]]
# do = "perturb"
# method = "pram"
# columns = {columns}
# change = 0.1
"""


def _whose(name: str, values: int, records: int) -> str:
    """The question whether a column is the unit."""
    lines = (
        f"Whose records are these? '{name}' looks like the number of a unit (person, household, firm, episode), and its",
        f"values repeat: {values:,} in {records:,} records. Now records are counted, so that one unit may fill a class alone.",
        'If it is the unit, give it the role "unit" above, and take away the sign # before unit in the steps below;',
        f"if each record is a unit of its own, say unit = {toml_value(EACH_RECORD)} there.",
    )
    return "\n".join([*map(comment, lines), ""])


def _step(do: str, values: dict[str, object], why: str, units: Sequence[str] = ()) -> str:
    lines = [f"{name} = {toml_value(value)}" for name, value in values.items()]
    lines += [f"# unit = {toml_value(name)}" for name in units]
    return "\n".join([f"# {why}", "[[steps]]", f"do = {toml_value(do)}", *lines, ""])
