"""What the internal part of a release tells: both parts agree, nothing leaks, gates hold, hidden cells are safe."""

import gzip
import math
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal import sources
from shoal.errors import InputError
from shoal.exact_names import only
from shoal.operation_release import AppointmentsRelease, TableRelease
from shoal.release.fingerprints import file_digest
from shoal.release.folder import SECRET, STEPS
from shoal.release.gates.appointments import appointments_gate
from shoal.release.gates.judge import GateOutcome, judge, k_meaning
from shoal.release.plan.plan import Gates, Output, Step
from shoal.release.release_reader import OpenedRelease
from shoal.release.verify.agreement import (
    agreement_checks,
    internal_checks,
    internal_files,
    report_checks,
)
from shoal.release.verify.changed_columns import follows_unchanged
from shoal.release.verify.changed_tables import changed_table
from shoal.release.verify.check import Check, fails, holds, not_judged
from shoal.release.verify.public import counted_k, hierarchies_of
from shoal.runtime.secrets import Secret
from shoal.tables.public_table import PublicTable
from shoal.tables.verify import unprotected
from shoal.tables.verify_sums import sensitive_sums

if TYPE_CHECKING:
    from shoal.tables.problem import Problem

# Figures that were written and read again differ in their last digits only.
_CLOSE = 1e-6
# The columns that K and the risk of a release depend on.
_COUNTED = ("quasi-identifier", "unit", "household", "weight")

#: What readers of packed files raise where these are damaged.
_DAMAGED = (InputError, zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError)


def inside_checks(opened: OpenedRelease) -> Iterator[Check]:
    """Everything but tables and gates."""
    yield _modes(opened)
    yield from internal_files(opened)
    yield from internal_checks(opened)
    yield from report_checks(opened)
    yield from agreement_checks(opened)
    yield from _leaks(opened)
    yield from _links(opened)


def _modes(opened: OpenedRelease) -> Check:
    assert opened.internal is not None
    open_ = [
        path
        for path in (opened.internal, *opened.internal.rglob("*"))
        # A link leads to what others may open, or to nothing.
        if path.is_symlink() or stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    if open_:
        return fails("modes", f"{len(open_)} internal files or folders can be opened by others")
    return holds("modes", "what is internal can be opened by its owner alone")


def _leaks(opened: OpenedRelease) -> Iterator[Check]:
    """Nothing that only the internal part may hold is in a byte of the public one."""
    hidden = [item.lower() for item in _secrets(opened)]
    leaking = []
    for path in sorted(opened.public.rglob("*")):
        if path.is_file():
            found = [part.lower() for part in _contents(path)]
            if any(secret in part for secret in hidden for part in found):
                leaking.append(path.name)
    for name in leaking:
        yield fails("secrets", f"'{name}' holds a secret or a fingerprint of the internal part")
    if not leaking:
        yield holds("secrets", "no secret, key or fingerprint is in a public byte")


def _secrets(opened: OpenedRelease) -> list[bytes]:
    assert opened.internal is not None and opened.inside is not None
    found: list[bytes] = []
    for place in (opened.internal / SECRET, *sorted((opened.internal / STEPS).glob(f"*/{SECRET}"))):
        if place.exists():
            content = Secret.read(place).content
            found += [content, content.hex().encode()]
    texts = [str(item.get("fingerprint")) for item in opened.inside["inputs"].values()]
    assert opened.plan is not None
    texts += [key for step in opened.plan.steps if (key := opened.step_key(step)) is not None]
    if opened.originals is not None:
        # A plain hash of an input would confirm a guess of it.
        places = [Path(opened.originals.location(name)) for name in opened.inside["inputs"]]
        texts += [file_digest(place) for place in places if place.is_file()]
    return found + [text.encode() for text in texts]


def _contents(path: Path) -> list[bytes]:
    """The bytes of a file, and what is packed in them; of one that is damaged, which its hash tells, what can be read."""
    found = [path.read_bytes()]
    with suppress(*_DAMAGED):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                found += [packed.read(name) for name in packed.namelist()]
        elif path.suffix == ".gz":
            found.append(gzip.decompress(found[0]))
        elif path.suffix in (".parquet", ".arrow", ".feather"):
            found.append(sources.read(str(path)).frame.write_csv().encode())
    return found


def _links(opened: OpenedRelease) -> Iterator[Check]:
    """Every released record stands for one of the source, and for one only."""
    for output, step in opened.record_outputs():
        frame, links = opened.frame(output.file), opened.links(step)
        seen = np.sort(links[links >= 0])
        fits = seen.size == frame.height and bool((seen == np.arange(seen.size)).all())
        what = (
            "is linked to one of the source"
            if fits
            else "is not linked to one of the source, or not to one only"
        )
        yield Check("record links", fits, f"every record of '{output.file}' {what}")


def measured_gates(
    opened: OpenedRelease, tables: Mapping[str, Sequence[Check]]
) -> tuple[list[Check], list[GateOutcome]]:
    """The gates that can be measured again, and a note on the others; ``tables`` is what was seen of each step's."""
    plan = opened.plan
    assert plan is not None and opened.inside is not None
    told = {(item["step"], item["name"]): item["value"] for item in opened.inside["gates"]}
    checks: list[Check] = []
    gates: list[GateOutcome] = []
    for name, limits in plan.gates.items():
        step = plan.step(name)
        found = list(_gates_of(opened, step, limits, tables.get(name, ())))
        for gate in found:
            said = told.get((gate.step, gate.name))
            if said is not None and not math.isclose(said, gate.value, rel_tol=_CLOSE, abs_tol=_CLOSE):
                text = f"'{gate.name}' of step '{name}' is {gate.value:g}, and {said:g} was stated"
                checks.append(fails("stated figures", text))
        gates += found
        left = set(limits.model_dump(exclude_none=True)) - {gate.name for gate in found}
        for gate_name in sorted(left):
            text = f"'{gate_name}' of step '{name}' was not measured again: {_why_not(opened, gate_name)}"
            checks.append(not_judged("gates", text))
    return checks, gates


def _why_not(opened: OpenedRelease, gate: str) -> str:
    if opened.originals is None and gate in ("loss", "linkage", "attacks", "safe"):
        return "it needs the originals"
    return "what the step released is not published as it was"


def _gates_of(
    opened: OpenedRelease, step: Step, limits: Gates, tables: Sequence[Check]
) -> Iterator[GateOutcome]:
    if isinstance(step.release, AppointmentsRelease) and limits.k is not None:
        settings: Any = step.settings
        place = opened.located(settings.slots) if settings.known is not None else None
        slots = None if place is None else opened.readings.read(place).frame
        measured = appointments_gate(step, limits.k, opened.passed_on(step), slots)
        if measured is not None:
            yield measured
    if limits.safe is not None and tables and all(check.passed is not None for check in tables):
        safe = all(check.passed for check in tables)
        meaning = "every table audited safe"
        yield GateOutcome(step.name, "safe", limits.safe, safe, safe == limits.safe, meaning)
    pair = _published(opened, step)
    if limits.loss is not None and opened.originals is not None:
        from shoal.release.verify.originals import measured_loss

        percent = measured_loss(opened, step)
        if percent is not None:
            meaning = "percent lost, measured on what was published"
            yield GateOutcome(step.name, "loss", limits.loss, percent, percent <= limits.loss, meaning)
    if pair is None:
        return
    output, last = pair
    found = opened.released(output, last)
    quasi = found.with_role("quasi-identifier")
    if limits.k is not None and quasi:
        k = counted_k(found.frame, quasi, found.unit_column)
        yield GateOutcome(step.name, "k", limits.k, k, k >= limits.k, k_meaning(quasi, found.unit))
    rest = Gates(reidentifications=limits.reidentifications, risk=limits.risk)
    if opened.originals is not None and last == step:
        rest = rest.model_copy(update={"linkage": limits.linkage, "attacks": limits.attacks})
    assert opened.plan is not None
    yield from judge(opened.plan, step, rest, lambda: found, {})


def _published(opened: OpenedRelease, step: Step) -> tuple[Output, Step] | None:
    """A published file that still has the keys of a step's release as they were."""
    for output, last in opened.record_outputs():
        path = opened.path(last)
        if step not in path:
            continue
        after = path[path.index(step) + 1 :]
        keys = [name for name, role in opened.roles(step).items() if role in _COUNTED]
        if follows_unchanged(opened, after, keys) and not any(_left_out(opened, item) for item in after):
            return output, last
    return None


def _left_out(opened: OpenedRelease, step: Step) -> bool:
    return bool((opened.own_links(step) < 0).any())


def table_checks(opened: OpenedRelease) -> dict[str, list[Check]]:
    """What is seen of the published tables of each step that hides cells or changes figures."""
    assert opened.plan is not None
    found: dict[str, list[Check]] = {}
    for item in opened.plan.outputs:
        step = opened.plan.step(item.step)
        if not item.public or item.product != step.release.product:
            continue
        if isinstance(step.release, TableRelease):
            found.setdefault(step.name, []).extend(_table(opened, item, step))
        elif step.as_changed_table:
            found.setdefault(step.name, []).append(changed_table(opened, item, step))
    return found


def _table(opened: OpenedRelease, output: Output, step: Step) -> Iterator[Check]:
    """A published table beside its cells: the right ones are hidden, the others are right, and the intervals are wide enough."""
    claimed = opened.table(step)
    if claimed is None:
        yield not_judged(
            "levels", f"the table of step '{step.name}' is a source: its levels need the originals"
        )
        return
    problem = claimed.problem(step.settings)
    try:
        table = PublicTable.of(opened.written(output.file), hierarchies_of(opened, output.file))
    except InputError as problem_:
        yield fails("levels", f"'{output.file}' cannot be read: {problem_}")
        return
    keys = [tuple(problem.table.key(cell).values()) for cell in range(problem.table.cells)]
    if set(keys) != set(table.cells):
        yield fails("cells", f"'{output.file}' has other cells than the table of step '{step.name}'")
        return
    shown = np.array([table.cells[key] is not None for key in keys])
    figures = np.array([table.cells[key] if seen else 0.0 for key, seen in zip(keys, shown, strict=True)])
    differ = shown & ~np.isclose(figures, problem.table.values, rtol=1e-9, atol=1e-9)
    yield Check(
        "cells",
        not differ.any(),
        f"{int(differ.sum())} figures of '{output.file}' are not those of the table",
    )
    yield from _pattern(
        opened, output, step, [key for key, seen in zip(keys, shown, strict=True) if not seen]
    )
    counts = claimed.is_counts(step.settings)
    yield from _levels(opened, output, step, problem, table, keys, ~shown, counts=counts)


def _pattern(
    opened: OpenedRelease, output: Output, step: Step, hidden: list[tuple[str, ...]]
) -> Iterator[Check]:
    """The cells that are hidden are those of the pattern that was found."""
    place = opened.step_folder(step.name) / "pattern.csv"
    if not place.exists():
        yield fails("pattern", f"the pattern of step '{step.name}' is not there")
        return
    listed = sources.read(str(place)).as_written
    names = [name for name in listed.columns if name not in ("kind", "note")][
        : len(hidden[0]) if hidden else None
    ]
    found = {tuple(str(item) for item in row) for row in only(listed, names).iter_rows()}
    differing = len(found ^ set(hidden))
    text = (
        f"{differing} cells are hidden in one of '{output.file}' and the pattern of step '{step.name}' alone"
    )
    yield Check("pattern", not differing, text)


def _levels(
    opened: OpenedRelease,
    output: Output,
    step: Step,
    problem: "Problem",
    table: PublicTable,
    keys: list[tuple[str, ...]],
    hidden: np.ndarray,
    *,
    counts: bool,
) -> Iterator[Check]:
    bare = problem.sensitive[~hidden[problem.sensitive]]
    if bare.size:
        yield fails("levels", f"{bare.size} sensitive cells of '{output.file}' are shown")
        return
    complementary = np.setdiff1d(np.flatnonzero(hidden), problem.sensitive)
    usable = problem.candidates.copy()
    usable[complementary] = True
    asked = problem.with_changes(candidates=usable)
    failing = unprotected(asked, complementary)
    text = f"{problem.sensitive.size} sensitive cells of '{output.file}', {len(failing)} of their requirements are not met"
    yield Check("levels", not failing, text)
    sums = sensitive_sums(asked, complementary)
    text = f"{sums} sums that one relation of '{output.file}' gives away are sensitive themselves"
    yield Check("sums", not sums, text)
    intervals = table.intervals(step.settings.low, step.settings.high)
    if intervals is None:
        yield fails("widths", f"no figures of the hidden cells of '{output.file}' fit those that are shown")
        return
    yield _widths(opened, step, problem, keys, intervals, counts=counts)


def _widths(
    opened: OpenedRelease,
    step: Step,
    problem: "Problem",
    keys: list[tuple[str, ...]],
    intervals: dict[tuple[str, ...], tuple[float, float]],
    *,
    counts: bool,
) -> Check:
    """The intervals computed from the published file alone, beside what each sensitive cell needs and what was stated."""
    narrow = 0
    for cell, lower, upper in zip(problem.sensitive.tolist(), problem.lower, problem.upper, strict=True):
        low, high = intervals[keys[cell]]
        value = problem.table.values[cell]
        slack = _CLOSE * max(1.0, abs(value))
        narrow += low > value - lower + slack or high < value + upper - slack or high - low <= 0
        if counts:
            whole = math.floor(high + slack) - math.ceil(low - slack) if math.isfinite(high - low) else 1
            narrow += whole < 1
    place = opened.step_folder(step.name) / "intervals.csv"
    differing = 0
    if place.exists():
        stated = sources.read(str(place)).as_written
        differing = sum(not _same_interval(row, problem, intervals) for row in stated.iter_rows(named=True))
    text = (
        f"{narrow} intervals of sensitive cells, computed from what is published, are too narrow; "
        f"{differing} are not those that were stated"
    )
    return Check("widths", not narrow and not differing, text)


def _same_interval(
    row: dict[str, Any], problem: "Problem", intervals: dict[tuple[str, ...], tuple[float, float]]
) -> bool:
    key = tuple(str(row[name]) for name in problem.table.dimensions)
    pairs = zip((float(row["min"]), float(row["max"])), intervals.get(key, (math.nan, math.nan)), strict=True)
    return all(
        math.isclose(said, seen, rel_tol=1e-5, abs_tol=1e-5 * max(1.0, abs(float(row["value"]))))
        for said, seen in pairs
    )
