"""How a result came to be: the data, the command or run, every setting, the software, and what was written.

A front end fills in a ``Provenance`` and a reporter an ``Assurances``; ``shoal.report.page`` writes both into the report,
so that all reports name the same things in the same words.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from shoal._version import __version__

_NAMED = ("numpy", "numba", "polars", "scipy", "highspy", "ortools")
# A password may hold any character, an unescaped @ included: the last @ ends it.
_PASSWORD = re.compile(r"(?s)(://[^:/@]*:).*@")
_QUERY = re.compile(r"(?s)(://[^?]*\?).*?(?=::|$)")


@dataclass(frozen=True)
class Input:
    """Data that was read: what it is called, how large it is, and a fingerprint by which it is known again.

    ``of`` says what the fingerprint was taken of; ``lacking`` says why there is none.
    """

    name: str
    kind: str = "a file"
    role: str = ""
    records: int | None = None
    columns: tuple[str, ...] | None = None
    sha256: str | None = None
    of: str = "the file"
    lacking: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chosen:
    """One setting in words, and whether it was left as it usually is."""

    label: str
    value: str
    default: bool


@dataclass(frozen=True)
class Written:
    """Something that was written with the report."""

    name: str
    what: str
    sha256: str | None = None


@dataclass(frozen=True)
class Provenance:
    """How a result came to be.

    ``by`` is the kind of thing that made it (a command, a run, a call), ``words`` says which one; ``refused`` is why nothing
    may be released.
    """

    by: str
    words: str
    inputs: tuple[Input, ...] = ()
    settings: tuple[Chosen, ...] = ()
    written: tuple[Written, ...] = ()
    refused: str | None = None


@dataclass(frozen=True)
class Assurances:
    """Whom a result is to stand against, and what is known of the three things they could do.

    Singling out: telling that records belong to somebody. Linking: joining a record with what is known of somebody from
    elsewhere. Inference: learning something new of somebody, with or without a record. Each says what was found and what
    was not measured, with the command that measures it.
    """

    attacker: str
    singling_out: str
    linking: str
    inference: str


def without_password(text: str) -> str:
    """A text that may hold the address of a database, without anything secret in it.

    >>> without_password("--cost=postgresql://ann:p@ss@db/clinic?sslpassword=x::people")
    '--cost=postgresql://ann:***@db/clinic?…::people'
    >>> without_password("survey.csv")
    'survey.csv'
    """
    if "://" not in text:
        return text
    return _QUERY.sub(r"\1…", _PASSWORD.sub(r"\1***@", text))


def as_typed(words: Iterable[str]) -> str:
    """A command line as somebody would type it again, without passwords.

    >>> as_typed(["shoal", "recode", "my data.csv", "--quasi", "age,sex"])
    "shoal recode 'my data.csv' --quasi age,sex"
    """
    import shlex

    return shlex.join(without_password(word) for word in words)


def versions() -> str:
    """Shoal, Python and the libraries whose version can change a result.

    >>> versions().startswith("shoal ")
    True
    """
    # A page is rarely wanted, and what reads metadata of packages takes long to load.
    import platform
    from importlib.metadata import PackageNotFoundError, version

    parts = [f"shoal {__version__}", f"Python {platform.python_version()}"]
    for name in _NAMED:
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(parts)
