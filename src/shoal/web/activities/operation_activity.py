"""Activities made from operations: the request from its settings, the files from its products."""

from collections.abc import Callable
from typing import Any

from pydantic import create_model

from shoal.errors import Infeasible
from shoal.operation import Operation, Product
from shoal.web.activities.activity import Activity, Request
from shoal.web.jobs.context import Context
from shoal.web.jobs.workplace import Workbench

#: What a page draws besides the figures: made from the result, the settings and the context of the run.
Picture = Callable[[Any, Any, Context], dict[str, Any]]

# Spreadsheets end here; larger releases are offered in other formats.
_LARGEST_SHEET = 200_000


def activity(operation: Operation, picture: Picture) -> Activity:
    """The operation as something the workbench can do."""
    asked = request_model(operation)

    def run(request: Request, context: Context) -> dict[str, Any]:
        settings = operation.settings.model_validate(request.model_dump())
        result = operation.run(settings, Workbench(context))
        context.flush()
        refused = None if operation.gate is None else operation.gate(result, settings)
        if refused is not None:
            raise Infeasible(refused + ("; nothing was released" if operation.products else ""))
        context.say("writing")
        for product in operation.products:
            _write(product, result, settings, context)
        context.report(operation.told.page(result, settings))
        return {**operation.told.figures(result, settings), **picture(result, settings, context)}

    def title(request: Request) -> str:
        return operation.titled(operation.settings.model_validate(request.model_dump()))

    return Activity(
        operation.name,
        operation.title,
        asked,
        run,
        title,
        search=operation.search,
        methods=operation.registry,
    )


def request_model(operation: Operation, without: tuple[str, ...] = ()) -> type[Request]:
    """The settings that the workbench has, as the model of a request; some may be asked for in another way."""
    names = {item.name for item in operation.fields("workbench")} - set(without)
    wanted: dict[str, Any] = {
        name: (info.annotation, info)
        for name, info in operation.settings.model_fields.items()
        if name in names
    }
    model: type[Request] = create_model(
        operation.settings.__name__, __base__=Request, __doc__=operation.summary, **wanted
    )
    return model


def _write(product: Product, result: Any, settings: Any, context: Context) -> None:
    from shoal import sources
    from shoal.sources import atomically

    made = product.make(result, settings)
    if made is None:
        return
    for name, title in product.files:
        place = context.file(name, title) if title else context.keep(name)
        whole = product.whole(result, name) if product.whole and product.is_whole(name) else None
        if product.form == "data" and whole is None:
            if not name.endswith(".xlsx") or made.height <= _LARGEST_SHEET:
                sources.write(made, place, force=True)
            continue
        content = whole or (made if isinstance(made, bytes) else made.encode("utf-8"))
        with atomically(place, force=True, internal=product.internal) as unfinished:
            unfinished.write_bytes(content)
