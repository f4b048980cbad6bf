"""Releases are checked by their files: what is right passes at every depth, and planted faults are found."""

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.running import shoal as command
from tests.release.firms import TURNOVER, firms, turnover
from tests.release.plans import SURVEY, people, survey

import shoal
from shoal.release.verify.public import counted_k
from shoal.tables.public_table import PublicTable

KEPT = SURVEY.replace(
    '"survey.csv" = "microaggregate"', '"survey.csv" = "microaggregate"\n"keys.csv" = "recode"'
)
TREE = "code,parent\nnorth,upper\nsouth,lower\neast,upper\nwest,lower\nupper,\nlower,\n"
BY_PART = TURNOVER.replace('value = "turnover"', 'value = "turnover"\nhierarchy = {region = "regions.csv"}')


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three releases beside their data: records, a flat table, a table with subtotals as a workbook too."""
    place = tmp_path_factory.mktemp("made")
    for name in ("survey", "flat", "parts"):
        (place / name).mkdir()
    shoal.release(survey(place / "survey", KEPT), place / "survey" / "out")
    shoal.release(turnover(place / "flat"), place / "flat" / "out")
    (place / "parts" / "regions.csv").write_text(TREE)
    text = BY_PART.replace(
        '"turnover.csv" = "suppress"', '"turnover.csv" = "suppress"\n"book.xlsx" = "suppress"'
    )
    shoal.release(turnover(place / "parts", text), place / "parts" / "out")
    return place


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copied"))


def names(found: "shoal.release.verify.api.Verification") -> set[str]:
    return {check.name for check in found.checks if check.passed is False} | {
        f"gate {gate.name}" for gate in found.gates if not gate.passed
    }


def rehash(release: Path, file: str, *, inside: bool = True) -> None:
    """Let the manifests say that a changed file is the right one."""
    from shoal.release.fingerprints import file_digest

    for part in ("public", "internal") if inside else ("public",):
        place = release / part / "manifest.json"
        content = json.loads(place.read_text())
        for item in content["outputs"]:
            if item["file"] == file:
                item["sha256"] = file_digest(release / "public" / file)
        place.write_text(json.dumps(content, indent=1))


def changed(
    release: Path, file: str, change: "Callable[[pl.DataFrame], pl.DataFrame]", *, inside: bool = True
):
    place = release / "public" / file
    change(pl.read_csv(place)).write_csv(place)
    rehash(release, file, inside=inside)


@pytest.mark.parametrize("name", ["survey", "flat", "parts"])
def test_what_is_right_passes_at_every_depth(made: Path, tmp_path: Path, name: str):
    here = made / name
    plan = here / ("plan.toml" if name == "survey" else "turnover.toml")
    shutil.copytree(here / "out" / "public", tmp_path / "public")
    for found in (
        shoal.verify_release(tmp_path / "public"),
        shoal.verify_release(here / "out"),
        shoal.verify_release(here / "out", originals=here),
        shoal.verify_release(here / "out", originals=plan),
    ):
        assert found.verified, found.failures
    gates = {(gate.step, gate.name) for gate in found.gates}
    wanted = {
        "survey": {
            ("recode", "k"),
            ("recode", "loss"),
            ("microaggregate", "k"),
            ("microaggregate", "reidentifications"),
        }
    }
    assert gates == wanted.get(name, {("suppress", "safe")})
    losses = [check for check in found.checks if check.name == "loss"]
    assert [check.passed for check in losses] == ([True, True] if name == "survey" else [])


MATRIX = """\
[release]
name = "t"
[sources.table]
data = "table.csv"
[sources.cells]
data = "cells.csv"
[[steps]]
do = "suppress"
sensitive_data = "cells"
[gates.suppress]
safe = true
[outputs]
"t.csv" = "suppress"
"""
COUNTS = TURNOVER.replace('value = "turnover"\n', "").replace('"p-percent(10)"', '"frequency(2)"')
DROPPED = TURNOVER.replace("[[steps]]", '[[steps]]\ndo = "drop"\ncolumns = ["note"]\n[[steps]]', 1)
SECOND = """\
[[steps]]
name = "sizes"
do = "tabulate"
data = "firms"
dimensions = ["region", "size"]
value = "turnover"
contributor = "firm"

[[steps]]
do = "suppress"
data = "tabulate"
linked_tables = ["sizes"]
"""
LINKED = TURNOVER.replace('[[steps]]\ndo = "suppress"\n', SECOND)


@pytest.mark.parametrize(
    "text", [MATRIX, COUNTS, DROPPED, LINKED], ids=["matrix", "counts", "dropped", "linked"]
)
def test_other_tables(tmp_path: Path, text: str):
    sizes = pl.Series("size", ["small", "medium", "large", "small", "medium"] * 14)
    frame = firms().with_columns(sizes, note=pl.lit("whatever"))
    frame.write_csv(tmp_path / "firms.csv")
    (tmp_path / "table.csv").write_text("row,a,b,c\nx,10,20,30\ny,40,50,60\nz,70,80,90\n")
    (tmp_path / "cells.csv").write_text("row,column\ny,b\n")
    (tmp_path / "plan.toml").write_text(text)
    done = shoal.release(tmp_path / "plan.toml", tmp_path / "out")
    file = next(item["file"] for item in done.outputs)
    for place in (done.folder / "public", done.folder):
        assert shoal.verify_release(place).verified
    found = shoal.verify_release(done.folder, originals=tmp_path)
    assert found.verified and [gate.name for gate in found.gates] == ["safe"]
    assert not shoal.diff_releases(done.folder, done.folder).discloses
    # A cell that is gone is missed, even where tables are linked.
    changed(done.folder, file, lambda frame: frame.head(-1))
    assert "additivity" in names(shoal.verify_release(done.folder / "public"))


@pytest.mark.parametrize("missing", ["aside", "category"])
@pytest.mark.parametrize("column", ["region", "firm", "turnover"])
def test_tables_of_records_with_gaps(tmp_path: Path, missing: str, column: str):
    gaps = pl.when(pl.int_range(pl.len()) % 9 > 0).then(column)
    firms().with_columns(gaps.alias(column)).write_csv(tmp_path / "firms.csv")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        TURNOVER.replace('value = "turnover"', f'value = "turnover"\nmissing = "{missing}"').replace(
            '"p-percent(10)"', '"frequency(2)"'
        )
    )
    done = shoal.release(plan, tmp_path / "out")
    found = shoal.verify_release(done.folder, originals=tmp_path)
    assert found.verified and ("table", True) in {(check.name, check.passed) for check in found.checks}


def test_what_public_alone_can_tell(made: Path):
    found = shoal.verify_release(made / "survey" / "out" / "public")
    seen = {(check.name, check.passed) for check in found.checks if check.name.startswith("k")}
    assert seen == {("k", True), ("k, guessed", None)}
    parts = shoal.verify_release(made / "parts" / "out" / "public")
    details = [check.detail for check in parts.checks if check.name == "additivity"]
    assert len(details) == 2 and all("those of region were not" in text for text in details)


def test_a_changed_byte(copied: Path):
    place = copied / "survey" / "out" / "public" / "survey.csv"
    content = bytearray(place.read_bytes())
    content[-2] ^= 1
    place.write_bytes(bytes(content))
    assert "hash" in names(shoal.verify_release(copied / "survey" / "out" / "public"))


def test_a_manifest_that_was_edited_with_the_right_hash(copied: Path):
    release = copied / "survey" / "out"
    changed(release, "survey.csv", lambda frame: frame.with_columns(pay=pl.col("pay") + 1), inside=False)
    assert shoal.verify_release(release / "public").verified  # nobody outside could tell
    assert names(shoal.verify_release(release)) == {"agreement"}
    rehash(release, "survey.csv")
    assert shoal.verify_release(release).verified
    assert "loss" in names(shoal.verify_release(release, originals=copied / "survey"))


def test_a_record_less(copied: Path):
    release = copied / "survey" / "out"
    changed(release, "survey.csv", lambda frame: frame.head(-1))
    assert "record links" in names(shoal.verify_release(release))
    found = shoal.verify_release(release, originals=copied / "survey")
    assert {"record links", "records"} <= names(found)


def test_two_values_that_changed_places(copied: Path):
    release = copied / "survey" / "out"

    def swap(frame: pl.DataFrame) -> pl.DataFrame:
        values = frame["pay"].to_list()
        low, high = int(np.argmin(values)), int(np.argmax(values))
        values[low], values[high] = values[high], values[low]
        return frame.with_columns(pl.Series("pay", values))

    for file, wrong in (("keys.csv", "records"), ("survey.csv", "loss")):
        changed(release, file, swap)
        assert shoal.verify_release(release).verified
        assert wrong in names(shoal.verify_release(release, originals=copied / "survey"))


def test_k_below_what_is_guaranteed(copied: Path):
    release = copied / "survey" / "out"

    def alone(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(
            sex=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("x")).otherwise(pl.col("sex"))
        )

    changed(release, "survey.csv", alone)
    assert "k" in names(shoal.verify_release(release / "public"))
    found = shoal.verify_release(release)
    assert {"k", "gate k", "stated figures"} <= names(found)
    assert any("is 1" in line for line in found.failures)


@pytest.mark.parametrize("name", ["flat", "parts"])
def test_a_total_that_is_off_by_one(copied: Path, name: str):
    release = copied / name / "out"

    def off(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(
            value=pl.when(pl.int_range(pl.len()) == 0).then(pl.col("value") + 1).otherwise(pl.col("value"))
        )

    changed(release, "turnover.csv", off)
    assert "additivity" in names(shoal.verify_release(release / "public"))
    assert {"additivity", "cells"} <= names(shoal.verify_release(release))


@pytest.mark.parametrize("name", ["flat", "parts"])
def test_a_sensitive_cell_that_is_shown_or_too_narrow(copied: Path, name: str):
    release = copied / name / "out"
    cells = pl.read_csv(next(release.glob("internal/steps/01-*/cells.csv")))
    pattern = pl.read_csv(next(release.glob("internal/steps/02-*/pattern.csv")))
    keys = ["region", "sector"]

    def shown(kind: str) -> "Callable[[pl.DataFrame], pl.DataFrame]":
        some = pattern.filter(pl.col("kind") == kind).select(keys)
        known = some.join(cells.select(*keys, pl.col("value").alias("true")), on=keys)
        return lambda frame: (
            frame.join(known, on=keys, how="left", maintain_order="left")
            .with_columns(value=pl.coalesce("value", "true"))
            .drop("true")
        )

    changed(release, "turnover.csv", shown("complementary"))
    assert {"levels", "widths", "gate safe"} <= names(shoal.verify_release(release))
    changed(release, "turnover.csv", shown("primary"))
    assert {"levels", "gate safe"} <= names(shoal.verify_release(release))


def test_a_leaked_secret_and_a_leaked_fingerprint(copied: Path):
    release = copied / "parts" / "out"
    inside = json.loads((release / "internal" / "manifest.json").read_text())
    secret = (release / "internal" / "secret.txt").read_text().split()[2]
    place = release / "public" / "manifest.json"
    clean = place.read_text()
    for leak in (secret.upper(), inside["inputs"]["firms"]["fingerprint"]):
        place.write_text(clean.replace('"type"', f'"hint": "{leak}",\n "type"'))
        assert names(shoal.verify_release(release)) == {"secrets"}
    place.write_text(clean)
    # Packed in a workbook it is one all the same.
    frame = pl.DataFrame({"row": ["a", "total"], "x": [secret, "1"], "total": ["1", "1"]})
    shoal_write(frame, release / "public" / "book.xlsx")
    rehash(release, "book.xlsx")
    assert "secrets" in names(shoal.verify_release(release))


def shoal_write(frame: pl.DataFrame, place: Path) -> None:
    from shoal import sources

    sources.write(frame, place, force=True)


def test_a_file_too_many_and_one_too_few(copied: Path):
    public = copied / "survey" / "out" / "public"
    (public / "notes.txt").write_text("by the way")
    (public / "matrices.json").unlink()
    found = shoal.verify_release(public)
    assert sorted(check.detail for check in found.checks if check.passed is False) == [
        "'matrices.json' is not there",
        "'notes.txt' is in no manifest",
    ]


def test_links_and_what_is_packed_besides(copied: Path):
    public = copied / "parts" / "out" / "public"
    with zipfile.ZipFile(public / "book.xlsx", "a") as packed:
        packed.writestr("xl/people.csv", "name\n")
    rehash(public.parent, "book.xlsx")
    found = shoal.verify_release(public)
    assert found.failures == ("files: 'xl/people.csv' is packed in 'book.xlsx' besides its sheet",)
    (copied / "elsewhere.csv").write_bytes((public / "turnover.csv").read_bytes())
    (public / "turnover.csv").unlink()
    (public / "turnover.csv").symlink_to(copied / "elsewhere.csv")
    assert any("'turnover.csv' is a link" in text for text in shoal.verify_release(public).failures)


def test_modes_and_settings(copied: Path):
    release = copied / "survey" / "out"
    (release / "internal" / "secret.txt").chmod(0o644)
    assert names(shoal.verify_release(release)) == {"modes"}
    (release / "internal" / "secret.txt").chmod(0o600)
    plan = release / "internal" / "plan.toml"
    plan.write_text(plan.read_text().replace("change = 0.2", "change = 0.1"))
    assert names(shoal.verify_release(release)) == {"agreement", "kept files"}


def edited(place: Path, change: "Callable[[dict], object]") -> None:
    content = json.loads(place.read_text())
    change(content)
    place.write_text(json.dumps(content, indent=1))


def of_records(content: dict) -> dict:
    return next(item for item in content["outputs"] if item["file"] == "survey.csv")


@pytest.mark.parametrize(
    "change",
    [
        lambda content: of_records(content).update(k=2),
        lambda content: of_records(content).update(quasi=["sex"]),
        lambda content: of_records(content).pop("quasi"),
        lambda content: of_records(content).update(kind="other"),
    ],
    ids=["k", "fewer keys", "no keys", "kind"],
)
def test_both_manifests_say_less_than_the_plan(copied: Path, change: "Callable[[dict], object]"):
    release = copied / "survey" / "out"
    for part in ("public", "internal"):
        edited(release / part / "manifest.json", change)
    found = shoal.verify_release(release)
    assert any("the kinds of the files are not the same" in line for line in found.failures)


@pytest.mark.parametrize(
    ("part", "failing"),
    [
        ("inputs", {"agreement", "internal files"}),
        ("files", {"inputs"}),
        ("reports", {"reports"}),
        ("kept", {"kept files"}),
    ],
)
def test_a_manifest_that_says_nothing_does_not_pass_for_one_that_says_the_right(
    copied: Path, part: str, failing: set[str]
):
    """What was to be held against the originals, or against what is kept, is left out of the internal manifest."""
    release = copied / "parts" / "out"
    edited(release / "internal" / "manifest.json", lambda content: content[part].clear())
    assert names(shoal.verify_release(release, originals=copied / "parts")) == failing
    if part in ("reports", "kept"):
        edited(release / "internal" / "manifest.json", lambda content: content.pop(part))
        assert names(shoal.verify_release(release, originals=copied / "parts")) == failing


def test_a_limit_that_was_lowered_later(copied: Path):
    release = copied / "survey" / "out"
    edited(release / "internal" / "manifest.json", lambda content: content["gates"][1].update(limit=1))
    assert names(shoal.verify_release(release)) == {"agreement"}


def test_what_every_internal_part_has(copied: Path):
    release = copied / "survey" / "out"
    (release / "internal" / "secret.txt").unlink()
    assert names(shoal.verify_release(release)) == {"internal files"}
    shutil.rmtree(copied / "flat" / "out" / "internal" / "records")
    assert names(shoal.verify_release(copied / "flat" / "out")) == {"internal files"}


def test_a_column_that_came_from_nowhere(copied: Path):
    release = copied / "survey" / "out"
    changed(release, "survey.csv", lambda frame: frame.with_row_index("number"))
    found = shoal.verify_release(release, originals=copied / "survey")
    assert "records: column 'number' of 'survey.csv' is not one of the source" in found.failures


def test_one_more_cell_is_hidden(copied: Path):
    release = copied / "flat" / "out"

    def hide(frame: pl.DataFrame) -> pl.DataFrame:
        first = next(number for number, value in enumerate(frame["value"].to_list()) if value is not None)
        kept = pl.when(pl.int_range(pl.len()) == first).then(None).otherwise("value")
        return frame.with_columns(value=kept)

    changed(release, "turnover.csv", hide)
    assert "pattern" in names(shoal.verify_release(release))


def test_a_sensitive_cell_that_was_said_to_be_safe(copied: Path):
    """It is shown, and the internal list of cells says that it may be: the records tell otherwise."""
    release = copied / "flat" / "out"
    place = next(release.glob("internal/steps/01-*/cells.csv"))
    cells = pl.read_csv(place, infer_schema=False)
    assert "u" in set(cells["status"])
    cells.with_columns(status=pl.lit("s")).write_csv(place)
    found = shoal.verify_release(release, originals=copied / "flat")
    assert "rules" in names(found)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("public/manifest.json", '"survey.csv"', '"../people.csv"'),
        ("public/manifest.json", '"outputs"', '"files"'),
        ("internal/manifest.json", '"limit"', '"least"'),
        ("internal/manifest.json", '"fingerprint"', '"print"'),
        ("internal/manifest.json", "{", "["),
        ("internal/plan.toml", "[outputs]", "[output]"),
    ],
)
def test_a_damaged_release_is_bad_input(copied: Path, file: str, old: str, new: str):
    release = copied / "survey" / "out"
    place = release / file
    place.write_text(place.read_text().replace(old, new))
    with pytest.raises(shoal.InputError):
        shoal.verify_release(release)


def test_links_that_are_gone_are_bad_input(copied: Path):
    release = copied / "survey" / "out"
    next(release.glob("internal/steps/02-*/links.npy")).write_bytes(b"nothing")
    with pytest.raises(shoal.InputError, match="links of step 'recode' cannot be read"):
        shoal.verify_release(release)


def test_other_originals(copied: Path):
    people(seed=1).write_csv(copied / "survey" / "people.csv")
    found = shoal.verify_release(copied / "survey" / "out", originals=copied / "survey")
    assert {"inputs", "loss"} <= names(found)
    firms(seed=1).write_csv(copied / "flat" / "firms.csv")
    assert {"inputs", "table"} <= names(
        shoal.verify_release(copied / "flat" / "out", originals=copied / "flat")
    )


def test_a_relative_folder(copied: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(copied / "flat")
    assert shoal.verify_release("out", originals="turnover.toml").verified
    monkeypatch.chdir(copied / "flat" / "out")
    assert shoal.verify_release(".", originals="..").verified


def test_the_command(copied: Path):
    release = copied / "flat" / "out"
    good = command("verify", release, "--originals", copied / "flat" / "turnover.toml", "--json")
    assert good.code == 0 and good.json["verified"] is True
    assert {"name", "passed", "detail"} == set(good.json["checks"][0])
    assert good.json["gates"][0]["name"] == "safe"
    (release / "public" / "more.csv").write_text("a\n1\n")
    bad = command("verify", release)
    assert bad.code == 3 and "not verified: files: 'more.csv' is in no manifest" in bad.err
    assert command("verify", copied).code == 2
    alone = command("verify", release / "public", "--originals", copied)
    assert alone.code == 2 and "no internal part" in alone.err


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.integers(0, 3)), min_size=1, max_size=12
    )
)
def test_k_by_hand(rows: list[tuple[str, str, int]]):
    frame = pl.DataFrame(rows, schema=["a", "b", "who"], orient="row")
    people_of: dict[tuple[str, str], set[int]] = {}
    for a, b, who in rows:
        people_of.setdefault((a, b), set()).add(who)
    assert counted_k(frame, ["a", "b"], "who") == min(len(item) for item in people_of.values())
    assert counted_k(frame, ["a", "b"]) == min(frame.group_by("a", "b").len()["len"])


@given(st.data())
def test_intervals_are_those_of_the_audit(data: st.DataObject):
    """Of a small matrix with some cells hidden, against the audit that tables have."""
    body = np.array(
        data.draw(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3))
    )
    places = [(str(row), str(column)) for row in range(1, 4) for column in range(1, 4)]
    hidden = data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=6, unique=True))
    whole = np.pad(body, ((0, 1), (0, 1)))
    whole[3, :3], whole[:3, 3], whole[3, 3] = body.sum(0), body.sum(1), body.sum()
    names = [*"123", "total"]
    columns = {
        name: [None if (row, name) in hidden else int(whole[i, j]) for i, row in enumerate(names)]
        for j, name in enumerate(names)
    }
    found = PublicTable.of(pl.DataFrame({"row": names, **columns})).intervals()
    audit = shoal.audit(body, hidden, sensitive=hidden[:1])
    assert found is not None
    for cell, low, high in zip(audit.cells, audit.low, audit.high, strict=True):
        key = tuple(audit.problem.table.key(int(cell)).values())
        assert np.allclose(found[key], (low, high), atol=1e-5)
