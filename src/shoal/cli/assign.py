"""``shoal assign``: appointments that single out as few people as possible."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options

if TYPE_CHECKING:
    import polars as pl

    from shoal.appointments.api import Appointments, Plan
    from shoal.search import Observer, Progress
    from shoal.sources import Address, Output
    from shoal.sources.outputs import Writing


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("assign")(assign)


def assign(
    people: Annotated[
        str | None,
        typer.Argument(metavar="[PEOPLE]", help="A file, or URL::table of a database.", show_default=False),
    ] = None,
    slots: Annotated[
        str | None,
        typer.Argument(
            metavar="[SLOTS]",
            help="Slots with capacity: a file (.csv, .ics, FHIR .json, …) or URL::table; of a database PEOPLE_resource.",
            show_default=False,
        ),
    ] = None,
    quasi: Annotated[
        str | None,
        typer.Option("--quasi", metavar="a,b", help="What may be known of a person.", show_default=False),
    ] = None,
    group_sizes: Annotated[
        str | None,
        typer.Option(
            "--group-sizes", metavar="4,4,5,2", help="Group sizes in place of files.", show_default=False
        ),
    ] = None,
    capacities: Annotated[
        str | None,
        typer.Option(
            "--capacities", metavar="4,2,4", help="Capacities in place of files.", show_default=False
        ),
    ] = None,
    instance: Annotated[
        Path | None,
        typer.Option(
            "--instance", metavar="FILE.json", help="Sizes from 'generate instance'.", show_default=False
        ),
    ] = None,
    objective: Annotated[
        str, typer.Option("--objective", metavar="k|vector", help="The smallest crowd, or the whole vector.")
    ] = "k",
    method: Annotated[
        str, typer.Option("--method", help="How to find the plan; 'list' shows all methods.")
    ] = "auto",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="An option of the method; may be repeated.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(
            "--level", min=1, help="How many components of the vector to prove.", show_default="all"
        ),
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(
            "--known", metavar="a,b", help="Slot attributes an attacker knows.", show_default="the slot"
        ),
    ] = None,
    eligible: Annotated[
        str | None,
        typer.Option(
            "--eligible",
            metavar="COLUMN|FILE",
            help="Where people may go: a column like 'A;B;hour=9', or a table of both.",
            show_default="anywhere",
        ),
    ] = None,
    eligibility_known: Annotated[
        bool, typer.Option("--eligibility-known", help="An attacker knows who may go where.")
    ] = False,
    pinned: Annotated[
        str | None,
        typer.Option(
            "--pinned", metavar="COLUMN", help="Slots given already, to be kept.", show_default=False
        ),
    ] = None,
    diverse: Annotated[
        str | None,
        typer.Option(
            "--diverse",
            metavar="COLUMN=L",
            help="Every crowd at a slot holds L values of it.",
            show_default=False,
        ),
    ] = None,
    attended: Annotated[
        str | None,
        typer.Option("--attended", metavar="COLUMN", help="Also K of those who came.", show_default=False),
    ] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="Crowds below this count as exposed.")] = 5,
    require_k: Annotated[
        int | None,
        typer.Option(
            "--require-k", min=1, help="Write nothing and exit with 3 if K is below this.", show_default=False
        ),
    ] = None,
    output_to: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DATA", help="Where to write.", show_default=False)
    ] = None,
    update: Annotated[
        bool,
        typer.Option("--update", help="Write REC_RAND and REC_INTELLIGENT back into the table of people."),
    ] = False,
    tables: Annotated[int, typer.Option("--tables", help="Number of tables: PEOPLE0, PEOPLE1, …")] = 1,
    key: Annotated[
        str | None, typer.Option("--key", metavar="COLUMN", help="Identifies a person.", show_default="ID")
    ] = None,
    calendar: Annotated[
        Path | None,
        typer.Option(
            "--calendar", metavar="FOLDER", help="Write iCalendar files, one per centre.", show_default=False
        ),
    ] = None,
    fhir: Annotated[
        Path | None,
        typer.Option("--fhir", metavar="FILE.json", help="Write a FHIR bundle.", show_default=False),
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option("--timezone", help="Zone of the slots' times.", show_default="none; UTC in FHIR"),
    ] = None,
    iterations: options.Iterations = None,
    time_limit: options.TimeLimit = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", help="Repeat a run.", show_default="who of a crowd gets which seat is truly random"
        ),
    ] = None,
    threads: options.Threads = None,
    report: options.Report = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    header_row: options.HeaderRow = None,
    safe_csv: options.SafeCsv = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Give out appointments that single out as few people as possible.

    Being seen at a centre at an hour tells something about a person. Crowds of people who cannot be told apart are kept
    together, and K, the anonymity vector and the best that is possible are printed.

    Example: shoal assign people.csv slots.csv --quasi zip,sex,age -o appointments.csv

    Example: shoal assign --group-sizes 4,4,5,2 --capacities 4,2,4,3,2 --objective vector

    Example: shoal assign sqlite:///clinic.db::tabla --tables 5 --quasi AGE,CP,SEX --update
    """
    from shoal import sources
    from shoal.appointments.methods import METHODS
    from shoal.cli import output
    from shoal.cli.progress import watched
    from shoal.errors import Infeasible, InputError
    from shoal.search import Budget
    from shoal.settings import split_options as read_settings

    if method == "list":
        found = [(name, ", ".join(item.objectives), item.summary) for name, item in METHODS.items()]
        output.emit(
            {"methods": {name: summary for name, _, summary in found}},
            lambda: output.rows(["method", "objectives", "what it does"], found),
            as_json=json,
        )
        return
    METHODS[method]
    settings = read_settings(option or [])
    if level is not None:
        if objective != "vector" or method not in ("auto", "lexicographic"):
            raise InputError("--level is for --objective vector with method lexicographic")
        method, settings = "lexicographic", {**settings, "level": level}
    budget = Budget(iterations=iterations, seconds=time_limit)
    quieter = quiet or json
    common: dict[str, Any] = {
        "objective": objective,
        "method": method,
        "options": settings,
        "threads": options.cores(threads),
        "budget": budget,
    }
    if instance is not None:
        group_sizes, capacities = _read_instance(instance)
    if group_sizes is not None or capacities is not None:
        if group_sizes is None or capacities is None or people is not None:
            raise InputError("give --group-sizes and --capacities together, or PEOPLE and SLOTS")
        if any(
            (output_to, update, calendar, fhir, report, quasi, known, eligible, pinned, diverse, attended)
        ):
            raise InputError(
                "with --group-sizes there are no people to write about; only the matrix is printed"
            )
        with watched("assigning", budget, quiet=quieter, show=_glimpse) as observer:
            _sizes(group_sizes, capacities, seed or 0, common, observer, require_k, json)
        return
    if people is None:
        raise InputError("name the people and the slots, or give --group-sizes and --capacities")
    if quasi is None:
        raise InputError("name the columns that may be known of a person with --quasi")
    if update and output_to is not None:
        raise InputError("--update writes into the table of people; leave out -o")
    if tables < 1:
        raise InputError(f"--tables must be at least 1, not {tables}")
    if tables > 1 and not update:
        raise InputError("several tables need --update")
    addresses = sources.numbered(people, tables)
    inputs = [*addresses, slots, eligible if eligible and Path(eligible).suffix else None]
    outputs = sources.Outputs(force=force, inputs=inputs, safe_csv=safe_csv)
    ordered = _Ordered(
        plan=outputs.data("-o", output_to, internal=True),
        columns=[outputs.columns("--update", address) for address in addresses if update],
        calendar=outputs.folder("--calendar", calendar, internal=True),
        fhir=outputs.file("--fhir", fhir, internal=True),
        report=outputs.file("--report", report, internal=True),
    )
    unwritten = output.unwritten(outputs, "the appointments") if ordered.nothing_kept else None
    column, number = _diverse(diverse)
    plans: list[tuple[Any, Appointments, Any]] = []
    reading: dict[str, Any] = {"separator": separator, "decimal": decimal, "encoding": encoding}
    with watched("assigning", budget, quiet=quieter, show=_glimpse, announce=unwritten) as observer:
        for address in addresses:
            source = sources.read(address, header_row=header_row, **reading)
            output.reading(source, quiet=quieter, name=str(source.address) if len(addresses) > 1 else None)
            room = _read_slots(slots, address, tables, reading)
            if ordered.calendar is not None:
                from shoal.appointments.exchange.calendars import calendar_names

                outputs.check_inside(ordered.calendar, calendar_names(room))
            try:
                made = _plan(
                    source.frame,
                    room,
                    quasi=options.split_names(quasi),
                    known=None if known is None else options.split_names(known),
                    eligible=_eligible(eligible, source.frame, reading),
                    eligibility_known=eligibility_known,
                    pinned=pinned,
                    diverse=column,
                    diversity=number,
                    k=k,
                    seed=seed,
                    observer=observer,
                    update=update,
                    **common,
                )
            except (InputError, Infeasible) as problem:
                if tables == 1:
                    raise
                raise type(problem)(f"{address}: {problem}") from None
            plans.append((source, *made))
    payloads = [_payload(plan) for _, plan, _ in plans]
    if attended is not None:
        for (source, plan, _), payload in zip(plans, payloads, strict=True):
            payload.update(_attended(source.frame, plan, attended))
    for (source, _, _), payload in zip(plans, payloads, strict=True):
        payload["warnings"] = _not_counted(source.frame, options.split_names(quasi))
    worst = min(plan.k for _, plan, _ in plans)
    too_low = require_k is not None and worst < require_k
    with outputs.together() as writing:
        if not too_low:
            _write(writing, ordered, plans, key=key, timezone=timezone, seed=seed, dialect=reading)
        if ordered.report is not None:
            writing.text(ordered.report, plans[0][1].report().html())
    if ordered.plan is not None and not too_low:
        payloads[0]["output"] = str(ordered.plan)
    if ordered.report is not None:
        output.remark(f"report written to {report}", quiet=quieter)
    output.warn(dict.fromkeys(text for payload in payloads for text in payload["warnings"]))
    if len(plans) == 1:
        output.emit(
            payloads[0],
            lambda: _print(plans[0][1], payloads[0], None if too_low else payloads[0].get("output")),
            as_json=json,
        )
    else:
        every = [
            {"table": str(source.address), **payload}
            for (source, _, _), payload in zip(plans, payloads, strict=True)
        ]
        output.emit({"tables": every}, lambda: _print_tables(every), as_json=json)
    if unwritten is not None and not quieter:
        typer.echo("the appointments were not written; -o names a place for them")
    if too_low:
        if json:
            raise typer.Exit(3)
        raise Infeasible(f"K is {worst}, below the required {require_k}; nothing was written")
    if any(plan.stopped_by == "interrupt" for _, plan, _ in plans):
        raise typer.Exit(130)


def _not_counted(people: "pl.DataFrame", quasi: list[str]) -> list[str]:
    """A warning if people have more columns that somebody may know than those over which K is counted."""
    import shoal

    others = [
        f"'{guess.column}'"
        for guess in shoal.guess_roles(people)
        # What earlier plans wrote is replaced by this one.
        if guess.role == "quasi-identifier" and guess.column not in (*quasi, "REC_RAND", "REC_INTELLIGENT")
    ]
    if not others:
        return []
    return [
        f"K is counted over {', '.join(quasi)}; {', '.join(others)} may be known of a person, too: "
        "name them in --quasi if so, or K is lower than stated"
    ]


def _read_instance(path: Path) -> tuple[str, str]:
    import json

    from shoal.errors import InputError

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        groups, seats = content.get("groups", content.get("f")), content.get("capacities", content.get("c"))
        return ",".join(str(int(number)) for number in groups), ",".join(str(int(number)) for number in seats)
    except OSError:
        raise InputError(f"the instance '{path}' cannot be read") from None
    except (ValueError, TypeError, AttributeError):
        raise InputError(f"'{path}' is not an instance: a JSON object with groups and capacities") from None


def _numbers(text: str, what: str) -> list[int]:
    from shoal.errors import InputError

    try:
        return [int(part) for part in options.split_names(text)]
    except ValueError:
        raise InputError(f"{what} must be whole numbers with commas between them") from None


def _sizes(
    group_sizes: str,
    capacities: str,
    seed: int,
    common: dict[str, Any],
    observer: "Observer",
    require_k: int | None,
    json: bool,
) -> None:
    from shoal.appointments.api import assign_sizes
    from shoal.cli import output
    from shoal.errors import Infeasible

    sizes, seats = _numbers(group_sizes, "--group-sizes"), _numbers(capacities, "--capacities")
    plan = assign_sizes(sizes, seats, seed=seed, observer=observer, **common)
    payload = _plan_payload(plan)
    output.emit(payload, lambda: _print_sizes(plan, sizes, seats), as_json=json)
    if require_k is not None and plan.k < require_k:
        if json:
            raise typer.Exit(3)
        raise Infeasible(f"K is {plan.k}, below the required {require_k}")
    if plan.assignment.stopped_by == "interrupt":
        raise typer.Exit(130)


def _plan_payload(plan: "Plan") -> dict[str, Any]:
    return {
        "method": plan.method,
        "objective": plan.problem.objective,
        "people": plan.problem.people,
        "k": plan.k,
        "k_before": plan.k_before,
        "k_bound": plan.k_bound,
        "k_random": plan.random.k,
        "vector": _vector(plan.vector),
        "vector_before": _vector(plan.vector_before),
        "optimal": plan.optimal,
        "matrix": plan.matrix,
        "loads": plan.assignment.loads.tolist(),
        "work": plan.assignment.work,
        "stopped_by": str(plan.assignment.stopped_by),
        "seconds": plan.assignment.seconds,
    }


def _vector(vector: Any) -> dict[str, int]:
    return {str(size): count for size, count in vector.items()}


def _print_sizes(plan: "Plan", sizes: list[int], seats: list[int]) -> None:
    from shoal.cli import output

    output.facts(
        [
            ("K", f"{plan.k} (before any slot is known: {plan.k_before}; at random: {plan.random.k})"),
            ("best K possible", plan.k_bound),
            ("anonymity vector", str(plan.vector)),
            ("proved optimal", "yes" if plan.optimal else "no"),
        ]
    )
    if len(sizes) * len(seats) <= 2000:
        output.rows(
            ["group", *(f"slot of {seat}" for seat in seats)],
            [
                [f"{size}", *(value or "" for value in row)]
                for size, row in zip(sizes, plan.matrix, strict=True)
            ],
        )


def _read_slots(slots: str | None, address: "Address", tables: int, reading: dict[str, Any]) -> Any:
    from dataclasses import replace

    from shoal import sources
    from shoal.errors import InputError

    if slots is None:
        if not isinstance(address, sources.TableAddress):
            raise InputError("name the slots: a file with columns slot and capacity")
        return sources.read(replace(address, table=f"{address.table}_resource")).frame
    if tables > 1:
        raise InputError("with several tables the slots are those of PEOPLE0_resource, PEOPLE1_resource, …")
    if slots.lower().endswith(".ics"):
        from shoal.appointments.exchange.calendars import read_slots

        return read_slots(Path(slots))
    if slots.lower().endswith(".json"):
        from shoal.appointments.exchange.fhir import read_slots as read_bundle

        return read_bundle(Path(slots))
    return sources.read(slots, **reading).frame


def _eligible(eligible: str | None, frame: Any, reading: dict[str, Any]) -> Any:
    from shoal import sources

    if eligible is None or eligible in frame.columns:
        return eligible
    if "::" in eligible or Path(eligible).suffix:
        return sources.read(eligible, **reading).frame
    return eligible


def _diverse(text: str | None) -> tuple[str | None, int]:
    from shoal.errors import InputError

    if text is None:
        return None, 2
    name, equals, number = text.partition("=")
    try:
        wanted = int(number) if equals else 2
    except ValueError:
        raise InputError(f"--diverse needs COLUMN=NUMBER, not '{text}'") from None
    if wanted < 2:
        raise InputError("diversity begins at 2 different values")
    return name.strip(), wanted


def _plan(frame: Any, slots: Any, *, update: bool, **keywords: Any) -> "tuple[Appointments, Any]":
    """The plan, and with ``update`` a random one beside it."""
    from shoal.appointments.api import assign as solve

    taken = [name for name in ("REC_RAND", "REC_INTELLIGENT") if name in frame.columns]
    plan = solve(frame.drop(taken) if update else frame, slots, **keywords)
    if not update:
        return plan, None
    from shoal.appointments.solvers.random import draw
    from shoal.search import Seeds

    seeds = Seeds(keywords["seed"]).child("random")
    problem = plan.waiting.problem
    return plan, plan.waiting.place(None if problem is None else draw(problem, seeds, "probe"), seeds)


def _attended(frame: Any, plan: "Appointments", column: str) -> dict[str, Any]:
    from shoal.errors import InputError, unknown

    if column not in frame.columns:
        raise unknown("column", column, frame.columns, where="in the people")
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "y": True,
        "0": False,
        "false": False,
        "no": False,
        "n": False,
        "": False,
    }
    came = []
    for value in frame[column].to_list():
        text = "" if value is None else str(value).strip().lower()
        if text not in words:
            raise InputError(f"column '{column}' must say yes or no (or 1 and 0) who came")
        came.append(words[text])
    import numpy as np

    vector = plan.attended(np.array(came))
    return {
        "attended": sum(came),
        "k_attended": vector.k,
        "vector_attended": _vector(vector),
        "exposed_attended": vector.below(plan.k_required),
    }


@dataclass(frozen=True)
class _Ordered:
    """What the user wants written."""

    plan: "Output | None"
    columns: "list[Output]"
    calendar: "Output | None"
    fhir: "Output | None"
    report: "Output | None"

    @property
    def nothing_kept(self) -> bool:
        """Whether the appointments themselves go nowhere."""
        return not (self.plan or self.columns or self.calendar or self.fhir)


def _write(
    writing: "Writing",
    ordered: _Ordered,
    plans: Any,
    *,
    key: str | None,
    timezone: str | None,
    seed: int | None,
    dialect: dict[str, Any],
) -> None:
    """Write the plans wherever they are wanted."""
    source, plan, _ = plans[0]
    wanted = (ordered.calendar is not None, ordered.fhir is not None)
    calendars, bundle = _exchange(source.frame, plan, key, *wanted, timezone, seed)
    for output, (name, columns) in zip(ordered.columns, _columns(plans, key) if ordered.columns else ()):
        writing.columns(output, name, columns)
    if ordered.plan is not None:
        writing.data(ordered.plan, plan.people, like=source, **dialect)
    if ordered.calendar is not None and calendars is not None:
        writing.files(ordered.calendar, calendars)
    if ordered.fhir is not None and bundle is not None:
        writing.text(ordered.fhir, bundle)


def _exchange(
    frame: Any,
    plan: "Appointments",
    key: str | None,
    calendar: bool,
    fhir: bool,
    timezone: str | None,
    seed: int | None,
) -> tuple[dict[str, bytes] | None, str | None]:

    from shoal.errors import unknown
    from shoal.search import Seeds

    if key is not None and key not in frame.columns:
        raise unknown("column", key, frame.columns, where="in the people")
    persons = frame[key].to_list() if key is not None else None
    slots = plan.slots.frame
    common: dict[str, Any] = {
        "persons": persons,
        "timezone": timezone,
        "seeds": Seeds(seed).child("exchange"),
    }
    calendars, bundle = None, None
    if calendar:
        from shoal.appointments.exchange.calendars import appointment_calendars

        calendars = appointment_calendars(slots, plan.slot_of.tolist(), **common)
    if fhir:
        from shoal.appointments.exchange.fhir import appointments_bundle

        bundle = appointments_bundle(slots, plan.slot_of.tolist(), **common)
    return calendars, bundle


def _columns(plans: Any, key: str | None) -> list[tuple[str, Any]]:
    """For each table its key and the columns to set."""
    import polars as pl

    from shoal.errors import InputError, unknown

    ready = []
    for source, plan, random in plans:
        frame = source.frame
        name = key or next((column for column in frame.columns if column.lower() == "id"), None)
        if name is None or name not in frame.columns:
            raise unknown("column", name or "ID", frame.columns, where=f"in {source.address}")
        for column in ("REC_RAND", "REC_INTELLIGENT"):
            if column not in frame.columns:
                raise unknown("column", column, frame.columns, where=f"in {source.address}")
        if frame[name].is_duplicated().any() or frame[name].null_count():
            raise InputError(f"column '{name}' does not identify the people of {source.address}")
        ids = plan.slots.ids
        ready.append(
            (
                name,
                pl.DataFrame(
                    [
                        frame[name],
                        ids.gather(random).alias("REC_RAND"),
                        ids.gather(plan.slot_of).alias("REC_INTELLIGENT"),
                    ]
                ),
            )
        )
    return ready


def _payload(plan: "Appointments") -> dict[str, Any]:
    assignment = plan.assignment
    return {
        **plan.to_dict(),
        "known": None if plan.known is None else list(plan.known),
        "work": 0 if assignment is None else assignment.work,
        "seconds": 0.0 if assignment is None else assignment.seconds,
    }


def _print(plan: "Appointments", payload: dict[str, Any], written: str | None) -> None:
    from shoal.cli import output

    pairs = [
        ("people", f"{plan.waiting.people:,} in {plan.waiting.crowd_sizes.size:,} crowds"),
        ("K", f"{plan.k} (before any slot is known: {plan.k_before}; at random: {plan.random.k})"),
        ("best K possible", plan.k_bound),
        ("anonymity vector", str(plan.vector)),
        ("proved optimal", "yes" if plan.optimal else "no"),
        (
            f"people below {plan.k_required}",
            f"{plan.exposed:,} ({plan.exposed_before:,} before any slot, whom no plan can help; at random "
            f"{plan.random.below(plan.k_required):,})",
        ),
    ]
    if "attended" in payload:
        pairs.append(
            (
                "of those who came",
                f"K {payload['k_attended']}, {payload['exposed_attended']:,} of {payload['attended']:,} below "
                f"{plan.k_required}",
            )
        )
    if plan.homogeneous:
        pairs.append(
            ("slots with a single crowd", f"{plan.homogeneous} (whoever is seen there gives the crowd away)")
        )
    output.facts(pairs)
    shown = payload["slots"][:30]
    output.rows(
        ["slot", "capacity", "load"], [(str(item["slot"]), item["capacity"], item["load"]) for item in shown]
    )
    if len(payload["slots"]) > len(shown):
        typer.echo(f"… and {len(payload['slots']) - len(shown)} more slots")
    if written:
        typer.echo(output.harmless(f"wrote {written}"))


def _print_tables(tables: list[dict[str, Any]]) -> None:
    from shoal.cli import output

    output.rows(
        ["table", "people", "K", "best K", "K before", "K at random", "optimal"],
        [
            (
                item["table"],
                item["people"],
                item["k"],
                item["k_bound"],
                item["k_before"],
                item["k_random"],
                item["optimal"],
            )
            for item in tables
        ],
    )


def _glimpse(progress: "Progress") -> str:
    if progress.value is None:
        return ""
    value = progress.value if isinstance(progress.value, int) else progress.value.k
    bound = progress.bound if isinstance(progress.bound, int) or progress.bound is None else progress.bound.k
    return f"K {value}" + ("" if bound is None else f" of at most {bound}")
