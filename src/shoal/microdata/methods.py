"""The methods of microaggregation, by name."""

from shoal.search import Method, Registry

METHODS = Registry(
    "microaggregation",
    [
        Method(
            "mdav",
            "shoal.microdata.mdav:solve",
            "shoal.microdata.mdav:MdavOptions",
            "maximum distance to average vector: the classic fast heuristic with groups of k",
            traits=frozenset({"constructive", "deterministic"}),
            largest=100_000,
        ),
        Method(
            "v-mdav",
            "shoal.microdata.v_mdav:solve",
            "shoal.microdata.v_mdav:VMdavOptions",
            "MDAV whose groups may grow to 2k−1 where records lie close together",
            traits=frozenset({"constructive", "deterministic"}),
            largest=50_000,
        ),
        Method(
            "univariate",
            "shoal.microdata.univariate:solve",
            "shoal.search.options:NoOptions",
            "the optimum for a single column, by a shortest path",
            traits=frozenset({"constructive", "deterministic", "one-column"}),
            exact=True,
        ),
        Method(
            "projection",
            "shoal.microdata.projection:solve",
            "shoal.microdata.projection:ProjectionOptions",
            "puts the records in a row (component, Hilbert curve) and cuts it at its best places; very fast",
            traits=frozenset({"constructive", "deterministic"}),
        ),
    ],
)
