"""The ways to give out appointments, by name."""

from shoal.runtime.registry import Method, Registry

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
            "shoal.appointments.solvers.random:solve",
            "shoal.appointments.solvers.random:RandomOptions",
            "seats drawn at random: the baseline",
            objectives=("k", "vector"),
            traits=frozenset({"constructive"}),
        ),
        Method(
            "greedy",
            "shoal.appointments.solvers.greedy:solve",
            "shoal.appointments.solvers.greedy:GreedyOptions",
            "the largest crowd first, by the published rule or best fit",
            objectives=("k", "vector"),
            traits=frozenset({"constructive", "deterministic"}),
        ),
        Method(
            "annealing",
            "shoal.appointments.solvers.annealing:solve",
            "shoal.appointments.solvers.annealing:AnnealingOptions",
            "pieces of crowds moved about by simulated annealing",
            objectives=("k", "vector"),
        ),
        Method(
            "genetic",
            "shoal.appointments.from_papers.genetic:solve",
            "shoal.appointments.from_papers.genetic:GeneticOptions",
            "a steady-state genetic algorithm on matrices, in three versions",
            objectives=("k",),
            traits=frozenset({"plain"}),
        ),
        Method(
            "branch-and-bound",
            "shoal.appointments.from_papers.branch_and_bound:solve",
            "shoal.appointments.from_papers.branch_and_bound:BranchAndBoundOptions",
            "every assignment of one group after the other, with pruning",
            objectives=("k",),
            traits=frozenset({"plain", "deterministic"}),
            exact=True,
            largest=100,
        ),
        Method(
            "constraint",
            "shoal.appointments.solvers.constraint:solve",
            "shoal.appointments.solvers.constraint:ConstraintOptions",
            "one K after the other decided by a constraint solver",
            objectives=("k",),
            traits=frozenset({"diverse"}),
            exact=True,
            largest=5_000,
        ),
        Method(
            "lexicographic",
            "shoal.appointments.solvers.lexicographic:solve",
            "shoal.appointments.solvers.lexicographic:LexicographicOptions",
            "the best anonymity vector, proved level by level",
            objectives=("vector",),
            traits=frozenset({"diverse"}),
            exact=True,
            largest=5_000,
        ),
    ],
)
