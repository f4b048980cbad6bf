"""Activities made from operations: the request from its settings, the files from its products."""

import zipfile
from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import Field, create_model
from pydantic.fields import FieldInfo

from shoal.errors import InputError
from shoal.operation import Operation, Product
from shoal.operation_report import operation_report, settings_in_words, with_roles
from shoal.report.provenance import Provenance, Written
from shoal.web.activities.activity import Activity, Request
from shoal.web.jobs.context import Context
from shoal.web.jobs.refused import Refused
from shoal.web.jobs.workplace import RunWorkplace

#: What a page draws besides the figures: made from the result, the settings and the context of the run.
Picture = Callable[[Any, Any, Context], dict[str, Any]]

# Spreadsheets end here; larger releases are offered in other formats.
_LARGEST_SHEET = 200_000


def activity(operation: Operation, picture: Picture) -> Activity:
    """The operation as something the workbench can do."""
    asked = request_model(operation)

    def run(request: Request, context: Context) -> dict[str, Any]:
        settings = operation.settings.model_validate(request.model_dump())
        workplace = RunWorkplace(context)
        result = operation.run(settings, workplace)
        context.flush()
        refused = None if operation.gate is None else operation.gate(result, settings)
        if refused is not None and any(not product.internal for product in operation.products):
            refused = f"{refused}; nothing was released"
        context.say("writing")
        notes: dict[str, str] = {}
        for product in operation.products if refused is None else ():
            _write(product, _make(product, result, settings, notes), result, context)
        provenance = provenance_of(
            operation, settings, workplace, context, operation.titled(settings), refused
        )
        context.report(operation_report(operation, result, settings, provenance))
        found = {**operation.reporter_module.figures(result, settings), **picture(result, settings, context)}
        if any(product.lacking for product in operation.products):
            found["notes"] = [*found.get("notes", ()), *(f"{what}: {why}" for why, what in notes.items())]
        if refused is not None:
            raise Refused(refused, found, context.files)
        return found

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
        operation=operation,
    )


def provenance_of(
    operation: Operation,
    settings: Any,
    workplace: RunWorkplace,
    context: Context,
    title: str,
    refused: str | None = None,
) -> Provenance:
    """How a run came to its result, for its report: which run, what it read, all settings, and the files it made."""
    from shoal.sources.fingerprint import file_fingerprint

    secret = {name for item in operation.products if item.name == "secret" for name, _ in item.files}
    written = [
        Written(item["name"], item["title"], file_fingerprint(context.folder / item["name"]))
        for item in context.files
        if item["name"] not in secret
    ]
    return Provenance(
        "run",
        f"{context.run} of the workbench, '{operation.title}'" + (f": {title}" if title else ""),
        with_roles(operation, settings, workplace.inputs.values()),
        settings_in_words(operation, settings, "workbench"),
        tuple(written),
        refused,
    )


def request_model(operation: Operation, without: tuple[str, ...] = ()) -> type[Request]:
    """The settings that the workbench has, as the model of a request; some may be asked for in another way."""
    every = operation.settings.model_fields
    wanted: dict[str, Any] = {
        item.name: _request_field(every[item.name], needed=item.needed_in == "workbench")
        for item in operation.fields("workbench")
        if item.name not in without
    }
    model: type[Request] = create_model(
        operation.settings.__name__, __base__=Request, __doc__=operation.summary, **wanted
    )
    return model


def _request_field(info: FieldInfo, *, needed: bool) -> tuple[Any, FieldInfo]:
    """A field of a request: within the limits for those who are served, and without ``None`` where it is needed."""
    about: dict[str, Any] = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    limits = dict(about.get("served", {}))
    default = ... if needed else limits.pop("default", info.default)
    kind = info.annotation
    if needed:
        kind = reduce(or_, [part for part in get_args(kind) if part is not type(None)])
    given: dict[str, Any] = {"default": default}
    if info.default_factory is not None:
        given = {"default_factory": info.default_factory}
    extra: Any = {name: value for name, value in about.items() if name != "served"}
    field = Field(**given, description=info.description, json_schema_extra=extra)
    return Annotated[(kind, *info.metadata, Field(**limits))], field


def numbered_file(name: str, position: int, tables: int) -> str:
    """The file of one of several tables.

    >>> numbered_file("release.parquet", 0, 1), numbered_file("release.parquet", 2, 5)
    ('release.parquet', 'release-2.parquet')
    """
    stem, dot, ending = name.rpartition(".")
    return name if tables == 1 else f"{stem}-{position}{dot}{ending}"


def columns_file(name: str, position: int) -> str:
    """The file of the columns to be set in one of the tables, even of a single one.

    >>> columns_file("update.parquet", 0)
    'update-0.parquet'
    """
    return numbered_file(name, position, 2)


def _make(product: Product, result: Any, settings: Any, notes: dict[str, str]) -> Any:
    """The product; where the data lack what it takes, nothing, and a note says so, once for each reason."""
    try:
        return product.make(result, settings)
    except InputError as problem:
        if product.lacking is None:
            raise
        if product.lacking:
            notes.setdefault(problem.template, product.lacking)
        return None


def _write(product: Product, content: Any, result: Any, context: Context) -> None:
    from shoal import sources

    if content is None:
        return
    if product.form == "folder":
        _archive(context.file(*product.files[0]), content)
    elif product.form == "columns":
        for place, frame in enumerate(content):
            frame.write_parquet(context.keep(columns_file(product.files[0][0], place)))
    elif isinstance(content, Mapping):
        _write_several(product, content, context)
    else:
        for name, title in product.files:
            if product.form == "data" and name.endswith(".xlsx") and content.height > _LARGEST_SHEET:
                continue
            path = context.file(name, title) if title else context.keep(name)
            if product.whole is not None and product.is_whole(name):
                _put(path, product.whole(result, name), internal=product.internal)
            elif product.form == "data":
                sources.write(content, path, force=True)
                if product.internal:
                    path.chmod(0o600)
            else:
                _put(path, content, internal=product.internal)


def _write_several(product: Product, contents: Mapping[str, Any], context: Context) -> None:
    """What there is of each table: together in one archive, and data also one by one for what comes after."""
    assert product.archive is not None
    if product.form == "data":
        kept = next(name for name, _ in product.files if name.endswith(".parquet"))
        for place, frame in enumerate(contents.values()):
            frame.write_parquet(context.keep(numbered_file(kept, place, len(contents))))
        contents = {f"{name}.csv": frame.write_csv() for name, frame in contents.items()}
    _archive(context.file(*product.archive), contents)


def _archive(position: Path, contents: Mapping[str, str | bytes]) -> None:
    from shoal.sources import atomically

    with (
        atomically(position, force=True) as unfinished,
        zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, content in contents.items():
            archive.writestr(name, content)


def _put(position: Path, content: str | bytes, *, internal: bool) -> None:
    from shoal.sources import atomically

    with atomically(position, force=True, internal=internal) as unfinished:
        unfinished.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
