"""Over which columns K of a release is counted when nobody says, and what is to be said of the key that pairs records."""

from collections.abc import Collection, Sequence

from shoal.microdata.columns.roles import Guess, knowable


def counted_in_k(
    guesses: Sequence[Guess], released: Collection[str], compared: Sequence[str], but: Sequence[str | None]
) -> tuple[str, ...]:
    """The columns compared, and those of the release beside them that could be known of somebody.

    >>> guesses = [Guess("sex", "quasi-identifier", "", ""), Guess("pay", "measurement", "", "")]
    >>> counted_in_k(guesses, ["pay", "sex"], ["pay"], ["person"])
    ('pay', 'sex')
    """
    there, taken = set(released), {*compared, *but}
    return (*compared, *(name for name in knowable(guesses) if name in there and name not in taken))


def warnings_on_key(key: str | None, counted: Sequence[str]) -> list[str]:
    """That whoever knows the key finds the record.

    >>> warnings_on_key("person", ["person", "age"]), warnings_on_key(None, ["age"])
    ([], [])
    """
    if key is None or key in counted:
        return []
    return [
        f"the key '{key}' is in the protected data and does not count in K; if it is released, whoever knows it finds "
        "the record"
    ]
