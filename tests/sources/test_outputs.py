"""Outputs of one command: refused before any work, put in place together, and undone together."""

import errno
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from shoal import Infeasible, InputError, sources
from shoal.sources import atomic, files, outputs
from shoal.sources.outputs import Outputs

FRAME = pl.DataFrame({"id": [1, 2], "name": ["=1+1", "b"]})


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_all_appear_together_with_their_rights(tmp_path):
    declared = Outputs()
    release = declared.data("-o", tmp_path / "release.csv")
    labels = declared.file("--labels", tmp_path / "labels.txt", internal=True)
    table = declared.data("--table", f"sqlite:///{tmp_path}/clinic.db::people")
    assert content(tmp_path) == {}, "declaring writes nothing"
    seen = []
    mask = os.umask(0o022)
    try:
        with declared.together() as writing:
            writing.data(release, FRAME, verify=seen.append)
            writing.text(labels, "1 1")
            writing.data(table, FRAME, verify=seen.append)
            assert not (tmp_path / "release.csv").exists()
            unfinished = [path for path in tmp_path.iterdir() if path.suffix in (".csv", ".txt")]
            assert [mode(path) for path in unfinished] == [0o600, 0o600]
    finally:
        os.umask(mask)
    assert all(frame.equals(FRAME) for frame in seen)
    assert len(seen) == 2
    assert sorted(content(tmp_path)) == ["clinic.db", "labels.txt", "release.csv"]
    assert mode(tmp_path / "release.csv") == 0o644
    assert mode(tmp_path / "labels.txt") == 0o600
    assert sources.read(table.target).frame.equals(FRAME)


def test_rights_of_what_is_replaced(tmp_path):
    for name in ("release.csv", "labels.txt"):
        (tmp_path / name).write_text("old")
        (tmp_path / name).chmod(0o664)
    declared = Outputs(force=True)
    release = declared.data("-o", tmp_path / "release.csv")
    labels = declared.file("--labels", tmp_path / "labels.txt", internal=True)
    with declared.together() as writing:
        writing.data(release, FRAME)
        writing.text(labels, "1 1")
    assert mode(tmp_path / "release.csv") == 0o664
    assert mode(tmp_path / "labels.txt") == 0o600


def test_two_names_for_one_place_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.csv").write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to("old.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "old.csv")
    (tmp_path / "folder").mkdir()
    (tmp_path / "there").symlink_to("folder")
    sources.write(FRAME, "sqlite:///clinic.db::people")
    for one, other in (
        ("new.csv", "new.csv"),
        ("new.csv", "./new.csv"),
        ("new.csv", "NEW.csv"),
        ("new.csv", str(tmp_path / "new.csv")),
        ("folder/new.csv", "there/new.csv"),
        ("old.csv", "link.csv"),
        ("old.csv", "hard.csv"),
        ("sqlite:///clinic.db::people", f"sqlite:///{tmp_path}/clinic.db::PEOPLE"),
        ("sqlite:///clinic.db::other", "sqlite:///clinic.db::main.other"),
        ("sqlite:///new.db::people", "sqlite:///./new.db::people"),
    ):
        declared = Outputs(force=True)
        declared.data("-o", one)
        with pytest.raises(InputError, match=r"-o and --published name the same (file|table)"):
            declared.data("--published", other)
    declared = Outputs(force=True)
    declared.data("-o", "sqlite:///clinic.db::people")
    with pytest.raises(InputError, match="-o and --report name the same file"):
        declared.file("--report", "clinic.db")
    declared.data("--published", "sqlite:///clinic.db::other")


@pytest.mark.parametrize("force", [False, True])
def test_an_input_is_never_replaced(tmp_path, force):
    path = tmp_path / "people.csv"
    FRAME.write_csv(path)
    (tmp_path / "link.csv").symlink_to(path)
    (tmp_path / "other.csv").write_text("id\n")
    for given in (path, str(path), path.as_uri(), str(tmp_path), str(tmp_path / "peo*.csv")):
        for name in (tmp_path / "." / "people.csv", tmp_path / "link.csv"):
            declared = Outputs(inputs=[None, given], force=force)
            with pytest.raises(
                InputError, match=r"-o names the input '.*csv', which is never replaced; give it a place"
            ):
                declared.data("-o", name)
            with pytest.raises(InputError, match="--report names the input"):
                declared.file("--report", name)
            with pytest.raises(InputError, match="--drafts names the input"):
                declared.check_inside(declared.folder("--drafts", tmp_path), [name.name])
    # What is elsewhere is nothing on this machine, and what has a name like a pattern is no pattern.
    (tmp_path / "o[t]her.csv").write_text("id\n")
    for given in ("hdfs://cluster/people.csv", "s3a://bucket/people", tmp_path / "o[t]her.csv"):
        Outputs(inputs=[given], force=True).data("-o", tmp_path / "other.csv")


def test_a_folder_with_an_input_is_not_replaced(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "people.csv").write_text("id\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "old" / "people.csv")
    for given in (tmp_path / "link.csv", tmp_path / "old", f"sqlite:///{tmp_path}/old/clinic.db::people"):
        with pytest.raises(InputError, match=r"an input lies in '.*old', and inputs are never replaced"):
            Outputs(inputs=[given]).replaced("folder", tmp_path / "old")
        Outputs(inputs=[given]).replaced("folder", tmp_path / "new")


def test_a_sheet_of_a_workbook_is_its_file(tmp_path):
    sources.write(FRAME, tmp_path / "people.xlsx")
    with pytest.raises(InputError, match="-o names the input"):
        Outputs(inputs=[f"{tmp_path}/people.xlsx::data"]).data("-o", tmp_path / "people.xlsx")


def test_what_cannot_be_written_is_refused_before_any_work(tmp_path):
    (tmp_path / "file").write_text("x")
    for declare, message in (
        (lambda: Outputs().file("--report", tmp_path), "is a folder"),
        (lambda: Outputs().file("--report", tmp_path / "file"), "exists already; force="),
        (lambda: Outputs().file("--report", tmp_path / "none" / "x.html"), "does not exist"),
        (lambda: Outputs().data("-o", tmp_path / "x.doc"), "ending"),
        (lambda: Outputs().folder("--calendar", tmp_path / "file"), "is a file, not a folder"),
        (lambda: Outputs().folder("--calendar", tmp_path / "file" / "deeper"), "is a file, not a folder"),
        (lambda: Outputs().columns("--update", sources.parse("x.csv")), "is a file"),
    ):
        with pytest.raises(InputError, match=message):
            declare()
    assert sorted(content(tmp_path)) == ["file"]


class Broken(Exception):
    pass


def fail(*_):
    raise Broken


def disk_full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


STEPS = {
    "verify": (Infeasible, "so nothing was written"),
    "verify table": (Infeasible, "so nothing was written"),
    "disk": (InputError, "the disk is full"),
    "report": (Broken, None),
    "first rename": (InputError, "the disk is full"),
    "last rename": (InputError, "the disk is full"),
    "commit": (Broken, None),
}


@pytest.mark.parametrize("links", [True, False], ids=["hard links", "no hard links"])
@pytest.mark.parametrize("there", [True, False], ids=["replacing", "new"])
@pytest.mark.parametrize("step", STEPS)
def test_a_failure_at_any_step_leaves_everything_as_it_was(tmp_path, monkeypatch, step, there, links):
    if not links:
        monkeypatch.setattr(
            "pathlib.Path.hardlink_to", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "no links"))
        )
    names = ("release.csv", "labels.txt", "report.html")
    database = f"sqlite:///{tmp_path}/clinic.db"
    if there:
        for name in names:
            (tmp_path / name).write_text(f"old {name}")
        sources.write(FRAME.head(1), f"{database}::people")
    before = content(tmp_path)
    declared = Outputs(force=True)
    release = declared.data("-o", tmp_path / names[0])
    table = declared.data("--table", f"{database}::people")
    labels = declared.file("--labels", tmp_path / names[1], internal=True)
    report = declared.file("--report", tmp_path / names[2], internal=True)
    folder = declared.folder("--calendar", tmp_path / "new" / "folder")

    def reject(frame):
        raise AssertionError("the value 12345")

    put, count = atomic.Beside.put, 0

    def counted(self):
        nonlocal count
        count += 1
        if count == {"first rename": 1, "last rename": 4}.get(step):
            # Halfway: the old file may be aside already.
            monkeypatch.setattr("pathlib.Path.replace", disk_full_once(monkeypatch))
            monkeypatch.setattr(atomic, "_move_to_free_path", disk_full)
        put(self)

    monkeypatch.setattr(atomic.Beside, "put", counted)
    if step == "commit":
        monkeypatch.setattr("shoal.sources.databases.TableWriter.commit", fail)
    error, words = STEPS[step]
    with pytest.raises(error, match=words) as caught, declared.together() as writing:
        writing.data(release, FRAME, verify=reject if step == "verify" else None)
        writing.data(table, FRAME, verify=reject if step == "verify table" else None)
        if step == "disk":
            monkeypatch.setattr("pathlib.Path.write_bytes", disk_full)
        writing.text(labels, "1 1")
        writing.files(folder, {"a.ics": b"a"})
        writing.text(report, fail() if step == "report" else "<p>")
    assert "12345" not in str(caught.value)
    monkeypatch.undo()
    assert content(tmp_path) == before


def disk_full_once(monkeypatch):
    """The system refuses one rename into the place of a file, then lets the old files come back."""

    replace, refused = Path.replace, []

    def refuse(self, target):
        # Setting the old file aside is let through: what follows it is what must be undone.
        if not refused and ".shoal-unfinished" in self.name:
            refused.append(self)
            disk_full()
        return replace(self, target)

    return refuse


def test_ctrl_c_waits_until_all_are_in_place(tmp_path, monkeypatch):
    import signal

    put = atomic.Beside.put

    def interrupted(self):
        signal.raise_signal(signal.SIGINT)
        put(self)

    monkeypatch.setattr(atomic.Beside, "put", interrupted)
    declared = Outputs()
    one = declared.file("--labels", tmp_path / "one.txt")
    two = declared.file("--report", tmp_path / "two.txt")
    # Whatever started the tests may ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), declared.together() as writing:
            writing.text(one, "1")
            writing.text(two, "2")
    finally:
        signal.signal(signal.SIGINT, before)
    assert content(tmp_path) == {"one.txt": b"1", "two.txt": b"2"}
    assert str(tmp_path / "two.txt") in outputs.written()


def test_cells_that_a_spreadsheet_would_run(tmp_path):
    nasty = pl.DataFrame(
        {
            "@name": ["=1+1", "+a", "-b", "@c", "\td", "\re", "\nh", "＝1+1", "'=f", "-5", "fine", None],
            "x": [-1.5] * 12,
        }
    )
    declared = Outputs(safe_csv=True)
    for name in ("a.csv", "b.tsv", "c.parquet", "d.xlsx"):
        output = declared.data("-o", tmp_path / name)
        with declared.together() as writing:
            writing.data(output, nasty, verify=lambda frame: assert_equal(frame, nasty))
    lines = (tmp_path / "a.csv").read_bytes().decode().split("\n")
    assert lines[:3] == ["'@name,x", "'=1+1,-1.5", "'+a,-1.5"]
    assert "-5,-1.5" in lines, "a number stays a number"
    assert "'＝1+1,-1.5" in lines and "\"'" in lines, "wide signs and line ends are neutralised too"
    assert not any(line.lstrip('"').startswith(("=", "+", "@", "\t")) for line in lines)
    assert_equal(sources.read(tmp_path / "c.parquet").frame, nasty)


def assert_equal(one, other):
    assert one.columns == other.columns
    assert one["@name"].to_list() == other["@name"].to_list() or "\re" not in one["@name"].to_list()
    assert one["x"].to_list() == other["x"].to_list()


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.parquet", "x.arrow", "x.xlsx", "x.sav", "x.dta"])
def test_a_full_disk_is_said_in_one_line(tmp_path, name, monkeypatch):
    """Every writer really writes to a device that is full."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    frame = pl.DataFrame({"number": range(50_000), "text": ["a text of some length"] * 50_000})
    declared = Outputs()
    output = declared.data("-o", tmp_path / name)
    write_frame = files.write_frame
    monkeypatch.setattr(
        files,
        "write_frame",
        lambda frame, path, *given, **named: write_frame(frame, full(path), *given, **named),
    )
    with (
        pytest.raises(InputError, match=rf"'{name}' cannot be written: the disk is full"),
        declared.together() as writing,
    ):
        writing.data(output, frame)
    assert content(tmp_path) == {}


def full(path):
    path.unlink()
    path.symlink_to("/dev/full")
    return path


LIMITED = """
import resource, sys
import polars as pl
from shoal import InputError, sources

resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
frame = pl.DataFrame({"number": range(20_000)}).with_columns(text=pl.col("number").cast(pl.String).str.slice(0))
try:
    sources.write(frame, sys.argv[1])
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.arrow", "x.xlsx", "x.sav", "x.dta"])
def test_a_limit_on_files_is_said_in_one_line(tmp_path, name):
    command = [sys.executable, "-c", LIMITED, str(tmp_path / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == f"'{name}' cannot be written: it would be larger than a file may be here\n"
    assert done.stderr == ""
    assert content(tmp_path) == {}


@pytest.mark.parametrize(("internal", "mode"), [(True, 0o600), (False, 0o644)])
def test_a_database_made_for_something_internal_is_its_owners_alone(tmp_path, internal, mode):
    before = os.umask(0o022)
    try:
        declared = Outputs()
        output = declared.data("-o", f"sqlite:///{tmp_path}/new.db::pattern", internal=internal)
        with declared.together() as writing:
            writing.data(output, pl.DataFrame({"x": [1]}))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.db").stat().st_mode) == mode


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ("records/*.parquet", "records"),
        ("all/records", "all"),
        ("all/records/part-0.parquet", "all/records"),
        ("all/*/part-0.parquet", "all"),
        ("all", "all/records"),
        ("odd[1]/part-0.parquet", "odd[1]"),
    ],
)
def test_parts_never_take_the_place_of_what_is_read(tmp_path, monkeypatch, given, target) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("records", "all/records", "odd[1]"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "part-0.parquet").write_bytes(b"")
    with pytest.raises(InputError, match=r"one in the other|names the input"):
        Outputs(force=True, inputs=[given]).parts("-o", target)
    assert Outputs(force=True, inputs=[given]).parts("-o", "elsewhere") is not None


def test_parts_replace_nothing_but_parts(tmp_path) -> None:
    release = tmp_path / "safe"
    release.mkdir()
    for name in ("part-00000-1a2b.snappy.parquet", "_SUCCESS", "._SUCCESS.crc"):
        (release / name).write_bytes(b"")
    assert Outputs(force=True).parts("-o", str(release)) is not None
    (release / "thesis.docx").write_bytes(b"")
    with pytest.raises(InputError, match="holds other things than the parts of a release"):
        Outputs(force=True).parts("-o", str(release))


def test_no_table_is_replaced_that_a_view_may_show(tmp_path):
    database = tmp_path / "clinic.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(
            "create table people (id); insert into people values (1); create view seen as select * from people"
        )
    declared = Outputs(force=True, inputs=[f"sqlite:///{database}::seen"])
    with pytest.raises(
        InputError, match="--output names a table that the view 'seen', which is read, may show"
    ):
        declared.data("--output", f"sqlite:///{database}::people")
    declared.data("--output", f"sqlite:///{database}::safe")
    declared.data("--other", f"sqlite:///{tmp_path}/other.db::people")
