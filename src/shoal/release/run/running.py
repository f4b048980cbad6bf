"""One run of a plan: its inputs, each step, each gate after its step, and then the whole folder in its place."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal import sources
from shoal.errors import Infeasible, InputError, as_plan_setting, parameter, spelled
from shoal.operation_release import AppointmentsRelease
from shoal.release.fingerprints import file_digest, internal_fingerprints, report_digests, settings_digest
from shoal.release.folder import (
    LINKS,
    MANIFEST,
    PASSING,
    PLAN,
    ReleaseFolder,
    write_private,
)
from shoal.release.gates.appointments import appointments_gate
from shoal.release.gates.judge import GateOutcome, Released, judge, measured_k
from shoal.release.gates.knowable import known_k
from shoal.release.manifest import Facts, internal_manifest, output_facts, public_manifest
from shoal.release.plan.plan import Gates, Output, Plan, Step
from shoal.release.plan.plan_fits_data import expect_fitting, expect_nameless, record_outputs
from shoal.release.plan.workplace import PlanWorkplace
from shoal.release.readings import Readings
from shoal.release.register.record_keys import RecordKeys, codes_of, keys_path
from shoal.release.register.register import Register, Traces
from shoal.release.register.together import within
from shoal.release.release_reader import open_release
from shoal.release.run.inputs import Inputs, every_location, read_inputs
from shoal.release.run.repeated import Earlier
from shoal.release.run.report import release_page
from shoal.release.run.result import Release
from shoal.release.run.step import StepOutcome, run_step, signs_of
from shoal.release.verify.inside import inside_checks, table_checks
from shoal.release.verify.public import public_checks
from shoal.runtime.observer import Observer, silent
from shoal.runtime.secrets import Secret

if TYPE_CHECKING:
    import polars as pl


class Running:
    """One run of a plan."""

    def __init__(
        self,
        plan: Plan,
        folder: ReleaseFolder,
        secret: Secret,
        say: Callable[[str], None] = lambda text: None,
        observer: Observer = silent,
    ) -> None:
        self._plan, self._folder, self._secret = plan, folder, secret
        self._say, self._observer = say, observer
        self._began = perf_counter()
        self._readings = Readings()
        self._inputs = Inputs({}, (), {}, {}, {})
        self._keys: dict[str, RecordKeys] = {}
        self._key_of_keys = b""
        self._noticed: list[str] = []
        self._steps: list[tuple[Step, StepOutcome]] = []
        self._gates: list[GateOutcome] = []
        self._found: dict[str, Released] = {}

    def read_inputs(self) -> None:
        """Read and fingerprint all inputs, and refuse a plan that does not fit them."""
        self._inputs = read_inputs(self._plan, self._secret, self._readings)
        target = self._folder.target
        sources.Outputs(inputs=every_location(self._plan)).replaced("folder for the release", target)
        self._noticed = expect_fitting(self._plan, self._inputs.frames)

    def expect_unchanged(self, earlier: Mapping[str, str] | None) -> None:
        """Refuse inputs that changed since the release that is repeated, or since a run that is gone on with began."""
        if earlier is not None:
            self._inputs.expect_same(earlier, "in the release that is repeated")
        begun = self._folder.remembered()
        if begun is not None:
            self._inputs.expect_same(begun, "when this run began")

    def expect_new(self, *, changed: bool = False) -> None:
        """Refuse records that were released before otherwise; that some of them are others may be known."""
        self._register.expect_new(self._traces, {} if changed else self._record_keys())

    def expect_repetition(self, earlier: Earlier, *, another: bool) -> None:
        """Refuse as a repetition what has other settings or inputs, unless another release is meant; then say so."""
        differing = earlier.differing(self._plan, self._inputs.fingerprints)
        if differing is None:
            return
        told = f"this is no repetition of '{earlier.name}' but a new release with its secret: the {differing} are others"
        if not another:
            raise InputError(
                f"{told}, and both together may give away what neither does; {parameter('another')} goes on all the same"
            )
        self._noticed.append(told)

    @property
    def _register(self) -> Register:
        return Register.beside(self._folder.target)

    @property
    def _traces(self) -> Traces:
        return Traces.of(self._plan, self._inputs.frames, self._secret, self._inputs.digests)

    def _record_keys(self) -> dict[str, RecordKeys]:
        """Those of the sources whose records are released, under the key of the folder of releases."""
        if not self._keys:
            self._key_of_keys = self._register.key or Secret.new().content
            for name in dict.fromkeys(self._plan.source_of(item.step) for item in self._plan.outputs):
                roles = self._plan.sources[name].roles
                self._keys[name] = RecordKeys.of(self._inputs.frames[name], roles, self._key_of_keys)
        return self._keys

    def steps(self) -> Iterator[Step]:
        """Run the steps, one after the other."""
        begun = self._folder.remembered()
        changed = [] if begun is None else self._changed()
        if changed:
            what = "plan" if begun == self._inputs.fingerprints else "plan or an input"
            self._say(
                f"the {what} has changed since this run began; finished before, and run again: {', '.join(changed)}"
            )
        self._folder.remember(self._inputs.fingerprints)
        for number, step in enumerate(self._plan.steps):
            self._say(f"step {number + 1} of {len(self._plan.steps)}: {step.name}")
            self._steps.append((step, self._step(number, step)))
            yield step

    def _changed(self) -> list[str]:
        """The steps that were finished before, and are not what they were."""
        finished = self._folder.finished_names()
        return [
            f"'{step.name}'"
            for number, step in enumerate(self._plan.steps)
            if step.name in finished
            and self._folder.finished_step(number, step.name, self._digest(step)) is None
        ]

    def figures(self, step: Step) -> Mapping[str, Any]:
        """What a step told of itself."""
        return next(outcome.figures for item, outcome in self._steps if item == step)

    def _step(self, number: int, step: Step) -> StepOutcome:
        key = self._digest(step)
        told = self._folder.finished_step(number, step.name, key)
        # A run that ended while it was tidied up has lost some of its records already.
        kept = not step.as_records or Path(self._located(step.name)).exists()
        if told is not None and kept:
            self._say(f"step '{step.name}' was finished before")
            return StepOutcome.of(told)
        roles = {self._located(name): self._roles(name) for name in dict.fromkeys(step.inputs)}
        workplace = PlanWorkplace(
            self._plan.folder,
            roles,
            say=self._say,
            observer=self._observer,
            secret=self._secret,
            readings=self._readings,
        )
        outputs = [
            (item, (self._folder.public if item.public else self._folder.internal) / item.file)
            for item in self._plan.outputs
            if item.step == step.name
        ]
        try:
            outcome = run_step(
                step,
                step.located(self._located),
                self._folder.step(number, step.name),
                outputs,
                self._secret,
                workplace,
                self._signs(step),
            )
        except (InputError, Infeasible) as problem:
            # Whoever reads it changes the plan, not the command.
            raise type(problem)(f"step '{step.name}': {spelled(problem, as_plan_setting)}") from None
        for item in record_outputs(self._plan):
            if item.step == step.name:
                expect_nameless(self._plan, item, self._frame(step.name).columns)
        self._folder.finish_step(number, step.name, {"key": key, **outcome.as_json()})
        return outcome

    def _signs(self, step: Step) -> Mapping[str, str]:
        """The separator and the decimal sign of what a step publishes as CSV, where they are not the usual ones."""
        return self._inputs.signs.get(self._plan.source_of(step.name), {})

    def _digest(self, step: Step) -> str:
        return settings_digest(json.dumps([step.do, step.name, self._key(step)], default=str), self._secret)

    def _key(self, step: Step) -> Any:
        """What a finished step depends on: its settings, its files, and all of what its inputs depend on."""
        told = self._inputs.described
        before = [
            told[name]["fingerprint"] if name in told else self._key(self._plan.step(name))
            for name in step.inputs
        ]
        outputs = [
            [item.file, item.product, item.public] for item in self._plan.outputs if item.step == step.name
        ]
        roles = [self._plan.roles(name) for name in step.inputs]
        return [
            step.do,
            dict(step.values),
            before,
            outputs,
            roles,
            dict(self._inputs.files.get(step.name, {})),
        ]

    def _frame(self, name: str) -> "pl.DataFrame":
        return self._readings.read(self._located(name)).frame

    def _located(self, name: str) -> str:
        """The file or table of a source, or of a step before; ``step.file`` names one of its files."""
        if name in self._plan.sources:
            return self._plan.location(name)
        step, _, file = name.partition(".")
        number = next(n for n, item in enumerate(self._plan.steps) if item.name == step)
        folder = self._folder.step(number, step)
        return str(folder / (file or self._plan.steps[number].release.passes_on))

    def _roles(self, name: str) -> dict[str, str]:
        return self._plan.roles(name.partition(".")[0])

    def judged(self, step: Step) -> list[GateOutcome]:
        """The gates of a step, measured."""
        if step.name not in self._plan.gates:
            return []
        self._say(f"gates of '{step.name}'")
        limits = self._plan.gates[step.name]
        if isinstance(step.release, AppointmentsRelease):
            return list(self._seen(step, limits))
        return list(judge(self._plan, step, limits, lambda: self.released(step), self.figures(step)))

    def _seen(self, step: Step, limits: Gates) -> Iterator[GateOutcome]:
        """The gates of appointments."""
        settings: Any = step.settings
        if limits.k is None:
            return
        slots = self._frame(settings.slots) if settings.known is not None else None
        found = appointments_gate(step, limits.k, self._frame(step.name), slots)
        assert found is not None
        yield found

    def expect_gates(self, step: Step) -> None:
        """Refuse to go on where a gate fails."""
        outcomes = self.judged(step)
        self._gates += outcomes
        failed = [gate for gate in outcomes if not gate.passed]
        if failed:
            first = failed[0]
            raise Infeasible(
                f"gate '{first.name}' of step '{first.step}' failed: {_shown(first.value)}, and the limit is "
                f"{_shown(first.limit)} ({first.meaning}); nothing was published"
            )

    def released(self, step: Step) -> Released:
        """What a step released, beside its source."""
        source = self._plan.source_of(step.name)
        original = self._inputs.frames[source]
        links = np.arange(original.height)
        for item in self._plan.path(step.name):
            assert item.as_records
            number = self._plan.steps.index(item)
            own = np.load(self._folder.step(number, item.name) / LINKS)
            links = np.where(links >= 0, own[np.maximum(links, 0)], -1)
        frame = self._frame(step.name)
        unit = self._plan.unit(step.name)
        units = None if unit is None else codes_of(original[unit])
        return Released(original, frame, links, self._roles(step.name), units, unit)

    @property
    def finished(self) -> int:
        """How many steps are finished."""
        return len(self._steps)

    def refuse(self, why: str) -> Path:
        """Leave the report of a run that was refused, and nothing else of it; say where."""
        place = self._folder.target.with_name(f"{self._folder.target.name}.refused")
        place.mkdir(mode=0o700, exist_ok=True)
        page = release_page(
            self._plan, self._inputs.named, self._steps, self._gates, (), refused=why, noticed=self._noticed
        )
        write_private(place / "report.html", page.html())
        write_private(place / "plan.toml", self._plan.text)
        return place

    def _created(self) -> str:
        return datetime.now(UTC).isoformat(timespec="seconds")

    def finish(self, *, force: bool) -> Release:
        """Manifests and report, and then the whole folder in its place."""
        outputs = [
            {
                "file": item.file,
                "sha256": file_digest(self._folder.public / item.file),
                **output_facts(self._plan, item, self._facts_of(item)),
                **signs_of(item, self._signs(self._plan.step(item.step))),
            }
            for item in self._plan.outputs
            if item.public
        ]
        created = self._created()
        seconds = perf_counter() - self._began
        steps = [
            {"name": step.name, "do": step.do, "settings": dict(step.values), **outcome.as_json()}
            for step, outcome in self._steps
        ]
        public = public_manifest(self._plan, self._gates, outputs, created)
        (self._folder.public / MANIFEST).write_text(json.dumps(public, indent=1) + "\n", encoding="utf-8")
        self._tidy()
        for name, keys in self._record_keys().items():
            keys.write(keys_path(self._folder.internal, name))
        self._write_internal(steps, outputs, created, seconds)
        unjudged = self._expect_sound()
        if unjudged:
            # Whoever signs has to read it.
            self._noticed += unjudged
            self._write_internal(steps, outputs, created, seconds)
        # Remembered first: a release that nobody remembers is worse than one that is remembered and not there.
        self._register.remember(self._traces, self._folder.target.name, created, self._key_of_keys)
        self._folder.finish(force=force)
        warnings = [*self._noticed, *(text for _, outcome in self._steps for text in outcome.warnings)]
        return Release(
            folder=self._folder.target,
            name=self._plan.about.name,
            gates=tuple(self._gates),
            outputs=tuple(outputs),
            warnings=tuple(dict.fromkeys(warnings)),
            steps=tuple((step.name, outcome) for step, outcome in self._steps),
        )

    def _write_internal(
        self, steps: list[dict[str, Any]], outputs: list[dict[str, Any]], created: str, seconds: float
    ) -> None:
        """The report to sign, the plan, and the internal manifest, which knows the report."""
        page = release_page(
            self._plan,
            self._inputs.named,
            self._steps,
            self._gates,
            outputs,
            noticed=self._noticed,
            known=[known_k(item.file, self._found[item.file]) for item in record_outputs(self._plan)],
        )
        write_private(self._folder.internal / "report.html", page.html())
        write_private(self._folder.internal / PLAN, self._plan.text)
        inside = internal_manifest(
            self._plan,
            self._inputs,
            steps,
            self._gates,
            outputs,
            created,
            seconds,
            report_digests(self._folder.internal),
            internal_fingerprints(self._folder.internal, PASSING, self._secret),
        )
        write_private(self._folder.internal / MANIFEST, json.dumps(inside, indent=1, default=str) + "\n")
        self._folder.protect()

    def _facts_of(self, output: Output) -> Facts | None:
        """The columns of a published file of records, and K over its quasi-identifiers."""
        if output not in record_outputs(self._plan):
            return None
        found = self.released(self._plan.step(output.step))
        self._found[output.file] = found
        quasi = found.with_role("quasi-identifier")
        return Facts(found.frame.columns, measured_k(found, quasi) if quasi else None)

    def _tidy(self) -> None:
        """Remove what was only on its way: records between two steps, and what no plan names. What is released is in the public
        part.
        """
        folders = [self._folder.step(number, step.name) for number, step in enumerate(self._plan.steps)]
        self._folder.keep_only(
            [item.file for item in self._plan.outputs if item.public],
            [item.file for item in self._plan.outputs if not item.public],
            [folder.name for folder in folders],
        )
        for folder, step in zip(folders, self._plan.steps, strict=True):
            if step.as_records:
                (folder / step.release.passes_on).unlink(missing_ok=True)

    def _expect_sound(self) -> list[str]:
        """Look at the whole as somebody will who checks it, and at what its files give away together.

        Gives a warning for each pair of files of which that could not be measured.
        """
        self._say("checking the release")
        opened = open_release(self._folder.path)
        tables = [check for own in table_checks(opened).values() for check in own]
        every = (*public_checks(opened), *inside_checks(opened), *tables)
        failed = [check for check in every if check.passed is False]
        if failed:
            raise Infeasible(
                f"the release does not hold what it says: {failed[0].name}: {failed[0].detail}; nothing was published"
            )
        unjudged = []
        for pair in within(opened):
            which = f"'{pair.files[0]}' and '{pair.files[1]}'"
            if pair.discloses:
                raise Infeasible(
                    f"{which} together give away what neither does: {pair.detail}; nothing was published"
                )
            if pair.discloses is None:
                unjudged.append(f"{which} were not judged together: {pair.detail}")
        return unjudged


def _shown(value: float | bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}"
