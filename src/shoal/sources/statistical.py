"""Files of SPSS, Stata and SAS, with what they say about their variables (extra ``stat``)."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from shoal.errors import InputError, needs_extra
from shoal.exact_names import only
from shoal.sources.data import Labels, chosen
from shoal.sources.isolated import read_isolated

_READERS = {"spss": "read_sav", "stata": "read_dta", "sas": "read_sas7bdat"}
_TITLES = {"spss": "SPSS", "stata": "Stata", "sas": "SAS"}
_NAMES = {
    "spss": re.compile(r"[^\W\d_][\w.@#$]{0,63}|[@#$][\w.@#$]{0,63}"),
    "stata": re.compile(r"[^\W\d]\w{0,31}"),
}
_RESERVED = frozenset({"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"})
_WHOLE = re.compile(r"[A-Z]+\d+(\.0)?")
_TEMPORAL = re.compile(
    r"%t|%-?d|(DATE|ADATE|EDATE|SDATE|JDATE|DATETIME|YMDHMS|TIME|DTIME|MTIME|QYR|MOYR|WKYR)", re.I
)
_EXACT = 2**53

# Where a header has the date and the time it was made, and what stands there instead.
_HEADER = 1024
_MOMENTS = {
    "spss": re.compile(rb"(?s)\$FL[23].{88}(?P<moment>.{17})"),
    "stata": re.compile(rb"(?s)<stata_dta>.*?</label><timestamp>\x11(?P<moment>.{17})</timestamp></header>"),
}
_MADE = {"spss": b"01 Jan 8000:00:00", "stata": b"01 Jan 1980 00:00"}


def read_statistical(
    path: Path, kind: str, *, columns: Sequence[str] | None, encoding: str | None
) -> tuple[pl.DataFrame, Labels, tuple[str, ...]]:
    """The frame, the labels, and a note when codes declared missing became nulls."""
    _pyreadstat()
    request = {"kind": kind, "columns": columns, "encoding": encoding}
    frame, meta = read_isolated("shoal.sources.statistical:parse", path, request)
    if columns is not None:
        frame = only(frame, chosen(columns, meta["names"], f"in '{path.name}'"))
    labels = _labels(meta, kind, frame.columns)
    plain = frame.select(_plain(frame[name], meta["storage"].get(name), labels) for name in frame.columns)
    changed = [name for name in labels.missing if plain[name].null_count() > _nulls(frame[name])]
    notes = (f"codes declared missing read as missing in {len(changed)} column(s)",) if changed else ()
    return plain, labels, notes


def parse(
    path: Path, kind: str, columns: Sequence[str] | None, encoding: str | None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The frame as pyreadstat gives it, and what it says about the variables; called in a process of its own.

    Columns that the file lacks are left out; the names of all are in the second part.
    """
    reader = getattr(_pyreadstat(), _READERS[kind])
    options: dict[str, Any] = {"encoding": encoding} if encoding else {}
    names = None
    if columns is not None:
        _, head = reader(str(path), metadataonly=True, output_format="polars", **options)
        names = head.column_names
        known = set(names)
        options["usecols"] = [name for name in dict.fromkeys(columns) if name in known]
    if kind == "spss":
        # The codes declared missing are asked for, since only then are their ranges told.
        options["user_missing"] = True
    frame, meta = reader(str(path), output_format="polars", **options)
    return frame, {
        "names": names or meta.column_names,
        "file": meta.file_label or "",
        "notes": list(meta.notes or ()),
        "variables": meta.column_names_to_labels,
        "values": {name: list(values.items()) for name, values in (meta.variable_value_labels or {}).items()},
        "missing": meta.missing_ranges,
        "formats": meta.original_variable_types,
        "storage": meta.readstat_variable_types,
        "measures": meta.variable_measure,
        "widths": meta.variable_display_width,
    }


def write_statistical(frame: pl.DataFrame, path: Path, kind: str, labels: Labels | None) -> None:
    """Write a file of SPSS or Stata with the labels of the variables that are still there."""
    check_writable_format(kind, path.name)
    pyreadstat = _pyreadstat()
    _check_names(frame.columns, kind)
    plain = frame.select(_storable(frame[name], kind) for name in frame.columns)
    labels = labels or Labels(format=kind)

    def still(labels: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in labels.items() if name in plain.columns}

    options: dict[str, Any] = {
        "file_label": labels.file,
        "column_labels": {name: text[:80] for name, text in still(labels.variables).items()},
        "variable_value_labels": _value_labels(plain, labels, kind),
        "variable_format": _formats(plain, labels, kind),
    }
    if kind == "spss":
        options |= {
            "column_labels": still(labels.variables),
            "note": list(labels.notes) or None,
            "missing_ranges": {
                name: list(ranges)
                for name, ranges in still(labels.missing).items()
                if _same_family(plain.schema[name], ranges[0])
            },
            "variable_measure": still(labels.measures),
            "variable_display_width": still(labels.widths),
        }
    write = pyreadstat.write_sav if kind == "spss" else pyreadstat.write_dta
    try:
        write(plain, str(path), **options)
    except OSError:
        raise
    except Exception as error:
        _look_for_room(path)
        # The words of the library may quote a value; the type of the fault does not.
        raise InputError(f"the data cannot be written as {_TITLES[kind]} ({type(error).__name__})") from None
    _forget_when(path, kind)
    _check_complete(path, kind, plain)


def _forget_when(path: Path, kind: str) -> None:
    """Write another date into the header: when it was made is nobody's business, and the same run gives the same bytes."""
    with path.open("r+b") as file:
        found = _MOMENTS[kind].match(file.read(_HEADER))
        if found is not None:
            file.seek(found.start("moment"))
            file.write(_MADE[kind])


def _check_complete(path: Path, kind: str, frame: pl.DataFrame) -> None:
    """Count the records that are there: on a full disk the library may end early without a word."""
    pyreadstat = _pyreadstat()
    read = pyreadstat.read_sav if kind == "spss" else pyreadstat.read_dta
    try:
        found, _ = read(str(path), usecols=frame.columns[:1], output_format="dict")
        whole = not frame.width or len(found[frame.columns[0]]) == frame.height
    except Exception:
        whole = False
    if not whole:
        _look_for_room(path)
        raise InputError(f"the data cannot be written as {_TITLES[kind]}: what is there is not complete")


def _look_for_room(path: Path) -> None:
    """Raise ``OSError`` if the file cannot grow: the library says only that it failed, not that the disk is full."""
    with path.open("ab") as file:
        file.write(bytes(1 << 16))


def check_writable_format(kind: str, name: str) -> None:
    """SAS files can be read only; the others need the extra."""
    if kind == "sas":
        raise InputError(f"'{name}': SAS files can only be read; write .sav, .dta, .csv or .parquet instead")
    _pyreadstat()


def _pyreadstat() -> ModuleType:
    try:
        import pyreadstat
    except ImportError:
        raise needs_extra("a file of SPSS, Stata or SAS", "stat") from None
    module: ModuleType = pyreadstat
    return module


def _labels(meta: Mapping[str, Any], kind: str, names: Sequence[str]) -> Labels:
    def of_columns(what: str) -> dict[str, Any]:
        return {name: meta[what][name] for name in names if meta[what].get(name)} if meta[what] else {}

    return Labels(
        format=kind,
        file=meta["file"],
        notes=tuple(meta["notes"]),
        variables=of_columns("variables"),
        values={name: dict(pairs) for name, pairs in of_columns("values").items()},
        missing={
            name: tuple(_range(item) for item in items) for name, items in of_columns("missing").items()
        },
        formats=of_columns("formats"),
        measures={name: word for name, word in of_columns("measures").items() if word != "unknown"},
        widths=of_columns("widths") if kind == "spss" else {},
    )


def _range(item: Any) -> Any:
    """A single code as itself, a range as its ends."""
    if isinstance(item, dict) and item["lo"] == item["hi"]:
        return item["lo"]
    return item


def _nulls(values: pl.Series) -> int:
    return values.null_count() + (int((values == "").sum()) if values.dtype == pl.String else 0)


def _plain(values: pl.Series, storage: str | None, labels: Labels) -> pl.Series:
    name = values.name
    if values.dtype == pl.Null:
        values = values.cast(pl.String if storage == "string" else pl.Float64)
    for item in labels.missing.get(name, ()):
        hit = values.is_between(item["lo"], item["hi"]) if isinstance(item, dict) else values == item
        values = values.set(hit.fill_null(value=False), None)
    if values.dtype == pl.String:
        # None of these programs tells an empty text from a missing one.
        return values.set((values == "").fill_null(value=False), None)
    codes = name in labels.values or _WHOLE.fullmatch(labels.formats.get(name, ""))
    if labels.format == "spss" and values.dtype == pl.Float64 and codes:
        # SPSS has only floating-point numbers; labels or a format without decimals say that whole ones are meant.
        whole = values.drop_nulls()
        if whole.is_finite().all() and (whole == whole.round()).all() and (whole.abs() <= _EXACT).all():
            return values.cast(pl.Int64)
    return values


def _check_names(names: Sequence[str], kind: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        fits = _NAMES[kind].fullmatch(name) and not (kind == "spss" and len(name.encode()) > 64)
        if not fits or name.lower() in _RESERVED:
            raise InputError(f"'{name}' cannot be the name of a variable in {_TITLES[kind]}")
        if kind == "spss" and name.lower() in seen:
            raise InputError(f"SPSS does not tell '{seen[name.lower()]}' from '{name}'")
        seen[name.lower()] = name


def _storable(values: pl.Series, kind: str) -> pl.Series:
    name, dtype = values.name, values.dtype
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration):
        raise InputError(f"column '{name}' holds {dtype}, which a file of {_TITLES[kind]} cannot")
    if dtype == pl.Boolean:
        return values.cast(pl.Int8)
    if dtype.is_integer():
        low, high = values.min(), values.max()
        if low is not None and (low < -_EXACT or high > _EXACT):  # type: ignore[operator]
            raise InputError(f"column '{name}' holds integers beyond 2^53, which {_TITLES[kind]} would round")
        # Stata keeps codes above 2147483620 of its whole numbers for missing values.
        small = low is None or (low > -(2**31) and high <= 2_147_483_620)  # type: ignore[operator]
        return values.cast(pl.Int32 if small else pl.Float64)
    if dtype.is_numeric() or dtype == pl.Null:
        return values.cast(pl.Float64)
    if isinstance(dtype, pl.Datetime):
        return values.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if dtype.time_zone else values
    return values if dtype in (pl.Date, pl.Time) else values.cast(pl.String)


def _value_labels(frame: pl.DataFrame, labels: Labels, kind: str) -> dict[str, dict[Any, str]]:
    """The labels of values, with keys of the type that the column now has; Stata labels whole numbers only."""
    result: dict[str, dict[Any, str]] = {}
    for name, values in labels.values.items():
        if name not in frame.columns:
            continue
        dtype = frame.schema[name]
        if dtype == pl.String:
            result[name] = {key: text for key, text in values.items() if isinstance(key, str)}
        elif dtype.is_integer():
            result[name] = {int(key): text for key, text in values.items() if _is_whole(key)}
        elif dtype.is_float() and kind == "spss":
            result[name] = {float(key): text for key, text in values.items() if not isinstance(key, str)}
    return {name: values for name, values in result.items() if values}


def _is_whole(key: Any) -> bool:
    return isinstance(key, int | float) and float(key).is_integer()


def _formats(frame: pl.DataFrame, labels: Labels, kind: str) -> dict[str, str]:
    """The formats that still fit; whole numbers of SPSS get one, since only that tells them from others."""
    result: dict[str, str] = {}
    for name, dtype in frame.schema.items():
        form = labels.formats.get(name, "") if labels.format == kind else ""
        temporal = bool(_TEMPORAL.match(form))
        if form and dtype != pl.String and dtype.is_temporal() == temporal:
            fractions = dtype.is_float() and _WHOLE.fullmatch(form)
            if not fractions:
                result[name] = form
        if name not in result and kind == "spss" and dtype.is_integer():
            result[name] = "F11.0"
    return result


def _same_family(dtype: pl.DataType, item: Any) -> bool:
    return (dtype == pl.String) == isinstance(item, str)
