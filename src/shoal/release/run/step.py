"""Running one step of a plan: its operation, its products as files, and which record became which."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal import sources
from shoal.errors import Infeasible, InputError, as_words, parameter, spelled, spelled_throughout
from shoal.operation import Operation, Product
from shoal.operation_report import operation_report, settings_in_words
from shoal.operations import OPERATIONS
from shoal.release.folder import LINKS, SECRET, write_private
from shoal.release.plan.plan import Output, Step
from shoal.release.plan.workplace import PlanWorkplace
from shoal.report.provenance import Provenance
from shoal.runtime.secrets import Secret

if TYPE_CHECKING:
    import polars as pl

REPORT = "report.html"


@dataclass(frozen=True)
class StepOutcome:
    """What a step told of itself: its figures, what holds, and the files it made."""

    figures: Mapping[str, Any] = field(repr=False)
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """All of it, ready to be kept."""
        return {"figures": self.figures, "facts": list(self.facts), "warnings": list(self.warnings)}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "StepOutcome":
        """From what was kept."""
        facts = tuple((name, value) for name, value in stored["facts"])
        return cls(stored["figures"], facts, tuple(stored["warnings"]))


def run_step(
    step: Step,
    settings: Any,
    folder: Path,
    outputs: list[tuple[Output, Path]],
    secret: Secret,
    workplace: PlanWorkplace,
    signs: Mapping[str, Any],
) -> StepOutcome:
    """Run a step with ``settings`` that say where its data is, and write its products into its folder.

    A public file of it is written at once, and read back and checked like the output of a command; as CSV with the separator
    and the decimal sign of its source (``signs``).
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    operation, release = step.operation, step.release
    # A cell, or a record, that is in several tables of a release is drawn alike in all of them.
    derived = _derived(secret, step.do if release.alike else step.name)
    if release.needs_secret(step.values):
        write_private(folder / SECRET, derived.text())
        settings = settings.model_copy(update={"secret": str(folder / SECRET)})
    elif release.draws == "seed" and "seed" not in step.values:
        settings = settings.model_copy(update={"seed": int.from_bytes(derived.content[:6], "big")})
    if operation.on_its_engine(settings) is not operation:
        raise InputError(f"a plan runs on one machine; leave out {parameter('engine')}")
    operation.check(settings, frozenset({"output"}))
    result = operation.run(settings, workplace)
    refused = None if operation.gate is None else operation.gate(result, settings)
    if refused is not None:
        raise Infeasible(refused)
    if not operation.good(result, settings):
        raise Infeasible("there is no safe result")
    figures = spelled_throughout(operation.reporter_module.figures(result, settings), as_words)
    for product in operation.products:
        _write_product(product, result, settings, folder)
    links = getattr(result, "record_links", None)
    if links is not None:
        np.save(folder / LINKS, links.released)
    if step.do in OPERATIONS:
        page = operation_report(operation, result, settings, _provenance(step, operation, settings))
        write_private(folder / REPORT, page.html())
    for output, path in outputs:
        _publish(operation, output, path, result, settings, signs_of(output, signs))
    # How long it took stands in the figures alone: all else is the same whenever it is repeated.
    told = operation.reporter_module.facts(result, settings)
    facts = tuple((name, str(value)) for name, value in told if name != "seconds")
    warnings = tuple(spelled(text, as_words) for text in [*figures.get("warnings", []), *workplace.warned])
    return StepOutcome(json.loads(json.dumps(figures, default=str)), facts, warnings)


def _provenance(step: Step, operation: Operation, settings: Any) -> Provenance:
    """How a step was made, for its report; places are those of this machine, and stand in the plan."""
    places = {item.label for item in operation.fields() if item.kind in ("data", "several-data")} | {"Secret"}
    told = settings_in_words(operation, settings, "command")
    own = tuple(item for item in told if item.label not in places)
    return Provenance("step of a plan", f"{step.name} ({step.do})", settings=own)


def _derived(secret: Secret, name: str) -> Secret:
    """A secret for one step, from that of the release."""
    return Secret(blake2b(name.encode(), digest_size=16, key=secret.content, person=b"shoal plan").digest())


def _write_product(product: Product, result: Any, settings: Any, folder: Path) -> None:
    """A product as a file of the step's folder; what is data as Parquet if it can be, which keeps its types."""
    if product.form == "columns" or not product.files:
        return
    try:
        made = product.make(result, settings)
    except InputError:
        # The data lack what this product takes; nobody asked for it by name.
        if product.lacking is None:
            raise
        return
    if made is None:
        return
    names = [name for name, _ in product.files]
    name = next((item for item in names if item.endswith(".parquet")), names[0])
    if product.form == "folder":
        for inner, content in made.items():
            _put(folder / Path(names[0]).stem / Path(inner).name, content)
    elif product.form in ("text", "bytes"):
        _put(folder / name, made)
    elif isinstance(made, Mapping):
        for number, frame in enumerate(made.values()):
            sources.write(frame, folder / f"{number + 1}-{name}", force=True)
    else:
        sources.write(made, folder / name, force=True)


def _put(path: Path, content: Any) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else str(content).encode())


def signs_of(output: Output, signs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The signs of an output, by those of its source; what is internal has our own."""
    return signs if output.public and output.file.lower().endswith((".csv", ".csv.gz")) else {}


def _publish(
    operation: Operation, output: Output, path: Path, result: Any, settings: Any, signs: Mapping[str, Any]
) -> None:
    product = next(item for item in operation.products if item.name == output.product)
    made = product.make(result, settings)
    if made is None:
        raise Infeasible(f"there is nothing to write for '{output.product}'")
    if product.form == "text":
        path.write_text(made, encoding="utf-8")
        return
    verify = None if product.check is None else product.check(result, settings)
    _write_checked(made, path, verify, signs)


def _write_checked(
    frame: "pl.DataFrame", path: Path, verify: Callable[[Any], Any] | None, signs: Mapping[str, Any]
) -> None:
    sources.write(frame, path, force=True, **signs)
    if verify is not None:
        verify(sources.read(path, **signs).frame)
