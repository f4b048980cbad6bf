"""What a recoding is about, read and checked before any work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import floor
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.hierarchy import read_values
from shoal.microdata.columns.inputs import check_choice, read_frame
from shoal.microdata.columns.orders import read_orders
from shoal.microdata.columns.roles import Guess, guess_roles, with_roles
from shoal.microdata.columns.units import unit_column, unit_remarks
from shoal.microdata.models.confidential import read_confidential, trees_needed
from shoal.microdata.models.model import ConfidentialColumn, Model
from shoal.microdata.recoding.households import read_households, shared_keys
from shoal.microdata.recoding.keys import Keys
from shoal.microdata.recoding.mapping import AppliedMapping
from shoal.microdata.recoding.problem import MEASURES, Problem
from shoal.microdata.recoding.requirements import (
    check_columns,
    check_mapping,
    check_together,
    check_uniform,
    importance,
    level_bounds,
    required_models,
)
from shoal.microdata.recoding.settings import RecodeSettings
from shoal.numbers import number, whole
from shoal.remarks import Remark
from shoal.runtime.secrets import Secret


@dataclass(frozen=True, eq=False)
class Inputs:
    """The records with their keys, units and confidential values, and what must hold of them; ``k`` is what models need at least.

    ``settings`` are those of the call with what an earlier recoding says in its place. Of each confidential column there are the
    codes of its values and what they mean.
    """

    settings: RecodeSettings
    data: nw.DataFrame
    population: nw.DataFrame | None
    guesses: tuple[Guess, ...]
    keys: Keys
    models: tuple[Model, ...]
    k: int
    confidential: Mapping[str, tuple[np.ndarray, ConfidentialColumn]]
    units: np.ndarray | None
    households: np.ndarray | None
    unit_remarks: tuple[Remark, ...]
    secret: Secret = field(repr=False)

    @classmethod
    def read(cls, frame: Any, settings: RecodeSettings, roles: Mapping[str, str]) -> "Inputs":
        """Read a frame by the settings of a call; an ``InputError`` for what does not go together."""
        check_choice("measure", settings.measure, MEASURES)
        check_choice("order", settings.order, ("keep", "sorted"))
        check_choice("null", settings.null, ("own", "wildcard"))
        number(settings.suppress, "suppress", least=0.0, most=1.0)
        data, declared = read_frame(frame), settings.unit
        settings = settings.model_copy(
            update={"k": whole(settings.k, "k", least=1), "unit": unit_column(declared, data.columns)}
        )
        orders = read_orders(settings.ordinal)
        check_columns(data, settings, orders)
        check_uniform(settings)
        if len(data) == 0:
            raise InputError("there are no records")
        models, k = required_models(settings)
        check_together(models, settings)
        guesses = with_roles(guess_roles(data), roles)
        if settings.apply is not None:
            settings = _applied(settings, data)
        population = None if settings.population is None else read_frame(settings.population)
        hierarchies = dict(settings.hierarchies or {})
        keys = Keys.read(data, settings.quasi, guesses, hierarchies, orders, population)
        trees = trees_needed(data, models, guesses, hierarchies, orders)
        household = settings.household
        joined = (*settings.quasi, *settings.by, household, settings.sample_weights)
        return cls(
            settings=settings,
            data=data,
            population=population,
            guesses=tuple(guesses),
            keys=keys,
            models=tuple(models),
            k=k,
            confidential=read_confidential(data, settings.confidential, models, trees, orders),
            units=None if settings.unit is None else read_values(data[settings.unit]).codes,
            households=None if household is None else read_households(read_values(data[household])),
            unit_remarks=tuple(unit_remarks(data, declared, guesses, joined)),
            secret=Secret.of(settings.secret),
        )

    @property
    def size(self) -> int:
        """How many records there are."""
        return len(self.data)

    @cached_property
    def people(self) -> np.ndarray:
        """Whose each record is."""
        return np.arange(self.size) if self.units is None else self.units

    @cached_property
    def alike(self) -> tuple[int, ...]:
        """The keys that members of a household share."""
        return () if self.households is None else shared_keys(self.keys.leaves, self.households)

    @cached_property
    def strata(self) -> list[np.ndarray]:
        """The records of each stratum, by the values of its columns."""
        if not self.settings.by:
            return [np.arange(self.size)]
        codes = np.stack([read_values(self.data[name]).codes for name in self.settings.by], axis=1)
        numbers = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
        return [np.flatnonzero(numbers == stratum) for stratum in range(int(numbers.max()) + 1)]

    def problem(self, members: np.ndarray, *, exactly: bool, fixed: bool) -> Problem:
        """The problem of some records; with ``exactly`` levels by hand are the only ones, with ``fixed`` those of shared keys."""
        settings, keys = self.settings, self.keys
        lowest, highest = level_bounds(
            keys, settings.levels, settings.stay, exactly=exactly, alike=self.alike if fixed else ()
        )
        people = members.size if self.units is None else int(np.unique(self.units[members]).size)
        return Problem.of(
            [leaves[members] for leaves in keys.leaves],
            keys.hierarchies,
            k=self.k,
            units=None if self.units is None else self.units[members],
            confidential={
                name: (codes[members], column) for name, (codes, column) in self.confidential.items()
            },
            population=None if self.population is None else keys.leaves_of(self.population),
            models=self.models,
            measure=settings.measure,
            weights=importance(keys.names, settings.weights),
            lowest=lowest,
            highest=highest,
            keep_suppressed=settings.keep_suppressed,
            alike=self.alike,
            show_keys=True,
            # Blanks that match anything are judged where all that is shown is at one level.
            uniform=settings.uniform or settings.null == "wildcard",
            limit=floor(settings.suppress * people + 1e-9),
        )


def _applied(settings: RecodeSettings, data: nw.DataFrame) -> RecodeSettings:
    """The settings with the hierarchies and levels of an earlier recoding."""
    earlier: Any = settings.apply
    mapping = earlier if isinstance(earlier, AppliedMapping) else AppliedMapping.read(Path(earlier))
    check_mapping(mapping, settings.quasi, settings.levels)
    return settings.model_copy(
        update={
            "hierarchies": {**mapping.hierarchies(data), **(settings.hierarchies or {})},
            "levels": mapping.levels,
            "method": "lattice",
            "options": None,
        }
    )
