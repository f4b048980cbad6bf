"""The methods for records in many places, by name."""

from shoal.runtime import Method, Registry

_OPTIONS = "shoal.microdata.microaggregation.leaves.leaf_search:LeafOptions"

METHODS = Registry(
    "microaggregation with another engine than local",
    [
        Method(
            name,
            "shoal.microdata.microaggregation.search.blocks:solve",
            _OPTIONS,
            summary,
        )
        for name, summary in (
            ("auto", "the same as blocks, the one method of this engine"),
            ("blocks", "leaves of a split tree, grouped in blocks, then improved across their borders"),
        )
    ],
)
