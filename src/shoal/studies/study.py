"""The frame in which a published experiment is repeated: steps that can be resumed, rows that can be compared.

A study is a list of steps; a step makes rows, each a published figure beside the one measured here. After every step
its rows are kept in the results folder, so that an interrupted study goes on where it stopped. At the end, and when a
study is interrupted, the folder holds ``rows.csv``, ``table.md``, charts and other files of what is done.
"""

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal._version import __version__
from shoal.errors import InputError, unknown
from shoal.search import Seeds
from shoal.sources.atomic import atomically

# name -> where its ``STUDY`` is; loaded when it is run.
STUDIES: dict[str, str] = {
    "anonymity-vectors": "shoal.studies.anonymity_vectors",
    "ils-microaggregation": "shoal.studies.ils_microaggregation",
    "gomm": "shoal.studies.gomm",
    "rooms": "shoal.studies.rooms",
    "screening": "shoal.studies.screening",
    "cell-suppression": "shoal.studies.cell_suppression",
}


@dataclass(frozen=True)
class Row:
    """One published figure and ours. ``published`` is ``None`` where the work prints nothing to compare with."""

    table: str
    case: str
    measure: str
    published: float | str | None
    measured: float | str | None
    note: str = ""


@dataclass(frozen=True)
class Scope:
    """How much of a study to run: a few runs (``quick``) or all, with which seed and how many threads."""

    quick: bool = False
    seed: int = 0
    threads: int = 1

    def seeds(self, *place: str | int) -> Seeds:
        """The random stream at a place of the study."""
        return Seeds(self.seed).child(*place)


@dataclass(frozen=True)
class Findings:
    """What a step found: its rows, and curves (by name) for the charts."""

    rows: Sequence[Row]
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """A part of a study that is run in one go and then kept; it may return rows alone."""

    key: str
    title: str
    run: Callable[[Scope], Sequence[Row] | Findings]


@dataclass(frozen=True)
class Study:
    """A published experiment: where it comes from, and the steps that repeat it.

    From the rows and curves of all steps that are done, ``closing`` makes the rows that need several of them,
    ``charts`` draws pictures, by name, and ``files`` writes further files, by name.
    """

    name: str
    title: str
    source: str
    steps: Callable[[Scope], Sequence[Step]]
    remarks: tuple[str, ...] = ()
    needs: tuple[str, ...] = field(default=())
    closing: Callable[[Findings], Sequence[Row]] | None = None
    charts: Callable[[Findings], dict[str, str]] | None = None
    files: Callable[[Findings], dict[str, str]] | None = None


def load(name: str) -> Study:
    """The study of this name."""
    if name not in STUDIES:
        raise unknown("study", name, STUDIES)
    study: Study = import_module(STUDIES[name]).STUDY
    return study


def benchmark_file(relative: str) -> Path:
    """A file below the folder ``SHOAL_DATA`` names; an ``InputError`` says what is missing."""
    folder = os.environ.get("SHOAL_DATA")
    if not folder:
        raise InputError(f"set SHOAL_DATA to the folder with the benchmark data; it should hold {relative}")
    path = Path(folder) / relative
    if not path.exists():
        raise InputError(f"the benchmark file {relative} is not in the folder SHOAL_DATA names")
    return path


def run(
    study: Study,
    scope: Scope,
    folder: Path,
    *,
    tell: Callable[[int, int, str], None] = lambda done, total, title: None,
    again: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> list[Row]:
    """Run the steps that are not done yet and return the rows of all that are.

    Steps done by another version, seed or scope are run again. ``stop`` is asked between two steps.
    """
    for relative in study.needs:
        benchmark_file(relative)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError(f"results cannot be kept in '{folder}': no folder can be made there") from None
    steps = list(study.steps(scope))
    rows: list[Row] = []
    curves: dict[str, list[tuple[float, float]]] = {}
    try:
        for place, step in enumerate(steps):
            tell(place, len(steps), step.title)
            kept = None if again else _kept(folder, step, scope)
            if kept is None:
                if stop():
                    break
                found = step.run(scope)
                kept = found if isinstance(found, Findings) else Findings(list(found))
                _keep(folder, step, scope, kept)
            rows.extend(kept.rows)
            curves.update(kept.curves)
        else:
            tell(len(steps), len(steps), "done")
    except KeyboardInterrupt:
        _publish(study, folder, rows, curves)
        raise
    return _publish(study, folder, rows, curves)


def _publish(
    study: Study, folder: Path, rows: list[Row], curves: dict[str, list[tuple[float, float]]]
) -> list[Row]:
    """Write what the steps that are done amount to; returns all rows."""
    if study.closing is not None:
        rows = [*rows, *study.closing(Findings(rows, curves))]
    found = Findings(rows, curves)
    texts = {"rows.csv": to_csv(rows), "table.md": to_markdown(study, rows)}
    if study.charts is not None:
        texts.update({f"{name}.svg": svg for name, svg in study.charts(found).items()})
    if study.files is not None:
        texts.update(study.files(found))
    for name, text in texts.items():
        _write(folder / name, text)
    return rows


def _place(folder: Path, step: Step) -> Path:
    return folder / "steps" / f"{step.key}.json"


def _mark(scope: Scope) -> dict[str, Any]:
    return {"version": __version__, "seed": scope.seed, "quick": scope.quick}


def _kept(folder: Path, step: Step, scope: Scope) -> Findings | None:
    try:
        stored = json.loads(_place(folder, step).read_text(encoding="utf-8"))
        if stored["made"] != _mark(scope):
            return None
        curves = {name: [(x, y) for x, y in points] for name, points in stored["curves"].items()}
        return Findings([Row(**row) for row in stored["rows"]], curves)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _keep(folder: Path, step: Step, scope: Scope, found: Findings) -> None:
    path = _place(folder, step)
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = {"made": _mark(scope), "rows": [asdict(row) for row in found.rows], "curves": found.curves}
    _write(path, json.dumps(stored, indent=1))


def _write(path: Path, text: str) -> None:
    with atomically(path, force=True) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def to_csv(rows: Iterable[Row]) -> str:
    """The rows as CSV text."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [column.name for column in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return out.getvalue()


def to_markdown(study: Study, rows: Sequence[Row]) -> str:
    """The rows as one Markdown table per published table."""
    lines = [f"# {study.title}", "", f"Source: {study.source}", ""]
    lines += [f"- {remark}" for remark in study.remarks] + ([""] if study.remarks else [])
    for table in dict.fromkeys(row.table for row in rows):
        lines += [
            f"## {table}",
            "",
            "| case | measure | published | measured | note |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {row.case} | {row.measure} | {_figure(row.published)} | {_figure(row.measured)} | {row.note} |"
            for row in rows
            if row.table == table
        ]
        lines.append("")
    return "\n".join(lines)


def _figure(value: float | str | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
