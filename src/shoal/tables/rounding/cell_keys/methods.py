"""The methods that design a perturbation table, by name."""

from shoal.runtime import Method, Registry

METHODS = Registry(
    "the design of perturbation tables",
    [
        Method(
            "maximum-entropy",
            "shoal.tables.rounding.cell_keys.design:solve",
            "shoal.runtime.options:NoOptions",
            "the most uncertain table without bias for a variance and a largest deviation (Giessing and Tent 2019)",
            traits=frozenset({"constructive", "deterministic"}),
            exact=True,
        ),
    ],
)
