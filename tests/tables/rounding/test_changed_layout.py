"""Rounded, adjusted and perturbed tables go out in every form that a suppressed table has, and are read back by their labels."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import shoal as command

import shoal
from shoal.tables.files.layout import Layout, as_frame, crosstabs, read_crosstab
from shoal.tables.model.table import Table

RNG = np.random.default_rng(3)
FIRMS = pl.DataFrame(
    {
        "firm": range(300),
        "region": RNG.choice(["n1", "n2", "s1"], 300),
        "sector": RNG.choice(["a", "b", "c d"], 300),
        "year": RNG.choice(["1", "2"], 300),
        "turnover": RNG.integers(1, 60, 300),
    }
)
TREE = {"n1": "north", "n2": "north", "s1": "", "north": ""}
RUNS = {
    "round": {"--value": "turnover", "--base": "5"},
    "adjust": {"--value": "turnover"},
    "perturb-table": {"--record": "firm"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("layout")
    FIRMS.write_csv(place / "firms.csv")
    (place / "region.hrc").write_text("north\n@n1\n@n2\ns1\n")
    return place


def run(name, folder, *more):
    kept = folder / f"{name}.secret"
    return command(
        name,
        folder / "firms.csv",
        *("--dimensions", "region,sector,year", "--hierarchy", f"region={folder / 'region.hrc'}"),
        *(part for option, value in RUNS[name].items() if option not in more for part in (option, value)),
        *("--secret", kept, "--force", *more),
    )


@pytest.mark.parametrize("name", RUNS)
def test_every_form_has_the_same_figures_as_the_list(name, folder) -> None:
    assert run(name, folder, "-o", folder / "list.csv").code == 0
    listed = pl.read_csv(folder / "list.csv", infer_schema=False)
    wanted = {tuple(row[:3]): float(row[3]) for row in listed.rows()}
    laid = ("--rows", "region,year", "--columns", "sector")
    # What goes out has the name that suppress has for it, too.
    for option, ending in (
        ("--published", "csv"),
        ("-o", "parquet"),
        ("-o", "xlsx"),
        ("-o", "html"),
        ("-o", "sdmx.csv"),
    ):
        # SDMX-CSV has no layout.
        how = () if ending == "sdmx.csv" else laid
        told = run(name, folder, option, folder / f"out.{ending}", *how)
        assert told.code == 0, told.err
    for frame in (
        pl.read_csv(folder / "out.csv", schema_overrides={"year": pl.String}),
        pl.read_parquet(folder / "out.parquet"),
    ):
        assert frame.columns == ["region", "year", "a", "b", "c d", "total"]
        assert all(kind.is_numeric() for kind in frame.dtypes[2:])
        told = {
            (row["region"], sector, row["year"]): float(row[sector])
            for row in frame.iter_rows(named=True)
            for sector in frame.columns[2:]
        }
        assert told == wanted
    sheet = pl.read_excel(folder / "out.xlsx", read_options={"header_row": None})
    assert sheet.height == len(wanted) / 4 + 2
    observed = pl.read_csv(folder / "out.sdmx.csv", infer_schema=False)
    assert {
        tuple("total" if item == "_T" else item for item in row[1:4]): float(row[4])
        for row in observed.rows()
    } == wanted
    assert set(observed["CONF_STATUS"]) == {"F"}


@pytest.mark.parametrize("name", RUNS)
def test_what_cannot_be_laid_out_is_refused(name, folder) -> None:
    nowhere = run(name, folder, "--rows", "region")
    assert nowhere.code == 2 and "lay out a published table" in nowhere.err
    unknown = run(name, folder, "-o", folder / "no.csv", "--rows", "regions")
    assert unknown.code == 2 and "did you mean 'region'" in unknown.err
    assert not (folder / "no.csv").exists()


def test_decimals_never_change_what_was_checked(folder) -> None:
    cut = run("round", folder, "-o", folder / "no.csv", "--base", "2.5", "--decimals", "0")
    assert cut.code == 2 and "have more decimals than --decimals" in cut.err
    more = run("round", folder, "-o", folder / "two.html", "--decimals", "2")
    assert more.code == 0 and "5.00</td>" in (folder / "two.html").read_text()


def test_results_publish_themselves(tmp_path) -> None:
    made = shoal.tabulate(FIRMS, ["region", "sector"], value="turnover", hierarchies={"region": TREE})
    rounded = shoal.round_table(made, 5, seed=1)
    rounded.publish(tmp_path / "rounded.xlsx", rows=["sector"], columns=["region"])
    sheet = pl.read_excel(tmp_path / "rounded.xlsx", read_options={"header_row": 1})
    # Codes of a hierarchy before their parts, the total last.
    assert sheet.columns == ["sector", "north", "n1", "n2", "s1", "total"]
    shoal.adjust_table(made, seed=1).publish(tmp_path / "adjusted.html")
    counts = shoal.perturb_table(FIRMS, ["region", "sector"], record="firm", seed=1)
    counts.publish(tmp_path / "counts.sdmx.csv", dataflow="OFFICE:X(1.0)")
    assert "OFFICE:X(1.0),n1," in (tmp_path / "counts.sdmx.csv").read_text()
    with pytest.raises(shoal.InputError, match="ends in"):
        counts.publish(tmp_path / "counts.csv")


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 4),
    st.integers(2, 4),
    st.lists(st.integers(0, 10**6), min_size=16, max_size=16),
    st.sampled_from([Layout(rows=("row",)), Layout(columns=("row",)), Layout(rows=("row", "column"))]),
)
def test_crosstabs_are_read_back_cell_by_cell(m, n, figures, layout) -> None:
    table = Table.from_matrix(np.array(figures[: m * n], dtype=float).reshape(m, n))
    hidden = np.zeros(table.cells, dtype=bool)
    frame = as_frame(crosstabs(table, {}, layout), hidden, layout, numbers=True)
    assert (read_crosstab(table, layout, frame) == table.values).all()
    # Rows may come in another order, and a row that is missing or there twice is no table.
    assert (read_crosstab(table, layout, frame[::-1]) == table.values).all()
    for other in (frame[1:], pl.concat([frame, frame[:1]]), frame[:, :-1]):
        with pytest.raises(AssertionError):
            read_crosstab(table, layout, other)
