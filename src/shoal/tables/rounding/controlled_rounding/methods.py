"""The methods of controlled rounding, by name."""

from shoal.runtime import Method, Registry

METHODS = Registry(
    "controlled rounding",
    [
        Method(
            "exact",
            "shoal.tables.rounding.controlled_rounding.exact:solve",
            "shoal.runtime.options:NoOptions",
            "integer programme with cuts for cells that could be computed too closely; with a bound (Salazar 2005)",
            exact=True,
            largest=200_000,
        ),
    ],
)
