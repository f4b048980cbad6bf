"""All that one command writes: declared before any work, written beside, checked, and put in place together.

A command names its outputs first, which refuses at once what cannot be written, what exists already (without ``force``),
two names for one file, and always the place of an input. When the results are there they are written where nobody looks
yet, read back and checked, and only then do all of them take their places. If anything fails on the way, everything is
as it was before.

    outputs = Outputs(force=force, inputs=[data])
    release = outputs.data("-o", output_to)                       # a file of any format, or a table of a database
    groups = outputs.file("--labels", labels, internal=True)      # None in, None out: an output not asked for
    …
    with outputs.together() as writing:
        if release is not None:
            writing.data(release, frame, like=source, verify=check)
        if groups is not None:
            writing.text(groups, text)

Only a power failure or ``kill -9`` in the instant of the renames themselves can part the files of one command.
"""

import os
import signal
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from shoal.errors import Infeasible, InputError
from shoal.sources.address import WRITTEN, Address, Database, FileAddress, TableAddress, names_sheet, parse
from shoal.sources.atomic import Beside, check_target, unwritable
from shoal.sources.data import TextSigns
from shoal.sources.fingerprint import file_fingerprint, records_fingerprint
from shoal.sources.staged import RemoteFolder, Staged, check_folder, parse_folder

if TYPE_CHECKING:
    import polars as pl

    from shoal.sources.data import Data
    from shoal.sources.databases import TableWriter
    from shoal.sources.read_write import DataLocation

#: Looks at what was read back, and raises ``AssertionError`` or ``InputError`` if it is not what it should be.
Verify: TypeAlias = Callable[["pl.DataFrame"], object]

_written: list[str] = []


@dataclass(frozen=True)
class Output:
    """Something a command will write: the parameter that named it, the place, and whether it is internal."""

    parameter: str
    target: Address | Path | RemoteFolder
    internal: bool = False

    def __str__(self) -> str:
        return str(self.target)


class Outputs:
    """The outputs of one command.

    ``inputs`` are all places it reads. None of them is ever replaced, whatever its name (a link, another spelling) and whether
    by ``force`` or not: it may be the only copy of confidential data.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> outputs = Outputs()
    >>> labels = outputs.file("--labels", folder / "labels.txt", internal=True)
    >>> outputs.file("--report", folder / "." / "LABELS.txt")
    Traceback (most recent call last):
    shoal.errors.InputError: --labels and --report name the same file; give each its own
    >>> with outputs.together() as writing:
    ...     writing.text(labels, "1 1 2 2")
    >>> (folder / "labels.txt").read_text()
    '1 1 2 2'
    """

    def __init__(
        self, *, force: bool = False, inputs: "Iterable[DataLocation | None]" = (), safe_csv: bool = False
    ) -> None:
        self._force = force
        self._safe_csv = safe_csv
        self._inputs = [place for given in inputs if given is not None for place in _every_file(given)]
        self._declared: list[Output] = []

    def __bool__(self) -> bool:
        """Whether anything will be written."""
        return bool(self._declared)

    def __iter__(self) -> Iterator[Output]:
        return iter(self._declared)

    def data(
        self,
        parameter: str,
        target: "DataLocation | None",
        *,
        internal: bool = False,
        endings: tuple[str, ...] = (),
    ) -> Output | None:
        """A frame will go here: a file of a known format, or a table; ``endings`` are others that could be written as well."""
        if target is None:
            return None
        if isinstance(target, str) and "://" not in target and names_sheet(target):
            file, _, rest = target.rpartition("::")
            raise InputError(
                f"'{Path(file).name}' is written whole, with one sheet at most; leave out ::{rest}"
            )
        address = parse(target, known=dict.fromkeys((*WRITTEN, *endings)))
        output = Output(parameter, address, internal)
        # First, since "exists already" would be no help to somebody who named the input.
        self._expect_no_input(output)
        from shoal.sources.read_write import check_writable

        check_writable(address, self._force)
        if isinstance(address, TableAddress) and self._force:
            self._expect_no_table_of_a_view(output, address)
        return self._declare(output)

    def file(
        self, parameter: str, path: "str | os.PathLike[str] | None", *, internal: bool = False
    ) -> Output | None:
        """Text or bytes will go here."""
        if path is None:
            return None
        output = Output(parameter, Path(path), internal)
        self._expect_no_input(output)
        check_target(path, self._force)
        return self._declare(output)

    def folder(
        self,
        parameter: str,
        path: "str | os.PathLike[str] | None",
        *,
        internal: bool = False,
    ) -> Output | None:
        """Several files will go here; the folder is made if it is not there."""
        if path is None:
            return None
        folder = Path(path)
        there = next(part for part in (folder, *folder.absolute().parents) if part.exists())
        if not there.is_dir():
            raise InputError(f"'{there}' is a file, not a folder")
        if not os.access(there, os.W_OK | os.X_OK):
            raise InputError(f"folder '{there}' cannot be written to")
        return self._declare(Output(parameter, folder, internal))

    def parts(self, parameter: str, target: str | None, *, internal: bool = False) -> Output | None:
        """A folder of files will be here that something else writes; it must not be there yet, unless by force."""
        if target is None:
            return None
        output = Output(parameter, parse_folder(str(target)), internal)
        self._expect_no_input(output)
        if isinstance(output.target, Path) and any(_is_within(output.target, put) for put in self._inputs):
            raise InputError(
                f"'{target}' and the input lie one in the other; give {parameter} a folder of its own"
            )
        check_folder(output.target, self._force)  # type: ignore[arg-type]
        return self._declare(output)

    def replaced(self, parameter: str, folder: Path) -> None:
        """A folder will be replaced as a whole, by something that sees to the rest itself."""
        if any(_is_within(folder, place) for place in self._inputs):
            raise InputError(
                f"an input lies in '{folder}', and inputs are never replaced; choose another {parameter}"
            )

    def columns(self, parameter: str, address: Address) -> Output:
        """Columns of an existing table will be set."""
        if not isinstance(address, TableAddress):
            raise InputError(f"'{address}' is a file; columns are updated in database tables only")
        return self._declare(Output(parameter, address))

    def check_inside(self, folder: Output, names: Iterable[str]) -> None:
        """Refuse files of a folder that exist already, as soon as their names are known."""
        assert isinstance(folder.target, Path)
        for name in names:
            if folder.target.is_dir():
                self._expect_no_input(Output(folder.parameter, folder.target / name))
                check_target(folder.target / name, self._force)

    @contextmanager
    def together(self) -> "Iterator[Writing]":
        """A block that writes outputs; they take their places when it ends well, all of them or none."""
        writing = Writing(force=self._force, safe_csv=self._safe_csv)
        try:
            yield writing
            writing.finish()
        finally:
            writing.close()

    def _declare(self, output: Output) -> Output:
        mine = _identity(output.target)
        for other in self._declared:
            if _same(mine, _identity(other.target)):
                what = "file" if isinstance(output.target, Path | FileAddress) else "table"
                raise InputError(
                    f"{other.parameter} and {output.parameter} name the same {what}; give each its own"
                    if other.parameter != output.parameter
                    else f"{other.parameter} names the same {what} twice"
                )
        self._declared.append(output)
        return output

    def _expect_no_input(self, output: Output) -> None:
        mine = _identity(output.target)
        if isinstance(output.target, Path | FileAddress) and mine.inode is None:
            return
        if any(_same(mine, _identity(place)) for place in self._inputs):
            raise InputError(
                f"{output.parameter} names the input '{output}', which is never replaced; give it a place of its own"
            )

    def _expect_no_table_of_a_view(self, output: Output, address: TableAddress) -> None:
        """Refuse to replace any table of a database of which a view is read: it may be what the view shows."""
        from shoal.sources.databases.catalogue import kind_of

        database = replace(_identity(address), table=None)
        for place in self._inputs:
            read = parse(place) if isinstance(place, str) and "://" in place else place
            if (
                isinstance(read, TableAddress)
                and _same(database, _identity(read))
                and kind_of(read) == "view"
                and kind_of(address) != "new"
            ):
                raise InputError(
                    f"{output.parameter} names a table that the view '{read.table}', which is read, may show; give it a new name"
                )


def _every_file(source: "DataLocation") -> "Iterator[DataLocation | RemoteFolder]":
    """A place that is read, and the files in it or of it if it is a folder or a pattern."""
    path = _local_path(source)
    if path is None:
        elsewhere = isinstance(source, str) and "::" not in source
        yield RemoteFolder(str(source)) if elsewhere else source
        return
    yield path if str(source).startswith("file:") else source
    if path.is_dir():
        yield from path.iterdir()
    elif _is_pattern(path) and not path.exists():
        # What is no pattern after all means no file.
        with suppress(ValueError):
            yield from Path(path.anchor).glob(str(path.relative_to(path.anchor)))


def _local_path(source: "DataLocation | RemoteFolder") -> Path | None:
    """The path of a file, a folder or a pattern on this machine; of a table there is none."""
    text = str(source)
    if text.startswith("file:"):
        return Path(urlsplit(text).path)
    return None if "://" in text else Path(text)


def _is_pattern(path: Path) -> bool:
    return bool(set("*?[") & set(str(path)))


def _is_within(folder: Path, source: "DataLocation | RemoteFolder") -> bool:
    """Whether files that are read lie in a folder, or the folder among them; a pattern lies where its fixed part does."""
    if isinstance(source, str) and source.startswith("sqlite://"):
        source = parse(source)
    sqlite = isinstance(source, TableAddress) and source.database.kind == "sqlite"
    path = Path(source.database.database) if sqlite else _local_path(source)  # type: ignore[union-attr]
    if path is None:
        return False
    fixed = next(part for part in (path, *path.parents, Path()) if part.exists() or not _is_pattern(part))
    mine, theirs = folder.resolve(), fixed.resolve()
    # Beside a pattern's files, or beside a file, there may be other things.
    return theirs.is_relative_to(mine) or (mine.is_relative_to(theirs) and fixed == path and path.is_dir())


class Writing:
    """Outputs on their way: written and checked, but not yet where anybody looks."""

    def __init__(self, *, force: bool, safe_csv: bool) -> None:
        self._force = force
        self._safe_csv = safe_csv
        self._files: list[Beside] = []
        self._parts: list[Staged] = []
        self._folders: list[Path] = []
        self._databases: dict[Database, TableWriter] = {}
        self._names: list[str] = []

    def data(
        self,
        output: Output,
        frame: "pl.DataFrame",
        *,
        like: "Data | None" = None,
        separator: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        verify: Verify | None = None,
    ) -> None:
        """Write a frame, and let ``verify`` look at what somebody will read."""
        if not frame.width:
            raise InputError("there are no columns to write")
        place = output.target
        if isinstance(place, TableAddress):
            writer = self._writer(place.database, internal=output.internal)
            writer.write(frame, place.table, force=self._force)
            back = partial(writer.read, place.table)
        else:
            assert isinstance(place, FileAddress)
            from shoal.sources.files import write_frame

            said = TextSigns(separator, decimal, encoding)
            beside = self._beside(place.path, output.internal)
            with unwritable(beside.target):
                write_frame(frame, beside.path, place.format, said, like=like, safe=self._safe_csv)
            back = partial(self._read_back, FileAddress(beside.path), like, said)
        if verify is not None:
            _check_read_back(output, back, verify)
        self._names.append(str(output))

    def text(self, output: Output, text: str) -> None:
        """Write a text file in UTF-8."""
        self.content(output, text.encode("utf-8"))

    def content(self, output: Output, content: bytes) -> None:
        """Write a file as it is."""
        assert isinstance(output.target, Path)
        self._write_bytes(output.target, content, output.internal)
        self._names.append(str(output))

    def files(self, output: Output, contents: dict[str, bytes]) -> None:
        """Write the files of a folder."""
        assert isinstance(output.target, Path)
        self._make_folder(output.target)
        for name, content in contents.items():
            self._write_bytes(output.target / name, content, output.internal)
        self._names.append(str(output))

    def parts(self, output: Output, stage: "Callable[[str, bool], Staged]") -> None:
        """Let something write a folder of files under another name; it takes its place with the others."""
        self._parts.append(stage(str(output.target), self._force))
        self._names.append(str(output))

    def columns(self, output: Output, key: str, frame: "pl.DataFrame") -> None:
        """Set columns of an existing table in the records with the same key."""
        assert isinstance(output.target, TableAddress)
        self._writer(output.target.database).update(frame, output.target.table, [key])
        self._names.append(str(output))

    def fingerprint(self, output: Output) -> str | None:
        """SHA-256 of what was written for an output, of a table that of its records; ``None`` of a folder."""
        place = output.target
        if isinstance(place, RemoteFolder):
            return None
        if isinstance(place, TableAddress):
            return records_fingerprint(self._writer(place.database).read(place.table))
        target = (place.path if isinstance(place, FileAddress) else place).resolve()
        return next((file_fingerprint(item.path) for item in self._files if item.target == target), None)

    def finish(self) -> None:
        """Put everything in its place. Files go first, since a rename can be undone and a commit cannot."""
        tried: list[Beside | Staged] = []
        with _uninterrupted():
            try:
                for beside in (*self._files, *self._parts):
                    tried.append(beside)
                    beside.put()
                for writer in self._databases.values():
                    writer.commit()
            except BaseException:
                for beside in reversed(tried):
                    with suppress(OSError):
                        beside.undo()
                raise
            self._folders.clear()
            _written.extend(self._names)

    def close(self) -> None:
        """Remove what did not get its place."""
        for beside in (*self._files, *self._parts):
            beside.close()
        for writer in self._databases.values():
            writer.__exit__(None, None, None)
        for folder in reversed(self._folders):
            with suppress(OSError):
                folder.rmdir()

    def _beside(self, path: Path, internal: bool) -> Beside:
        beside = Beside(path, force=self._force, internal=internal)
        self._files.append(beside)
        return beside

    def _write_bytes(self, path: Path, content: bytes, internal: bool) -> None:
        beside = self._beside(path, internal)
        with unwritable(beside.target):
            beside.path.write_bytes(content)
            if beside.path.read_bytes() != content:
                raise InputError(f"'{path.name}' cannot be written: read back it is something else")

    def _make_folder(self, folder: Path) -> None:
        missing = [part for part in (folder, *folder.parents) if not part.exists()]
        for part in reversed(missing):
            with unwritable(part):
                part.mkdir()
            self._folders.append(part)

    def _writer(self, database: Database, *, internal: bool = False) -> "TableWriter":
        if database not in self._databases:
            from shoal.sources.databases import TableWriter

            self._databases[database] = TableWriter(database, internal=internal).__enter__()
        return self._databases[database]

    def _read_back(self, address: FileAddress, like: "Data | None", signs: TextSigns) -> "pl.DataFrame":
        from shoal.sources.files import read_file
        from shoal.sources.spreadsheet_cells import restored

        # What was written here has its names in the first line, whatever they look like.
        first = 1 if address.format in ("csv", "tsv", "excel") else None
        frame = read_file(address, signs, like=like, header_row=first).frame
        return restored(frame) if self._safe_csv and address.format in ("csv", "tsv") else frame


def written() -> tuple[str, ...]:
    """What this process has put in place so far; an interruption after it must not say that nothing was written."""
    return tuple(_written)


def _check_read_back(output: Output, back: "Callable[[], pl.DataFrame]", verify: Verify) -> None:
    try:
        verify(back())
    except (AssertionError, InputError):
        # Not chained: the text of the check may quote figures of the data.
        raise Infeasible(
            f"'{output}' cannot hold this result: read back it is another one, so nothing was written; "
            "another format may keep the values as they are"
        ) from None


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Within this block Ctrl-C waits: it comes when everything is in its place."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    previous = signal.signal(signal.SIGINT, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if previous is None else previous)
    if asked:
        signal.raise_signal(signal.SIGINT)


@dataclass(frozen=True)
class _Identity:
    """What tells places apart: the file itself, the name it has or would have, and the table in it."""

    inode: tuple[int, int] | None
    name: str
    table: str | None = None


def _same(one: _Identity, other: _Identity) -> bool:
    """Whether two places are one. A file and a table of it clash too: the file would replace the database."""
    both = one.inode is not None and other.inode is not None
    file = one.inode == other.inode if both else one.name == other.name
    return file and (one.table is None or other.table is None or one.table == other.table)


def _identity(location: "DataLocation | RemoteFolder") -> _Identity:
    if isinstance(location, str) and ("://" in location or names_sheet(location)):
        location = parse(location)
    if isinstance(location, TableAddress):
        return _table_identity(location)
    if isinstance(location, RemoteFolder):
        return _Identity(None, location.url.rstrip("/"))
    path = Path(os.path.realpath(location.path if isinstance(location, FileAddress) else location))
    return _Identity(_inode(path), folded(path))


def _table_identity(address: TableAddress) -> _Identity:
    database, table = address.database, address.table
    if database.kind == "sqlite":
        path = Path(os.path.realpath(database.database))
        return _Identity(_inode(path), folded(path), table.removeprefix("main.").casefold())
    # The schema that a bare name stands for, unless the server was told otherwise.
    usual = "public" if database.kind == "postgresql" else database.database
    table = table.removeprefix(f"{usual}.")
    host = {"127.0.0.1": "localhost", "::1": "localhost", None: "localhost"}.get(database.host, database.host)
    port = database.port or (5432 if database.kind == "postgresql" else 3306)
    name = f"{database.kind}://{host}:{port}/{database.database}"
    return _Identity(None, name, table if database.kind == "postgresql" else table.casefold())


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def folded(path: "Path | str") -> str:
    """A name in which spellings that some file systems take for one are one."""
    return unicodedata.normalize("NFC", str(path)).casefold()
