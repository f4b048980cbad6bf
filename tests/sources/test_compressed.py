"""A few bytes that unpack to more than a machine holds are refused, before they are unpacked."""

import gzip
import io
import subprocess
import sys
import zipfile

import pytest
import xlsxwriter

from shoal import InputError, sources
from shoal.sources import compressed, workbooks
from shoal.tables.files import jj


def far_cell(path, *, filled=True):
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("data")
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write_row(1, 0, [1, 2])
        if filled:
            sheet.write(1_048_575, 16_383, 1)
        else:
            sheet.write_blank(1_048_575, 16_383, None, book.add_format({"bold": True}))
    return path


def rewritten(path, change):
    """The workbook with the text of its sheet changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = change(parts[sheet])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_a_cell_in_the_last_corner_is_refused(tmp_path):
    path = far_cell(tmp_path / "x.xlsx")
    assert path.stat().st_size < 10_000
    with pytest.raises(InputError, match="spans 1,048,576 rows × 16,384 columns, more than 50,000,000 cells"):
        sources.read(path)
    # What the sheet says of its own size is not what counts.
    rewritten(path, lambda text: text.replace(b"A1:XFD1048576", b"A1:B2"))
    with pytest.raises(InputError, match="spans 1,048,576 rows × 16,384 columns"):
        sources.read(path)


def test_a_format_in_the_last_corner_is_no_cell(tmp_path):
    assert sources.read(far_cell(tmp_path / "x.xlsx", filled=False)).frame.rows() == [(1, 2)]


def test_cells_that_hide_where_they_stand_end_at_the_limit_of_memory(tmp_path):
    def change(text):
        # Cells without a reference count on from the one before; a blank before the = is as good as none.
        return text.replace(b'r="XFD1048576"', b'r = "XFD1048576"')

    path = rewritten(far_cell(tmp_path / "x.xlsx"), change)
    with pytest.raises(InputError, match="more memory than a workbook of its size may need"):
        sources.read(path)


@pytest.mark.parametrize("part", ["xl/sharedStrings.xml", "xl/worksheets/sheet1.xml", "docProps/other.xml"])
def test_a_workbook_that_unpacks_to_gigabytes_is_refused(tmp_path, part, monkeypatch):
    monkeypatch.setattr(compressed, "ALWAYS_ALLOWED", 1 << 20)
    path = far_cell(tmp_path / "x.xlsx", filled=False)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = b"<si><t>" + b"x" * (8 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match=r"'x\.xlsx' unpacks to more than \d+ MB, the limit for a file"):
        sources.read(path)


def test_small_and_honest_files_are_let_through():
    mega = 1 << 20
    assert compressed.allowed(1_000, compressed.LARGEST_WORKBOOK, compressed.WORKBOOK_GROWTH) == 16 * mega
    assert compressed.allowed(mega, compressed.LARGEST_WORKBOOK, compressed.WORKBOOK_GROWTH) == 200 * mega
    assert compressed.allowed(mega, compressed.LARGEST_TEXT, compressed.TEXT_GROWTH) == 25 * mega
    assert compressed.allowed(1 << 40, compressed.LARGEST_TEXT, compressed.TEXT_GROWTH) == 512 * mega


READ_JJ = """
import sys
from pathlib import Path
from shoal import InputError
from shoal.tables.files import jj
import resource
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    jj.read(Path(sys.argv[1]))
except InputError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_jj_file_that_unpacks_to_gigabytes_is_refused_without_unpacking_it(tmp_path):
    path = tmp_path / "bomb.jj.gz"
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        for _ in range(512):
            file.write(b"0\n" * (1 << 19))  # 512 MB in half a megabyte
    path.write_bytes(packed.getvalue())
    assert path.stat().st_size < 1 << 20
    child = subprocess.run(
        [sys.executable, "-c", READ_JJ, str(path)], capture_output=True, text=True, check=True
    )
    message, grown = child.stdout.splitlines()
    assert message == (
        "'bomb.jj.gz' unpacks to more than 16 MB, the limit for a file of its size; unpack it first if you trust it"
    )
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(grown) * unit < 200 << 20


@pytest.mark.parametrize(
    "content",
    [b"nonsense", gzip.compress(b"0\n1\n" * 500, mtime=0)[:-20], b"\x1f\x8b\x08\0"],
    ids=["nonsense", "cut off", "head only"],
)
def test_damaged_gz_files_are_refused_in_one_line(tmp_path, content):
    path = tmp_path / "x.jj.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"'x\.jj\.gz' is not a gzip file, or a damaged one"):
        jj.read(path)


def test_extents_are_found_across_blocks(monkeypatch):
    monkeypatch.setattr(workbooks, "_BLOCK", 7)
    cells = b'<row r="3"><c r="C3"><v>1</v></c><c t="s" r=\'AB4\'><v>1</v></c></row><c r="XFD9" s="1"/>'
    assert workbooks.extent(io.BytesIO(cells)) == (7, 16_384 - 2)
    assert workbooks.filled_extent(io.BytesIO(cells)) == (2, 26)
    assert workbooks.extent(io.BytesIO(b"<sheetData/>")) == (0, 0)
    assert workbooks.filled_extent(io.BytesIO(b"<sheetData/>")) == (0, 0)
    assert workbooks.extent(io.BytesIO(b'say r="ABCD1" r="A0" r="1" r="A1048577" r="XFE1" "B2"')) == (0, 0)
