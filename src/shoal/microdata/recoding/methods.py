"""The methods of recoding, by name."""

from shoal.search import Method, Registry

METHODS = Registry(
    "recoding",
    [
        Method(
            "lattice",
            "shoal.microdata.recoding.lattice:solve",
            "shoal.search.options:NoOptions",
            "the best levels for whole columns, with proof; records that stay unsafe are left out up to a limit",
            traits=frozenset({"deterministic", "uniform", "models"}),
            exact=True,
        ),
    ],
)
