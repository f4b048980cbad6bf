"""The methods of controlled tabular adjustment, by name."""

from shoal.runtime import Method, Registry

_FOLDER = "shoal.tables.rounding.adjustment"

METHODS = Registry(
    "controlled tabular adjustment",
    [
        Method(
            "auto",
            f"{_FOLDER}.exact:choose",
            "shoal.runtime.options:NoOptions",
            "the exact method for up to 500 sensitive cells, above that the flips",
        ),
        Method(
            "exact",
            f"{_FOLDER}.exact:solve",
            "shoal.runtime.options:NoOptions",
            "integer programme: which cells rise and which fall, with a bound (Dandekar and Cox 2002; Castro 2006)",
            exact=True,
            largest=2000,
        ),
        Method(
            "flips",
            f"{_FOLDER}.flips:solve",
            "shoal.runtime.options:NoOptions",
            "for many sensitive cells: directions from the relaxation, then one turned after the other, with a bound",
        ),
    ],
)
