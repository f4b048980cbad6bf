"""A plan with other settings: what each choice would lose and give away, before one is chosen."""

import itertools
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from shoal.errors import Infeasible, InputError, unknown
from shoal.release.folder import ReleaseFolder, write_private
from shoal.release.gates.judge import PROTECTED, comparison, judge, linked, worst_linkage
from shoal.release.plan.plan import Gates, Plan
from shoal.release.plan.plan_fits_data import expect_fitting
from shoal.release.plan.reader import parse_plan
from shoal.release.readings import Readings
from shoal.release.run.inputs import read_inputs
from shoal.release.run.running import Running
from shoal.release.run.sweep_folder import end_with_parent, held, run_folder, sweep_folder
from shoal.report.provenance import Input
from shoal.runtime.secrets import Secret
from shoal.runtime.threads import usable_threads

#: More variants than this are not looked at by anybody.
MOST = 1_000
_SECRET = "secret.txt"


@dataclass(frozen=True)
class Choice:
    """A setting of a step, and the values to try."""

    step: str
    path: tuple[str, ...]
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        """As it is written."""
        return ".".join((self.step, *self.path))


@dataclass(frozen=True)
class Variant:
    """What one choice of values came to; ``failed`` says why there is no result, ``passed`` is ``None`` without gates."""

    values: Mapping[str, Any]
    lost: float | None = None
    worst_risk: float | None = None
    attack: str = ""
    k: int | None = None
    reidentifications: float | None = None
    passed: bool | None = None
    failed: str = ""

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "values": dict(self.values),
            "lost_percent": self.lost,
            "worst_risk_percent": self.worst_risk,
            "attack": self.attack,
            "k": self.k,
            "reidentifications": self.reidentifications,
            "passed": self.passed,
            "failed": self.failed,
        }

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Variant":
        """From what was kept."""
        named = {"lost_percent": "lost", "worst_risk_percent": "worst_risk"}
        return cls(**{named.get(name, name): value for name, value in stored.items()})


@dataclass(frozen=True)
class Sweep:
    """What was tried, what each variant came to, and the data it was tried on."""

    choices: tuple[Choice, ...]
    variants: tuple[Variant, ...]
    inputs: tuple[Input, ...] = ()

    @property
    def failures(self) -> tuple[str, ...]:
        """Why variants could not be run, a line for each; a gate that refuses is a result."""
        return tuple(
            f"{', '.join(f'{name}={value}' for name, value in item.values.items())}: {item.failed}"
            for item in self.variants
            if item.failed
        )


def read_choice(text: str) -> Choice:
    """A choice from ``step.setting=value,value``.

    >>> read_choice("microaggregate.k=3,5"), read_choice("perturb.method=pram,shuffle").values
    (Choice(step='microaggregate', path=('k',), values=(3, 5)), ('pram', 'shuffle'))
    """
    name, equals, given = text.partition("=")
    step, *path = (part.strip() for part in name.split("."))
    if not equals or not path or not all((step, *path)) or not given.strip():
        raise InputError(f"a choice is STEP.SETTING=VALUE,VALUE, not '{text}'")
    try:
        values = tomllib.loads(f"v = [{given}]")["v"]
    except (tomllib.TOMLDecodeError, RecursionError):
        values = [part.strip() for part in given.split(",")]
    if len(values) != len({json.dumps(value, default=str) for value in values}):
        raise InputError(f"a value of '{name.strip()}' is given twice")
    return Choice(step, tuple(path), tuple(values))


def variants(plan: Plan, choices: Sequence[Choice]) -> Iterator[tuple[dict[str, Any], Plan]]:
    """The plan with every combination of values, each checked."""
    names = [step.name for step in plan.steps]
    for choice in choices:
        if choice.step not in names:
            raise unknown("step", choice.step, names, where="a step of this plan")
    if len({choice.name for choice in choices}) < len(choices):
        raise InputError("a setting is named twice; give all its values at once")
    for combination in itertools.product(*[choice.values for choice in choices]):
        content = tomllib.loads(plan.text)
        for choice, value in zip(choices, combination, strict=True):
            own = content["steps"][names.index(choice.step)]
            for key in choice.path[:-1]:
                own = own.setdefault(key, {})
            own[choice.path[-1]] = value
        values = {choice.name: value for choice, value in zip(choices, combination, strict=True)}
        yield values, parse_plan(plan.text, plan.folder, plan.file, content=content)


def sweep(
    plan: Plan,
    choices: Sequence[str | Choice],
    *,
    threads: int | None = None,
    again: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> Sweep:
    """Try every combination of values, several at a time, and measure what each would lose and give away.

    Nothing is published. What was measured is kept beside the plan, for its owner alone: a sweep that is broken off goes on
    where it stopped, unless ``again`` is said or the plan has changed. A variant that could not be run is tried again.
    """
    asked = [choice if isinstance(choice, Choice) else read_choice(choice) for choice in choices]
    if not asked:
        raise InputError("name at least one setting and its values")
    every = list(itertools.islice(variants(plan, asked), MOST + 1))
    if len(every) > MOST:
        raise InputError(f"these are more than {MOST:,} combinations; try fewer values")
    last = plan.steps[-1]
    if last.as_records is None:
        raise InputError(f"a sweep measures records; the last step, '{last.name}', has none")
    folder = sweep_folder(plan)
    with held(folder):
        if again:
            for kept in folder.iterdir():
                kept.unlink()
        secret = _secret(folder)
        # What is read is known again by what it holds: also a table of a database, and a file of a hierarchy.
        inputs = read_inputs(plan, secret, Readings())
        expect_fitting(plan, inputs.frames)
        found: dict[int, Variant] = {}
        waiting = []
        for number, (values, variant) in enumerate(every):
            place = folder / f"{_key(variant, inputs.fingerprints)}.json"
            known = _measured_before(place)
            if known is not None:
                found[number] = known
            else:
                waiting.append((number, values, variant, place))

        def take(number: int, variant: Variant) -> None:
            found[number] = variant
            say(f"{len(found)} of {len(every)} measured")

        workers = min(usable_threads(threads), max(1, len(waiting)))
        _side_by_side(workers, folder, waiting, secret, take)
    return Sweep(tuple(asked), tuple(found[number] for number in range(len(every))), inputs.named)


def _side_by_side(
    workers: int,
    folder: Path,
    waiting: Sequence[tuple[int, dict[str, Any], Plan, Path]],
    secret: Secret,
    take: Callable[[int, Variant], None],
) -> None:
    """Measure variants, several at a time, in processes that end with this one; ``take`` gets each as it is done."""
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=end_with_parent, initargs=(folder,)
    ) as pool:
        running = {
            pool.submit(measure, values, variant, place, secret): number
            for number, values, variant, place in waiting
        }
        done = 0
        try:
            for future in as_completed(running):
                take(running[future], future.result())
                done += 1
        except BrokenProcessPool:
            raise Infeasible(
                f"a process of the sweep was ended from outside, with {done} of {len(waiting)} measured; the same command "
                "goes on with the others"
            ) from None
        except BaseException:
            # What waits need not begin when somebody has given up.
            for future in running:
                future.cancel()
            raise


def _measured_before(path: Path) -> Variant | None:
    """What was measured before; never why something could not be, since that may have been mended."""
    try:
        found = Variant.of(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return None if found.failed else found


def _secret(folder: Path) -> Secret:
    """One secret for all variants, so that they differ by their settings alone."""
    place = folder / _SECRET
    if not place.exists():
        write_private(place, Secret.new().text())
    return Secret.read(place)


def _key(plan: Plan, read: Mapping[str, str]) -> str:
    """What a variant depends on: its settings, and what it reads as it is now."""
    steps = [[step.name, step.do, dict(step.values)] for step in plan.steps]
    gates = {name: item.model_dump() for name, item in plan.gates.items()}
    roles = {name: source.roles for name, source in plan.sources.items()}
    about = [plan.about.model_dump(), dict(read), roles, steps, gates]
    return sha256(json.dumps(about, default=str, sort_keys=True).encode()).hexdigest()[:24]


def measure(values: Mapping[str, Any], plan: Plan, path: Path, secret: Secret) -> Variant:
    """Run the steps of one variant aside, measure what comes out, and keep nothing but the figures."""
    folder = run_folder(path)
    folder.open(resume=False, force=True)
    try:
        found = _measured(values, plan, folder, folder.secret(secret))
    except (Infeasible, InputError) as problem:
        return Variant(values, failed=str(problem))
    finally:
        folder.discard()
    write_private(path, json.dumps(found.as_json(), default=str))
    return found


def _measured(values: Mapping[str, Any], plan: Plan, folder: ReleaseFolder, secret: Secret) -> Variant:
    running = Running(plan, folder, secret)
    running.read_inputs()
    # Every step runs, whatever its gates say.
    gates = [gate for step in running.steps() for gate in running.judged(step)]
    last = plan.steps[-1]
    released = running.released(last)
    name, risk = worst_linkage(linked(released))
    open_gates = Gates(k=1, reidentifications=1e100)
    measured = {
        gate.name: gate.value
        for gate in judge(plan, last, open_gates, lambda: released, running.figures(last))
    }
    return Variant(
        values=values,
        lost=lost_percent(comparison(released, PROTECTED, attacks=[])),
        worst_risk=float(risk),
        attack=name,
        k=int(measured["k"]),
        reidentifications=float(measured["reidentifications"]),
        passed=all(gate.passed for gate in gates) if gates else None,
    )


def lost_percent(compared: Any) -> float:
    """What a release lost, from 0 to 100: of numbers the share of their variance that is error, of categories of their entropy.

    The mean over all columns that are compared.
    """
    parts = [min(100.0, item.sse_percent) for item in compared.attributes]
    parts += [100.0 - item.kept_percent for item in compared.categories]
    return sum(parts) / len(parts) if parts else 0.0
