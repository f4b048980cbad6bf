"""The study of iterated local search: what is timed, and how it is drawn."""

from types import SimpleNamespace

from tests.benchmark_data import benchmark_file

from shoal.microdata.microaggregation import methods
from shoal.studies import Findings, Scope, ils_conclusions, ils_microaggregation
from shoal.studies.ils_published import TUNED


def test_compiled_code_is_loaded_before_a_method_is_timed(monkeypatch) -> None:
    benchmark_file("casc/tarragona.csv")
    sizes = []
    real = methods.METHODS["ilsmc"].solve

    def recorded(problem, *args, **kwargs):
        sizes.append(len(problem.points))
        return real(problem, *args, **kwargs)

    monkeypatch.setattr(methods, "METHODS", {"ilsmc": SimpleNamespace(solve=recorded)})
    ils_microaggregation._load.cache_clear()
    try:
        for run in range(2):
            ils_microaggregation._solve(Scope(), "Tarragona", 3, "ilsmc", {}, 1, run, 90)
    finally:
        ils_microaggregation._load.cache_clear()
    assert sizes == [60, 90, 90]


def test_a_chance_of_zero_is_drawn() -> None:
    for what, (_, _, values, _) in TUNED.items():
        points = [(float(value), 1.0 + place) for place, value in enumerate(values)]
        (picture,) = ils_conclusions.charts(Findings([], {f"tuning Tarragona 3|{what}": points})).values()
        assert (">0<" in picture.svg) == (0.0 in values)
