"""One way to run every operation from the command line, however its options were read."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli import output
from shoal.cli.interrupts import interrupts
from shoal.cli.leaving import Leave
from shoal.cli.shares import read_share
from shoal.cli.workplace import CommandLine
from shoal.errors import Infeasible, InputError, ShoalError, as_option, parameter, spelled, spelled_throughout
from shoal.operation import Operation, Product
from shoal.runtime.stages import WRITING
from shoal.settings import SHARE, SettingField, Settings, checked
from shoal.sources.address import beside

if TYPE_CHECKING:
    from shoal.cli.workplace import Declared
    from shoal.report.provenance import Provenance
    from shoal.runtime.budget import Budget
    from shoal.runtime.observer import Observer
    from shoal.sources import Output, Outputs
    from shoal.sources.outputs import Writing

# How files are read and written: what it is called in a report, and what holds if nobody says otherwise.
_READING = {
    "separator": ("Separator", "as the file has it"),
    "decimal": ("Decimal sign", "as the file has it"),
    "encoding": ("Encoding", "as the file has it"),
    "header_row": ("Row with the column names", "the first"),
    "safe_csv": ("Cells that a spreadsheet would compute are quoted", "no"),
}


def _spell(operation: Operation, name: str) -> str:
    """What the command calls a setting."""
    for item in operation.fields():
        if item.name == name:
            return str(item.metavar) if item.argument else item.option
    return as_option(name, None)


def spelled_option(operation: Operation, name: str, value: str | None) -> str:
    """What the command calls a setting with a value."""
    return _spell(operation, name) if value is None else f"{_spell(operation, name)} {value}"


def parameter_of(item: Product) -> str:
    """The name under which a command knows where to write it."""
    # A product may have the name of a setting that reads such a file.
    return f"{item.name}_to"


class Run:
    """One run of an operation from the command line."""

    def __init__(
        self, operation: Operation, values: dict[str, Any], typed: Sequence[str], named: frozenset[str]
    ) -> None:
        self.operation = operation
        self._named = named
        self._typed = typed
        self._values = values
        self._json: bool = values["json"]
        self._quiet: bool = values["quiet"] or values["json"]

    def go(self) -> None:
        """Check everything, run, write all outputs together, and tell the result; leave with its exit code."""
        try:
            self._go()
        except ShoalError as error:
            # The words of an error with the names that this command has for its parameters.
            raise type(error)(spelled(error, self._option)) from None

    def _go(self) -> None:
        if self._values.get("method") == "list":
            self._list_methods()
            return
        with ExitStack() as lasting:
            self._run_and_write(self._settings(), lasting)

    def _run_and_write(self, settings: Settings, lasting: ExitStack) -> None:
        """Run and write; what must stay until everything is written goes into ``lasting``."""
        outputs, declared, page = self._outputs(settings)
        missed = self._missed(settings, declared)
        announce = None if missed is None else output.unwritten(outputs, missed.subject)
        # Reading can be broken off at once; only a search has something to keep.
        with ExitStack() as searching:
            workplace = CommandLine(
                self._values,
                outputs,
                declared,
                quiet=self._quiet,
                several=len(list(self.operation.reads(settings))) > 1,
                watch=lambda budget: self._watch(budget, announce, searching),
                lasting=lasting,
            )
            if getattr(settings, "engine", "local") != "local":
                workplace.show_stages(self._shown(announce, searching))
            result = self.operation.run(settings, workplace)
        told = self.operation.reporter_module
        figures = spelled_throughout(told.figures(result, settings), self._option)
        refused = self.operation.gate(result, settings) if self.operation.gate is not None else None
        workplace.stopwatch.begins(WRITING)
        with outputs.together() as writing:
            if refused is None:
                for product, targets in declared.items():
                    self._write(writing, product, targets, result, settings, workplace)
                    if product.form != "columns" and not product.beside:
                        # A file does not take the place of a figure of the same name.
                        name = f"{product.name}_file" if product.name in figures else product.name
                        figures[name] = str(targets[0])
            if page is not None:
                from shoal.operation_report import operation_report

                provenance = self._provenance(settings, workplace, declared, writing, refused)
                writing.text(page, operation_report(self.operation, result, settings, provenance).html())
                figures["report"] = str(page)
        figures["phases"] = workplace.stopwatch.seconds()
        if page is not None:
            output.remark(f"report written to {page}", quiet=self._quiet)
        output.warn(
            text for text in dict.fromkeys(_texts(figures, "warnings")) if text not in workplace.warned
        )
        output.notes(dict.fromkeys(_texts(figures, "notes")), quiet=self._quiet)
        output.emit(figures, lambda: self._print(result, settings, declared, refused), as_json=self._json)
        self._leave(figures, refused, page)
        if not self.operation.good(result, settings):
            raise Leave(3)

    def _provenance(
        self,
        settings: Settings,
        workplace: CommandLine,
        declared: "Declared",
        writing: "Writing",
        refused: str | None,
    ) -> "Provenance":
        """How the result was made, for its report: what was typed, what was read, all settings, what is written."""
        from shoal.operation_report import settings_in_words, with_roles
        from shoal.report.blocks import shown
        from shoal.report.provenance import Chosen, Provenance, Written, as_typed

        # What an operation reads by itself is named here.
        for name in (*self.operation.reads(settings), *self.operation.reads_beside(settings)):
            workplace.name_file(str(name))
        shared = [
            Chosen(label, usual if value in (None, False) else shown(value), value in (None, False))
            for name, (label, usual) in _READING.items()
            if (value := self._values.get(name, "")) != ""
        ]
        written = [
            Written(
                str(target),
                item.name.replace("_", " ") + (", internal" if item.internal else ""),
                None if item.form == "columns" or item.name == "secret" else writing.fingerprint(target),
            )
            for item, targets in declared.items()
            for target in targets
            if refused is None
        ]
        return Provenance(
            "command",
            as_typed(["shoal", self.operation.name, *self._typed]),
            with_roles(self.operation, settings, workplace.inputs.values()),
            (*settings_in_words(self.operation, settings, "command"), *shared),
            tuple(written),
            refused,
        )

    def _list_methods(self) -> None:
        registry = self.operation.registry
        assert registry is not None
        found = {name: item.summary for name, item in registry.items()}
        header, rows = ["method", "what it does"], [[name, text] for name, text in found.items()]
        if any(item.objectives for item in registry.values()):
            header.insert(1, "objectives")
            for row in rows:
                row.insert(1, ", ".join(registry[row[0]].objectives))
        output.emit({"methods": found}, lambda: output.rows(header, rows), as_json=self._json)

    def _settings(self) -> Settings:
        given: dict[str, Any] = {}
        for item in self.operation.fields("command"):
            value = self._values[item.name]
            if item.required and item.argument and not value:
                raise InputError(f"Missing argument '{item.metavar}'.")
            if item.name not in self._named and not item.required:
                # What nobody says is left to the settings, which so know what was said.
                continue
            if item.kind == "switch":
                given[item.name] = not value if item.default is True else value
            elif value is not None and value != []:
                given[item.name] = _read(item, value)
        settings = checked(self.operation.settings, given, self._spell)
        everywhere = self.operation.products
        self.operation = self.operation.on_its_engine(settings)
        written = {product.name for product in self.operation.products}
        for product in everywhere:
            asked = self._values.get(parameter_of(product)) not in (None, False)
            if asked and product.name not in written:
                raise InputError(f"{product.named} is not for {parameter('engine', settings.engine)}")  # type: ignore[attr-defined]
        if self.operation.registry is not None:
            self.operation.registry[settings.method].configure(settings.options)  # type: ignore[attr-defined]
        return settings

    def _spell(self, name: str) -> str:
        return _spell(self.operation, name)

    def _option(self, name: str, value: str | None) -> str:
        return spelled_option(self.operation, name, value)

    def _outputs(self, settings: Settings) -> "tuple[Outputs, Declared, Output | None]":
        from shoal import sources

        outputs = sources.Outputs(
            force=self._values["force"],
            inputs=[*self.operation.reads(settings), *self.operation.reads_beside(settings)],
            safe_csv=self._values.get("safe_csv", False),
        )
        every = {item: self._values.get(parameter_of(item)) for item in self.operation.products}
        named: dict[Product, Any] = {item: name for item, name in every.items() if name not in (None, False)}
        report = self._values["report"]
        written = frozenset(item.name for item in named) | ({"report"} if report is not None else set())
        self.operation.check(settings, written)
        declared: Declared = {}
        for product in self.operation.products:
            first = self.operation.products[0]
            if product.form == "columns" and product in named:
                places = [sources.parse(place) for place in product.into(settings)]
                declared[product] = [outputs.columns(product.named, place) for place in places]
                continue
            name, called = named.get(product), product.named
            if product.beside and first in declared:
                name = beside(named[first], product.beside)
                called = f"the {product.name} beside {first.named}"
            if product.named_by and first in declared:
                wanted = getattr(settings, product.named_by)
                name = wanted if wanted is not None and not Path(wanted).exists() else None
            if name is not None and not str(name).lower().endswith(product.ending):
                raise InputError(
                    f"{called} is written as {product.ending[1:].upper()}; give it a name in {product.ending}"
                )
            if name is not None:
                product.suits(settings, str(name), written)
            data = partial(outputs.data, endings=product.endings)
            ways: dict[str, Any] = {"data": data, "folder": outputs.folder, "parts": outputs.parts}
            declare = outputs.file if product.is_whole(name) else ways.get(product.form, outputs.file)
            place = declare(called, name, internal=product.internal)
            if place is not None:
                declared[product] = [place]
        return outputs, declared, outputs.file("--report", report, internal=True)

    def _watch(self, budget: "Budget", announce: str | None, searching: ExitStack) -> "Observer":
        """From now on Ctrl-C keeps the best found, and a bar shows how far the search is."""
        from shoal.cli.progress import watched

        doing, show = self.operation.doing, self.operation.reporter_module.glimpse
        watching = watched(doing, budget, quiet=self._quiet, show=show, announce=announce)
        return searching.enter_context(watching)

    def _shown(self, announce: str | None, searching: ExitStack) -> "Observer":
        """A bar shows what is being done elsewhere; Ctrl-C gives it up."""
        from shoal.cli.progress import shown

        doing = self.operation.doing or self.operation.name
        return searching.enter_context(shown(doing, quiet=self._quiet, announce=announce))

    def _missed(self, settings: Settings, declared: "Declared") -> Product | None:
        """What will be missed, since no product of its subject goes anywhere."""
        if not self.operation.writes(settings):
            return None
        kept = {item.subject for item in declared}
        return next(
            (item for item in self.operation.products if item.subject and item.subject not in kept), None
        )

    def _write(
        self,
        writing: "Writing",
        product: Product,
        targets: "list[Output]",
        result: Any,
        settings: Settings,
        workplace: CommandLine,
    ) -> None:
        target = targets[0]
        if product.whole is not None and product.is_whole(target):
            writing.content(target, product.whole(result, str(target)))
            return
        made = product.make(result, settings)
        if made is None:
            raise InputError(f"this result has nothing to write for {product.named}")
        if product.form == "columns":
            for table, frame in zip(targets, made, strict=True):
                writing.columns(table, frame.columns[0], frame)
        elif product.form == "parts":
            writing.parts(target, made)
        elif product.form == "folder":
            writing.files(target, made)
        elif product.form == "text":
            writing.text(target, made)
        elif product.form == "bytes":
            writing.content(target, made)
        else:
            verify = None if product.check is None else product.check(result, settings)
            dialect = {name: self._values[name] for name in ("separator", "decimal", "encoding")}
            # What is of the kind of the input is written as the input was; a list of our own is not.
            alike = not product.internal if product.like_input is None else product.like_input
            like = workplace.first.source if workplace.first is not None and alike else None
            if product.signs_of_input:
                dialect = workplace.signs(Path(str(target)).suffix.lower())
            signs = dialect if like or product.signs_of_input else {}
            writing.data(target, made, like=like, verify=verify, **signs)

    def _print(self, result: Any, settings: Settings, declared: "Declared", refused: str | None) -> None:
        told = self.operation.reporter_module
        facts = told.facts(result, settings)
        if facts:
            output.facts(facts)
        for rows in told.tables(result, settings):
            output.rows(rows.header, rows.body, title=rows.title)
            if rows.rest:
                _say(output.harmless(rows.rest))
        if refused is None:
            for product, targets in declared.items():
                words = "read back and checked" if product.check is not None else ""
                words = "internal" if product.internal else words
                for target in targets:
                    _say(output.harmless(f"wrote {target}" + (f", {words}" if words else "")))
        missed = self._missed(settings, declared)
        if missed is not None and not self._quiet:
            were, them = ("were", "them") if missed.subject.endswith("s") else ("was", "it")
            _say(f"{missed.subject} {were} not written; {missed.named} names a place for {them}")

    def _leave(self, figures: dict[str, Any], refused: str | None, page: "Output | None") -> None:
        if refused is not None:
            if self._json:
                raise Leave(3)
            if self.operation.products:
                refused += "; nothing was written" + (" but the report" if page is not None else "")
            raise Infeasible(refused)
        if "interrupt" in _texts(figures, "stopped_by"):
            raise Leave(130)
        if figures.get("stopped_by", "") is None and interrupts.announced:
            # Ctrl-C came when nothing was left to be broken off.
            interrupts.pressed = False


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _read(item: SettingField, value: Any) -> Any:
    """What was meant by a text, or by several."""
    if item.metavar == SHARE:
        return read_share(item.option, value)
    if item.spelling is None:
        return value
    try:
        found = item.spelling.read(value)
    except ValueError as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{item.option} {problem}") from None
    if found in ([], {}) and value != [] and not item.blank:
        raise InputError(f"{item.option} is empty: nothing is chosen")
    return found


def _texts(figures: dict[str, Any], name: str) -> list[str]:
    """The texts of one name in the figures, or in those of each table or release."""
    every = [figures, *figures.get("tables", ()), *figures.get("releases", ())]
    found = [item[name] for item in every if isinstance(item, dict) and item.get(name) is not None]
    return [text for value in found for text in ([value] if isinstance(value, str) else value)]
