"""The methods of attribute grouping, by name."""

from shoal.runtime import Method, Registry

METHODS = Registry(
    "attribute grouping",
    [
        Method(
            "d-gomm",
            "shoal.microdata.grouping.genetic:solve",
            "shoal.microdata.grouping.genetic:DGommOptions",
            "GOMM that gives up operators which no longer help: nearly as good with fewer evaluations",
        ),
        Method(
            "gomm",
            "shoal.microdata.grouping.genetic:solve",
            "shoal.microdata.grouping.genetic:GommOptions",
            "grouping genetic algorithm with one crossover and five mutations",
        ),
        Method(
            "exact",
            "shoal.microdata.grouping.exact:solve",
            "shoal.microdata.grouping.exact:ExactOptions",
            "branch and bound over all groupings: the best one, with proof",
            exact=True,
            largest=13,
        ),
        Method(
            "correlated",
            "shoal.microdata.grouping.baselines:solve_correlated",
            "shoal.microdata.grouping.baselines:SizeOptions",
            "highly correlated attributes together: low loss, high risk",
            traits=frozenset({"constructive", "deterministic"}),
        ),
        Method(
            "uncorrelated",
            "shoal.microdata.grouping.baselines:solve_uncorrelated",
            "shoal.microdata.grouping.baselines:SizeOptions",
            "highly correlated attributes in different groups: lower risk, higher loss",
            traits=frozenset({"constructive", "deterministic"}),
        ),
        Method(
            "single",
            "shoal.microdata.grouping.baselines:solve_single",
            "shoal.runtime.options:NoOptions",
            "all attributes in one group: k holds for all of them",
            traits=frozenset({"constructive", "deterministic"}),
        ),
        Method(
            "univariate",
            "shoal.microdata.grouping.baselines:solve_univariate",
            "shoal.runtime.options:NoOptions",
            "every attribute on its own: the least loss, no protection against linkage",
            traits=frozenset({"constructive", "deterministic"}),
        ),
    ],
)
