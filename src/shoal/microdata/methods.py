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
    ],
)
