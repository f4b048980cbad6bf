"""The matrices of PRAM as files: all of them for those inside, and for users of the release those that rounded counts give."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.sources.internal import WORD

if TYPE_CHECKING:
    from shoal.microdata.perturbation.pram import ColumnTransitions
    from shoal.microdata.perturbation.result import Perturbed
    from shoal.microdata.perturbation.transitions import Transition

#: A stratum of fewer records has no published matrix: its shares would give its counts away.
PUBLISHED_FROM = 100
# Published matrices are made of counts rounded to multiples of this; a category of fewer records is not named.
_ROUNDED_TO = 10
_OTHERS = "all others"


def internal_matrices(result: "Perturbed") -> str | None:
    """All matrices as they were used; they tell the counts of every stratum."""
    if result.method != "pram":
        return None
    found = [
        {
            "column": item.column,
            "stratum": list(result.strata[stratum]),
            "records": group.records,
            "categories": [item.values[code] for code in group.categories],
            "shares": group.shares.tolist(),
            "matrix": group.matrix.tolist(),
        }
        for item in result.details
        for stratum, group in zip(item.strata, item.groups, strict=True)
    ]
    return json.dumps({"note": f"{WORD}: not for publication", "matrices": found}, indent=1) + "\n"


def published_matrices(result: "Perturbed") -> str | None:
    """Matrices of the strata with enough records, made of rounded counts, and how counts are corrected with them."""
    if result.method != "pram":
        return None
    found, left_out = [], 0
    for item in result.details:
        for stratum, groups in _by_stratum(item).items():
            made = None
            if sum(group.records for group in groups) >= PUBLISHED_FROM:
                made = _of_rounded_counts(item, groups)
            if made is None:
                left_out += 1
                continue
            names, matrix = made
            found.append(
                {
                    "column": item.column,
                    "stratum": list(result.strata[stratum]),
                    "categories": names,
                    "matrix": matrix.tolist(),
                }
            )
    about = (
        f"Rows are true categories, columns seen ones; '{_OTHERS}' are those of fewer than {_ROUNDED_TO} records. "
        "With released counts T of the categories those before are estimated by A·T, A being the inverse of the transposed "
        "matrix, and the covariance of the estimates by A·V·A', V being the sum of max(0, estimate)·(diag(r) - r·r') over the "
        f"rows r. Matrices are made of counts rounded to {_ROUNDED_TO}, so estimates are nearly unbiased; strata of fewer than "
        f"{PUBLISHED_FROM} records are left out."
    )
    if all(getattr(promise, "exact", True) for promise in result.promises):
        about += (
            " The matrices that were used keep the shares of the categories, so released counts are unbiased as they are, too, "
            "and vary less than corrected ones; tables with other columns need the correction."
        )
    told: dict[str, Any] = {"about": about, "matrices": found}
    if left_out:
        told["left_out"] = "some strata"
    return json.dumps(told, indent=1) + "\n"


def _by_stratum(item: "ColumnTransitions") -> dict[int, list["Transition"]]:
    found: dict[int, list[Transition]] = {}
    for stratum, group in zip(item.strata, item.groups, strict=True):
        found.setdefault(stratum, []).append(group)
    return found


def _of_rounded_counts(
    item: "ColumnTransitions", groups: list["Transition"]
) -> tuple[list[str | None], np.ndarray] | None:
    """The matrix that a stratum would have, were its counts the rounded ones: nobody can learn more from it than those.

    Groups of a stratum count by how often a category is in them. ``None`` if a given matrix cannot be used with these counts.
    """
    size = len(item.values)
    joint, counts = np.zeros((size, size)), np.zeros(size)
    for group in groups:
        own = group.records * group.shares
        counts[group.categories] += own
        rounded = _ROUNDED_TO * np.floor(own / _ROUNDED_TO + 0.5)
        there = rounded > 0
        if there.any():
            codes = group.categories[there]
            try:
                matrix = item.rule(codes, rounded[there] / rounded[there].sum())
            except InputError:
                return None
            joint[np.ix_(codes, codes)] += rounded[there][:, None] * matrix
    seen = joint.sum(axis=1) > 0
    named = np.flatnonzero(seen & (counts.round() >= _ROUNDED_TO))
    others = np.flatnonzero(seen & (counts.round() < _ROUNDED_TO))
    parts = [np.array([code]) for code in named] + ([others] if others.size else [])
    if not parts:
        return None
    pooled = np.array([[joint[np.ix_(rows, columns)].sum() for columns in parts] for rows in parts])
    names = [item.values[code] for code in named] + ([_OTHERS] if others.size else [])
    return names, _shown(pooled / pooled.sum(axis=1)[:, None])


def _shown(matrix: np.ndarray) -> np.ndarray:
    """Four digits, with rows that still add up to 1."""
    shown = matrix.round(4)
    np.fill_diagonal(shown, 0.0)
    np.fill_diagonal(shown, 1.0 - shown.sum(axis=1))
    return shown.round(4)
