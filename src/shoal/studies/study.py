"""The frame in which a published experiment is repeated: steps that can be resumed, rows that can be compared.

A study is a list of steps; a step makes rows, each a published figure beside the one measured here. After every step
its rows are kept in the results folder with the time it took, so that an interrupted study goes on where it stopped and can
say how much is left. At the end, and when a study is interrupted, the folder holds ``rows.csv``, ``table.md``, charts,
one page with all of it and other files of what is done.
"""

import csv
import io
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal._version import __version__
from shoal.errors import InputError, unknown
from shoal.runtime import Seeds
from shoal.sources.atomic import atomically

if TYPE_CHECKING:
    from shoal.studies.claims import Claim

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

    def seeds(self, *path: str | int) -> Seeds:
        """The random stream of a part of the study."""
        return Seeds(self.seed).child(*path)


@dataclass(frozen=True)
class Findings:
    """What steps measured: rows, and curves (by name) for the charts."""

    rows: Sequence[Row]
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


class Picture(NamedTuple):
    """A chart with the line that stands under it."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Step:
    """A part of a study that is run in one go and then kept; it may return rows alone.

    ``weight`` is its work beside that of others, as far as it is known: what is left is estimated by it.
    """

    key: str
    title: str
    run: Callable[[Scope], Sequence[Row] | Findings]
    weight: float = 1.0


@dataclass(frozen=True)
class Standing:
    """How far a study is: the step that begins now, and the seconds that were spent and are probably left.

    ``cpu`` are the seconds of the processor. ``left`` is ``None`` as long as nothing is known of how long a step takes.
    """

    done: int
    total: int
    title: str
    spent: float = 0.0
    left: float | None = None
    cpu: float = 0.0

    def __str__(self) -> str:
        return f"[{self.done}/{self.total}] {self.title}" + (
            f", about {in_words(self.left)} left" if self.left else ""
        )


def in_words(seconds: float) -> str:
    """A time as one says it.

    >>> in_words(42), in_words(400), in_words(9000)
    ('42 s', '7 min', '2.5 h')
    """
    if seconds < 120:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@dataclass(frozen=True)
class Study:
    """A published experiment: where it comes from, and the steps that repeat it.

    From the rows and curves of all steps that are done, ``closing`` makes the rows that need several of them,
    ``claims`` puts what the work says as rules, ``charts`` draws pictures, by name, and ``files`` writes further files.
    """

    name: str
    title: str
    source: str
    steps: Callable[[Scope], Sequence[Step]]
    remarks: tuple[str, ...] = ()
    needs: tuple[str, ...] = field(default=())
    closing: Callable[[Findings], Sequence[Row]] | None = None
    claims: "Callable[[Findings], Sequence[Claim]] | None" = None
    charts: Callable[[Findings], Mapping[str, Picture]] | None = None
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
    tell: Callable[[Standing], None] = lambda standing: None,
    again: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> list[Row]:
    """Run the steps that are not done yet and return the rows of all that are.

    Steps done by another version, seed or scope are run again. ``stop`` is asked between two steps; what is done by then
    is published as it is, and the next run goes on.
    """
    for relative in study.needs:
        benchmark_file(relative)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InputError(f"results cannot be kept in '{folder}': no folder can be made there") from None
    steps = list(study.steps(scope))
    known = {} if again else _finished_steps(folder, steps, scope)
    ended = False
    try:
        for step in steps:
            if step.key in known:
                continue
            tell(_standing(steps, known, step.title))
            if stop():
                break
            began, worked = time.monotonic(), time.process_time()
            measured = step.run(scope)
            findings = measured if isinstance(measured, Findings) else Findings(list(measured))
            known[step.key] = Finished(findings, time.monotonic() - began, time.process_time() - worked)
            _store(folder, step, scope, known[step.key])
        else:
            ended = True
    except KeyboardInterrupt:
        _publish(study, scope, folder, steps, known)
        raise
    rows = _publish(study, scope, folder, steps, known)
    if ended:
        tell(_standing(steps, known, "done"))
    return rows


class Finished(NamedTuple):
    """What a step measured, the seconds it took by the clock, and those of the processor."""

    findings: Findings
    seconds: float
    cpu_seconds: float = 0.0


def standing(study: Study, scope: Scope, folder: Path) -> Standing:
    """How far a study is in a results folder, without running anything."""
    steps = list(study.steps(scope))
    known = _finished_steps(folder, steps, scope)
    left = [step.title for step in steps if step.key not in known]
    return _standing(steps, known, left[0] if left else "done")


def _standing(steps: Sequence[Step], known: Mapping[str, Finished], title: str) -> Standing:
    spent = sum(finished.seconds for finished in known.values())
    done = sum(step.weight for step in steps if step.key in known)
    waiting = sum(step.weight for step in steps if step.key not in known)
    left = spent / done * waiting if done and spent else None
    cpu = sum(finished.cpu_seconds for finished in known.values())
    return Standing(len(known), len(steps), title, spent, left if waiting else 0.0, cpu)


def _publish(
    study: Study, scope: Scope, folder: Path, steps: Sequence[Step], known: Mapping[str, Finished]
) -> list[Row]:
    """Write what the steps that are done amount to; returns all rows."""
    from shoal.studies.page import page

    measured = gathered([known[step.key].findings for step in steps if step.key in known])
    rows = concluded(study, measured)
    findings = Findings(rows, measured.curves)
    now = _standing(steps, known, "")
    pictures = study.charts(findings) if study.charts is not None else {}
    texts = {"rows.csv": to_csv(rows), "table.md": to_markdown(study, rows)}
    texts["study.html"] = page(study, scope, rows, pictures, now).html()
    texts.update({f"{name}.svg": picture.svg for name, picture in pictures.items()})
    if study.files is not None:
        texts.update(study.files(findings))
    for name, text in texts.items():
        _write(folder / name, text)
    return rows


def gathered(parts: Iterable[Findings]) -> Findings:
    """What several steps measured, as one."""
    rows: list[Row] = []
    curves: dict[str, list[tuple[float, float]]] = {}
    for part in parts:
        rows.extend(part.rows)
        for name, points in part.curves.items():
            curves.setdefault(name, []).extend(points)
    return Findings(rows, curves)


def concluded(study: Study, findings: Findings) -> list[Row]:
    """The rows of the steps, those that need several of them, and last the claims with their verdicts."""
    rows = list(findings.rows)
    if study.closing is not None:
        rows += study.closing(findings)
    if study.claims is not None:
        rows += [claim.row() for claim in study.claims(Findings(rows, findings.curves))]
    return rows


def _path(folder: Path, step: Step) -> Path:
    return folder / "steps" / f"{step.key}.json"


def _mark(scope: Scope) -> dict[str, Any]:
    return {"version": __version__, "seed": scope.seed, "quick": scope.quick}


def _finished_steps(folder: Path, steps: Sequence[Step], scope: Scope) -> dict[str, Finished]:
    return {step.key: finished for step in steps if (finished := _finished(folder, step, scope))}


def _finished(folder: Path, step: Step, scope: Scope) -> Finished | None:
    try:
        stored = json.loads(_path(folder, step).read_text(encoding="utf-8"))
        if stored["made"] != _mark(scope):
            return None
        curves = {name: [(x, y) for x, y in points] for name, points in stored["curves"].items()}
        findings = Findings([Row(**row) for row in stored["rows"]], curves)
        return Finished(findings, float(stored["seconds"]), float(stored.get("cpu_seconds", 0.0)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _store(folder: Path, step: Step, scope: Scope, finished: Finished) -> None:
    path = _path(folder, step)
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = {
        "made": _mark(scope),
        "seconds": round(finished.seconds, 3),
        "cpu_seconds": round(finished.cpu_seconds, 3),
        "rows": [asdict(row) for row in finished.findings.rows],
        "curves": finished.findings.curves,
    }
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
            f"| {row.case} | {row.measure} | {figure(row.published)} | {figure(row.measured)} | {row.note} |"
            for row in rows
            if row.table == table
        ]
        lines.append("")
    return "\n".join(lines)


def figure(value: float | str | None) -> str:
    """A figure of a row as it is printed.

    >>> figure(0.123456789), figure(None), figure("(0, 2)")
    ('0.123457', '–', '(0, 2)')
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
