"""How much may be invented at once: what is larger would fill the memory before anything is written."""

from shoal.errors import InputError

MOST = 20_000_000
MOST_CELLS = 2_000_000


def check_count(what: str, count: int, *, least: int = 1, most: int = MOST) -> None:
    """Refuse a number of things that is too small, or beyond what one run can make.

    >>> check_count("the number of slots", 5)
    """
    if count < least:
        raise InputError(f"{what} must be at least {least}, not {count}")
    if count > most:
        raise InputError(f"{what} must be at most {most:,}, not {count:,}")
