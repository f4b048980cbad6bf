"""A release beside the data it was made of: the same inputs, the same records, and what was lost on the way."""

import hmac
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal import sources
from shoal.appointments.people.slots import Slots
from shoal.exact_names import exactly
from shoal.operations import OPERATIONS
from shoal.release.fingerprints import input_fingerprint
from shoal.release.folder import SECRET
from shoal.release.gates.appointments import appointments_of, slot_column
from shoal.release.gates.judge import Released, comparison
from shoal.release.plan.plan import Output, Step, named_files, settings_model
from shoal.release.plan.workplace import PlanWorkplace
from shoal.release.release_reader import OpenedRelease
from shoal.release.verify.changed_columns import follows_unchanged, touched
from shoal.release.verify.check import Check, fails, holds, not_judged
from shoal.release.verify.figures import figure_checks
from shoal.runtime.secrets import Secret
from shoal.settings import checked
from shoal.tables.model.columns import MISSING

if TYPE_CHECKING:
    import polars as pl

_CLOSE = 1e-6


def original_checks(opened: OpenedRelease) -> Iterator[Check]:
    """Inputs, records and losses."""
    yield from _inputs(opened)
    yield from _files_beside(opened)
    for output, step in opened.record_outputs():
        yield from _records(opened, output, step)
    yield from _tabulated(opened)
    yield from _appointments(opened)
    yield from _losses(opened)
    yield from figure_checks(opened)


def _inputs(opened: OpenedRelease) -> Iterator[Check]:
    assert opened.originals is not None and opened.inside is not None and opened.internal is not None
    secret = Secret.read(opened.internal / SECRET)
    for name, told in opened.inside["inputs"].items():
        place = opened.originals.place(name)
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
        text = f"{len(kept)} columns of '{output.file}' that no step changes are as they were"
        yield holds("records", text)


def _appointments(opened: OpenedRelease) -> Iterator[Check]:
    """Everybody of the source has one seat, and no slot has more people than seats."""
    import polars as pl

    assert opened.plan is not None
    for step in opened.plan.steps:
        values = opened.values(step)
        if step.do != "assign" or values is None or not isinstance(values.get("slots"), str):
            continue
        seated = appointments_of(opened.step_folder(step.name))
        people, slots = (sources.read(str(values[name])).frame for name in ("people", "slots"))
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


def _tabulated(opened: OpenedRelease) -> Iterator[Check]:
    """The cells of a table that are no totals are the sums of the records of its source."""
    import polars as pl

    assert opened.plan is not None
    for step in opened.plan.steps:
        settings: Any = step.settings
        original = opened.original(step)
        if step.do != "tabulate" or original is None:
            continue
        before = [item for item in opened.path(step) if item != step]
        used = [*settings.dimensions, *[name for name in (settings.value, settings.weight) if name]]
        if not follows_unchanged(opened, before, used) or any(item.do == "perturb" for item in before):
            yield not_judged(
                "table", f"the records of step '{step.name}' were changed before they were added up"
            )
            continue
        amount = pl.lit(1.0) if settings.value is None else exactly(settings.value).cast(pl.Float64)
        weight = pl.lit(1.0) if settings.weight is None else exactly(settings.weight).cast(pl.Float64)
        names = [exactly(name).cast(pl.String) for name in settings.dimensions]
        sums = (
            _taking_part(original, settings)
            .select(*names, (amount * weight).alias("sum of it"))
            .group_by(exactly(*settings.dimensions))
            .sum()
        )
        cells = sources.read(str(opened.step_folder(step.name) / "cells.csv")).as_written
        told = cells.select(*names, pl.col("value").cast(pl.Float64).alias("as told"))
        both = sums.join(told, on=[exactly(name) for name in settings.dimensions], how="left")
        wrong = int((~np.isclose(both["sum of it"].to_numpy(), both["as told"].to_numpy(), rtol=1e-8)).sum())
        text = f"{wrong} cells of step '{step.name}' are not the sum of their records, of {both.height}"
        yield Check("table", not wrong, text)
        if step.inputs[0] in opened.plan.sources:
            yield _rules(opened, step, cells)


def _taking_part(original: "pl.DataFrame", settings: Any) -> "pl.DataFrame":
    """The records that a table is made of, with the code that missing ones get where they have one."""
    import polars as pl

    def told(name: str) -> pl.Expr:
        text = exactly(name).cast(pl.String)
        return pl.when(text != "").then(text)

    own_code = settings.missing == "category"
    needed = [name for name in (settings.value, settings.weight, settings.cost) if name in original.columns]
    if not own_code:
        needed += [*settings.dimensions, *([settings.contributor] if settings.contributor else [])]
    found = original.filter(*(told(name).is_not_null() for name in needed)) if needed else original
    if own_code:
        found = found.with_columns(told(name).fill_null(MISSING) for name in settings.dimensions)
    return found


def _rules(opened: OpenedRelease, step: Step, cells: "pl.DataFrame") -> Check:
    """The rules find the same cells sensitive in the records, with the same levels."""
    assert opened.originals is not None
    values = opened.values(step)
    assert values is not None
    settings: Any = checked(settings_model(step.do), values)
    operation = OPERATIONS["tabulate"]
    result = operation.run(settings, PlanWorkplace(opened.originals.folder, {}))
    made = next(item for item in operation.products if item.name == "output").make(result, settings)
    with tempfile.TemporaryDirectory(dir=opened.internal) as aside:
        sources.write(made, Path(aside) / "cells.csv")
        again = sources.read(str(Path(aside) / "cells.csv")).as_written
    same = again.columns == cells.columns and again.height == cells.height
    differing = [name for name in cells.columns if not same or not same_values(again[name], cells[name])]
    if differing:
        return fails(
            "rules", f"{', '.join(differing)} of the cells of step '{step.name}' are not what the rules give"
        )
    return holds("rules", f"the cells of step '{step.name}' are sensitive by the rules of the plan")


def same_values(before: "pl.Series", after: "pl.Series") -> bool:
    """Whether two columns hold the same; numbers may differ in their last digits."""
    import polars as pl

    if before.dtype.is_numeric() and after.dtype.is_numeric():
        one, two = (item.cast(pl.Float64).fill_null(math.nan).to_numpy() for item in (before, after))
        return bool(np.isclose(one, two, rtol=1e-9, atol=0.0, equal_nan=True).all())
    return before.cast(pl.String).to_list() == after.cast(pl.String).to_list()


def _losses(opened: OpenedRelease) -> Iterator[Check]:
    """What every step says it lost, measured again where its columns are published as it left them."""
    assert opened.plan is not None
    for step in opened.plan.steps:
        if step.do not in ("microaggregate", "recode"):
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
    if getattr(step.settings, "attribute_weights", None):
        return None
    for output, last in opened.record_outputs():
        path = opened.path(last)
        original = opened.original(last)
        if step not in path or original is None:
            continue
        columns = _columns(opened, step)
        others = [item for item in path if item != step]
        frame = opened.frame(output.file)
        if not follows_unchanged(opened, others, columns) or not set(columns) <= set(frame.columns):
            continue
        links = opened.links(last)
        seen = links[links >= 0]
        if links.size != original.height or np.unique(seen).size != frame.height or seen.size != frame.height:
            return None
        told = opened.figures(step.name)
        # Records that another step left out were among those the loss was stated of.
        if links.size - seen.size != told.get("set_aside", told.get("suppressed_records")):
            return None
        found = Released(original, frame, links, dict.fromkeys(columns, "measurement"))
        return _of_numbers(found) if step.do == "microaggregate" else _of_keys(opened, step, found)
    return None


def _columns(opened: OpenedRelease, step: Step) -> list[str]:
    told = opened.figures(step.name)
    return list(told["columns"] if step.do == "microaggregate" else told["quasi"])


def _of_numbers(found: Released) -> float:
    return float(comparison(found, ("measurement",), attacks=[]).sse_percent)


def _of_keys(opened: OpenedRelease, step: Step, found: Released) -> float | None:
    """The share of values a label stands for, over the keys; only where one mapping was applied to all."""
    import narwhals as nw

    from shoal.microdata.recoding.mapping import AppliedMapping
    from shoal.microdata.recoding.verify import leaves_under

    place = opened.step_folder(step.name) / "mapping.json"
    settings: Any = step.settings
    if not place.exists() or settings.measure != "loss":
        return None
    mapping = AppliedMapping.read(place)
    trees = mapping.hierarchies(nw.from_native(found.original, eager_only=True))
    importance = dict.fromkeys(mapping.names, 1.0) | dict(settings.weights or {})
    lost = 0.0
    for name in mapping.names:
        tree, level = trees[name], mapping.levels[name]
        leaves = leaves_under(tree)[level]
        others = max(1, len(tree.rows) - 1)
        rates = {
            label: 1.0 if level == tree.height else (count - 1) / others for label, count in leaves.items()
        }
        shown = [None if item is None else str(item) for item in found.frame[name].to_list()]
        # A value that was blanked, and a record that was left out, lose everything.
        own = sum(rates.get(label, 1.0) for label in shown) + (found.original.height - len(shown))
        lost += importance[name] * own
    return 100.0 * lost / (found.original.height * sum(importance[name] for name in mapping.names))
