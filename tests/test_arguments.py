"""What Python callers pass by mistake is refused by the name of the parameter, and one text is a list of one."""

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal.sources.not_numbers import faults_in_numbers

FIRMS = pl.DataFrame(
    {
        "firm": range(30),
        "size": np.arange(30) ** 2 % 17 + 1.0,
        "staff": np.arange(30) * 7 % 23 + 1.0,
        "region": ["north", "south", "west"] * 10,
        "legal": ["a", "b"] * 15,
    }
)
SLOTS = pl.DataFrame({"slot": ["A", "B"], "capacity": [20, 20], "hour": [9, 10]})
MATRIX = np.arange(1, 10).reshape(3, 3) * 10


def assign(**given):
    return shoal.assign(FIRMS, SLOTS, **{"quasi": "region", **given})


def suppress(**given):
    return shoal.suppress(MATRIX, sensitive=[("2", "2")], **given)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: assign(diverse={}), "diverse= must be a text, not dict"),
        (lambda: assign(pinned={}), "pinned= must be a text, not dict"),
        (lambda: assign(quasi=3), "quasi= must be a list of names, not int"),
        (lambda: assign(quasi=None), "quasi= must be a list of names, not NoneType"),
        (lambda: assign(quasi=[3]), "column '3' is not in the people"),
        (lambda: assign(eligibility_known="no"), "eligibility_known= must be True or False, not str"),
        (lambda: assign(method={}), "method= must be a text, not dict"),
        (lambda: assign(budget=3), "budget= must be a Budget, not int"),
        (lambda: assign(k=3.0), "k must be a whole number, not 3.0"),
        (lambda: shoal.microaggregate(FIRMS, k=3, columns=3), "columns= must be a list of names, not int"),
        (lambda: shoal.compare(FIRMS, FIRMS, key={}), "key= must be a text, not dict"),
        (lambda: shoal.tabulate(FIRMS, ["region"], contributor={}), "contributor= must be a text, not dict"),
        (lambda: shoal.anonymity(FIRMS, "region", unit={}), "unit= must be a text, not dict"),
        (lambda: suppress(counts="no"), "counts= must be True or False, not str"),
        (lambda: suppress(zeros="x"), "zeros= must be 'published' or 'suppressible', not 'x'"),
        (lambda: suppress(protection=5), "protection=, a share of the value between 0 and 1, must be"),
        (lambda: suppress(low={}), "low=, the lower bound an attacker knows, must be a number, not dict"),
        (lambda: suppress(low=50, high=3), "low= must not be above high="),
        (lambda: suppress(low=50), "below its lower bound; see low="),
        (lambda: suppress().published("7"), "symbol= must not be a number"),
    ],
)
def test_what_is_wrong_is_named(call, said):
    with pytest.raises(shoal.InputError) as refused:
        call()
    assert said in str(refused.value)


def test_one_text_is_a_list_of_one():
    assert assign(known="hour").known == ("hour",)
    assert shoal.tabulate(FIRMS, "region", rules="frequency(3)").table.dimensions == ("region",)
    assert shoal.microaggregate(FIRMS, k=3, columns="staff").columns == ("staff",)
    groups = shoal.microaggregate(FIRMS, k=3, groups=["size", "staff"]).columns
    assert groups == ("size", "staff")
    two, one = (
        shoal.compare(FIRMS, FIRMS, key="firm", columns=["size", "staff"], known=known)
        for known in ([["staff"]], "staff")
    )
    assert one.score == two.score


def test_numpy_says_yes_and_no_too():
    assert suppress(counts=np.array([True])[0]).audit.safe


def test_names_the_manual_uses_are_there():
    assert shoal.Budget(iterations=3).iterations == 3
    assert shoal.Definitions().ties
    assert assign().warnings == ()


def test_the_command_says_what_it_needs_and_stays_quiet(tmp_path):
    told = command("tabulate", "--help").out
    assert "[required]" in told.partition("--dimensions a,b")[2].partition("--value")[0]
    assert command("generate", "slots", "-q", "-o", tmp_path / "slots.csv").code == 0


def test_the_release_that_is_too_risky_is_named(tmp_path):
    noisy = FIRMS.with_columns(pl.col("size", "staff").sort_by("legal", "firm").reverse())
    for name, frame in {"before": FIRMS, "same": FIRMS, "other": noisy}.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    files = [tmp_path / f"{name}.csv" for name in ("before", "same", "other")]
    told = command("compare", *files, "--key", "firm", "--columns", "size,staff", "--max-risk", "99")
    assert told.code == 3
    assert f"({files[1]})" in told.err


def test_pinned_and_eligible_are_named():
    odd = FIRMS.with_columns(pl.lit("Z").alias("where"))
    for name in ("pinned", "eligible"):
        with pytest.raises(shoal.InputError, match=f"{name}="):
            shoal.assign(odd, SLOTS, quasi="region", **{name: "where"})


def test_one_word_among_a_few_numbers_is_a_fault_and_not_a_code():
    assert str(faults_in_numbers(["12", "7", "unknown", "9", "11"])) == "record 3"
    assert faults_in_numbers(["12", "7", "unknown"]) is None


def test_an_option_of_the_method_as_keyword_is_told_where_it_belongs():
    with pytest.raises(
        shoal.InputError,
        match=r"^'change' is an option of method 'pram'; give it as options=\{'change': …\}$",
    ):
        shoal.perturb(FIRMS, method="pram", columns=["region"], change=0.1)
    # An option of another method, or of none, is what Python says of it.
    for wrong in ("window", "chnge"):
        with pytest.raises(TypeError, match=wrong):
            shoal.perturb(FIRMS, "pram", ["region"], **{wrong: 0.1})
