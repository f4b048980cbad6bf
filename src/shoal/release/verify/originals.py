"""A release beside the data it was made of: the same inputs, the same records, and what was lost on the way."""

import hmac
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from shoal import sources
from shoal.appointments.people.slots import Slots
from shoal.appointments.recount import slot_column
from shoal.exact_names import exactly
from shoal.import_paths import load
from shoal.numbers import counted
from shoal.operation_release import AppointmentsRelease, TableRelease
from shoal.release.fingerprints import input_fingerprint
from shoal.release.folder import SECRET
from shoal.release.plan.plan import Output, Step, named_files
from shoal.release.release_reader import OpenedRelease
from shoal.release.verify.changed_columns import follows_unchanged, touched
from shoal.release.verify.check import Check, fails, holds, not_judged
from shoal.release.verify.evidence import Records, StepEvidence
from shoal.release.verify.figures import figure_checks
from shoal.runtime.secrets import Secret
from shoal.sources.same_values import same_values

if TYPE_CHECKING:
    pass

_CLOSE = 1e-6


def original_checks(opened: OpenedRelease) -> Iterator[Check]:
    """Inputs, records and losses."""
    yield from _inputs(opened)
    yield from _files_beside(opened)
    for output, step in opened.record_outputs():
        yield from _records(opened, output, step)
    yield from _sums(opened)
    yield from _appointments(opened)
    yield from _losses(opened)
    yield from figure_checks(opened)


def _inputs(opened: OpenedRelease) -> Iterator[Check]:
    assert opened.originals is not None and opened.inside is not None and opened.internal is not None
    secret = Secret.read(opened.internal / SECRET)
    for name, told in opened.inside["inputs"].items():
        place = opened.originals.location(name)
        frame = sources.read(place).frame
        found = input_fingerprint(place, frame, secret)
        same = hmac.compare_digest(found, str(told.get("fingerprint")))
        yield Check(
            "inputs", same, f"source '{name}' is {'what' if same else 'not what'} the release was made of"
        )
        for what, count in (("records", frame.height), ("columns", frame.width)):
            if told.get(what) != count:
                yield fails(
                    "inputs", f"'{what}' of source '{name}' is {count}, and {told.get(what)} was stated"
                )


def _files_beside(opened: OpenedRelease) -> Iterator[Check]:
    """Files that settings name: hierarchies, costs, mappings."""
    assert opened.originals is not None and opened.inside is not None and opened.internal is not None
    assert opened.plan is not None
    secret = Secret.read(opened.internal / SECRET)
    listed = opened.inside.get("files", {})
    for step in opened.plan.steps:
        found = named_files(step, opened.originals.folder)
        files = listed.get(step.name, {})
        for name in dict.fromkeys((*files, *found)):
            if name not in found:
                yield not_judged("inputs", f"'{name}' of step '{step.name}' is not beside the originals")
                continue
            told = str(files.get(name))
            same = hmac.compare_digest(input_fingerprint(str(found[name]), None, secret), told)
            words = "what" if same else "not what"
            yield Check(
                "inputs", same, f"'{name}' of step '{step.name}' is {words} the release was made with"
            )


def _records(opened: OpenedRelease, output: Output, step: Step) -> Iterator[Check]:
    """Columns that no step changes are as they were, record by record."""
    original = opened.original(step)
    assert original is not None
    frame, links = opened.frame(output.file), opened.links(step)
    if links.size != original.height:
        text = f"the source of '{output.file}' has {original.height} records, and {links.size} are linked"
        yield fails("records", text)
        return
    seen = np.flatnonzero(links >= 0)
    if links[seen].size and links[seen].max() >= frame.height:
        yield fails("records", f"'{output.file}' lacks records that are linked")
        return
    foreign = [name for name in frame.columns if name not in original.columns]
    for name in foreign:
        yield fails("records", f"column '{name}' of '{output.file}' is not one of the source")
    changed = {name for item in opened.path(step) for name in touched(opened, item)}
    kept = [name for name in frame.columns if name in original.columns and name not in changed]
    differing = [
        name for name in kept if not same_values(original[name].gather(seen), frame[name].gather(links[seen]))
    ]
    for name in differing:
        yield fails("records", f"column '{name}' of '{output.file}' is not as it was, and no step changes it")
    if not differing and not foreign:
        stay = "stays as it was" if len(kept) == 1 else "stay as they were"
        text = f"{counted(len(kept), 'column')} of '{output.file}' that no step changes {stay}"
        yield holds("records", text if kept else f"every column of '{output.file}' is changed by a step")


def _appointments(opened: OpenedRelease) -> Iterator[Check]:
    """Everybody of the source has one seat, and no slot has more people than seats."""
    import polars as pl

    assert opened.plan is not None
    for step in opened.plan.steps:
        if not isinstance(step.release, AppointmentsRelease):
            continue
        settings = opened.settings(step)
        if settings is None or not isinstance(settings.slots, str):
            continue
        seated = opened.passed_on(step)
        people, slots = (opened.readings.read(name).frame for name in (settings.people, settings.slots))
        # People who had an appointment bring the columns of the slots along, which are filled in again.
        own = [name for name in people.columns if name not in slots.columns]
        same = seated.height == people.height and all(
            name in seated.columns and same_values(people[name], seated[name]) for name in own
        )
        text = f"{seated.height} people of step '{step.name}' are those of the source"
        yield Check(
            "people", same, text if same else f"the people of step '{step.name}' are not those of the source"
        )
        table = Slots.read(slots)
        room = pl.DataFrame({"slot": table.ids.cast(pl.String), "free": table.free})
        taken = seated.group_by(exactly(slot_column(seated)).cast(pl.String).alias("slot")).len()
        over = taken.join(room, on="slot", how="left").filter(
            pl.col("free").is_null() | (pl.col("len") > pl.col("free"))
        )
        words = f"{over.height} slots of step '{step.name}' have more people than seats"
        yield Check("seats", not over.height, words)


def _sums(opened: OpenedRelease) -> Iterator[Check]:
    """The cells of a table are the sums of the records of its source."""
    assert opened.plan is not None
    for step in opened.plan.steps:
        if isinstance(step.release, TableRelease) and step.release.sums:
            for name, passed, text in load(step.release.sums)(StepEvidence(opened, step)):
                yield not_judged(name, text) if passed is None else Check(name, passed, text)


def _losses(opened: OpenedRelease) -> Iterator[Check]:
    """What every step says it lost, measured again where its columns are published as it left them."""
    assert opened.plan is not None
    for step in opened.plan.steps:
        if step.as_records is None or not step.as_records.loss:
            continue
        found = measured_loss(opened, step)
        told = opened.figures(step.name)
        if found is None:
            yield not_judged(
                "loss", f"the loss of step '{step.name}' cannot be measured on what is published"
            )
            continue
        stated = (
            float(told["loss_percent"]) if "loss_percent" in told else 100.0 * float(told["losses"]["loss"])
        )
        same = math.isclose(found, stated, rel_tol=_CLOSE, abs_tol=_CLOSE)
        words = f"step '{step.name}' lost {found:.6g} percent" + (
            "" if same else f", and {stated:.6g} was stated"
        )
        yield Check("loss", same, words)


def measured_loss(opened: OpenedRelease, step: Step) -> float | None:
    """What a step lost, in percent; nothing if others changed its columns or left records out, or if it weighed columns."""
    release = step.as_records
    if release is None or not release.loss or getattr(step.settings, "attribute_weights", None):
        return None
    for output, last in opened.record_outputs():
        path = opened.path(last)
        original = opened.original(last)
        if step not in path or original is None:
            continue
        told = opened.figures(step.name)
        columns = list(told[release.states_columns])
        others = [item for item in path if item != step]
        frame = opened.frame(output.file)
        if not follows_unchanged(opened, others, columns) or not set(columns) <= set(frame.columns):
            continue
        links = opened.links(last)
        seen = links[links >= 0]
        if links.size != original.height or np.unique(seen).size != frame.height or seen.size != frame.height:
            return None
        # Records that another step left out were among those the loss was stated of.
        if links.size - seen.size != told.get("set_aside", told.get("suppressed_records")):
            return None
        pair = Records(opened, original, frame, links)
        percent: float | None = load(release.loss)(
            step.settings, opened.step_folder(step.name), pair, columns
        )
        return percent
    return None
