"""The REST API on one page, made from its OpenAPI schema; nothing is fetched from elsewhere."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.report.markup import element
from shoal.web.entry import HEADER
from shoal.web.pages import layout, parts
from shoal.web.pages.attributes import html
from shoal.web.workbench import Workbench

_EXAMPLE = """\
alias shoal-api='curl --silent --show-error --fail-with-body --header "@{header}"'
shoal-api --form file=@people.csv http://127.0.0.1:{port}/api/data
shoal-api --json '{{"data": ["people"], "quasi": ["age", "sex"]}}' http://127.0.0.1:{port}/api/jobs/anonymity
shoal-api "http://127.0.0.1:{port}/api/jobs/RUN?wait=60"
shoal-api http://127.0.0.1:{port}/api/jobs/RUN/result"""


def register(workbench: Workbench, schema: Callable[[], dict[str, Any]]) -> None:
    """Make the page known."""

    @ui.page("/api")
    def interface() -> None:
        with layout.page(
            workbench,
            "REST API",
            "The same operations for programs: send the token as a header, follow jobs, fetch results.",
        ):
            described = schema()
            header = workbench.workspace.folder / HEADER
            with parts.card("How to call it"):
                html(
                    element(
                        "pre",
                        _EXAMPLE.format(port=workbench.port, header=header),
                        class_="shoal-code",
                        tabindex=0,
                    )
                ).classes("full-width")
                with ui.row().classes("items-center gap-1 shoal-links"):
                    ui.label("The file holds the token as a header; only you can read it. The whole schema:")
                    ui.link("openapi.json", "/api/openapi.json", new_tab=True)
            for path, operations in described["paths"].items():
                for verb, operation in operations.items():
                    _operation(verb, path, operation, described)


def _operation(verb: str, path: str, operation: dict[str, Any], schema: dict[str, Any]) -> None:
    with ui.card().classes("shoal-card").style("padding: 10px 14px; gap: 4px"):
        with ui.row().classes("items-center gap-3"):
            ui.badge(verb.upper()).props("color=negative" if verb == "delete" else "color=primary")
            ui.label(path).style("font-family: ui-monospace, monospace; overflow-wrap: anywhere")
            parts.quiet(operation.get("summary", ""))
        rows = [
            (item["name"], _type(item.get("schema", {})), item["in"], item.get("description", ""))
            for item in operation.get("parameters", ())
        ]
        for content in operation.get("requestBody", {}).get("content", {}).values():
            rows += _fields(content.get("schema", {}), schema)
        if rows:
            with parts.folded("Parameters"):
                parts.table(["name", "type", "default or place", "meaning"], rows)


def _fields(body: dict[str, Any], schema: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    name = body.get("$ref", "").rpartition("/")[2]
    model = schema["components"]["schemas"].get(name, body)
    needed = model.get("required", ())
    return [
        (
            field,
            _type(described),
            "required" if field in needed else str(described.get("default", "")),
            described.get("description", ""),
        )
        for field, described in model.get("properties", {}).items()
    ]


def _type(described: dict[str, Any]) -> str:
    if "anyOf" in described:
        return " or ".join(dict.fromkeys(_type(item) for item in described["anyOf"]))
    if "enum" in described:
        return " | ".join(str(item) for item in described["enum"])
    kind = str(described.get("type", "object"))
    return f"list of {_type(described.get('items', {}))}" if kind == "array" else kind
