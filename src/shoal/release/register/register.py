"""A register of releases, kept where they are written: a second one of the same records must be meant.

Two releases of the same records, differently protected, give away more than either: differences undo what protects.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, parameter
from shoal.exact_names import exactly
from shoal.release.fingerprints import settings_digest
from shoal.release.folder import INTERNAL, write_private
from shoal.release.lock import in_turn
from shoal.release.plan.own_steps import read_key
from shoal.release.plan.plan import Plan
from shoal.release.register.record_keys import RecordKeys, keys_path
from shoal.runtime.secrets import Secret

REGISTER = ".shoal-register.json"


@dataclass(frozen=True)
class Traces:
    """By what a release is known again: its records, its settings, its secret. Digests, never kept without a key."""

    inputs: frozenset[str] = field(repr=False)
    settings: str = field(repr=False)
    secret: str = field(repr=False)

    @classmethod
    def of(
        cls,
        plan: Plan,
        frames: Mapping[str, pl.DataFrame],
        secret: Secret,
        files: Mapping[str, str] | None = None,
    ) -> "Traces":
        """Those of a plan; ``frames`` are its sources, ``files`` the digests of what is read beside them. Only records that
        something is released of count.
        """
        released = {plan.source_of(item.step) for item in plan.outputs}
        # Without a step that draws from it another secret changes nothing.
        drawn = any(step.release.drawn(step.values) for step in plan.steps)
        return cls(
            frozenset(content_digest(frames[name]) for name in released),
            _digest([*requested(plan), dict(files or {})]),
            _digest([secret.content.hex(), *_outer_keys(plan, secret)] if drawn else None),
        )


def content_digest(frame: pl.DataFrame) -> str:
    """SHA-256 of the records of a frame, whatever the order of its rows and columns.

    >>> one, two = pl.DataFrame({"a": [1, 2], "b": [3, 4]}), pl.DataFrame({"b": [4, 3], "a": [2, 1]})
    >>> content_digest(one) == content_digest(two)
    True
    """
    names = sorted(frame.columns)
    ordered = pl.DataFrame([_texts(frame[name]) for name in names]).sort(exactly(*names), nulls_last=True)
    return hashlib.sha256((json.dumps(names) + ordered.write_csv(null_value="\0")).encode()).hexdigest()


def _texts(column: pl.Series) -> pl.Series:
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        return pl.Series(column.name, [repr(item) for item in column.to_list()], dtype=pl.String)
    return column.cast(pl.String)


def requested(plan: Plan) -> list[Any]:
    """What a plan asks for: its steps with their settings, its seed and its outputs; gates change nothing that is released."""
    steps = [[step.do, step.name, dict(step.values)] for step in plan.steps]
    outputs = [[item.file, item.step, item.product] for item in plan.outputs]
    return [steps, plan.about.seed, outputs]


def _outer_keys(plan: Plan, secret: Secret) -> list[str]:
    """The keys of pseudonyms, which come from outside the plan."""
    return [
        settings_digest(read_key(step.outer_key, plan.folder).hex(), secret)
        for step in plan.steps
        if step.outer_key is not None
    ]


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True)
class Entry:
    """One release that was made. Everything of it stands under a key of its own."""

    folder: str
    created: str
    key: str = field(repr=False)
    inputs: tuple[str, ...] = field(repr=False)
    settings: str = field(repr=False)
    secret: str = field(repr=False)

    @classmethod
    def of(cls, traces: Traces, folder: str, created: str) -> "Entry":
        """A new entry."""
        key = Secret.new().content.hex()
        inputs = tuple(sorted(_keyed(key, item) for item in traces.inputs))
        return cls(folder, created, key, inputs, _keyed(key, traces.settings), _keyed(key, traces.secret))

    def has_records_of(self, traces: Traces) -> bool:
        """Whether it released some of the same records."""
        return any(_keyed(self.key, item) in self.inputs for item in traces.inputs)

    def is_like(self, traces: Traces) -> bool:
        """Whether it had the same settings and the same secret, so that it released the same."""
        return (
            _keyed(self.key, traces.settings) == self.settings
            and _keyed(self.key, traces.secret) == self.secret
        )


def _keyed(key: str, digest: str) -> str:
    return hmac.new(bytes.fromhex(key), digest.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Register:
    """The releases that were written into one folder."""

    path: Path

    @classmethod
    def beside(cls, release: Path) -> "Register":
        """That of the folder in which a release stands."""
        return cls(release.parent / REGISTER)

    def entries(self) -> tuple[Entry, ...]:
        """All releases that are remembered."""
        if not self.path.exists():
            return ()
        try:
            content = self._content()
            return tuple(Entry(**{**item, "inputs": tuple(item["inputs"])}) for item in content["releases"])
        except (KeyError, TypeError):
            raise self._damaged() from None

    @property
    def key(self) -> bytes | None:
        """The key under which records are known again in all releases of this folder."""
        if not self.path.exists():
            return None
        kept = self._content().get("key")
        return None if kept is None else bytes.fromhex(kept)

    def _content(self) -> dict[str, Any]:
        try:
            content: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
            _ = bytes.fromhex(content.get("key", ""))
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            raise self._damaged() from None
        return content

    def _damaged(self) -> InputError:
        return InputError(
            f"the register of releases '{self.path.name}' cannot be read; without it nobody knows what was released "
            "before: mend it, or move it away"
        )

    def _has_most_of(self, entry: Entry, keys: Mapping[str, RecordKeys]) -> bool:
        """Whether an earlier release, if it is still there, has more than half of the records of a source as they are."""
        places = {name: keys_path(self.path.parent / entry.folder / INTERNAL, name) for name in keys}
        return any(
            2 * keys[name].shared_rows(RecordKeys.read(place)) > keys[name].rows.size
            for name, place in places.items()
            if place.exists()
        )

    def expect_new(self, traces: Traces, keys: Mapping[str, RecordKeys] | None = None) -> None:
        """Refuse a second release of the same records, or of most of them, that differs from an earlier one."""
        for entry in self.entries():
            same = entry.has_records_of(traces)
            if not (same or self._has_most_of(entry, keys or {})) or (same and entry.is_like(traces)):
                continue
            which = "these records were" if same else "most of these records were"
            what = (
                "another secret" if _keyed(entry.key, traces.settings) == entry.settings else "other settings"
            )
            raise InputError(
                f"{which} released before, in '{entry.folder}' ({entry.created}), with {what}: both together may give "
                f"away what neither does; {parameter('another')} goes on all the same, {parameter('repeat')} repeats it"
            )

    def remember(self, traces: Traces, folder: str, created: str, key: bytes) -> None:
        """Add a release, and ``key`` if there is none yet; one that is repeated is there already, unless it stands elsewhere."""
        with in_turn(self.path.parent):
            self._add(traces, folder, created, key)

    def _add(self, traces: Traces, folder: str, created: str, key: bytes) -> None:
        known = self.entries()
        if any(
            entry.folder == folder and entry.has_records_of(traces) and entry.is_like(traces)
            for entry in known
        ):
            return
        every = [*known, Entry.of(traces, folder, created)]
        key = self.key or key
        content = {
            "note": "internal: not for publication",
            "key": key.hex(),
            "releases": [vars(entry) for entry in every],
        }
        write_private(self.path, json.dumps(content, indent=1) + "\n")
