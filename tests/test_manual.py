"""The manual says what there is: options as they are declared, and every parameter of what is public."""

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import shoal
from shoal.cli.typer_command import shared_options
from shoal.operation import Operation, load
from shoal.operations import OPERATIONS
from shoal.settings import Settings, fields, setting, switch

ROOT = Path(__file__).parents[1]
MANUAL = ROOT / "docs"
SENTENCE = "A | b <script>*x*</script> _y_ `z` [l](m) &lt;."


@pytest.fixture(scope="module")
def options() -> ModuleType:
    pytest.importorskip("mkdocs")
    spec = importlib.util.spec_from_file_location("manual_options", MANUAL / "hooks" / "options.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells(markdown: str) -> list[list[str]]:
    """The rows of all tables in a page as a reader of the manual sees them."""
    from markdown import markdown as rendered

    html = rendered(markdown, extensions=["tables"])
    return [
        [
            unescape(re.sub(r"<[^>]+>", "", cell))
            for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        ]
        for row in re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
        if "<td" in row
    ]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_option_is_in_the_table(name: str, options: ModuleType) -> None:
    operation = OPERATIONS[name]
    told = {row[0]: row[1:] for row in cells(options.table(operation))}
    for item in operation.fields("command"):
        written = [
            names
            for names in told
            if (names == item.metavar if item.argument else item.option in names.split())
        ]
        assert len(written) == 1, item.name
        assert told[written[0]][0] == item.in_command
        if item.short:
            assert written[0].startswith(f"{item.short}, ")
        for limit in (*item.limits_in_words(), *item.choices):
            assert limit in told[written[0]][1], item.name
    for item in operation.fields("workbench"):
        if item.name not in {here.name for here in operation.fields("command")}:
            assert told[item.label][0] == item.sentence
    for product in (item for item in operation.products if not item.named_by):
        written = [
            names for names in told if (product.beside or product.option) in re.split("[ …]\\.?", names)
        ]
        assert [told[names][0] for names in written] == [product.sentence] * (product.only != "workbench")
    for shared in shared_options(operation):
        assert any("--" + shared.replace("_", "-") in names.split() for names in told), shared


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_page_shows_the_table_and_none_written_by_hand(name: str, options: ModuleType) -> None:
    page = (MANUAL / "commands" / f"{name}.md").read_text(encoding="utf-8")
    assert page.count(f"<!-- options of {name} -->") == 1
    assert options.table(OPERATIONS[name]) in page
    assert "| option |" not in re.sub(r"^<!-- \w+ of .*?^<!-- end -->", "", page, flags=re.M | re.S)


@pytest.mark.parametrize("name", [name for name in OPERATIONS if OPERATIONS[name].methods])
def test_every_method_and_its_options_are_told(name: str, options: ModuleType) -> None:
    registry = OPERATIONS[name].registry
    assert registry is not None
    page = (MANUAL / "commands" / f"{name}.md").read_text(encoding="utf-8")
    assert options.methods(registry) in page
    told = cells(options.methods(registry))
    for method in registry.values():
        assert [method.name, method.summary] in told
        for item in fields(method.options_model):
            assert any(
                row[0] == item.name and row[1] == item.sentence and method.name in row[-1].split(", ")
                for row in told
            ), (method.name, item.name)


@pytest.mark.parametrize(
    "name", [name for name in OPERATIONS if hasattr(OPERATIONS[name].reporter_module, "DEFINITIONS")]
)
def test_every_figure_is_defined_in_the_manual(name: str, options: ModuleType) -> None:
    page = (MANUAL / "commands" / f"{name}.md").read_text(encoding="utf-8")
    rows = cells(options.figures(OPERATIONS[name]))
    assert options.figures(OPERATIONS[name]) in page
    for key, item in OPERATIONS[name].reporter_module.DEFINITIONS.items():
        assert [key, item.name, item.meaning] in rows


@pytest.mark.parametrize("page", [path.relative_to(MANUAL).as_posix() for path in MANUAL.rglob("*.md")])
def test_the_tables_of_a_page_are_those_of_the_declarations(page: str, options: ModuleType) -> None:
    text = (MANUAL / page).read_text(encoding="utf-8")
    assert options.on_page_markdown(text) == text, "python docs/hooks/options.py writes them anew"


def test_a_marker_of_nothing_stops_the_build(options: ModuleType) -> None:
    with pytest.raises(Exception, match="'nothing' is no operation"):
        options.on_page_markdown("<!-- options of nothing -->\n<!-- end -->")
    with pytest.raises(Exception, match="'anonymity' has no methods"):
        options.on_page_markdown("<!-- methods of anonymity -->\n<!-- end -->")


def test_no_sentence_breaks_a_table(options: ModuleType) -> None:
    class Hostile(Settings):
        a: str = setting("<b>|", SENTENCE, metavar="A|<B>")
        b: bool = switch("Off | on.", on=True)
        c: int = setting(3, "Elsewhere | here.", label="C | <c>", only="workbench")

    operation: Any = Operation("x", "X", "X.", Hostile, lambda *_: None, "x", "x:x")
    told = {row[0]: row[1:] for row in cells(options.table(operation))}
    assert told["--a A|<B>"] == [SENTENCE, "<b>|"]
    assert told["--no-b"] == ["Do not off | on.", "off"]
    assert told["C | <c>"] == ["Elsewhere | here.", "3"]
    assert "<script>" not in options.table(operation)


ORDER = ["Parameters", "Returns", "Raises", "See Also", "References", "Examples"]
FUNCTIONS = [name for name in shoal.__all__ if inspect.isfunction(getattr(shoal, name))]


def sections(function: Any) -> dict[str, str]:
    """The sections of a docstring in the style of NumPy; what stands before them under no name."""
    parts = re.split(r"^(\w[\w ]*)\n-+\n", inspect.getdoc(function) or "", flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_of_a_public_function_is_documented(name: str) -> None:
    function = getattr(shoal, name)
    found = sections(function)
    written = re.findall(r"^(?:\*\*)?(\w+) : (.+)\n    (\S.*)", found["Parameters"], flags=re.MULTILINE)
    parameters = inspect.signature(function).parameters
    assert [item for item, _, _ in written] == list(parameters)
    for item, kind, sentence in written:
        default = parameters[item].default
        assert sentence[0].isupper() or sentence.startswith(("``", "(")), item
        said = re.search(r"default (.+)$", kind)
        if default is inspect.Parameter.empty:
            assert said is None and "optional" not in kind, item
        elif said is None:
            # What is nothing by default is optional; the sentence says what holds then.
            assert kind.endswith(", optional") and (default is None or callable(default)), item
        else:
            assert ast.literal_eval(said[1]) == default, item


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_comes_back_and_what_is_raised_is_documented(name: str) -> None:
    function = getattr(shoal, name)
    found = sections(function)
    assert set(found) >= {"Parameters", "Returns", "Raises", "See Also", "Examples"}
    assert list(found)[1:] == [item for item in ORDER if item in found]
    returned = inspect.signature(function).return_annotation
    assert getattr(returned, "__name__", str(returned)) in found["Returns"].splitlines()[0]
    for raised in re.findall(r"^(\w+)$", found["Raises"], flags=re.MULTILINE):
        assert issubclass(getattr(shoal, raised), shoal.ShoalError)
    for other in re.findall(r"^([\w.]+) : ", found["See Also"], flags=re.MULTILINE):
        assert other in shoal.__all__ or load(other[::-1].replace(".", ":", 1)[::-1])
    assert ">>> " in found["Examples"]


def test_functions_for_methods_of_others_name_their_papers() -> None:
    assert [name for name in FUNCTIONS if "References" not in sections(getattr(shoal, name))] == [
        "diff_releases",
        "guess_roles",
        "release",
        "verify_release",
    ]


def test_the_manual_shows_every_public_function() -> None:
    page = (MANUAL / "api.md").read_text(encoding="utf-8")
    for name in FUNCTIONS:
        assert f"\n::: {getattr(shoal, name).__module__}.{name}\n" in page


PAGES_ON_CODE = ["architecture.md", "adding-a-method.md"]


@pytest.mark.parametrize("page", PAGES_ON_CODE)
def test_every_path_that_is_named_exists(page: str) -> None:
    named = re.findall(r"`((?:src|tests|docs|bench)/[\w./-]*)`", (MANUAL / page).read_text(encoding="utf-8"))
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists() and "NAME" not in path] == []


def test_every_folder_is_in_the_tree_with_a_sentence() -> None:
    text = (MANUAL / "architecture.md").read_text(encoding="utf-8")
    drawn = re.search(r"^    src/shoal/\n((?:      .*\n)+)", text, re.MULTILINE)
    assert drawn is not None
    above: list[str] = []
    found = set()
    for line in drawn[1].splitlines():
        entry = re.fullmatch(r"( +)([\w]+)/  +(\S.*)", line)
        assert entry is not None, line
        depth = len(entry[1]) // 2 - 3
        above[depth:] = [entry[2]]
        found.add("/".join(above))
    packages = {path.parent for path in (ROOT / "src" / "shoal").rglob("__init__.py")} - {
        ROOT / "src" / "shoal"
    }
    assert found == {path.relative_to(ROOT / "src" / "shoal").as_posix() for path in packages}


def test_all_registries_are_listed(options: ModuleType) -> None:
    assert options.registries() in (MANUAL / "adding-a-method.md").read_text(encoding="utf-8")


def test_the_words_of_the_registries_are_explained() -> None:
    text = (MANUAL / "adding-a-method.md").read_text(encoding="utf-8")
    registries = {
        id(item.registry): item.registry for item in OPERATIONS.values() if item.registry is not None
    }
    # Methods that draw no numbers are called so for readers; the battery asks the same of all.
    words = {
        word for registry in registries.values() for method in registry.values() for word in method.traits
    }
    assert {word for word in words - {"deterministic"} if f'`"{word}"`' not in text} == set()


def test_the_manual_builds_and_shows_it_all(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--site-dir",
            str(tmp_path / "site"),
        ],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name in OPERATIONS:
        page = (tmp_path / "site" / "commands" / f"{name}.html").read_text(encoding="utf-8")
        for item in OPERATIONS[name].fields("command"):
            assert item.argument or item.option in page
    page = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    for name in FUNCTIONS:
        assert f'id="{getattr(shoal, name).__module__}.{name}"' in page


def test_nobody_is_told_to_install_what_another_project_calls_shoal() -> None:
    """The index has another project of this name: what is installed is a checkout, or a wheel by its path."""
    root = Path(__file__).parents[1]
    folders = [root / name for name in ("src", "docs", "examples", "bench", "tools")]
    texts = [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in (".py", ".md", ".sh", ".toml")
    ]
    texts += [root / name for name in ("README.md", "CONTRIBUTING.md", "Makefile", "mkdocs.yml")]
    wrong = re.compile(r"install\s+(-\S+\s+)*[\"'`]*shoal([\[\"'`\s=<>~!]|$)", re.MULTILINE)
    assert [str(path) for path in texts if wrong.search(path.read_text(encoding="utf-8"))] == []
