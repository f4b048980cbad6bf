"""The methods of recoding, by name."""

from shoal.runtime import Method, Registry

METHODS = Registry(
    "recoding",
    [
        Method(
            "auto",
            "shoal.microdata.recoding.auto:solve",
            "shoal.microdata.recoding.auto:AutoOptions",
            "tries all methods that are allowed, the cheap ones first, and takes what loses least",
            traits=frozenset({"deterministic"}),
        ),
        Method(
            "lattice",
            "shoal.microdata.recoding.lattice:solve",
            "shoal.runtime.options:NoOptions",
            "the best levels for whole columns, with proof; records that stay unsafe are left out up to a limit",
            traits=frozenset({"deterministic", "uniform", "models"}),
            exact=True,
        ),
        Method(
            "local",
            "shoal.microdata.recoding.local_recoding.solve:solve",
            "shoal.runtime.options:NoOptions",
            "groups of near records, each only as coarse as its members need; loses least, but leaves values at mixed levels",
            traits=frozenset({"models", "mixed"}),
        ),
        Method(
            "local-suppression",
            "shoal.microdata.recoding.local_suppression.solve:solve",
            "shoal.microdata.recoding.local_suppression.solve:LocalSuppressionOptions",
            "blanks single values, the fewest or cheapest, with proof or a bound; a blank counts as a value of its own",
            traits=frozenset({"pieces", "models"}),
            exact=True,
        ),
    ],
)
