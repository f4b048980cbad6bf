import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from shoal import InputError, sources
from shoal.sources.atomic import atomically

OLD = "id,x\n1,0.5\n2,1.5\n"

WRITER = """
import sys
import polars as pl
from shoal import sources

count = 3_000_000
frame = pl.DataFrame({"id": range(count)}).with_columns(x=pl.col("id") / 3)
print("writing", flush=True)
sources.write(frame, sys.argv[1], force=True)
print("written", flush=True)
"""


def unfinished(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if ".shoal-unfinished" in path.name]


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_a_killed_write_leaves_the_old_file_whole(tmp_path, name):
    target = tmp_path / name
    old = pl.DataFrame({"id": [1, 2], "x": [0.5, 1.5]})
    sources.write(old, target)
    before = target.read_bytes()
    command = [sys.executable, "-c", WRITER, str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        while writer.poll() is None and not any(
            path.stat().st_size > 100_000 for path in unfinished(tmp_path)
        ):
            time.sleep(0.001)
        writer.kill()
        rest = writer.stdout.read()
    assert rest == "", "the write ended before it could be interrupted"
    assert writer.returncode == -9
    assert target.read_bytes() == before
    assert sources.read(target).frame.equals(old)
    (leftover,) = unfinished(tmp_path)
    os.utime(leftover, (0, 0))
    sources.write(old.head(1), target, force=True)
    assert unfinished(tmp_path) == []  # the next write clears up
    assert sources.read(target).frame.equals(old.head(1))


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "people.csv"
    target.write_text(OLD)
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error), atomically(target, force=True) as path:
            path.write_text("half")
            raise error
    with pytest.raises(InputError, match="the disk is full"), atomically(target, force=True) as path:
        raise OSError(28, "No space left on device")
    assert target.read_text() == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_nothing_is_replaced_without_force(tmp_path):
    target = tmp_path / "people.csv"
    target.write_text(OLD)
    with pytest.raises(InputError, match="exists already; --force"), atomically(target):
        raise AssertionError("refused before any work")
    with pytest.raises(InputError, match="exists already"):
        sources.check_writable(target)
    sources.check_writable(target, force=True)
    other = tmp_path / "other.csv"
    with pytest.raises(InputError, match="exists already"), atomically(other) as path:
        path.write_text("new")
        other.write_text("somebody was quicker")
    assert other.read_text() == "somebody was quicker"
    assert target.read_text() == OLD


def test_places_that_cannot_be_written(tmp_path):
    for path, message in (
        (tmp_path, "is a folder"),
        (tmp_path / "nowhere" / "people.csv", "folder .* does not exist"),
        (Path("/dev/null"), "not an ordinary file"),
    ):
        with pytest.raises(InputError, match=message), atomically(path, force=True):
            pass
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        with pytest.raises(InputError, match="cannot be written"):
            sources.check_writable(tmp_path / "people.csv")


def test_permissions_links_and_umask_are_respected(tmp_path):
    target = tmp_path / "people.csv"
    target.write_text(OLD)
    target.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    with atomically(link, force=True) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600  # until it is checked, for its owner alone
        path.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    mask = os.umask(0o027)
    try:
        with atomically(tmp_path / "fresh.csv") as path:
            path.write_text("new")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "fresh.csv").stat().st_mode) == 0o640


def test_work_in_progress_is_not_taken_for_a_leftover(tmp_path):
    target = tmp_path / "people.csv"
    with atomically(target) as first:
        first.write_text("first")
        os.utime(first, (0, 0))
        with atomically(target) as second:
            second.write_text("second")
        assert first.exists()
        first.unlink()  # what a crash of the file system would do
        with pytest.raises(FileNotFoundError):
            first.read_text()
        first.write_text("again")
        target.unlink()
    assert target.read_text() == "again"
