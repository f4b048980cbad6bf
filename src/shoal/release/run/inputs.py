"""What a run of a plan reads: its sources, and the files that settings name. All of it is known again by keyed hashes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, parameter
from shoal.release.fingerprints import file_digest, input_fingerprint, settings_digest
from shoal.release.plan.own_steps import read_key
from shoal.release.plan.plan import Plan, Step, named_files
from shoal.release.plan.preflight import expect_keys, read_source
from shoal.release.readings import Readings
from shoal.report.provenance import Input
from shoal.report.sources_named import named_data
from shoal.runtime.secrets import Secret
from shoal.sources import Data, FileAddress

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Inputs:
    """The sources as frames; ``files`` are the fingerprints of what is read beside them, step by step, ``digests`` plain ones.

    ``signs`` are the separator and the decimal sign of the sources that are CSV files with others than the usual ones.
    """

    frames: "Mapping[str, pl.DataFrame]" = field(repr=False)
    named: tuple[Input, ...]
    described: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, Mapping[str, str]]
    digests: Mapping[str, str] = field(repr=False)
    signs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def fingerprints(self) -> dict[str, str]:
        """All of them, under names for messages."""
        return fingerprints_of({"inputs": self.described, "files": self.files})

    def expect_same(self, earlier: Mapping[str, str], when: str) -> None:
        """Refuse what is not what it was."""
        for name, fingerprint in self.fingerprints.items():
            if earlier.get(name) != fingerprint:
                raise InputError(
                    f"{name} is not what it was {when}; {parameter('accept_changed_input')} goes on all the same"
                )


def fingerprints_of(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The fingerprints that an internal manifest tells, under names for messages."""
    found = {f"source '{name}'": str(item["fingerprint"]) for name, item in manifest["inputs"].items()}
    for step, files in manifest.get("files", {}).items():
        found |= {f"'{name}' of step '{step}'": str(fingerprint) for name, fingerprint in files.items()}
    return found


def every_location(plan: Plan) -> list[str]:
    """Where everything is that a plan reads."""
    files = [path for step in plan.steps for path in named_files(step, plan.folder).values()]
    return [*(plan.location(name) for name in plan.sources), *map(str, files)]


def read_inputs(plan: Plan, secret: Secret, readings: Readings) -> Inputs:
    """Read the sources, and fingerprint everything."""
    expect_keys(plan)
    frames, named, told, signs = {}, [], {}, {}
    for name in plan.sources:
        data = read_source(plan, name, readings)
        place = plan.location(name)
        frames[name], signs[name] = data.frame, _unusual_signs(data)
        named.append(replace(named_data(data), role=f"source '{name}'"))
        told[name] = {
            "fingerprint": input_fingerprint(place, data.frame, secret),
            "records": data.frame.height,
            "columns": data.frame.width,
        }
    files = {step.name: beside(step, plan.folder, secret) for step in plan.steps}
    digests = {
        name: file_digest(path)
        for step in plan.steps
        for name, path in named_files(step, plan.folder).items()
    }
    beside_them = {name: own for name, own in files.items() if own}
    return Inputs(frames, tuple(named), told, beside_them, digests, signs)


def _unusual_signs(data: Data) -> dict[str, str]:
    """The separator and the decimal sign of a CSV file, as far as they are not a comma and a point."""
    if data.dialect is None or not isinstance(data.address, FileAddress) or data.address.format != "csv":
        return {}
    signs = {"separator": data.dialect.separator, "decimal": data.dialect.decimal}
    return {} if signs == {"separator": ",", "decimal": "."} else signs


def beside(step: Step, folder: Path, secret: Secret) -> dict[str, str]:
    """The fingerprints of what a step reads besides its data: files of hierarchies, costs and mappings, the key of pseudonyms."""
    found = {
        name: input_fingerprint(str(path), None, secret) for name, path in named_files(step, folder).items()
    }
    if step.outer_key is not None:
        found[step.outer_key] = settings_digest(read_key(step.outer_key, folder).hex(), secret)
    return found
