"""Tables of the manual made from the declarations: ``python docs/hooks/options.py`` writes them into the pages.

Between ``<!-- options of NAME -->`` and ``<!-- end -->`` stand the options of an operation, behind ``methods of`` the methods
it has to choose from and what can be set of them, behind ``figures of`` what its figures mean, behind ``registries of all`` where
all methods are registered. A page reads the same built or not; a build makes the tables anew.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from mkdocs.exceptions import PluginError

from shoal.cli.typer_command import FILES, shared_options
from shoal.import_paths import load
from shoal.operation import Operation, Product
from shoal.operations import OPERATIONS
from shoal.runtime import Registry
from shoal.settings import SettingField, fields

_PAGES = Path(__file__).parents[1]
_MADE = re.compile(
    r"^(<!-- (options|methods|figures|registries) of ([a-z-]+) -->)\n(.*?)^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)
_ARGUMENTS, _OPTIONS = "Arguments", "Options"
_ELSEWHERE = "Only in the workbench"


class Row(NamedTuple):
    """One option: how it is written, what it does, what it may be, and what holds without it."""

    section: str
    option: str
    meaning: str
    allowed: str = ""
    otherwise: str = ""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its tables as they are declared now; a marker of something else stops the build."""
    return _MADE.sub(lambda part: f"{part[1]}\n\n{_made(part[2], part[3])}\n\n<!-- end -->", markdown)


def write() -> None:
    """Write the tables of all pages."""
    for page in sorted(_PAGES.rglob("*.md")):
        before = page.read_text(encoding="utf-8")
        after = on_page_markdown(before)
        if after != before:
            page.write_text(after, encoding="utf-8")


def _made(what: str, name: str) -> str:
    if what == "registries":
        return registries()
    if name not in OPERATIONS:
        raise PluginError(f"'{name}' is no operation, so it has no table of {what}")
    operation = OPERATIONS[name]
    if what == "options":
        return table(operation)
    if what == "figures":
        return figures(operation)
    if operation.registry is None:
        raise PluginError(f"'{name}' has no methods to choose from")
    return methods(operation.registry)


def table(operation: Operation) -> str:
    """The options of an operation by section: its own first, then what it writes, then what all commands have."""
    # Whatever is declared first: what has no section of its own is what a reader looks for.
    sections: dict[str, list[Row]] = {_ARGUMENTS: [], _OPTIONS: []}
    for row in rows(operation):
        sections.setdefault(row.section, []).append(row)
    return "\n\n".join(_section(title, body) for title, body in sections.items() if body)


def figures(operation: Operation) -> str:
    """The figures that have one definition everywhere: their names in JSON and in words, and what they mean."""
    defined = getattr(operation.reporter_module, "DEFINITIONS", {})
    if not defined:
        raise PluginError(f"'{operation.name}' defines no figures")
    said = [[_code(key), _plain(item.name), _plain(item.meaning)] for key, item in defined.items()]
    return _table(["in JSON", "elsewhere", "meaning"], said)


def rows(operation: Operation) -> Iterable[Row]:
    """Every option of an operation."""
    here = operation.fields("command")
    yield from (_setting(item) for item in here)
    yield from (
        _product(item) for item in operation.products if item.only != "workbench" and not item.named_by
    )
    yield from (_shared(info) for info in shared_options(operation).values())
    for item in operation.fields("workbench"):
        if item.name not in {setting.name for setting in here}:
            yield Row(_ELSEWHERE, _plain(item.label), _plain(item.sentence), _allowed(item), _otherwise(item))


def methods(registry: Registry) -> str:
    """The methods, and below them the options that some of them have."""
    names = [[_code(name), _plain(method.summary)] for name, method in registry.items()]
    # What several methods have in common stands there once.
    own: dict[tuple[str, ...], list[str]] = {}
    for name, method in registry.items():
        for item in fields(method.options_model):
            said = (_code(item.name), _plain(item.sentence), _allowed(item), _otherwise(item))
            own.setdefault(said, []).append(_code(name))
    return "\n\n".join(
        (
            _table(["method", "what it does"], names),
            "Their options, each set by `--option NAME=VALUE`:",
            _table(
                ["option", "meaning", "may be", "without it", "of"],
                [[*said, ", ".join(having)] for said, having in own.items()],
            ),
        )
    )


def registries() -> str:
    """Every registry: what it is of, which operations choose from it, and the file of each of its methods."""
    users: dict[str, list[str]] = {}
    for name, operation in OPERATIONS.items():
        engines = (engine.methods for engine in operation.engines.values())
        for path in dict.fromkeys(filter(None, (operation.methods, *engines))):
            users.setdefault(path, []).append(name)
    lines = []
    for path, names in users.items():
        registry: Registry = load(path)
        files = [f"{name}: {_file(method.solver)}" for name, method in registry.items()]
        used = ", ".join(map(_code, names))
        lines.append([_plain(registry.domain), used, _file(path), "<br>".join(files)])
    return _table(["registry of", "used by", "file", "its methods"], lines)


def _file(path: str) -> str:
    return _code(f"src/{path.partition(':')[0].replace('.', '/')}.py")


def _setting(item: SettingField) -> Row:
    names = [item.metavar] if item.argument else [*([item.short] if item.short else []), item.option]
    # What can be chosen stands in a column of its own.
    bare = item.argument or item.kind == "switch" or item.metavar == "|".join(item.choices)
    takes = None if bare else item.metavar
    section = _ARGUMENTS if item.argument else item.section or _OPTIONS
    # What holds anyway is switched off by its option, which nobody has given then.
    otherwise = "off" if item.kind == "switch" else _otherwise(item)
    return Row(section, _written(names, takes), _plain(item.in_command), _allowed(item), otherwise)


def _product(item: Product) -> Row:
    if item.beside:
        return Row(FILES, f"beside it, `….{item.beside}`", _plain(item.sentence))
    names = [*([item.short] if item.short else []), *item.also, item.option]
    return Row(FILES, _written(names, item.metavar), _plain(item.sentence), otherwise="not written")


def _shared(info: Any) -> Row:
    # In an annotation Typer takes the first name for the default.
    names = sorted([info.default, *info.param_decls], key=len)
    switch = not (info.metavar or isinstance(info.show_default, str))
    takes = None if switch else info.metavar or "TEXT"
    otherwise = (
        info.show_default if isinstance(info.show_default, str) else "off" if switch else "not written"
    )
    allowed = "" if info.min is None else f"at least {info.min}"
    return Row(info.rich_help_panel, _written(names, takes), _plain(info.help), allowed, _plain(otherwise))


def _allowed(item: SettingField) -> str:
    if item.choices:
        words = [(choice, item.words.get(choice)) for choice in item.choices]
        return ", ".join(
            _code(choice) + (f" ({_plain(said)})" if said not in (None, choice) else "")
            for choice, said in words
        )
    return ", ".join(item.limits_in_words())


def _otherwise(item: SettingField) -> str:
    if item.required:
        return "must be given"
    if item.otherwise:
        return _plain(item.otherwise)
    if item.kind == "switch":
        return "on" if item.default is True else "off"
    if item.default in (None, [], {}, ()):
        return "none"
    return _code(item.spelling.write(item.default) if item.spelling is not None else str(item.default))


def _written(names: Iterable[Any], takes: str | None) -> str:
    *others, last = [str(name) for name in names]
    return ", ".join([*map(_code, others), _code(f"{last} {takes}" if takes else last)])


def _code(text: str) -> str:
    # Inside it a bar parts no columns, and a backslash would be shown.
    return f"`{text}`"


def _plain(text: str) -> str:
    return re.sub(r"([\\|*_`\[\]])", r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;")


def _section(title: str, body: list[Row]) -> str:
    lines = [list(row[1:]) for row in body]
    called = "field" if title == _ELSEWHERE else "option"
    return f"**{title}**\n\n" + _table([called, "meaning", "may be", "without it"], lines)


def _table(header: list[str], lines: list[list[str]]) -> str:
    # A column in which nothing stands is left out.
    kept = [place for place in range(len(header)) if any(line[place] for line in lines)]
    written = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(line[place] for place in kept) + " |" for line in written)


if __name__ == "__main__":
    write()
