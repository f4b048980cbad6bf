"""Whether a plan fits its data: looked at before anything runs, since a role that no column has protects nobody."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from shoal.errors import InputError, unknown
from shoal.exact_names import only
from shoal.microdata.columns.roles import guess_roles
from shoal.operation_release import OF_PEOPLE
from shoal.release.gates.knowable import nearly_unique
from shoal.release.plan.plan import Output, Plan, Step
from shoal.release.plan.preflight import expect_feasible
from shoal.settings import fields

if TYPE_CHECKING:
    import polars as pl

# Whoever says nothing of such a column has overlooked it.
_TELLING = ("identifier", "quasi-identifier")
_NUMBERS = ("weight", "measurement")


def expect_fitting(plan: Plan, frames: "Mapping[str, pl.DataFrame]") -> list[str]:
    """Refuse roles and settings that name columns which are not there, gates without quasi-identifiers, and outputs with names
    of people. Gives a warning for each column that looks like a key and has no role, and for nearly unique numbers that go out
    as they are.
    """
    for name, source in plan.sources.items():
        for column in source.roles:
            if column not in frames[name].columns:
                why = unknown("column", column, frames[name].columns, where=f"in the data of '{name}'")
                raise plan.wrong(("sources", name, "roles", column), str(why))
    for number, step in enumerate(plan.steps):
        _expect_method(plan, number, step)
        _expect_columns(plan, number, step, frames)
    expect_feasible(plan, frames)
    for name in plan.gates:
        _expect_quasi(plan, name)
    for output in record_outputs(plan):
        expect_nameless(plan, output, columns_of(plan, output.step, frames))
    return [*_ungated(plan), *_overlooked(plan, frames), *_nearly_unique(plan, frames)]


def record_outputs(plan: Plan) -> list[Output]:
    """The published files that hold records."""
    return [
        item
        for item in plan.outputs
        if item.public and item.product == "output" and all(step.as_records for step in plan.path(item.step))
    ]


def expect_nameless(plan: Plan, output: Output, columns: Sequence[str]) -> None:
    """Refuse a published file with a column that says who somebody is."""
    roles = plan.roles(output.step)
    refused = ["identifier", "unit"] if plan.about.type == "public" else ["identifier"]
    for column in columns:
        if roles.get(column) in refused:
            raise plan.wrong(
                ("outputs", output.file),
                f"'{output.file}' would publish column '{column}', whose role is {roles[column]}: drop it, or give it "
                "another role if it is none",
            )


def columns_of(plan: Plan, name: str, frames: "Mapping[str, pl.DataFrame]") -> list[str]:
    """The columns that the records of a source or a step have, as far as settings tell."""
    columns = list(frames[plan.source_of(name)].columns)
    path = () if name in plan.sources else plan.path(name)
    for step in path:
        gone = _dropped(plan, step)
        columns = [column for column in columns if column not in gone]
    return columns


def _dropped(plan: Plan, step: Step) -> set[str]:
    release, settings = step.as_records, step.settings
    if release is None:
        return set()
    named = release.removed(settings)
    if named is not None:
        return set(named)
    roles = plan.roles(step.inputs[0])
    used = {*(getattr(settings, "quasi", None) or ()), *(getattr(settings, "columns", None) or ())}
    return {column for column, role in roles.items() if role in release.removed_roles and column not in used}


def _expect_method(plan: Plan, number: int, step: Step) -> None:
    """The method of a step must be one, and its settings must go together."""
    operation, method = step.operation, getattr(step.settings, "method", "auto")
    try:
        if operation.registry is not None and method != "auto":
            _ = operation.registry[method]
        # What is needed may depend on where the data is.
        settings = step.located(lambda name: plan.location(name) if name in plan.sources else name)
        operation.check(settings, frozenset({"output"}))
    except InputError as problem:
        raise plan.wrong(("steps", number, "method"), f"step '{step.name}': {problem}") from None


def _expect_columns(plan: Plan, number: int, step: Step, frames: "Mapping[str, pl.DataFrame]") -> None:
    """Every column that the settings of a step name must be in the records it reads."""
    for names in _tables(step):
        if not all(_are_records(plan, name) for name in names):
            continue
        there = {column for name in names for column in columns_of(plan, name, frames)}
        for item in fields(step.operation.settings):
            # Whether what is given by hand for columns applies is for the operation to say.
            for column in item.names(step.values.get(item.name)):
                if column not in there:
                    where = f"in what step '{step.name}' reads"
                    why = unknown("column", column, sorted(there), where=where)
                    raise plan.wrong(("steps", number, item.name), f"step '{step.name}': {why}")


def _tables(step: Step) -> "list[tuple[str, ...]]":
    try:
        found = step.operation.tables_with_columns(step.settings)
    except InputError:
        # The operation itself says what is missing.
        return []
    return [tuple(str(name) for name in names) for names in found]


def _are_records(plan: Plan, name: str) -> bool:
    return name in plan.sources or (
        name in {step.name for step in plan.steps} and all(step.as_records for step in plan.path(name))
    )


def _expect_quasi(plan: Plan, name: str) -> None:
    given = plan.gates[name].model_dump(exclude_none=True)
    if plan.step(name).as_records is None:
        return
    for gate in OF_PEOPLE:
        if gate in given and "quasi-identifier" not in plan.roles(name).values():
            source = plan.source_of(name)
            why = f"the gate '{gate}' needs quasi-identifiers: give columns that role in [sources.{source}.roles]"
            raise plan.wrong(("gates", name, gate), why)


def _ungated(plan: Plan) -> Iterator[str]:
    for output in record_outputs(plan):
        gates = [plan.gates[step.name] for step in plan.path(output.step) if step.name in plan.gates]
        if all(gate.k is None for gate in gates):
            yield f"no gate asks for K of '{output.file}': say [gates.{output.step}] with k = …"


def _overlooked(plan: Plan, frames: "Mapping[str, pl.DataFrame]") -> Iterator[str]:
    for output in record_outputs(plan):
        source = plan.source_of(output.step)
        columns = columns_of(plan, output.step, frames)
        bare = [column for column in columns if column not in plan.roles(output.step)]
        for guess in guess_roles(only(frames[source], bare)) if bare else ():
            if guess.role not in _TELLING:
                continue
            article = "an" if guess.role == "identifier" else "a"
            looks = (
                f"column '{guess.column}' has no role and looks like {article} {guess.role} ({guess.kind})"
            )
            if guess.role == "identifier":
                why = f"{looks}: drop it, or say in [sources.{source}.roles] what it is"
                raise plan.wrong(("outputs", output.file), why)
            yield f"{looks}: K does not count it; say in [sources.{source}.roles] what it is"


def _nearly_unique(plan: Plan, frames: "Mapping[str, pl.DataFrame]") -> Iterator[str]:
    """Weights and measurements that no step changes: K does not count them, and few records share a value."""
    for output in record_outputs(plan):
        source = plan.source_of(output.step)
        changed = {name for step in plan.path(output.step) for name in _changed(plan, step)}
        numbers = [
            name
            for name in columns_of(plan, output.step, frames)
            if plan.roles(output.step).get(name) in _NUMBERS and name not in changed
        ]
        for name in nearly_unique(frames[source], numbers):
            role = plan.roles(output.step)[name]
            yield (
                f"'{output.file}' has column '{name}' ({role}) as it is, and few records share a value of it: whoever knows "
                "it finds the record, and the gate on k does not count it; drop it, or round it"
            )


def _changed(plan: Plan, step: Step) -> set[str]:
    """The columns whose values a step changes, as far as settings tell."""
    release = step.as_records
    if release is None:
        return set()
    roles = plan.roles(step.inputs[0])
    return release.touched(step.settings) or {
        name for name, role in roles.items() if role == release.touches_role
    }
