"""Metadata of τ-ARGUS (``.rda``): what the columns of a file of records or of a ready-made table are.

Layout as in the τ-ARGUS manual (version 4.1, section 4.3): a line with the name of each variable (its place and width in a file
of fixed width, its width in one with a separator, then its missing codes), followed by what it is in words in angle brackets.
"""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from shoal.errors import InputError, unreadable
from shoal.tables.model.trees import EitherWay

_WORD = re.compile(r"<\s*([A-Z0-9_]+)\s*>([^<]*)", re.IGNORECASE)
_TOKEN = re.compile(r'"([^"]*)"|(\S+)')
# What marks a numeric column as something else than a figure of the table.
_ROLES = ("FREQUENCY", "MAXSCORE", "LOWERPL", "UPPERPL", "COSTVAR", "SHADOW", "WEIGHT", "STATUS", "RECORDKEY")


@dataclass(frozen=True)
class Variable:
    """One column: its place and width (none in a file with a separator), its missing codes, and the words said of it."""

    name: str
    start: int | None = None
    width: int | None = None
    missing: tuple[str, ...] = ()
    words: dict[str, str] = field(default_factory=dict)

    @property
    def is_dimension(self) -> bool:
        """Whether it spans tables."""
        return "RECODEABLE" in self.words or "RECODABLE" in self.words

    @property
    def is_figure(self) -> bool:
        """Whether it is a figure of the table, and not one that says something of it."""
        return "NUMERIC" in self.words and not any(word in self.words for word in _ROLES)

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return "NUMERIC" in self.words or any(word in self.words for word in _ROLES if word != "STATUS")

    def first(self, word: str) -> str | None:
        """What stands after a word, without quotes."""
        if word not in self.words:
            return None
        found = _TOKEN.search(self.words[word])
        return None if found is None else (found.group(1) if found.group(1) is not None else found.group(2))


@dataclass(frozen=True)
class Metadata:
    """All columns of a file, its separator (none if it is of fixed width), and what the states of cells are called."""

    path: Path
    variables: tuple[Variable, ...]
    separator: str | None
    states: dict[str, str]

    @property
    def aggregated(self) -> bool:
        """Whether the file is a ready-made table."""
        return any(
            {"TOTCODE", "MAXSCORE", "STATUS", "FREQUENCY"} & set(item.words) for item in self.variables
        )

    @property
    def dimensions(self) -> list[str]:
        """The columns that span tables."""
        return [item.name for item in self.variables if item.is_dimension]

    def named(self, word: str) -> list[str]:
        """The columns of which a word is said."""
        return [item.name for item in self.variables if word in item.words]

    @property
    def value(self) -> str | None:
        """The figures of the table."""
        return next((item.name for item in self.variables if item.is_figure), None)

    def totals(self, dimensions: list[str]) -> dict[str, str]:
        """What the total of a dimension is called."""
        found = {item.name: item.first("TOTCODE") for item in self.variables if item.name in dimensions}
        return {name: code for name, code in found.items() if code is not None}

    def hierarchies(self, dimensions: list[str], codes: dict[str, list[str]]) -> dict[str, dict[str, str]]:
        """The hierarchies of some dimensions: from files beside the metadata, or from the digits of the codes."""
        from shoal.tables.files.hierarchies import read_hierarchy

        found = {}
        for item in self.variables:
            if item.name not in dimensions or "HIERARCHICAL" not in item.words:
                continue
            named = item.first("HIERCODELIST")
            if named:
                found[item.name] = read_hierarchy(
                    str(self._beside(named, item.name)), item.first("HIERLEADSTRING") or "@"
                )
            elif "HIERLEVELS" in item.words:
                widths = [int(part) for part in item.words["HIERLEVELS"].split() if part.isdigit()]
                found[item.name] = of_digits(codes[item.name], widths)
            # Missing codes are in no hierarchy; they stand directly below the total.
            if item.name in found:
                read = found[item.name]
                found[item.name] = (
                    read.with_tops(item.missing)
                    if isinstance(read, EitherWay)
                    else {**read, **dict.fromkeys(item.missing, "")}
                )
        return found

    def _beside(self, named: str, dimension: str) -> Path:
        """The file of a hierarchy: by its name beside the metadata, whatever machine it was named on.

        τ-ARGUS writes a copy that has the name of the metadata and the number of the dimension.
        """
        last = re.split(r"[\\/]", named.strip())[-1]
        copy = f"{self.path.stem}_{1 + self.dimensions.index(dimension)}.hrc"
        for wanted in (last.lower(), copy.lower()):
            for path in sorted(self.path.parent.iterdir()):
                if path.name.lower() == wanted:
                    return path
        raise InputError(
            f"the hierarchy of '{dimension}', {last}, is not beside {self.path.name}; name its file as a hierarchy"
        )


def of_digits(codes: list[str], widths: list[int]) -> dict[str, str]:
    """A hierarchy by the leading characters of the codes: so many of the first level, so many more of the next.

    >>> of_digits(["188001"], [2, 2, 2])
    {'188001': '1880', '1880': '18', '18': ''}
    """
    lengths: list[int] = []
    for width in widths:
        if width > 0:
            lengths.append((lengths[-1] if lengths else 0) + width)
    found: dict[str, str] = {}
    for code in dict.fromkeys(codes):
        step = code
        while step and step not in found:
            shorter = [length for length in lengths if length < len(step)]
            found[step] = step[: shorter[-1]].strip() if shorter else ""
            step = found[step]
    return found


def read_metadata(path: Path) -> Metadata:
    """The metadata in an ``.rda`` file; what is not known of τ-ARGUS' words is passed over."""
    lines = text_of(path).splitlines()
    separator: str | None = None
    states = {"s": "s", "u": "u", "m": "m", "p": "z", "z": "z", "e": "e"}
    named = {"SAFE": "s", "UNSAFE": "u", "PROTECT": "z"}
    variables: list[Variable] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("//"):
            continue
        if not text.startswith("<"):
            variables.append(_variable(text, separator, f"{path.name}, line {number}"))
            continue
        for match in _WORD.finditer(text):
            word, rest = match.group(1).upper(), match.group(2).strip()
            if word == "SEPARATOR":
                separator = rest.strip('"') or ","
            elif word in named:
                states[rest.strip('"').strip().lower()] = named[word]
            elif not variables:
                raise InputError(
                    f"{path.name}, line {number}: there is no variable yet that this could be said of"
                )
            else:
                last = variables[-1]
                variables[-1] = replace(last, words={**last.words, word: rest})
    if not variables:
        raise InputError(f"{path.name} names no variable; is it metadata of τ-ARGUS?")
    return Metadata(path, tuple(variables), separator, states)


def _variable(text: str, separator: str | None, where: str) -> Variable:
    tokens = [(quoted, plain) for quoted, plain in _TOKEN.findall(text)]
    name = tokens[0][0] or tokens[0][1]
    rest = tokens[1:]
    numbers: list[int] = []
    while rest and rest[0][1].isdigit() and len(numbers) < (1 if separator else 2):
        numbers.append(int(rest.pop(0)[1]))
    missing = tuple((quoted or plain).strip() for quoted, plain in rest)
    if separator is not None:
        return Variable(name, None, numbers[0] if numbers else None, missing)
    if len(numbers) < 2 or numbers[0] < 1 or numbers[1] < 1:
        raise InputError(
            f"{where}: a file of fixed width needs the first place and the width of the variable"
        )
    return Variable(name, numbers[0], numbers[1], missing)


def text_of(path: Path) -> str:
    """The text of a file of τ-ARGUS: UTF-8, or else the code page of Western Windows."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise unreadable("file", path, error) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")
