import os
import stat
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.waiting import until

from shoal import InputError, sources
from shoal.sources.atomic import atomically

OLD = "id,x\n1,0.5\n2,1.5\n"

WRITER = """
import sys
import polars as pl
from shoal import sources

count = int(sys.argv[2])
frame = pl.DataFrame({"id": range(count)}).with_columns(x=pl.col("id") / 3)
print("writing", flush=True)
sources.write(frame, sys.argv[1], force=True)
print("written", flush=True)
"""


def unfinished(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if ".shoal-unfinished" in path.name]


def _begun(folder: Path) -> bool:
    try:
        return any(path.stat().st_size > 100_000 for path in unfinished(folder))
    except FileNotFoundError:  # it has just been given its name
        return False


def _killed_while_writing(target: Path, count: int) -> bool:
    command = [sys.executable, "-c", WRITER, str(target), str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        until(lambda: _begun(target.parent) or writer.poll() is not None, "the write to be under way")
        writer.kill()
        rest = writer.stdout.read()
    assert writer.returncode in (0, -9)
    # Killed between giving the name and saying so, it has been written all the same.
    return rest == "" and bool(unfinished(target.parent))


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_a_killed_write_leaves_the_old_file_whole(tmp_path, name):
    target = tmp_path / name
    old = pl.DataFrame({"id": [1, 2], "x": [0.5, 1.5]})
    sources.write(old, target)
    before = target.read_bytes()
    for count in (3_000_000, 12_000_000, 48_000_000):
        if _killed_while_writing(target, count):
            break
        # It was written before this process had its turn: once more from the start, with more to write.
        sources.write(old, target, force=True)
    else:
        raise AssertionError("every write ended before it could be interrupted")
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
    with pytest.raises(InputError, match="exists already; force="), atomically(target):
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
