"""Which inputs of a perturbation belong to which methods."""

from collections.abc import Mapping

from shoal.microdata.perturbation.methods import METHODS

#: What has a setting of its own and is an option of those methods that know it.
AMOUNTS = ("change", "window", "amount", "share")
#: Which inputs a method takes, by its trait.
INPUTS: Mapping[str, frozenset[str]] = {
    "columns": frozenset({"categories", "numbers", "orders"}),
    "ordinal": frozenset({"orders"}),
    "by": frozenset({"categories", "numbers", "orders"}),
    "household": frozenset({"households"}),
    "regions": frozenset({"households"}),
    "quasi": frozenset({"households"}),
    "forbid": frozenset({"categories"}),
    "matrix": frozenset({"categories"}),
}


def does_nothing(method: str) -> frozenset[str]:
    """The inputs and amounts that a method has no use for.

    >>> sorted(does_nothing("pram"))
    ['amount', 'household', 'ordinal', 'quasi', 'regions', 'share', 'window']
    """
    chosen = METHODS[method]
    unused = {name for name, wanted in INPUTS.items() if not chosen.traits & wanted}
    return frozenset(unused | {name for name in AMOUNTS if name not in chosen.options_model.model_fields})
