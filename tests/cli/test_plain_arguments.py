"""What is said plainly means the same without the library for command lines as with it; the rest is left to the library."""

import pytest
from typer.main import get_command

from shoal.cli.plain_arguments import plain
from shoal.cli.program import app
from shoal.operations import OPERATIONS

SAMPLES = {"whole": ["3", "007"], "number": ["2", "0.25"], "text": ["a,b", "x=1", "ünï cöde"]}


def by_the_library(name, typed):
    """The values and what was said, as Typer reads them."""
    command = get_command(app).get_command(None, name)
    context = command.make_context(name, list(typed), resilient_parsing=False)
    said = {
        parameter
        for parameter in context.params
        if context.get_parameter_source(parameter).name not in ("DEFAULT", "DEFAULT_MAP")
    }
    return context.params, said


def needed(operation):
    """Arguments and options without which an operation does not go."""
    line = [f"data{place}.csv" for place, item in enumerate(operation.fields("command")) if item.argument]
    for item in operation.fields("command"):
        if item.required and not item.argument:
            line += [item.option, "3" if item.kind in ("whole", "number") else "a"]
    return line


def lines(operation):
    """A line for every option and every way to write it."""
    start = needed(operation)
    yield start
    for item in operation.fields("command"):
        if item.argument or item.option in start:
            continue
        if item.kind == "switch":
            yield [*start, item.option]
            continue
        for value in SAMPLES.get(item.kind, SAMPLES["text"]):
            yield [*start, item.option, value]
            yield [f"{item.option}={value}", *start]
            if item.short:
                yield [item.short, value, *start]
        if item.spelling is not None and item.spelling.repeated:
            yield [item.option, "a", *start, item.option, "b"]
    for item in operation.products:
        if item.has_option:
            value = [] if item.form == "columns" else ["out.csv"]
            yield from ([*start, name, *value] for name in (item.option, *item.also, item.short) if name)
    yield [*start, "--report", "page.html", "--separator", ";", "--decimal", ",", "--encoding", "utf-8"]
    yield [*start, "--header-row", "2", "--force", "-q", "--json"]


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_same_values_as_by_the_library(name):
    operation = OPERATIONS[name]
    for line in lines(operation):
        found = plain(operation, line)
        assert found is not None, line
        values, said = by_the_library(name, line)
        assert found.said == said, line
        assert values.keys() - {"context"} == found.values.keys(), line
        for parameter in said:
            assert found.values[parameter] == values[parameter], (line, parameter)
            assert type(found.values[parameter]) is type(values[parameter]), (line, parameter)


@pytest.mark.parametrize(
    "line",
    [
        "data.csv --help",
        "-h",
        "data.csv --quasi",
        "data.csv --quasi a --quasi b",
        "data.csv --quasy a",
        "data.csv --quasi a -k -5",
        "data.csv --quasi a -k 5.0",
        "data.csv --quasi a -k5",
        "data.csv --quasi a -k 1_000",
        "data.csv --quasi a -k ٣",
        "data.csv --quasi a --suppress 1e-3",
        "data.csv --quasi a --suppress nan",
        "data.csv --quasi a --json=1",
        "data.csv --quasi a -o=out.csv",
        "data.csv --quasi a -o =out.csv",
        "data.csv other.csv --quasi a",
        "--quasi a -- data.csv",
        "- --quasi a",
        "data.csv --quasi= -k 5",
    ],
)
def test_the_rest_is_for_the_library(line):
    assert plain(OPERATIONS["recode"], line.split()) is None
