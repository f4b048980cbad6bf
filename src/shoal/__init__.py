"""Shoal: statistical disclosure control that proves how well it did.

The public functions are listed here; each is loaded when it is first used, so that ``import shoal`` stays quick.

>>> import shoal, polars as pl
>>> people = pl.DataFrame({"zip": [1, 1, 2, 2, 2], "sex": ["f", "f", "m", "m", "m"]})
>>> shoal.anonymity(people, quasi=["zip", "sex"]).k
2
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from shoal._version import __version__
    from shoal.anonymity.vector import AnonymityVector
    from shoal.appointments.api import assign, assign_sizes
    from shoal.errors import Infeasible, InputError, ShoalError
    from shoal.microdata.anonymity.api import anonymity
    from shoal.microdata.columns.hierarchies.api import propose_hierarchies
    from shoal.microdata.columns.roles import guess_roles
    from shoal.microdata.grouping.api import group_attributes
    from shoal.microdata.measures.api import compare
    from shoal.microdata.measures.classic import Definitions
    from shoal.microdata.microaggregation.api import microaggregate
    from shoal.microdata.perturbation.api import perturb
    from shoal.microdata.recoding.api import recode
    from shoal.microdata.risk.api import risk
    from shoal.release.api import release
    from shoal.release.register.diff import diff_releases
    from shoal.release.verify.api import verify_release
    from shoal.runtime.budget import Budget
    from shoal.tables.api import audit, suppress
    from shoal.tables.model.tabulation import tabulate
    from shoal.tables.rounding.adjustment.api import adjust_table
    from shoal.tables.rounding.cell_keys.api import perturb_table
    from shoal.tables.rounding.controlled_rounding.api import round_table


_INTERRUPTED = "interrupted; nothing was written"


def _leave(number: int, frame: "FrameType | None") -> None:
    if "--json" in sys.argv:
        os.write(1, f'{{"error": "{_INTERRUPTED}", "kind": "interrupt"}}\n'.encode())
    else:
        os.write(2, f"shoal: {_INTERRUPTED}\n".encode())
    os._exit(130)


def _is_the_command() -> bool:
    program = sys._getframe()
    while program.f_back is not None:
        program = program.f_back
    if program.f_code.co_name == "_run_module_as_main":  # python -m
        return program.f_locals.get("mod_name") in ("shoal", "shoal.cli.start")
    return "shoal.cli.start" in program.f_code.co_names


# The package is loaded before ``shoal.cli.start``, so the command ``shoal`` begins here. While modules are loaded there is
# nothing to keep or to undo: Ctrl-C ends the process at once. Where Shoal is a library, Ctrl-C is not ours. Nothing is
# loaded for this that Python has not loaded when it starts.
if _is_the_command():
    import _signal  # type: ignore[import-not-found]

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _leave)

_LAZY = {
    "AnonymityVector": "shoal.anonymity.vector",
    "Budget": "shoal.runtime.budget",
    "Definitions": "shoal.microdata.measures.classic",
    "Infeasible": "shoal.errors",
    "InputError": "shoal.errors",
    "ShoalError": "shoal.errors",
    "__version__": "shoal._version",
    "adjust_table": "shoal.tables.rounding.adjustment.api",
    "anonymity": "shoal.microdata.anonymity.api",
    "audit": "shoal.tables.api",
    "assign": "shoal.appointments.api",
    "assign_sizes": "shoal.appointments.api",
    "compare": "shoal.microdata.measures.api",
    "diff_releases": "shoal.release.register.diff",
    "group_attributes": "shoal.microdata.grouping.api",
    "guess_roles": "shoal.microdata.columns.roles",
    "microaggregate": "shoal.microdata.microaggregation.api",
    "perturb": "shoal.microdata.perturbation.api",
    "perturb_table": "shoal.tables.rounding.cell_keys.api",
    "propose_hierarchies": "shoal.microdata.columns.hierarchies.api",
    "recode": "shoal.microdata.recoding.api",
    "risk": "shoal.microdata.risk.api",
    "release": "shoal.release.api",
    "round_table": "shoal.tables.rounding.controlled_rounding.api",
    "verify_release": "shoal.release.verify.api",
    "suppress": "shoal.tables.api",
    "tabulate": "shoal.tables.model.tabulation",
}

__all__ = [
    "AnonymityVector",
    "Budget",
    "Definitions",
    "Infeasible",
    "InputError",
    "ShoalError",
    "__version__",
    "adjust_table",
    "anonymity",
    "assign",
    "assign_sizes",
    "audit",
    "compare",
    "diff_releases",
    "group_attributes",
    "guess_roles",
    "microaggregate",
    "perturb",
    "perturb_table",
    "propose_hierarchies",
    "recode",
    "release",
    "risk",
    "round_table",
    "suppress",
    "tabulate",
    "verify_release",
]


class _Package(type(sys)):  # type: ignore[misc]
    """A package whose public functions stand before its packages of the same name: ``anonymity``, ``release``.

    Else the first import of ``shoal.anonymity.vector`` would put the package in the function's place.
    """

    def __setattr__(self, name: str, value: "Any") -> None:
        if name not in _LAZY or not isinstance(value, type(sys)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> "Any":
    if name not in _LAZY:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_LAZY))
