"""Small measurements, one for each study that makes claims: enough for every claim to be asked."""

from itertools import count

from shoal.generate.table import SETS
from shoal.studies import Findings, Row, gomm, gomm_operators
from shoal.studies.cell_suppression.published import CONFIGURATIONS, PRELIMINARY
from shoal.studies.ils_published import CASES


def cell_suppression() -> Findings:
    figures = count(100)
    labels = ["hypercube", "heurgene", "gensup", "shortest-path"]
    labels += ["hypercube, split", "heurgene, joint", "gensup, joint"]
    curves = {}
    for data in SETS:
        named = labels + (
            [name for name in CONFIGURATIONS if name != "Probabilistic"] if data.name in PRELIMINARY else []
        )
        for label in named:
            for measure in ("cost", "seconds", "best_founder", "children", "infeasible"):
                for table in (1, 2):
                    # Of one set all costs are the same, as in the work.
                    same = measure == "cost" and data.name == "100000Cells3"
                    figure = 100.0 if same else float(next(figures))
                    curves[f"{measure}|{data.name}|{label}|{table}"] = [(1.0, figure)]
    return Findings([], curves)


def grouping() -> Findings:
    rows, figures = [], count(10)
    for data in gomm.DATA:
        best = f"Table {'5.1' if data == 'Water-treatment' else '5.2'}, {data}"
        by_hand = f"Table {'5.3' if data == 'Water-treatment' else '5.4'}, {data}"
        for k in gomm.K:
            rows += [
                Row(best, f"k = {k}", "score", None, float(next(figures))),
                Row(best, f"k = {k}", "groups", None, float(next(figures))),
                Row(by_hand, f"groups of all, k = {k}", "score", None, float(next(figures))),
                Row(
                    f"GOMM and D-GOMM, {data}",
                    f"k = {k}",
                    "D-GOMM CPU over GOMM's",
                    None,
                    float(next(figures)),
                ),
                Row(
                    f"GOMM and D-GOMM, {data}",
                    f"k = {k}",
                    "D-GOMM mean score over GOMM's, %",
                    None,
                    float(next(figures)),
                ),
            ]
    curves = {}
    for data, k in gomm_operators.CASES:
        case = f"{data}, k = {k}"
        for name in gomm_operators._SHORT:
            for how in ("together", "alone"):
                for measure in gomm_operators._MEASURES:
                    curves[f"operators|{case}|{how}|{measure}|{name}"] = _points(figures, 60)
            curves[f"operators|{case}|best|{name}"] = _points(figures, 60)
        curves[f"operators|{case}|groups|all"] = _points(figures, 60)
    return Findings(rows, curves)


def iterated() -> Findings:
    figures = count(1)
    rows = [
        Row("a table", f"{name} {k}", measure, None, float(next(figures)))
        for name, k in CASES
        for measure in ("CPU ILSM / CPU ILSMC", "CPU LS / CPU LSC", "pairs ILSM / pairs naive ILSMC")
    ]
    curves = {}
    for name, k in CASES:
        for variant in ("ilsmc", "ilsm", "naive ilsmc", "biased dissolve", "dynamic acceptance", "both"):
            start = next(figures)
            curves[f"loss {name} {k} {variant}"] = [(100.0 * at, 100.0 / at + start) for at in range(1, 51)]
        curves[f"lists {name} {k} ILSMC, after a perturbation"] = _points(figures, 9)
        curves[f"pairs {name} {k} lsc"] = [(at, 1000.0 / y) for at, y in _points(figures, 9)]
    for method in ("ilsm", "ilsmc"):
        curves[f"growth {method}"] = _points(figures, 4)
    return Findings(rows, curves)


def rooms() -> Findings:
    figures = count(2)
    curves = {}
    for name in ("f4", "f4n", "f5", "f5n"):
        for solver in ("branch and bound", "constraint model"):
            curves[f"compared seconds|{name}|{solver}"] = _points(figures, 3)
        curves[f"compared nodes|{name}|branch and bound"] = _points(figures, 3)
        curves[f"compared share|{name}|genetic, crossing columns"] = _points(figures, 3)
        curves[f"compared violations|{name}|genetic"] = _points(figures, 3)
    for name in ("f1", "f6n", "f7", "f7n", "f8", "f8n"):
        for version in ("random", "guided", "repairing"):
            curves[f"ablation violations|{name}|{version}"] = _points(figures, 2)
        curves[f"ablation share|{name}|repairing"] = _points(figures, 2)
    rows = [
        Row("Appendix E, best matrices", "f4, X = 5", "matrices", 6, 6.0),
        Row("a table", "8 people, after recode -k 2", "re-identified", 0, 1.0),
        Row("a table", "Smith, before", "records that fit", 1, 1.0),
    ]
    for name in ("f1", "f2", "f3"):
        curves[f"exhaustive small|{name}|measured"] = _points(figures, 3)
    for name in ("t1", "t2", "t3"):
        for table, values in (
            ("Figures 5.1–5.3, mutation rate", ("50%", "60%")),
            ("Figures 5.4–5.8, population", ("500 members", "600 members")),
        ):
            rows += [Row(table, f"{name}, {value}", "K", None, float(next(figures))) for value in values]
        measure = "generation of the last improvement"
        rows.append(Row("Figures 5.9 and 5.10, generations", name, measure, None, 400_000.0))
    return Findings(rows, curves)


def screening() -> Findings:
    figures = count(1)
    rows = [
        Row("Mean gain (Table 7)", f"N = {n}", measure, None, float(next(figures)))
        for n in (5, 10, 25, 50, 100, 1000)
        for measure in ("heuristic over random", "optimal over heuristic")
    ]
    rows += [
        Row("Mean K (Table 8)", "N = 5", measure, None, float(next(figures)))
        for measure in ("heuristic", "random")
    ]
    rows.append(Row("All seats of the worked example", "15 people", "of them with K = 1, %", 99.94, 99.9))
    for n in ("1,000", "10,000"):
        case = f"N = {n}, groups 0–200, slots 50–100"
        rows.append(Row("Ranges tried for Table 8", case, "heuristic", 6.82, float(next(figures))))
    rows += [
        Row(
            "One model beside level by level",
            f"N = {n}",
            "CPU one model / CPU levels",
            None,
            float(next(figures)),
        )
        for n in (20, 30)
    ]
    return Findings(rows, {})


def vectors() -> Findings:
    rows = [
        Row("Improvement over random, N = 30", case, "improvement", None, figure)
        for case, figure in (("(9, 4, 3, 1)", 0.2008), ("(2, 6, 4, 1)", 0.962))
    ]
    return Findings([*rows, Row("How many vectors", "N = 1000", "estimate above exact, %", 1.415, 1.415)], {})


def _points(figures, number: int) -> list[tuple[float, float]]:
    return [(float(at), float(next(figures))) for at in range(1, number + 1)]


SAMPLES = {
    "anonymity-vectors": vectors,
    "cell-suppression": cell_suppression,
    "gomm": grouping,
    "ils-microaggregation": iterated,
    "rooms": rooms,
    "screening": screening,
}
