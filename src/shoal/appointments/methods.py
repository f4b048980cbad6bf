"""The ways to give out appointments, by name."""

from shoal.search.registry import Method, Registry

# Traits: "plain" takes group sizes and capacities only (no eligibility, labels, pinned people or diversity);
# "diverse" obeys diversity.
METHODS = Registry(
    "appointments",
    [
        Method(
            "auto",
            "shoal.appointments.auto:solve",
            "shoal.appointments.auto:AutoOptions",
            "whatever it takes: proves the optimum where it can, else the best found with its bound",
            objectives=("k", "vector"),
            traits=frozenset({"diverse"}),
            exact=True,
        ),
        Method(
            "random",
            "shoal.appointments.random:solve",
            "shoal.appointments.random:RandomOptions",
            "seats drawn at random: the baseline",
            objectives=("k", "vector"),
            traits=frozenset({"constructive"}),
        ),
        Method(
            "greedy",
            "shoal.appointments.greedy:solve",
            "shoal.appointments.greedy:GreedyOptions",
            "the largest crowd first, by the published rule or best fit",
            objectives=("k", "vector"),
            traits=frozenset({"constructive", "deterministic"}),
        ),
        Method(
            "annealing",
            "shoal.appointments.annealing:solve",
            "shoal.appointments.annealing:AnnealingOptions",
            "pieces of crowds moved about by simulated annealing",
            objectives=("k", "vector"),
        ),
        Method(
            "genetic",
            "shoal.appointments.genetic:solve",
            "shoal.appointments.genetic:GeneticOptions",
            "a steady-state genetic algorithm on matrices, in three versions",
            objectives=("k",),
            traits=frozenset({"plain"}),
        ),
        Method(
            "branch-and-bound",
            "shoal.appointments.branch_and_bound:solve",
            "shoal.appointments.branch_and_bound:BranchAndBoundOptions",
            "every assignment of one group after the other, with pruning",
            objectives=("k",),
            traits=frozenset({"plain", "deterministic"}),
            exact=True,
            largest=100,
        ),
        Method(
            "constraint",
            "shoal.appointments.constraint:solve",
            "shoal.appointments.constraint:ConstraintOptions",
            "one K after the other decided by a constraint solver",
            objectives=("k",),
            traits=frozenset({"diverse"}),
            exact=True,
            largest=5_000,
        ),
        Method(
            "lexicographic",
            "shoal.appointments.lexicographic:solve",
            "shoal.appointments.lexicographic:LexicographicOptions",
            "the best anonymity vector, proved level by level",
            objectives=("vector",),
            traits=frozenset({"diverse"}),
            exact=True,
            largest=5_000,
        ),
    ],
)
