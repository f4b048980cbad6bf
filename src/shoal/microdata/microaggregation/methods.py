"""The methods of microaggregation, by name."""

from shoal.runtime import Method, Registry

METHODS = Registry(
    "microaggregation",
    [
        Method(
            "auto",
            "shoal.microdata.microaggregation.auto:solve",
            "shoal.microdata.microaggregation.auto:AutoOptions",
            "chooses: exact for one column, ils or annealing up to 6,000 records, blocks above",
        ),
        Method(
            "mdav",
            "shoal.microdata.microaggregation.construct.mdav:solve",
            "shoal.microdata.microaggregation.construct.mdav:MdavOptions",
            "maximum distance to average vector: the classic fast heuristic with groups of k",
            traits=frozenset({"constructive", "deterministic"}),
            largest=100_000,
        ),
        Method(
            "v-mdav",
            "shoal.microdata.microaggregation.construct.v_mdav:solve",
            "shoal.microdata.microaggregation.construct.v_mdav:VMdavOptions",
            "MDAV whose groups may grow to 2k−1 where records lie close together",
            traits=frozenset({"constructive", "deterministic"}),
            largest=50_000,
        ),
        Method(
            "univariate",
            "shoal.microdata.microaggregation.construct.univariate:solve",
            "shoal.runtime.options:NoOptions",
            "the optimum for a single column, by a shortest path",
            traits=frozenset({"constructive", "deterministic", "one-column"}),
            exact=True,
        ),
        Method(
            "exact",
            "shoal.microdata.microaggregation.search.exact:solve",
            "shoal.microdata.microaggregation.search.exact:ExactOptions",
            "the optimum of few records with its proof: column generation, then a choice among all groups left",
            exact=True,
            largest=100,
        ),
        Method(
            "projection",
            "shoal.microdata.microaggregation.construct.projection:solve",
            "shoal.microdata.microaggregation.construct.projection:ProjectionOptions",
            "puts the records in a row (component, Hilbert curve) and cuts it at its best places; very fast",
            traits=frozenset({"constructive", "deterministic"}),
        ),
        Method(
            "ls",
            "shoal.microdata.microaggregation.from_papers.local_search:ls",
            "shoal.microdata.microaggregation.from_papers.local_search:LocalSearchOptions",
            "local search by swaps and shifts from random partitions (Laszlo and Mukherjee 2015)",
            largest=20_000,
        ),
        Method(
            "lsc",
            "shoal.microdata.microaggregation.from_papers.local_search:lsc",
            "shoal.microdata.microaggregation.from_papers.local_search:LocalSearchOptions",
            "the same, trying only groups that changed (Bierman 2020)",
            largest=20_000,
        ),
        Method(
            "ilsm",
            "shoal.microdata.microaggregation.from_papers.iterated:ilsm",
            "shoal.microdata.microaggregation.from_papers.iterated:IteratedOptions",
            "iterated local search, as published (Laszlo and Mukherjee 2015)",
            largest=20_000,
        ),
        Method(
            "ilsmc",
            "shoal.microdata.microaggregation.from_papers.iterated:ilsmc",
            "shoal.microdata.microaggregation.from_papers.iterated:IteratedOptions",
            "the same, trying only groups that changed, far faster (Bierman 2020)",
            largest=20_000,
        ),
        Method(
            "ils",
            "shoal.microdata.microaggregation.search.ils:solve",
            "shoal.microdata.microaggregation.search.ils:IlsOptions",
            "cooling iterated local searches side by side, their groups recombined by integer programming",
            largest=20_000,
        ),
        Method(
            "annealing",
            "shoal.microdata.microaggregation.search.annealing:solve",
            "shoal.microdata.microaggregation.search.annealing:AnnealingOptions",
            "Shoal's own: random moves that cool, in the whole file and in regions, and the best parts of all",
            largest=20_000,
        ),
        Method(
            "blocks",
            "shoal.microdata.microaggregation.search.blocks:solve",
            "shoal.microdata.microaggregation.search.blocks:BlocksOptions",
            "for very many records: MDAV in blocks, then local search across their borders, round by round",
        ),
    ],
)
