"""What everybody can check of a release: its public part, with the subtotals of tables where the internal one tells them."""

import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from shoal import sources
from shoal.errors import InputError
from shoal.exact_names import exactly
from shoal.numbers import counted
from shoal.release.fingerprints import file_digest
from shoal.release.folder import MANIFEST
from shoal.release.manifest import SHARED, k_guarantees
from shoal.release.release_reader import OpenedRelease
from shoal.release.verify.check import Check, fails, holds, not_judged, noted
from shoal.tables.public_table import PublicTable

# How many of a kind are named; the others are counted.
_NAMED = 5


def public_checks(opened: OpenedRelease) -> Iterator[Check]:
    """Files, hashes, K and sums."""
    listed = [str(item["file"]) for item in opened.outputs]
    there = sorted(path.relative_to(opened.public).as_posix() for path in opened.public.rglob("*"))
    missing = [name for name in listed if not (opened.public / name).is_file()]
    more = [name for name in there if name not in (*listed, MANIFEST)]
    for name in missing:
        yield fails("files", f"'{name}' is not there")
    for name in more:
        yield fails("files", f"'{name}' is in no manifest")
    links = [path for path in (opened.public, *opened.public.rglob("*")) if path.is_symlink()]
    for path in links:
        yield fails("files", f"'{path.name}' is a link; everything in a public part is a file of its own")
    if not missing and not more and not links:
        yield holds("files", f"{counted(len(listed), 'file')}, and nothing else")
    yield from _promises(opened)
    for item in opened.outputs:
        file = str(item["file"])
        if file in missing:
            continue
        same = file_digest(opened.public / file) == item["sha256"]
        yield Check("hash", same, f"'{file}' is {'what' if same else 'not what'} the manifest says")
        if file.lower().endswith(".xlsx"):
            yield from _members(opened.public / file)
        try:
            yield from _of_kind(opened, item)
        except InputError as problem:
            yield fails(str(item.get("kind", "file")), f"'{file}' cannot be read: {problem}")


def _members(path: Path) -> Iterator[Check]:
    """A workbook is packed: nothing is in it besides the parts of one sheet."""
    try:
        with zipfile.ZipFile(path) as packed:
            names, comment = packed.namelist(), packed.comment
    except (zipfile.BadZipFile, OSError):
        # That it cannot be read is told where it is.
        return
    with tempfile.TemporaryDirectory() as aside:
        plain = Path(aside) / "plain.xlsx"
        sources.write(pl.DataFrame({"a": ["b"]}), plain)
        with zipfile.ZipFile(plain) as packed:
            usual = packed.namelist()
    more = sorted(set(names) - set(usual)) + [name for name in set(names) if names.count(name) > 1]
    for name in more:
        yield fails("files", f"'{name}' is packed in '{path.name}' besides its sheet")
    if comment:
        yield fails("files", f"'{path.name}' is packed with a comment")


def _promises(opened: OpenedRelease) -> Iterator[Check]:
    """Guarantees of K are those that the figures of the outputs make; whether others hold only the internal part tells."""
    told = [str(text) for text in opened.manifest.get("guarantees", [])]
    made = k_guarantees(opened.outputs)
    of_k = [text for text in told if SHARED in text or text in made]
    if sorted(of_k) != sorted(made):
        yield fails("guarantees", "what the manifest guarantees of K is not what its outputs state")
    elif made:
        yield holds("guarantees", "what is guaranteed of K is what the outputs state")
    others = len(told) - len(of_k)
    if others and opened.internal is None:
        text = f"{others} other guarantees cannot be checked from the public part alone"
        yield not_judged("guarantees", text, others)


def _of_kind(opened: OpenedRelease, item: Mapping[str, Any]) -> Iterator[Check]:
    if item.get("kind") == "records":
        yield from _records(opened.frame(str(item["file"])), item)
    elif item.get("kind") == "table":
        yield from _table(opened, item)
    elif item.get("kind") == "changed table" and item.get("adds_up"):
        yield _added_up(str(item["file"]), _read_table(opened, item))


def _records(frame: pl.DataFrame, item: Mapping[str, Any]) -> Iterator[Check]:
    import shoal

    file = item["file"]
    if isinstance(item.get("k"), int) and isinstance(item.get("quasi"), list):
        keys = [str(name) for name in item["quasi"]]
        lacking = [
            name for name in (*keys, item.get("unit")) if name is not None and name not in frame.columns
        ]
        if lacking or not keys:
            what = f"'{file}' has no column '{lacking[0]}'" if lacking else f"no key of '{file}' is named"
            yield fails("k", f"{what}, over which K is guaranteed")
            return
        unit = item.get("unit")
        found = counted_k(frame, keys, unit)
        text = f"K of '{file}' is {found} over {', '.join(keys)}, and {item['k']} is guaranteed"
        if "unit" in item and unit is None and found >= item["k"]:
            why = "records were counted, of which a unit may have several, and only the internal part tells whose they are"
            yield not_judged("k", f"{text}; {why}")
        else:
            yield Check("k", found >= item["k"], text)
    guessed = [guess.column for guess in shoal.guess_roles(frame) if guess.role == "quasi-identifier"]
    if guessed:
        text = f"K of '{file}' is {counted_k(frame, guessed)} over all that looks like a key: {', '.join(guessed)}"
        yield noted("k, guessed", text)


def counted_k(frame: pl.DataFrame, keys: list[str], unit: str | pl.Series | None = None) -> int:
    """The fewest units, or records, that share their keys; a missing value is one of its own.

    >>> import polars as pl
    >>> counted_k(pl.DataFrame({"sex": ["f", "f", "m", "m", "m"]}), ["sex"])
    2
    """
    if not keys or not frame.height:
        return frame.height
    texts = frame.select(exactly(name).cast(pl.String).alias(f"key {n}") for n, name in enumerate(keys))
    units = frame[unit] if isinstance(unit, str) else unit
    whose = pl.Series("who", range(frame.height)) if units is None else units.alias("who")
    counts = texts.with_columns(whose).group_by(texts.columns).agg(pl.col("who").n_unique())
    return int(min(counts["who"].to_list()))


def _table(opened: OpenedRelease, item: Mapping[str, Any]) -> Iterator[Check]:
    file = str(item["file"])
    table = _read_table(opened, item)
    yield _added_up(file, table)
    found = table.intervals()
    if found is None:
        yield fails("hidden cells", f"no figures of the hidden cells of '{file}' fit those that are shown")
        return
    exact = [key for key, (low, high) in found.items() if high - low <= 1e-6 * max(1e-9, abs(low), abs(high))]
    text = f"{len(found)} cells of '{file}' are hidden; {len(exact)} of them can be computed exactly"
    yield noted("hidden cells", text)


def _read_table(opened: OpenedRelease, item: Mapping[str, Any]) -> PublicTable:
    file = str(item["file"])
    subtotals = [str(name) for name in item.get("subtotals", [])]
    return PublicTable.of(opened.written(file), hierarchies_of(opened, file), subtotals)


def _added_up(file: str, table: PublicTable) -> Check:
    """All totals that are shown with their parts."""
    wrong = table.wrong()
    if wrong:
        return fails(
            "additivity", f"{len(wrong)} totals of '{file}' are not the sum of their parts: {_some(wrong)}"
        )
    left = f"; those of {', '.join(table.unknown)} were not" if table.unknown else ""
    return holds("additivity", f"{len(table.relations)} totals of '{file}' were added up{left}")


def _some(numbers: tuple[int, ...]) -> str:
    named = ", ".join(f"cell {number}" for number in numbers[:_NAMED])
    return named + (f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else "")


def hierarchies_of(opened: OpenedRelease, file: str) -> dict[str, dict[str, str]]:
    """The subtotals of the dimensions of a published table, where the internal part tells them."""
    table = None if opened.plan is None else opened.table(opened.step_of(file))
    trees = {} if table is None else table.trees
    return {
        name: {
            str(code): "" if tree.parent[place] == 0 else str(tree.codes[tree.parent[place]])
            for place, code in enumerate(tree.codes)
            if place
        }
        for name, tree in trees.items()
    }
