"""The printed figures of Bierman (2020) on iterated local search: Tables 3 to 7, and MDAV by Mortazavi et al. (2013)."""

from collections.abc import Mapping, Sequence
from typing import Any

SIZES = (3, 4, 5, 6, 10)
FILES = {"Tarragona": "casc/tarragona.csv", "Census": "casc/census.csv", "EIA": "casc/eia_11num.csv"}
CASES = tuple((name, k) for name in FILES for k in SIZES)

Table = Mapping[str, Sequence[float | None]]

# Mean seconds of a random restart (Table 3) and of 5,000 iterations (Table 5): LS / LSC and ILSM / ILSMC.
SPEED_UP_OF_LSC: Table = {
    "Tarragona": (1.70, 1.65, 1.62, 1.60, 1.44),
    "Census": (1.75, 1.61, 1.56, 1.52, 1.5),
    "EIA": (2.07, 1.93, 1.69, 1.65, 1.63),
}
SPEED_UP_OF_ILSMC: Table = {
    "Tarragona": (14.1, 11.7, 9.7, 8.0, 4.6),
    "Census": (25.8, 18.0, 13.4, 11.1, 6.2),
    "EIA": (228.1, 131.0, 82.3, 58.2, 30.2),
}
# Table 4, the best of 5,000 restarts.
RESTARTS: Mapping[str, Table] = {
    "lsc": {
        "Tarragona": (14.68, 17.23, 20.32, 23.66, 30.23),
        "Census": (4.87, 6.67, 7.88, 8.86, 11.96),
        "EIA": (0.44, 0.59, 1.21, 1.02, 2.46),
    },
    "ls": {
        "Tarragona": (14.68, 17.24, 20.30, 23.66, 30.22),
        "Census": (4.86, 6.66, 7.87, 8.86, 11.94),
        "EIA": (0.45, 0.59, 1.19, 1.03, 2.45),
    },
}
# Tables 6 and 7: best, average and worst of 20 runs, for each k.
_PRINTED_SEARCHES = """
    ilsmc
      Tarragona 14.50 14.55 14.58  17.12 17.15 17.19  20.17 20.19 20.22  23.52 23.58 23.65  30.14 30.22 30.30
      Census     4.77  4.81  4.86   6.13  6.20  6.29   7.37  7.44  7.50   8.34  8.41  8.47  11.46 11.53 11.62
      EIA        0.37  0.37  0.38   0.51  0.52  0.53   0.76  0.81  0.98   0.94  0.96  0.99   1.85  1.86  1.86
    ilsm
      Tarragona 14.48 14.57 14.60  17.11 17.15 17.20  20.17 20.21 20.28  23.52 23.59 23.65  30.14 30.19 30.29
      Census     4.77  4.80  4.83   6.13  6.19  6.30   7.38  7.44  7.53   8.33  8.41  8.50  11.47 11.54 11.69
      EIA        0.37  0.38  0.41   0.52  0.52  0.54   0.76  0.82  0.96   0.94  0.95  0.97   1.85  1.86  1.86
    biased dissolve
      Tarragona 14.49 14.52 14.58  17.10 17.13 17.16  20.17 20.19 20.22  23.50 23.55 23.62  30.14 30.17 30.27
      Census     4.77  4.80  4.83   6.12  6.16  6.22   7.37  7.41  7.45   8.36  8.41  8.45  11.47 11.53 11.63
      EIA        0.36  0.37  0.38   0.51  0.52  0.52   0.76  0.78  0.90   0.94  0.96  0.99   1.85  1.86  1.86
"""


def _searches_in_print(text: str) -> dict[str, dict[str, list[tuple[float, ...]]]]:
    """Method → data → for each k the three figures of a run, from a table in which methods stand alone in a line."""
    tables: dict[str, dict[str, list[tuple[float, ...]]]] = {}
    for line in text.strip().splitlines():
        name, *figures = line.split()
        if not figures or not figures[0][0].isdigit():
            table = tables.setdefault(line.strip(), {})
        else:
            values = list(map(float, figures))
            table[name] = [tuple(values[at : at + 3]) for at in range(0, len(values), 3)]
    return tables


SEARCHES = _searches_in_print(_PRINTED_SEARCHES)
# Mortazavi, Jalili and Gohargazi (2013), Table 3; EIA with its eleventh column.
MDAV: Table = {
    "Tarragona": (16.9326, 19.5458, 22.4613, 26.3252, 33.1929),
    "Census": (5.6922, 7.4947, 9.0884, 10.3847, 14.1559),
    "EIA (11 columns)": (0.4829, 0.6714, 1.6667, 1.3078, 3.8397),
}
# What the changed-pairs lists are capped by in Figures 9 to 11, and the length of a full list.
LISTS = {"Tarragona": (1500, 35_533), "Census": (1900, 59_720), "EIA": (4500, 857_244)}

# The values that were tried for the three parameters, and the one that was chosen.
TUNED: Mapping[str, tuple[str, Mapping[str, Any], Sequence[float], float]] = {
    "sample s of biased dissolving": ("sample", {"dissolve": "biased"}, (1, 2, 3, 5, 8, 12, 20), 5),
    "temperature T of dynamic acceptance": (
        "temperature",
        {"acceptance": "dynamic"},
        (1e-7, 1e-6, 1e-5, 1e-4, 1e-3),
        1e-5,
    ),
    "chance A of static acceptance": ("chance", {}, (0.0, 0.2, 0.5, 0.8, 1.0), 0.8),
}
