"""What Herrington (2015) prints: tables 1 to 20, CPU seconds and percentages of the text, and the appendix."""

from collections.abc import Mapping, Sequence

# Average, median, highest, lowest and standard deviation, as far as they are printed.
Five = Sequence[float | None]

CONFIGURATIONS = {
    "FPRWS/KTR": "roulette/kill",
    "FPRWS/SR": "roulette/similar",
    "RTS/KTR": "tournament/kill",
    "RTS/SR": "tournament/similar",
    "Elite/Elite": "elite/elite",
    "Probabilistic": "portfolio",
}

# Tables 2–4: average, median, max, min, standard deviation by configuration.
PRELIMINARY: Mapping[str, Sequence[Five]] = {
    "10000Cells0.5": [
        (5760, 5766, 6230, 5193, 309.64),
        (5744, 5709, 6393, 5135, 382.08),
        (5674, 5638, 6397, 5224, 385.80),
        (5710, 5757, 6112, 5263, 295.25),
        (5711, 5647, 6260, 5229, 363.02),
        (5623, 5640, 6155, 5157, 355.09),
    ],
    "10000Cells1": [
        (6847, 6716, 7952, 5964, 615.94),
        (6942, 6799, 7832, 6118, 619.80),
        (6731, 6695, 7819, 5746, 534.20),
        (6856, 6797, 7908, 6026, 631.75),
        (6830, 6747, 8017, 5885, 635.70),
        (6778, 6693, 7951, 5857, 625.45),
    ],
    "10000Cells3": [
        (2877, 2971, 3537, 2137, 382.03),
        (2882, 2917, 3519, 2200, 346.1),
        (2816, 2809, 3514, 2164, 353.24),
        (2833, 2739, 3520, 2171, 339.27),
        (2874, 2921, 3430, 2236, 324.15),
        (2818, 2845, 3309, 2173, 362.12),
    ],
}


def _table(number: int, **columns: Five) -> tuple[int, Mapping[str, Five]]:
    return number, columns


# Tables 5, 7, 9, 11, 13, 15, 17: costs; average, median, highest, lowest, standard deviation.
COSTS: Mapping[str, tuple[int, Mapping[str, Five]]] = {
    "10000Cells0.5": _table(
        5,
        hypercube=(5768, 5601, 6371, 5297, 324),
        gensup=(5530, 5421, 7110, 4021, 973),
        heurgene=(5445, 5351, 6013, 5131, 315),
    ),
    "10000Cells1": _table(
        7,
        hypercube=(6885, 6782, 7867, 6030, 636),
        gensup=(5441, 5429, 6366, 4885, 406),
        heurgene=(6066, 6099, 6971, 5268, 493),
    ),
    "10000Cells3": _table(
        9,
        hypercube=(2922, 2997, 3484, 2253, 343),
        gensup=(2304, 2253, 2746, 1816, 287),
        heurgene=(2603, 2670, 3020, 2009, 305),
    ),
    "100000CellsRC": _table(
        11,
        hypercube=(17810, 17538, 19296, 16619, 792),
        gensup=(17777, 17394, 19638, 16717, 1035),
        heurgene=(17230, 17053, 19147, 16158, 892),
    ),
    "100000Cells0.5": _table(
        13,
        hypercube=(17156, 16842, 18930, 16276, 854),
        gensup=(15337, 15019, 17539, 14796, 853),
        heurgene=(16469, 16143, 18287, 15593, 910),
    ),
    "100000Cells1": _table(
        15,
        hypercube=(9418, 9526, 10118, 8545, 570),
        gensup=(7868, 7812, 8379, 7803, 170),
        heurgene=(9065, 9097, 9797, 8039, 563),
    ),
    "100000Cells3": _table(
        17,
        hypercube=(145, 120, 298, 41, 78),
        gensup=(134, 114, 298, 41, 84),
        heurgene=(143, 120, 298, 41, 78),
    ),
}

# Tables 6, 8, 10, 12, 14, 16, 18: CPU seconds on a Xeon of 2008; average, median, highest, lowest, deviation.
TIMES: Mapping[str, tuple[int, Mapping[str, Five]]] = {
    "10000Cells0.5": _table(
        6,
        gensup=(220.2564, 214.6291, 322.5163, 154.477, 44.7983),
        heurgene=(11.1194, 10.9510, 13.6190, 8.8610, 1.5367),
    ),
    "10000Cells1": _table(
        8,
        gensup=(472.2239, 474.4680, 480.7680, 455.7240, 6.9158),
        heurgene=(20.1943, 18.2830, 30.8880, 15.9120, 4.5564),
    ),
    "10000Cells3": _table(
        10,
        gensup=(811.2831, 824.3360, 952.6630, 671.2850, 86.4002),
        heurgene=(64.5615, 66.7520, 71.4950, 56.5190, 4.7155),
    ),
    "100000CellsRC": _table(
        12,
        gensup=(12024.0222, 12056.5141, 12321.6464, 11691.6279, 199.8669),
        heurgene=(511.1365, 511.4625, 563.7090, 463.5860, 27.1727),
    ),
    "100000Cells0.5": _table(
        14,
        gensup=(22452.63, 22452.63, 22452.63, 22452.63, None),
        heurgene=(2089.52, 2064.21, 2213.72, 2028.44, 61.55),
    ),
    "100000Cells1": _table(
        16,
        gensup=(74161.45, 74161.45, 74161.45, 74161.45, None),
        heurgene=(7383.42, 7325.55, 7788.72, 7207.65, 170.30),
    ),
    "100000Cells3": _table(
        18,
        gensup=(3781.76, 3696.40, 4582.76, 3454.93, 343.32),
        heurgene=(12434.86, 12601.48, 13584.11, 11444.25, 721.48),
    ),
}

# Tables 19 and 20: cost saved over HyperCube per CPU second.
RATIOS: Mapping[str, tuple[int, float, float]] = {
    "10000Cells3": (19, 0.7621, 4.9420),
    "10000Cells1": (19, 3.0570, 40.5636),
    "10000Cells0.5": (19, 1.0803, 29.0881),
    "100000Cells3": (20, 0.0031, 0.0002),
    "100000Cells1": (20, 0.0128, 0.0478),
    "100000Cells0.5": (20, 0.0836, 0.3290),
    "100000CellsRC": (20, 0.0027, 1.1336),
}

# The appendix: fastest, slowest and average time; highest, lowest and average cost of ten runs on ten tables.
APPENDIX: Sequence[tuple[float, ...]] = (
    (10.584000, 16.504999, 11.841100, 8625, 7224, 7951),
    (9.528000, 24.878000, 14.225200, 8506, 6392, 7138),
    (11.491000, 17.386000, 13.268500, 8094, 6330, 7124),
    (11.319000, 20.450001, 14.730200, 8212, 6971, 7516),
    (10.811000, 18.143000, 13.565800, 7615, 6429, 6846),
    (10.779000, 30.888000, 14.335000, 7124, 5754, 6387),
    (10.109000, 16.184999, 12.839600, 6707, 5562, 6068),
    (10.826000, 19.624001, 13.128900, 7176, 6099, 6540),
    (10.593000, 18.283001, 13.165000, 6797, 5268, 5857),
    (11.123000, 15.912000, 12.634700, 6773, 5792, 6359),
)

# HyperCube's CPU seconds as the text gives them: mean, median, standard deviation.
HYPERCUBE_SECONDS: Mapping[str, tuple[float, float, float]] = {
    "10000Cells0.5": (0.0468, 0.0468, 0.0002),
    "10000Cells1": (0.0936, 0.0936, 0.0001),
    "10000Cells3": (0.3106, 0.3113, 0.0019),
    "100000CellsRC": (2.85554, 2.85785, 0.0217),
    "100000Cells0.5": (5.84, 5.67, 0.22),
    "100000Cells1": (11.39, 11.34, 0.097),
    "100000Cells3": (34.41, 34.38, 0.09),
}

# Percent below HyperCube's cost by GenSup and by HeurGene, and HeurGene's CPU in percent of GenSup's, as the text says.
PERCENTAGES: Mapping[str, tuple[str, str, str]] = {
    "10000Cells0.5": ("about 10", "about 11", "an order of magnitude less"),
    "10000Cells1": ("about 21", "about 11", "about 5"),
    "10000Cells3": ("about 23", "about 13", "about 8"),
    "100000CellsRC": ("about 0.02", "about 9.7", "about 5"),
    "100000Cells0.5": ("about 11", "about 4", "about 10"),
    "100000Cells1": ("about 16", "about 4", "–"),
    "100000Cells3": ("modest", "modest", "three times"),
}
