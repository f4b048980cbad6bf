"""Runs that may go wrong: any command with any options, on files of any kind.

The options are those that the command line has: one that is added is tried without a line being written here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from tests.fuzz.broken_files import data_file
from tests.fuzz.case import Case
from tests.fuzz.draw import Draw
from tests.fuzz.markers import Markers
from tests.fuzz.names import HOSTILE, OUTPUTS
from tests.fuzz.tables import (
    ROWS,
    cells_file,
    jj_file,
    labels_file,
    matrix_file,
    pattern_file,
    slots_file,
    some_json,
)

_WHOLE = (
    "0",
    "1",
    "2",
    "3",
    "5",
    "-1",
    "7",
    "40",
    "1000000000",
    str(2**63),
    "1" * 40,
    "nan",
    "1e3",
    "",
    "x",
    "0.5",
)
_REAL = (
    "0",
    "0.1",
    "0.5",
    "1",
    "2",
    "10",
    "-1",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-320",
    "1e400",
    "",
    "x",
)
_WORDS = (
    "auto",
    "list",
    "value",
    "none",
    "mean",
    "utf-8",
    ",",
    ";",
    ".",
    "latin-1",
    "utf-99",
    "é",
    "Europe/Madrid",
)
_RULES = (
    "frequency(3)",
    "p-percent(10)",
    "dominance(1,75)",
    "pq(10,80)",
    "frequency(nan)",
    "p-percent(-1)",
    "x(",
    "frequency(3,inf)",
)
# Options that hold a column, a list of columns, or groups of them.
_COLUMNS = ("COLUMN", "a,b", "a,b,c", '"a,b;c,d"', '"a,b;c,d"|auto', '"a,b;a,c"')
_TABLES = ("suppress", "audit", "round", "adjust")
_OPEN = ("tabulate", "suppress", "audit", "generate", "study")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a command: its name, its type in Python, and what the command line knows of it."""

    name: str
    kind: str
    item: Any


@cache
def commands() -> dict[tuple[str, ...], list[Parameter]]:
    """Every command with its parameters, but those that start a server, tour for minutes or repeat an experiment."""
    from typer.main import get_command

    from shoal.cli.program import app

    found: dict[tuple[str, ...], list[Parameter]] = {}
    every: Any = get_command(app)
    for name in every.list_commands(None):
        command = every.get_command(None, name)
        inner = getattr(command, "commands", None) or {"": command}
        for second, leaf in inner.items():
            if name not in ("serve", "demo"):
                kinds = get_type_hints(leaf.callback)
                found[tuple(filter(None, (name, second)))] = [
                    Parameter(_written(item), str(kinds.get(item.name)), item) for item in leaf.params
                ]
    return found


def _written(item: Any) -> str:
    """The name by which a person gives it, whatever it is called inside."""
    return str(max(item.opts, key=len)).lstrip("-").replace("-", "_")


def hostile(draw: Draw, folder: Path) -> Case:
    """A run of some command."""
    command = draw.choices(list(commands()), [_WEIGHTS.get(name[0], 1) for name in commands()])[0]
    files = _Files(draw, folder)
    arguments = [*command, *files.arguments(command[0])]
    for parameter in commands()[command]:
        item = parameter.item
        if item.param_type_name != "option" or parameter.name in ("help", "json"):
            continue
        usual = _USUAL.get((command[0], parameter.name), _USUAL.get(parameter.name))
        if usual is not None and not draw.bad(0.1):
            chosen = usual(draw, files)
            arguments += (
                [] if chosen is None else [draw.choice(item.opts), chosen] if chosen else [item.opts[0]]
            )
        elif draw.bad(0.08):
            arguments += _option(draw, parameter, files)
    if draw.random() < 0.5:
        arguments.append("--json")
    if draw.bad(0.03):
        arguments.insert(
            draw.randrange(len(arguments) + 1),
            draw.choice(("--unknown", "--", "-z", "", "extra", "--k=", "-k")),
        )
    # Nothing else can stand in the arguments of a process.
    arguments = [text.replace("\x00", "") for text in arguments]
    given = " ".join(arguments)

    def shown(text: str) -> list[str]:
        if "--header-row" in given:  # any record may be taken for the names
            return []
        secret = [value for value in files.markers.shown_in(text) if value not in given]
        # The categories of dimensions name the cells of a table; the rows of a matrix have numbers.
        return [value for value in secret if not (files.coded and value.isalpha() and "--dim" in given)]

    return Case(
        name=" ".join(command),
        arguments=tuple(arguments),
        shown_in=shown,
        open_output=command[0] in _OPEN or "--show-values" in arguments,
        writes=("*",),
    )


class _Files:
    """The files of one case, written when they are first asked for."""

    def __init__(self, draw: Draw, folder: Path) -> None:
        self._draw, self._folder = draw, folder
        self.markers = Markers(draw)
        self.columns: list[str] = ["a"]
        self.general = self.coded = self.is_table = False

    def data(self, stem: str = "in", names: list[str] | None = None) -> str:
        address, self.columns = data_file(self._draw, self.markers, self._folder, stem, names)
        return address

    def arguments(self, command: str) -> list[str]:
        draw = self._draw
        if draw.bad(0.03):
            return []
        if command == "compare":
            first = self.data()
            others = [self.data(f"safe{place}", self.columns) for place in range(draw.choice((1, 1, 1, 2)))]
            return [first, *(others if draw.bad(0.5) else [first])]
        if command in _TABLES:
            table = self.table()
            return [table, self.pattern()] if command == "audit" and draw.random() < 0.9 else [table]
        if command == "assign":
            if draw.random() < 0.3:
                return []
            return [self.data(), slots_file(draw, self._folder)]
        if command == "study":
            return draw.choice(([], [], ["nothing"], [draw.choice(HOSTILE)]))
        if command == "generate":
            return draw.choice(([], ["f1"], ["partition"], ["zz"])) if draw.random() < 0.4 else []
        return [self.data()]

    def table(self) -> str:
        draw = self._draw
        make = (
            draw.choice((matrix_file, jj_file, None))
            if draw.bad(0.5)
            else draw.choice((matrix_file, jj_file))
        )
        self.general = make is jj_file
        self.coded, self.is_table = True, make is not None
        if make is matrix_file:
            self.markers.drawn += ROWS
        return self.data() if make is None else make(draw, self._folder, self.markers)

    def pattern(self) -> str:
        return pattern_file(self._draw, self._folder)

    def cells(self) -> str:
        return cells_file(self._draw, self._folder)

    def column(self) -> str:
        draw = self._draw
        return draw.choice(HOSTILE) if draw.bad(0.1) or not self.columns else draw.choice(self.columns)

    def column_list(self) -> str:
        return ",".join(dict.fromkeys(self.column() for _ in range(self._draw.randint(1, 3))))

    def output(self) -> str:
        draw = self._draw
        name = draw.choice(OUTPUTS) if draw.bad(0.3) else draw.choice(OUTPUTS[:6])
        if draw.bad(0.1) and name.startswith("out."):
            (self._folder / name).write_text("here before\n")
        return name

    def report(self) -> str:
        return self.output() if self._draw.bad(0.2) else "report.html"

    def labels(self) -> str:
        return labels_file(self._draw, self._folder)

    def json(self) -> str:
        return some_json(self._draw, self._folder)


def _option(draw: Draw, parameter: Parameter, files: _Files) -> list[str]:
    item, kind = parameter.item, parameter.kind
    name = draw.choice([*item.opts, *item.secondary_opts])
    if item.is_flag:
        return [name]
    metavar = item.metavar or ""
    if draw.random() < 0.05:
        value = draw.choice(HOSTILE)
    elif "int" in kind:
        value = draw.choice(_WHOLE)
    elif "float" in kind:
        value = draw.choice(_REAL)
    elif metavar in _COLUMNS:
        value = (
            ";".join(files.column_list() for _ in range(draw.randint(1, 2)))
            if ";" in metavar
            else files.column_list()
        )
    elif metavar == "NAME=VALUE":
        value = draw.choice(("samples", "gamma", "patience", "x", "")) + draw.choice(
            ("=", "", "=1", "=nan", "=-5", "=[]", "=1e999")
        )
    elif metavar == "RULE":
        value = draw.choice(_RULES)
    elif metavar.startswith("FILE") or metavar in ("DATA", "FOLDER"):
        value = files.output()
    elif metavar == "LABELS":
        value = files.labels() if draw.random() < 0.5 else files.output()
    elif metavar in ("CELLS", "PATTERN", "TABLE"):
        value = draw.choice((files.cells, files.pattern, files.output))()
    elif "=" in metavar:
        value = f"{files.column()}={draw.choice((*_REAL, 'in.csv', files.column()))}"
    elif "," in metavar:
        value = ",".join(draw.choices(_WHOLE, k=draw.randint(1, 4)))
    elif "|" in metavar:
        value = draw.choice((*metavar.split("|"), "x"))
    else:
        value = draw.choice((*_WORDS, files.column(), files.output()))
    return [f"{name}={value}"] if draw.random() < 0.1 and name.startswith("--") else [name, value]


def _sometimes(chance: float, make: Callable[[Draw, _Files], str]) -> Callable[[Draw, _Files], str | None]:
    return lambda draw, files: make(draw, files) if draw.random() < chance else None


def _numbers(draw: Draw, files: _Files) -> str | None:
    return ",".join(str(draw.randint(0, 6)) for _ in range(draw.randint(1, 5)))


_WEIGHTS = {
    "microaggregate": 6,
    "anonymity": 3,
    "risk": 3,
    "compare": 3,
    "suppress": 4,
    "audit": 3,
    "round": 3,
    "adjust": 2,
    "tabulate": 3,
    "assign": 4,
    "group": 2,
    "hierarchy": 2,
}
# What a run usually has, so that many of them come beyond the check of their arguments; an empty text is a flag.
_USUAL: dict[Any, Callable[[Draw, _Files], str | None]] = {
    "quasi": _sometimes(0.6, lambda draw, files: files.column_list()),
    ("anonymity", "quasi"): lambda draw, files: files.column_list(),
    ("risk", "quasi"): lambda draw, files: files.column_list(),
    ("assign", "quasi"): lambda draw, files: files.column_list(),
    ("assign", "group_sizes"): _sometimes(0.2, _numbers),  # type: ignore[arg-type]
    ("assign", "capacities"): _sometimes(0.2, _numbers),  # type: ignore[arg-type]
    ("assign", "instance"): _sometimes(0.05, lambda draw, files: files.json()),
    "columns": _sometimes(0.5, lambda draw, files: files.column_list()),
    # Those of a table lay out what is published.
    **{(name, "columns"): _sometimes(0.05, lambda draw, files: files.column_list()) for name in _TABLES},
    ("generate", "columns"): lambda draw, files: str(draw.randint(0, 9)),
    ("generate", "rows"): lambda draw, files: str(draw.randint(0, 9)),
    ("generate", "sensitive"): lambda draw, files: str(draw.randint(0, 9)),
    ("generate", "size"): lambda draw, files: str(draw.randint(0, 9)),
    ("generate", "population"): lambda draw, files: str(draw.randint(0, 90)),
    # Matrices and general tables have dimensions of their own.
    "dimensions": lambda draw, files: files.column_list() if not files.is_table or draw.bad(0.2) else None,
    ("perturb", "method"): lambda draw, files: draw.choice(("pram", "noise", "rank-swap", "shuffle", "list")),
    "base": lambda draw, files: draw.choice(("0", "-1", "nan") if draw.bad(0.1) else ("3", "5", "10")),
    "value": lambda draw, files: (
        files.column() if draw.random() < 0.5 and (not files.is_table or draw.bad(0.2)) else None
    ),
    "k": lambda draw, files: draw.choice(("1", "0", "-3", "100") if draw.bad(0.3) else ("2", "3", "5")),
    "output": _sometimes(0.7, lambda draw, files: files.output()),
    ("generate", "output"): lambda draw, files: files.output(),
    "report": _sometimes(0.15, lambda draw, files: files.report()),
    "sensitive": lambda draw, files: (
        files.cells() if (files.is_table and not files.general) or draw.bad(0.2) else None
    ),
    "iterations": lambda draw, files: draw.choice(("0", "1", "20", "100", "200")),
    "time_limit": lambda draw, files: draw.choice(("0.5", "1", "2")),
    "threads": lambda draw, files: "1",
    "force": _sometimes(0.3, lambda draw, files: ""),
    "quick": lambda draw, files: None,
    "again": lambda draw, files: None,
    "results": lambda draw, files: None,
    "alone": lambda draw, files: None,
}
