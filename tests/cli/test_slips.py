"""Slips of the hand are answered in one line that says what was meant, before anything is read or searched."""

import pytest
from tests.cli.running import shoal as run

PEOPLE = "age,sex,income\n30,f,9000000000\n30,m,8000000000\n40,f,7000000000\n"


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return "people.csv"


@pytest.mark.parametrize(
    "words", [["age,", "sex"], ["age", ",sex"], ["age", ",", "sex"], ["age,", "sex,", "income"]]
)
@pytest.mark.parametrize("command", ["anonymity", "recode", "risk"])
def test_a_list_with_spaces_is_shown_as_it_is_written(people, command, words) -> None:
    found = run(command, people, "--quasi", *words)
    assert found.code == 2 and "write --quasi age,sex without spaces, or in quotes" in found.err
    assert len(found.err.splitlines()) == 1
    joined = run(command, people, f"--quasi={words[0]}", *words[1:])
    assert found.err == joined.err


def test_what_is_no_list_may_end_with_a_comma(people) -> None:
    assert run("anonymity", people, "--quasi", "age, sex").code == 0
    assert run("anonymity", people, "--separator", ",", "--quasi", "age").code == 0


def test_long_options_with_one_dash(people) -> None:
    found = run("recode", people, "-quasi", "age")
    assert found.code == 2 and found.err == "shoal: No such option: -quasi; did you mean --quasi?\n"
    assert run("recode", people, "-quasi=age").err == found.err


def test_options_by_the_words_of_the_field(people) -> None:
    assert "did you mean --quasi?" in run("recode", people, "--keys", "age").err
    assert "did you mean --sample-weights?" in run("risk", people, "--weights", "income").err


def test_records_that_are_taken_for_a_matrix(tmp_path) -> None:
    (tmp_path / "records.csv").write_text("region,v,w\nn,1,2\nn,3,4\ns,5,6\n")
    found = run("suppress", tmp_path / "records.csv")
    assert found.code == 2 and "have the same name; if its rows are records" in found.err
    assert "name --dimensions" in found.err


def test_weights_of_a_population_that_cannot_be(people) -> None:
    found = run("risk", people, "--quasi", "age,sex", "--sample-weights", "income")
    assert found.code == 2 and "'income' add up to a population of more than 10,000,000,000" in found.err
    assert "9000000000" not in found.err


@pytest.mark.parametrize(
    "command",
    [
        "recode people.csv --quasi age -k 2 --hierarchy age=poeple.csv",
        "recode people.csv --quasi age -k 2 --apply poeple.csv -o out.csv",
        "microaggregate people.csv --columns age,income -k 2 --start poeple.csv",
        "compare people.csv people.csv --record-links poeple.csv",
        "perturb people.csv --method pram --columns sex --matrix poeple.csv",
        "suppress poeple.jj",
        "assign --instance poeple.csv",
        "release poeple.toml",
    ],
)
def test_a_file_that_is_not_there_is_said_to_be_so(people, command) -> None:
    found = run(*command.split())
    assert found.code == 2 and "is not there" in found.err and "cannot be read" not in found.err, found.err
    assert ("did you mean 'people.csv'?" in found.err) == command.count("poeple.csv")
