"""Microaggregation of Parquet files larger than memory: the block method of a cluster, leaf after leaf on one machine."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from shoal.errors import InputError, parameter
from shoal.microdata.columns.inputs import Missing
from shoal.microdata.microaggregation.aggregate import Aggregate
from shoal.microdata.microaggregation.leaves.conclusion import Counted, claims_of, conclude
from shoal.microdata.microaggregation.leaves.leaf_search import canonical_order
from shoal.microdata.microaggregation.leaves.leaf_work import LeafWork
from shoal.microdata.microaggregation.leaves.moments import Moments
from shoal.microdata.microaggregation.leaves.overview import Overview
from shoal.microdata.microaggregation.leaves.plan import LeafPlan, plan_leaves
from shoal.microdata.microaggregation.leaves.request import LOOKED_AT, Request, read_request
from shoal.microdata.microaggregation.leaves.result import LargeMicroaggregation
from shoal.microdata.microaggregation.leaves.scale import scaling
from shoal.microdata.microaggregation.leaves.splitting import WHOLE_STRATUM
from shoal.microdata.microaggregation.leaves.steps import Steps
from shoal.runtime.observer import Observer, silent
from shoal.stream.classes import count_classes
from shoal.stream.memory import Room, room_for, row_bytes, typical_bytes
from shoal.stream.overview import exact_sums, moments_after, overview
from shoal.stream.records import Source, as_number, as_unchanged, kind_of, some_records
from shoal.stream.release import PartedRelease
from shoal.stream.spill import Spill
from shoal.stream.splitting import Numbered
from shoal.stream.strata import Roots, find_roots
from shoal.stream.verify import ReleaseCheck
from shoal.stream.writing import stage_folder


def microaggregate(
    data: str,
    k: int = 5,
    *,
    columns: Sequence[str] | None = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    aggregate: Aggregate = "mean",
    by: Sequence[str] = (),
    missing: Missing = "refuse",
    attribute_weights: Mapping[str, float] | None = None,
    largest: int | None = None,
    drop: Sequence[str] = (),
    quasi: Sequence[str] | None = None,
    roles: Mapping[str, str] | None = None,
    unit: str | None = None,
    iterations: int | None = None,
    seed: int | None = 0,
    memory: float | None = None,
    observer: Observer = silent,
) -> LargeMicroaggregation:
    """Replace records of Parquet files by the means of groups of at least k, holding few of them at a time.

    ``data`` is a file, a folder or a pattern; ``memory`` the most memory to use, in GB. With ``unit`` every group holds at
    least k distinct units. Records in between are in the folder for temporary files (``TMPDIR``) until ``close()``.
    ``frame`` of the result is a plan of Polars that reads the release.

    >>> safe = shoal.stream.microaggregate.microaggregate("firms/", k=3, columns=["turnover"])  # doctest: +SKIP
    """
    steps = Steps(observer, monotonic())
    steps.reading()
    source = Source(data)
    if not source.records:
        raise InputError("there are no records")
    some = source.plan.head(10_000).collect(engine="streaming")
    bytes_of_one = row_bytes(some)
    looking = room_for(memory, bytes_of_one, len(source.schema), LOOKED_AT)
    request = read_request(
        source.schema.names(),
        lambda name: kind_of(source.schema[name]),
        lambda name: str(source.schema[name]),
        lambda: some_records(source, LOOKED_AT, looking.slice),
        k=k,
        columns=columns,
        method=method,
        options=options,
        aggregate=aggregate,
        by=by,
        missing=missing,
        attribute_weights=attribute_weights,
        largest=largest,
        drop=drop,
        quasi=quasi,
        roles=roles,
        unit=unit,
        iterations=iterations,
        seed=seed,
    )
    typical = typical_bytes(request.looked_at.to_native(), row_bytes(some.select(cs.nested())))
    at_most = max(bytes_of_one, typical)
    room = room_for(memory, at_most, len(request.columns), request.options.leaf, typical)
    if room.leaf < 2 * k:
        raise InputError(f"{parameter('memory')} is too little for records of this size")
    request = replace(request, options=request.options.model_copy(update={"leaf": room.leaf}))
    scratch = Path(tempfile.mkdtemp(prefix="shoal-stream-"))
    try:
        return Streaming(source, request, room, scratch, steps).release()
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise


class Streaming:
    """One microaggregation, pass after pass."""

    def __init__(self, source: Source, request: Request, room: Room, scratch: Path, steps: Steps) -> None:
        self.source, self.request, self.room, self.scratch = source, request, room, scratch
        self.steps = steps
        names = source.schema.names()
        self.kept, self.rest = request.unchanged(names), request.carried(names)
        self.numbers = [f"x{place}" for place in range(len(request.columns))]
        self.expressions = tuple(
            as_number(name, source.schema[name]).alias(own)
            for own, name in zip(self.numbers, request.columns, strict=True)
        )

    def release(self) -> LargeMicroaggregation:
        """All of it."""
        request, source, size = self.request, self.source, self.room.slice
        known = overview(source, size, self.expressions, request, self.kept)
        roots = find_roots(source, size, self.expressions, request, known.records)
        sums, before = exact_sums(source, size, self.expressions, known)
        self.steps.search()
        numbered = Numbered(source, self.expressions, size, roots, request.seed, request.k, request.unit)
        plan = plan_leaves(numbered, scaling(sums, request.weights), roots.sizes, known.distinct, request)
        release = PartedRelease(
            source.schema, request, self.rest, -(-known.records // self.room.part), self.scratch
        )
        self._group(release, roots, plan, LeafWork.of(request, plan, known.records))
        parts = release.parts()
        for done in ("leaves", "shifted"):
            shutil.rmtree(self.scratch / done, ignore_errors=True)
        return self._result(release, parts, known, plan, roots, before)

    def _group(self, release: PartedRelease, roots: Roots, plan: LeafPlan, work: LeafWork) -> None:
        """Three times on disk: by leaf, by shifted leaf, and by what is released."""
        by_leaf = self._by_leaf(roots, plan)
        shifted = Spill(self.scratch / "shifted")
        above = max(plan.searched, default=-1) + 1
        for number in by_leaf.numbers:
            frame = by_leaf.take(number)
            values = frame.select(self.numbers).to_numpy()
            order = canonical_order(values, self._ties(frame))
            frame, values = frame[order], values[order]
            if number < 0:
                release.put(frame, values, work.crowded(values), work)
                continue
            # A stratum of its own begins where it begins on a cluster, whatever its number here.
            labels = work.grouped(values, self._units(frame), number if number < above else WHOLE_STRATUM)
            if work.shifted is None or number >= above:
                release.put(frame, values, labels, work)
                continue
            teams, nodes = work.sent_on(values, labels, number, frame["root"].to_numpy())
            shifted.put(frame.with_columns(pl.Series("team", teams)), nodes)
        for node in shifted.numbers:
            frame = shifted.take(node)
            values = frame.select(self.numbers).to_numpy()
            order = canonical_order(values, self._ties(frame), frame["team"].to_numpy())
            frame, values = frame[order], values[order]
            labels = work.improved(values, frame["team"].to_numpy(), self._units(frame), int(node))
            release.put(frame, values, labels, work)

    def _by_leaf(self, roots: Roots, plan: LeafPlan) -> Spill:
        """All complete records by the number of their leaf; small strata have numbers of their own."""
        spill, leaf_of = Spill(self.scratch / "leaves"), plan.leaf_of
        above = max(plan.searched, default=-1) + 1
        own = {key: above + place for place, key in enumerate(roots.small)}
        schema = self.source.schema
        rest = [as_unchanged(name, schema[name]).alias(f"r{place}") for place, name in enumerate(self.rest)]
        for frame in self.source.slices(self.room.slice, *self.expressions, *rest, *roots.columns):
            values, begins, keep = roots.of(frame, len(self.numbers))
            frame = frame.filter(pl.Series(keep))
            numbers = leaf_of(values, begins).astype(np.int64)
            numbers[begins < 0] = above
            if roots.columns and own:
                numbers = roots.looked_up(frame, own, numbers)
            spill.put(frame.drop(roots.names).with_columns(pl.Series("root", begins)), numbers)
        return spill

    def _ties(self, frame: pl.DataFrame) -> np.ndarray:
        """What tells records of the same values apart: a hash of all else they hold."""
        if not self.rest:
            return np.zeros(frame.height)
        return frame.select(f"r{place}" for place in range(len(self.rest))).hash_rows(seed=5).to_numpy()

    def _units(self, frame: pl.DataFrame) -> np.ndarray | None:
        """A number for each unit of a leaf; records without one are all of the same."""
        unit = self.request.unit
        if unit is None:
            return None
        whose = frame.select(f"r{self.rest.index(unit)}").to_series()
        codes: np.ndarray = np.unique(whose.hash().to_numpy(), return_inverse=True)[1].reshape(-1)
        return codes

    def _result(
        self,
        release: PartedRelease,
        parts: Path,
        known: Overview,
        plan: LeafPlan,
        roots: Roots,
        before: Moments,
    ) -> LargeMicroaggregation:
        request, room, scratch = self.request, self.room, self.scratch
        self.steps.verification()
        source = Source(str(parts))
        frame, with_unit = source.plan, release.with_unit()
        counted = frame if with_unit is None else with_unit
        numbers = [
            as_number(name, source.schema[name]).alias(own)
            for own, name in zip(self.numbers, request.columns, strict=True)
        ]
        found = Counted(
            sizes=release.sizes,
            sse=release.sse,
            measured=count_classes(counted, request.quasi, known.records, room.classes, request.unit),
            protected=count_classes(counted, request.columns, known.records, room.classes, request.unit),
            before=before,
            after=moments_after(source, room.slice, numbers, known),
            released_sums=release.marks,
        )
        claims = claims_of(request, list(self.kept), known, found)
        check = ReleaseCheck(claims, room.classes, room.slice, with_unit)
        result = conclude(
            request,
            "stream",
            self.source.schema.names(),
            known,
            plan,
            len(roots.small),
            found,
            claims.unchecked,
            self.steps.began,
            frame=frame,
            check=check,
            stage=lambda result, folder, force: stage_folder(parts, folder, force, check),
            close=lambda: shutil.rmtree(scratch, ignore_errors=True),
        )
        result.verify()
        return result
