"""The methods of cell suppression, by name."""

from shoal.runtime import Registry
from shoal.tables.model.units import ScaledMethod as Method
from shoal.tables.problem import Problem

METHODS = Registry(
    "cell suppression",
    [
        Method(
            "auto",
            "shoal.tables.exact.search:solve",
            "shoal.tables.exact.search:ExactOptions",
            "the best heuristic at once, then the exact search as long as the budget lasts; with a bound",
        ),
        Method(
            "exact",
            "shoal.tables.exact.search:solve",
            "shoal.tables.exact.search:ExactOptions",
            "branch and cut with strengthened capacity inequalities: the proven optimum, or the best with a bound",
            exact=True,
            largest=100_000,
        ),
        Method(
            "general",
            "shoal.tables.heuristic.general:solve",
            "shoal.tables.heuristic.general:GeneralOptions",
            "any table of any size: one linear programme per cell that is not protected yet, then reverse delete",
            traits=frozenset({"constructive", "deterministic"}),
        ),
        Method(
            "hypercube",
            "shoal.tables.from_papers.hypercube:solve",
            "shoal.tables.from_papers.hypercube:HypercubeOptions",
            "a rectangle for each sensitive cell, then clean-up (Giessing and Repsilber 2002; Herrington 2015)",
            traits=frozenset({"constructive", "two-dimensional"}),
        ),
        Method(
            "shortest-path",
            "shoal.tables.from_papers.shortest_path:solve",
            "shoal.tables.from_papers.shortest_path:ShortestPathOptions",
            "cheapest paths, one sensitive cell after the other (Kelly, Golden and Assad 1992)",
            traits=frozenset({"constructive", "deterministic", "network"}),
        ),
        Method(
            "gensup",
            "shoal.tables.from_papers.gensup:solve",
            "shoal.tables.from_papers.gensup:GenSupOptions",
            "genetic algorithm on single cells with repair (Almeida, Schütz and Carvalho 2006)",
            traits=frozenset({"two-dimensional"}),
            largest=20_000,
        ),
        Method(
            "heurgene",
            "shoal.tables.from_papers.heurgene:solve",
            "shoal.tables.from_papers.heurgene:HeurGeneOptions",
            "genetic algorithm on whole circuits of protection (Herrington 2015)",
            traits=frozenset({"two-dimensional"}),
        ),
    ],
)


def fitting(problem: Problem) -> list[str]:
    """The methods that can protect this table."""
    table = problem.table
    plain = table.shape is not None and bool(table.internal[problem.sensitive].all())
    lacks = {
        trait
        for trait, has in (("two-dimensional", plain), ("network", table.network is not None))
        if not has
    }
    return [name for name, method in METHODS.items() if not method.traits & lacks]
