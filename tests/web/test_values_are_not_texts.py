"""Texts that a browser runs (attributes, HTML, styles, scripts, formatters) are literal everywhere but in two modules.

A value in such a text can break out of it: a column called ``x" :style="…`` ran a script in the page of its data.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal

_SOURCE = Path(shoal.__file__).parent
# Where values become attributes and HTML, each escaped or set by itself.
_TRUSTED = {_SOURCE / "web/pages/attributes.py", _SOURCE / "report/markup.py"}
_PARTS = [
    path
    for folder in ("web", "report", "cli", "appointments", "tables", "microdata")
    for path in sorted((_SOURCE / folder).rglob("*.py"))
    if path not in _TRUSTED
]
# What reads a text as attributes, style, HTML, Markdown, template or script.
_READERS = {
    *("props", "style", "classes", "html", "set_content", "run_javascript", "run_method", "add_slot"),
    *("add_css", "add_scss", "add_sass", "add_head_html", "add_body_html", "markdown", "set_markdown"),
    *("code", "mermaid", "restructured_text", "run_chart_method", "run_grid_method", "Markup", "svg"),
}
_KEYWORDS = {"js_handler", "template", "formatter"}


def _complaints(source: str) -> list[str]:
    tree = ast.parse(source)
    fixed = _constants(tree)
    return [f"line {line}: {what}" for line, what in _found(tree, fixed)]


def _constants(tree: ast.Module) -> set[str]:
    """Names of the module that are literal texts, or a file that lies beside it."""
    names = set()
    for item in tree.body:
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            beside = "Path(__file__)" in ast.unparse(item.value) and "read_text" in ast.unparse(item.value)
            if beside or _literal(item.value, set()):
                names.add(item.targets[0].id)
    return names


def _literal(node: ast.expr | None, fixed: set[str]) -> bool:
    if node is None or isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        return node.id in fixed
    if isinstance(node, ast.IfExp):
        return _literal(node.body, fixed) and _literal(node.orelse, fixed)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and _literal(node.left, fixed) and _literal(node.right, fixed)
    return False


def _found(tree: ast.Module, fixed: set[str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            # Our own html(…) takes elements; NiceGUI's takes text, and a page of a report has a method of that name.
            ours = name == "html" and (owner is None or not (node.args or node.keywords))
            if name in _READERS and not ours:
                given = [*node.args, *(word.value for word in node.keywords)]
                if not all(_literal(item, fixed) for item in given):
                    yield node.lineno, ast.unparse(node)[:100]
            for word in node.keywords:
                if word.arg in _KEYWORDS and not _literal(word.value, fixed):
                    yield node.lineno, ast.unparse(word)[:100]
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                text = key.value if isinstance(key, ast.Constant) else None
                if isinstance(text, str) and text.startswith(":"):
                    yield node.lineno, f"{text!r} is run as a script"
                if text == "formatter" and not _literal(value, fixed):
                    yield node.lineno, ast.unparse(value)[:100]
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Attribute) and node.value.attr in (
                "props",
                "_props",
                "style",
                "_style",
            ):
                yield node.lineno, ast.unparse(node)[:100]
        elif isinstance(node, ast.ImportFrom) and node.module == "html":
            yield node.lineno, "escaping by hand is forgotten sooner or later; make an element"


@pytest.mark.parametrize("path", _PARTS, ids=lambda path: str(path.relative_to(_SOURCE)))
def test_no_value_is_in_a_text_that_runs(path: Path) -> None:
    allowed = 1 if path == _SOURCE / "report/charts.py" else 0
    found = _complaints(path.read_text(encoding="utf-8"))
    # The charts of a report are drawn by Altair as a picture, which is HTML as it stands.
    assert len(found) == allowed, found
    assert all("Markup(_SPOKEN" in what for what in found)


@pytest.mark.parametrize(
    "text",
    [
        """role.props(f'dense aria-label="Role of {name}"')""",
        """role.props('dense aria-label="Role of %s"' % name)""",
        """role.props("dense " + words)""",
        """role.props(words)""",
        """role.props["hint"] = words""",
        """ui.html(f"<h2>{escape(title)}</h2>", sanitize=False)""",
        """ui.html(content=title)""",
        """box.style(f"height: {height}px")""",
        """ui.run_javascript(f"open({address})")""",
        """button.on("click", js_handler=f"() => pick({number})")""",
        """chart({"tooltip": {":formatter": "item => item.name"}})""",
        """chart({"tooltip": {"formatter": name}})""",
        """table.add_slot("body", f"<td>{name}</td>")""",
        """ui.markdown(text)""",
        """Markup(text)""",
        """from html import escape""",
    ],
)
def test_the_check_sees_it(text: str) -> None:
    assert _complaints(text)


def test_the_check_lets_literals_pass() -> None:
    source = """
_STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
_CLICK = "event => emit(event)"
ui.add_css(_STYLE)
box.props("dense" if small else "").classes("a").style("flex: 1").on("click", js_handler=_CLICK)
html(element("b", name)).classes("full-width")
page.html()
"""
    assert not _complaints(source)
