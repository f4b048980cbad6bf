"""What the settings of all that changes figures share: the table, and whose randomness it is."""

from typing import Any

from shoal.settings import setting

_RANDOMNESS = "Randomness"


def table_argument() -> Any:
    """Which table."""
    return setting(
        ...,
        "Records or a ready-made table (with dimensions), a CSV matrix, a list of cells from tabulate, or a .jj or .tab file.",
        argument=True,
        label="Data",
        metavar="TABLE",
    )


def secret() -> Any:
    """Where the secret is kept that the changes are drawn from."""
    return setting(
        None,
        "Repeat a table with the secret in this file; a new one is written there if there is none. Internal.",
        section=_RANDOMNESS,
        metavar="FILE",
        only="command",
    )


def study_seed() -> Any:
    """What a study repeats in place of a secret."""
    return setting(
        None,
        "A seed in place of a secret, for studies: marks the output 'not for release'.",
        section=_RANDOMNESS,
        otherwise="a secret of the operating system",
        ge=0,
        served={"le": 2**53 - 1},
    )
