"""Numbers from outside: settings and figures are checked here for being numbers one can compute with.

Everything that takes a number from a user, a file or the network asks one of these functions: a ``nan`` makes every comparison
false, and opens a gate or keeps a loop from ending.
"""

import math
import operator
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError

if TYPE_CHECKING:
    import numpy as np

# Beyond this the sum of the squares of a few numbers is no number any more.
LARGEST = 1e100
# No index, count or size is beyond this.
LARGEST_WHOLE = 2**63 - 1


def number(
    value: Any,
    what: str,
    *,
    least: float = -LARGEST,
    above: float | None = None,
    most: float = LARGEST,
    infinite: bool = False,
) -> float:
    """The value as a finite number within its limits; ``infinite`` lets a bound that is not there pass too.

    >>> number(0.1, "the protection", least=0, most=1)
    0.1
    >>> number(float("nan"), "the protection")
    Traceback (most recent call last):
        ...
    shoal.errors.InputError: the protection must be a number, not nan
    """
    found = _float(value, what)
    if math.isinf(found) and infinite:
        return found
    if math.isinf(found):
        raise InputError(f"{what} must be a finite number, not {found:g}")
    if above is not None and not found > above:
        raise InputError(f"{what} must be above {above:g}, not {found:g}")
    if not least <= found <= most:
        limits = [f"at least {least:g}"] * (least > -LARGEST) + [f"at most {most:g}"] * (found > most)
        raise InputError(f"{what} must be {' and '.join(limits) or 'of a usual size'}, not {found:g}")
    return found


def _float(value: Any, what: str) -> float:
    try:
        found = math.nan if isinstance(value, bool | str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be a number, not {type(value).__name__}") from None
    if math.isnan(found):
        raise InputError(
            f"{what} must be a number, not {'nan' if isinstance(value, float) else type(value).__name__}"
        )
    return found


def whole(value: Any, what: str, *, least: int = 0, most: int = LARGEST_WHOLE) -> int:
    """The value as a whole number within its limits.

    >>> whole(3, "k", least=1)
    3
    >>> whole(2.5, "k", least=1)
    Traceback (most recent call last):
        ...
    shoal.errors.InputError: k must be a whole number, not 2.5
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        found = operator.index(value)
    except TypeError:
        shown = str(value) if isinstance(value, float) else type(value).__name__
        raise InputError(f"{what} must be a whole number, not {shown}") from None
    if found < least:
        raise InputError(f"{what} must be at least {least}, not {found}")
    if found > most:
        raise InputError(f"{what} must be at most {most}; what was given is larger")
    return found


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with the word for what is counted, and its verb if there is one, for a message.

    >>> counted(1, "record"), counted(1200, "record"), counted(1, "record has", "records have")
    ('1 record', '1,200 records', '1 record has')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def first_unusable(values: "np.ndarray", *, infinite: bool = False) -> int | None:
    """Where the first figure stands that nobody can compute with: no number, without end, or beyond all sizes.

    >>> import numpy as np
    >>> first_unusable(np.array([1.0, np.nan])), first_unusable(np.array([1.0, np.inf]), infinite=True)
    (1, None)
    """
    import numpy as np

    with np.errstate(invalid="ignore"):
        usable = np.abs(values) <= LARGEST
    if infinite:
        usable |= np.isinf(values)
    bad = np.flatnonzero(~usable)
    return int(bad[0]) if bad.size else None


def why_unusable(figure: float) -> str:
    """Why nobody can compute with a figure, for the end of a message.

    >>> why_unusable(float("nan"))
    'has no value'
    """
    return "has no value" if math.isnan(figure) else "is too large to compute with; take another unit"
