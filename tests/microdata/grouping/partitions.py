"""All partitions of a small set, the slow way."""

from shoal.microdata.grouping.problem import canonical


def all_partitions(n):
    """Every partition of 0 … n−1: attribute by attribute into an existing group or a new one."""
    found = [[]]
    for attribute in range(n):
        found = [
            [[*group, attribute] if group is chosen else group for group in groups]
            if chosen
            else [*groups, [attribute]]
            for groups in found
            for chosen in [*groups, None]
        ]
    return [canonical(groups) for groups in found]
