"""Wide files: the work for a column does not grow with the number of columns."""

from collections import Counter

import narwhals as nw
import polars as pl
import pytest

import shoal
from shoal import InputError, sources
from shoal.sources import inference, text


def wide(path, columns, records=3):
    kinds = (
        str,
        lambda n: f"{n}.5",
        lambda n: "xyz"[n % 3],
        lambda n: f"2024-01-{n % 28 + 1:02}",
        lambda n: f"{n % 28 + 1}.2.2024",
    )
    lines = [",".join(f"a column with a long name {number}" for number in range(columns))]
    lines += [
        ",".join(kinds[number % len(kinds)](record * 7 + number % 13) for number in range(columns))
        for record in range(records)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("records", [3, 2500])
def test_a_column_is_looked_at_a_few_times_however_many_there_are(tmp_path, monkeypatch, records):
    calls = Counter()
    for module, name in ((inference, "_number"), (inference, "possible_dates"), (text.pl, "scan_csv")):
        inner = getattr(module, name)

        def counted(*args, inner=inner, name=name, **options):
            calls[name] += 1
            return inner(*args, **options)

        monkeypatch.setattr(module, name, counted)
    seen = []
    for columns in (20, 200):
        calls.clear()
        sources.read(wide(tmp_path / "x.csv", columns, records))
        seen.append(dict(calls))
    few, many = seen
    assert few["scan_csv"] == many["scan_csv"] == 1
    assert many["_number"] <= 10 * few["_number"] and many["_number"] <= 4 * 200
    assert many["possible_dates"] <= 10 * few["possible_dates"] and many["possible_dates"] <= 2 * 200


def test_a_header_longer_than_any_sample_is_read_whole(tmp_path):
    path = wide(tmp_path / "x.csv", 10_000)
    assert path.read_text().index("\n") > text._SAMPLE
    frame = sources.read(path).frame
    assert frame.shape == (3, 10_000)
    assert frame.dtypes[:4] == [pl.Int64, pl.Float64, pl.String, pl.Date]


def test_what_is_wider_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "WIDEST", 100)
    assert sources.read(wide(tmp_path / "x.csv", 100)).frame.width == 100
    with pytest.raises(InputError, match=r"'x\.csv' has 101 columns; Shoal reads at most 100"):
        sources.read(wide(tmp_path / "x.csv", 101))


@pytest.mark.parametrize("command", ["microaggregate", "compare"])
def test_the_types_of_all_columns_are_not_asked_for_once_per_column(monkeypatch, command):
    asked = 0
    schema = nw.DataFrame.schema

    def counted(frame):
        nonlocal asked
        asked += 1
        return schema.fget(frame)

    monkeypatch.setattr(nw.DataFrame, "schema", property(counted))
    counts = []
    for columns in (10, 60):
        frame = pl.DataFrame(
            {f"c{number}": [n * (number + 3) % 17 for n in range(40)] for number in range(columns)}
        )
        asked = 0
        if command == "microaggregate":
            shoal.microaggregate(frame, 4, columns=["c0", "c1"], method="mdav")
        else:
            shoal.compare(frame, frame, columns=["c0", "c1"], paired_by_position=True)
        counts.append(asked)
    assert counts[0] == counts[1]
