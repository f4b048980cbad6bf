"""The methods of perturbation, by name."""

from shoal.runtime import Method, Registry

METHODS = Registry(
    "perturbation",
    [
        Method(
            "pram",
            "shoal.microdata.perturbation.pram:perturb",
            "shoal.microdata.perturbation.pram:PramOptions",
            "post randomisation: categories change by chance, their shares stay the same in expectation",
            traits=frozenset({"categories"}),
        ),
        Method(
            "rank-swap",
            "shoal.microdata.perturbation.rank_swapping:perturb",
            "shoal.microdata.perturbation.rank_swapping:RankSwapOptions",
            "values change places with others of near rank, column by column",
            traits=frozenset({"orders"}),
        ),
        Method(
            "record-swap",
            "shoal.microdata.perturbation.record_swapping.solve:perturb",
            "shoal.microdata.perturbation.record_swapping.solve:RecordSwapOptions",
            "households at risk exchange their place of living with others like them",
            traits=frozenset({"households"}),
        ),
        Method(
            "noise",
            "shoal.microdata.perturbation.noise:perturb",
            "shoal.microdata.perturbation.noise:NoiseOptions",
            "random numbers are added, by default so that means and covariances stay exactly as they were",
            traits=frozenset({"numbers"}),
        ),
        Method(
            "shuffle",
            "shoal.microdata.perturbation.shuffling:perturb",
            "shoal.microdata.perturbation.shuffling:ShuffleOptions",
            "a model draws new values, and each record gets the original one of that rank",
            traits=frozenset({"orders"}),
        ),
    ],
)
