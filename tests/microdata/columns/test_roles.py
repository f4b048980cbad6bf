"""One guess of what columns are, held against roles that were written down by hand."""

import io

import numpy as np
import polars as pl
import pytest
from tests.benchmark_data import benchmark_file
from tests.microdata.columns import expected_roles as expected
from tests.microdata.columns.surveys import SURVEYS, survey

import shoal
from shoal import sources
from shoal.generate.people import people
from shoal.microdata.columns.roles import ROLES, ROLES_IN_WORDS, guess_roles
from shoal.runtime import Seeds


def guessed(frame) -> dict[str, str]:
    return {guess.column: guess.role for guess in guess_roles(frame)}


def wrong(frame, roles: dict[str, str]) -> dict[str, tuple[str, str, str]]:
    """Column → expected, guessed and why, where they differ."""
    assert set(frame.columns) == set(roles), "every column has a role written down"
    return {
        guess.column: (roles[guess.column], guess.role, guess.reason)
        for guess in guess_roles(frame)
        if guess.role != roles[guess.column]
    }


@pytest.mark.parametrize("file", expected.FILES)
def test_known_files(file):
    frame = sources.read(benchmark_file(file)).frame
    assert wrong(frame, expected.by_column(expected.FILES[file])) == {}


@pytest.mark.parametrize("file", expected.FIXED_WIDTH)
def test_known_files_of_fixed_width(file):
    roles, columns = expected.FIXED_WIDTH[file]
    lines = benchmark_file(file).read_text().splitlines()
    rows = [
        [line[first - 1 : first - 1 + length].strip() for first, length in columns.values()] for line in lines
    ]
    text = "\n".join(",".join(row) for row in [list(columns), *rows])
    frame = pl.read_csv(io.StringIO(text), infer_schema_length=None)
    assert wrong(frame, expected.by_column(roles)) == {}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("language", SURVEYS)
def test_surveys_in_many_languages(language, seed):
    frame, roles = survey(language, seed)
    assert wrong(frame, roles) == {}


#: The measured columns of further files, which stay what they are.
MEASURED = {
    "casc/casc1.csv": "1 2 3 4 5 6 7",
    "eusilc/eusilcP.csv": "eqsize eqIncome py010n py050n py090n py100n py110n py120n py130n py140n hy040n hy050n hy070n hy080n "
    "hy090n hy110n hy130n hy145n",
    "eusilc/eusilcS.csv": "netIncome py010n py050n py090n py100n py110n py120n py130n py140n db090 rb050",
    "nist/ma2019.csv": "AGEP DENSITY PINCP POVPIP",
    "nist/national2019.csv": "AGEP DENSITY PINCP POVPIP",
    "nist/tx2019.csv": "AGEP DENSITY PINCP POVPIP",
}


@pytest.mark.parametrize("file", MEASURED)
def test_measured_columns_stay_measurements(file):
    found = guessed(sources.read(benchmark_file(file)).frame)
    assert [name for name, role in found.items() if role == "measurement"] == MEASURED[file].split()


@pytest.mark.parametrize(
    "name",
    [
        *("Patientennr", "PatNr", "PAT_NR", "Fallnr", "Versicherungsnummer", "Aktennr"),
        *("MRN", "patient_no", "CaseNumber", "insurance_number", "file_no", "claim_number"),
        *("Numéro patient", "num_dossier", "numero_assure", "IPP"),
        *("num_paciente", "Nro. Historia", "numero_expediente", "numero_poliza"),
        *("numero_paziente", "numero_cartella", "codice_assistito", "numero_polizza"),
        *("patiëntnummer", "dossiernr", "zaaknummer", "polisnummer"),
    ],
)
@pytest.mark.parametrize("repeated", [False, True])
def test_numbers_of_patients_cases_and_files_are_no_measurements(name, repeated):
    draw = np.random.default_rng(2)
    numbers = np.sort(draw.choice(10**6, 300, replace=False)) ** 2
    values = draw.choice(numbers, 900) if repeated else numbers
    assert guessed(pl.DataFrame({name: values})) == {name: "identifier"}


def test_a_number_that_nearly_counts_on_was_given_out_and_others_are_asked_about():
    draw = np.random.default_rng(2)
    running = np.arange(1000, 1400)
    running[7] = running[6]
    running[300:] += 5
    spread = np.unique((draw.lognormal(9, 1.5, 500)).astype(int))
    (counted, asked) = (
        guess_roles(pl.DataFrame({"x": draw.permutation(values)}))[0] for values in (running, spread)
    )
    assert (counted.role, counted.kind, counted.averaged) == ("identifier", "a running number", False)
    assert (asked.role, asked.averaged) == ("measurement", True) and asked.reason.endswith("?")
    frame = pl.DataFrame({"x": draw.permutation(spread)})
    notes = shoal.microaggregate(frame, k=3).notes
    assert any("if they were given out" in str(note) for note in notes)


@pytest.mark.parametrize("name", ["case_numbers", "number_of_cases", "patients", "claims", "Fallzahl"])
def test_counts_of_cases_stay_measurements(name):
    draw = np.random.default_rng(2)
    assert guessed(pl.DataFrame({name: draw.poisson(900, 300) + draw.poisson(40, 300) ** 2})) == {
        name: "measurement"
    }


@pytest.mark.parametrize("name", ["comment", "x"])
def test_texts_of_which_some_hold_names_are_free_text(name):
    texts = ["no", "will call", "asked Mr Ode", "n/a"] * 40 + [f"Anna{n} Rim" for n in "abcdefgh"]
    (guess,) = guess_roles(pl.DataFrame({name: texts}))
    assert (guess.role, guess.kind) == ("identifier", "free text")
    classes = pl.DataFrame({"x": ["Never Married", "Widowed", "Asian Islander", "Adm Clerical"] * 60})
    assert guessed(classes) == {"x": "quasi-identifier"}


@pytest.mark.parametrize("name", ["comment", "x"])
@pytest.mark.parametrize(
    "texts",
    [
        ["no", "will call", "asked Mr Ode", "n/a"] * 40 + ["Rim Ode", "Ulm Tor"] * 10,
        ["No answer", "Will call", "OK"] * 40 + ["Anna Schmidt"] * 30 + ["Weber, Jonas"] * 30,
        ["Anna Schmidt", "Dr. Jonas Weber", "Maria Ruiz Gil"] * 40,
    ],
)
def test_names_that_come_again_are_no_classes(name: str, texts: list[str]):
    (guess,) = guess_roles(pl.DataFrame({name: texts}))
    assert guess.role == "identifier"


@pytest.mark.parametrize(
    "texts",
    [["New York", "San Diego", "Boston", "other"], ["Santa Maria", "Never Married", "Some college"]],
)
def test_classes_in_capitals_stay_classes(texts: list[str]):
    assert guessed(pl.DataFrame({"x": texts * 40})) == {"x": "quasi-identifier"}


def test_amounts_that_are_all_different_are_no_identifiers():
    frame = sources.read(benchmark_file("casc/census.csv")).frame
    all_different = [name for name in frame.columns if frame[name].n_unique() == frame.height]
    assert len(all_different) == 7
    assert "identifier" not in {guessed(frame)[name] for name in all_different}


def test_distinct_whole_numbers_alone_are_no_identifier_and_names_are():
    """Whatever the columns are called."""
    amounts = [round(1.08**place) + 7 * place for place in range(110)]
    assert len(set(amounts)) == 110
    first, last = (
        ["Ada", "Bo", "Cleo", "Dag", "Eva"],
        ["Berg", "Olsen", "Ruiz", "Weiss", "Young", "Zhou", "Abe"],
    )
    # Most names come several times: it is not that they are different which tells.
    names = [f"{first[place % 5]} {last[place % 7]}" for place in range(100)] + ["Finn Holm"] * 10
    frame = pl.DataFrame({"v1": amounts, "v2": names, "v3": [name.split()[0] for name in names]})
    assert guessed(frame) == {"v1": "measurement", "v2": "identifier", "v3": "quasi-identifier"}
    assert guessed(frame.rename({"v3": "given_name"}))["given_name"] == "identifier"


def test_generated_people():
    invented = people(400, distribution="spain", min_age=16, max_age=74, postcodes=6, seeds=Seeds(1))
    roles = {
        "ID": "identifier",
        **dict.fromkeys(("AGE", "CP", "SEX", "REC_RAND", "REC_INTELLIGENT"), "quasi-identifier"),
    }
    assert wrong(invented, roles) == {}
    booked = invented.with_columns(
        REC_RAND=pl.int_range(pl.len()) % 5, REC_INTELLIGENT=pl.int_range(pl.len()) // 80
    )
    assert wrong(booked, roles) == {}


@pytest.mark.parametrize("count", [5, 20, 2000])
def test_appointments_written_back_are_no_identifiers_whatever_their_numbers(count):
    chance = np.random.default_rng(0)
    shapes = {
        "few": chance.integers(0, 5, count),
        "none yet": np.full(count, -1),
        "some": np.where(chance.random(count) < 0.3, -1, chance.integers(0, 5, count)),
        "one for each": chance.permutation(count),
        "in order": np.arange(count),
        "texts": [f"room {place}" for place in range(count)],
    }
    for shape, values in shapes.items():
        frame = pl.DataFrame({"REC_RAND": values, "REC_INTELLIGENT": values})
        assert set(guessed(frame).values()) == {"quasi-identifier"}, shape


def test_only_amounts_and_ages_are_averaged():
    frame, _ = survey("spanish", 0)
    averaged = [guess.column for guess in guess_roles(frame) if guess.averaged]
    assert averaged == ["edad", "ingresos", "gasto_mensual"]
    frame, _ = survey("nameless", 0)
    assert [guess.column for guess in guess_roles(frame) if guess.averaged] == ["x19", "x20", "x21"]


@pytest.mark.parametrize("language", SURVEYS)
def test_guesses_hold_no_value_and_a_word_for_every_role(language):
    frame, _ = survey(language, 7)
    values = {str(value) for name in frame.columns for value in frame[name].to_list() if len(str(value)) > 3}
    for guess in guess_roles(frame):
        assert guess.role in ROLES and ROLES_IN_WORDS[guess.role]
        assert guess.kind and guess.reason
        said = set(f"{guess.kind} {guess.reason}".replace(",", "").split())
        assert not said & values, guess


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
@pytest.mark.parametrize("language", ["spanish", "nameless"])
def test_the_kind_of_frame_makes_no_difference(language, kind):
    frame, roles = survey(language, 3)
    other = frame.to_pandas() if kind == "pandas" else frame.to_arrow()
    assert {guess.column: guess.role for guess in guess_roles(other)} == roles


def test_whole_numbers_with_gaps_are_judged_like_whole_numbers():
    frame, _ = survey("nameless", 5)
    gaps = frame.select(pl.when(pl.int_range(pl.len()) % 50 > 0).then(pl.col("x2", "x10", "x17", "x20")))
    as_floats = gaps.to_pandas()
    assert set(as_floats.dtypes.astype(str)) == {"float64"}
    assert guessed(as_floats) == guessed(gaps) == guessed(frame.select("x2", "x10", "x17", "x20"))


@pytest.mark.parametrize(
    ("name", "beside", "role"),
    [
        ("weight", "income", "weight"),
        ("weight", "height", "measurement"),
        ("peso", "talla", "measurement"),
        ("birth_weight_kg", "income", "measurement"),
        ("sampling_weight", "height", "weight"),
    ],
)
def test_a_weight_is_that_of_a_body_beside_a_height(name, beside, role):
    frame = pl.DataFrame({name: [70.5, 81.25, 66.0] * 10, beside: [170.5, 181.0, 166.0] * 10})
    assert guessed(frame)[name] == role


def test_the_guess_is_public_and_reads_any_frame():
    frame, roles = survey("german", 0)
    assert {guess.column: guess.role for guess in shoal.guess_roles(frame.to_pandas())} == roles
    with pytest.raises(shoal.InputError, match="must be a pandas, Polars or Arrow frame"):
        shoal.guess_roles([1, 2])


def test_numbers_too_long_for_floats_stay_different():
    frame = pl.DataFrame({"x": [9_007_199_254_740_993 + n for n in range(60)]})
    assert guessed(frame) == {"x": "identifier"}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("tax_id", "identifier"),
        ("loan id", "identifier"),
        ("diagnosis_id", "identifier"),
        ("value", "identifier"),
        ("result", "identifier"),
        ("tax_region", "quasi-identifier"),
        ("treatment_city", "quasi-identifier"),
        ("test_postcode", "quasi-identifier"),
        ("age_at_diagnosis", "quasi-identifier"),
        ("drug_birth_year", "quasi-identifier"),
        ("disease", "confidential"),
        ("income_class", "confidential"),
    ],
)
def test_a_word_for_money_or_illness_lets_nothing_that_finds_people_out_of_k(name, role):
    codes = [f"T{71 * n % 997:03d}" for n in range(200)] if role == "identifier" else list("ABCD") * 50
    assert guessed(pl.DataFrame({name: codes})) == {name: role}


def test_numbers_given_out_are_no_amounts_whatever_they_are_given_for():
    numbers = [10**8 + 4_500_007 * n for n in range(200)]
    assert guessed(pl.DataFrame({"tax_number": numbers, "tax": numbers})) == {
        "tax_number": "identifier",
        "tax": "measurement",
    }


def test_a_file_sorted_by_ages_or_points_has_no_households_of_them():
    points = sorted((37 * n + n * n) % 83 + 15 for n in range(300))
    numbers = sorted(1000 + (37 * n + n * n) % 83 for n in range(300))
    assert guessed(pl.DataFrame({"x7": points, "x8": numbers})) == {"x7": "measurement", "x8": "household"}


def test_names_of_families_are_no_numbers_of_households():
    names = ["Ode", "Rim", "Sol", "Tor", "Ulm"]
    several = [a + b.lower() for a in names for b in names] * 4
    numbered = [f"H{n // 3:03d}" for n in range(100)]
    assert guessed(pl.DataFrame({"family": several})) == {"family": "quasi-identifier"}
    assert guessed(pl.DataFrame({"family": numbered})) == {"family": "household"}


def with_texts(numbers, texts: dict[int, str]) -> pl.Series:
    return pl.Series([texts.get(place, str(number)) for place, number in enumerate(numbers)])


AMOUNTS = [17 * number * number % 9973 + number / 8 for number in range(200)]


@pytest.mark.parametrize(
    ("column", "fault"),
    [
        (with_texts(AMOUNTS, {15: "n/a?"}), "record 16"),
        (with_texts(AMOUNTS, {15: "n/a?", 40: "?", 41: "see file", 60: "< 5"}), "record 16 and 3 more"),
        (with_texts([str(amount).replace(".", ",") for amount in AMOUNTS], {7: "unknown"}), "record 8"),
        (with_texts(AMOUNTS, {3: "NA", 15: "n/a?"}), "record 16"),
    ],
)
@pytest.mark.parametrize("name", ["turnover", "v17"])
def test_numbers_with_a_fault_are_a_measurement_and_say_where_it_is(name, column, fault):
    (guess,) = guess_roles(pl.DataFrame({name: column}))
    assert (guess.role, guess.fault, guess.averaged) == ("measurement", fault, False)
    assert guess.kind == f"numbers but for {fault}"
    (guess,) = guess_roles(pl.DataFrame({name: column}).to_pandas())
    assert (guess.role, guess.fault) == ("measurement", fault)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("postcode", with_texts(range(10_000, 10_200), {15: "01234"})),
        ("v17", with_texts(range(10_000, 10_200), {15: "01234"})),
        ("diagnosis", with_texts(AMOUNTS, {15: "V45"})),
        ("v17", with_texts(AMOUNTS, {15: "V45", 20: "E88", 30: "n/a"})),
        ("v17", with_texts([number % 4 for number in range(200)], {15: "other"})),
        ("v17", with_texts(range(200), dict.fromkeys(range(0, 200, 3), "none"))),
        ("v17", pl.Series(["n/a?", *map(str, range(3))])),
    ],
)
def test_codes_and_classes_are_no_numbers_with_a_fault(name, column):
    (guess,) = guess_roles(pl.DataFrame({name: column}))
    assert guess.fault == "" and guess.role != "measurement"
