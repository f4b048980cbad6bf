"""Ready-made tables and records in Python: what the commands do with files, the functions do with frames and paths."""

import inspect
import json
import warnings

import pandas as pd
import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal.tables.model.rows_of_cells import UNSEEN as OF_SHARED
from shoal.tables.model.rows_of_cells import WITHOUT_RULE
from shoal.tables.table_arguments import Building

UNSEEN, NO_RULE = str(OF_SHARED.text), str(WITHOUT_RULE.text)

CELLS = pl.DataFrame(
    {
        "ACTIVITY": ["ALL"] * 3 + ["A"] * 3 + ["A1"] * 3 + ["A2"] * 3 + ["B"] * 3,
        "SIZE": ["_T", "s", "l"] * 5,
        "TOT": [170, 80, 90, 110, 45, 65, 50, 20, 30, 60, 25, 35, 60, 35, 25],
        "N": [50, 26, 24, 31, 15, 16, 12, 2, 10, 19, 13, 6, 19, 11, 8],
        "MAX": [20, 9, 20, 20, 9, 20, 12, 9, 12, 20, 4, 20, 10, 8, 10],
    }
)
PARENTS = {"A": "", "A1": "A", "A2": "A", "B": ""}
SAID = {
    "dimensions": ["ACTIVITY", "SIZE"],
    "value": "TOT",
    "contributors_column": "N",
    "largest_columns": ["MAX"],
    "rules": ["frequency(3)", "dominance(1,85)"],
    "hierarchies": {"ACTIVITY": PARENTS},
    "total": ["ACTIVITY=ALL"],
}
OPTIONS = [
    *("--dimensions", "ACTIVITY,SIZE", "--value", "TOT", "--contributors-column", "N"),
    *("--largest-column", "MAX", "--rule", "frequency(3)", "--rule", "dominance(1,85)"),
    *("--total", "ACTIVITY=ALL"),
]


@pytest.fixture
def files(tmp_path):
    CELLS.write_csv(tmp_path / "turnover.csv")
    (tmp_path / "act.hrc").write_text("A\n@A1\n@A2\nB\n")
    return tmp_path


def quietly(function, *given, **said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*given, **said)


def hierarchy_frame() -> pl.DataFrame:
    return pl.DataFrame({"code": list(PARENTS), "parent": list(PARENTS.values())})


@pytest.mark.parametrize(
    "as_given", [pl.DataFrame, lambda frame: frame.to_pandas(), lambda frame: frame.to_arrow()]
)
def test_a_frame_is_protected_as_the_command_protects_its_file(files, as_given) -> None:
    told = command(
        "suppress",
        files / "turnover.csv",
        *OPTIONS,
        *("--hierarchy", f"ACTIVITY={files / 'act.hrc'}", "--json"),
        *("-o", files / "pattern.csv", "--published", files / "public.csv"),
    )
    assert told.code == 0, told.err
    with pytest.warns(UserWarning, match="contributors shared between its cells were not seen"):
        found = shoal.suppress(as_given(CELLS), **SAID)
    figures = json.loads(told.out)
    assert [figures[name] for name in ("cost", "bound", "primary", "complementary")] == [
        found.cost,
        found.bound,
        1,
        len(found.complementary),
    ]
    assert (
        found.pattern.rows()
        == pl.read_csv(files / "pattern.csv")
        .drop("note", strict=False)
        .select("ACTIVITY", "SIZE", "kind")
        .rows()
    )
    # Totals are called what the frame calls them.
    assert set(found.published()["ACTIVITY"]) == {"ALL", "A", "A1", "A2", "B"}
    assert found.published().rows() == pl.read_csv(files / "public.csv").rows()


def test_a_path_a_frame_and_tabulate_are_one_way(files) -> None:
    wanted = quietly(shoal.suppress, shoal.tabulate(CELLS, **SAID)).pattern.rows()
    for given in (CELLS, str(files / "turnover.csv"), files / "turnover.csv"):
        for tree in (PARENTS, hierarchy_frame(), hierarchy_frame().to_pandas(), files / "act.hrc"):
            said = {**SAID, "hierarchies": {"ACTIVITY": tree}}
            assert quietly(shoal.suppress, given, **said).pattern.rows() == wanted


def test_warnings_name_the_line_that_called() -> None:
    for call in (
        lambda: shoal.suppress(CELLS, **SAID),
        lambda: shoal.audit(CELLS, [("A1", "s")], **SAID),
        lambda: shoal.round_table(CELLS, 5, seed=1, **SAID),
        lambda: shoal.adjust_table(CELLS, seed=1, **SAID),
    ):
        with pytest.warns(UserWarning, match=UNSEEN) as told:
            call()
        assert told[0].filename == __file__


def test_costs_of_cells_that_were_built() -> None:
    unity = quietly(shoal.suppress, CELLS, cost="unity", **SAID)
    assert unity.cost == unity.complementary.size
    column = quietly(shoal.suppress, CELLS.with_columns(pl.lit(3).alias("price")), cost="price", **SAID)
    assert column.cost == 3 * column.complementary.size
    listed = pd.DataFrame({"ACTIVITY": ["A2"], "SIZE": ["s"], "cost": [1000.0]})
    dear = quietly(shoal.suppress, CELLS, cost=listed, **SAID)
    assert ("A2", "s", "complementary") not in dear.pattern.rows()


def test_all_that_changes_or_audits_tables_takes_them() -> None:
    found = quietly(shoal.suppress, CELLS, **SAID)
    assert quietly(shoal.audit, CELLS, found.pattern, **SAID).safe
    assert not quietly(shoal.audit, CELLS, [("A1", "s")], **SAID).safe
    rounded = quietly(shoal.round_table, CELLS.to_pandas(), 5, seed=1, **SAID)
    assert rounded.audit.safe and set(rounded.published["SIZE"]) == {"_T", "s", "l"}
    assert quietly(shoal.adjust_table, CELLS, seed=1, **SAID).audit.safe


def test_the_pattern_may_be_in_the_states_of_the_table() -> None:
    found = quietly(shoal.suppress, CELLS, **SAID)
    kinds = {(row[0], row[1]): "u" if row[2] == "primary" else "m" for row in found.pattern.rows()}
    states = [kinds.get((row[0], row[1]), "s") for row in CELLS.rows()]
    said = {**SAID, "status_column": "state", "rules": None}
    marked = CELLS.with_columns(pl.Series("state", states))
    assert quietly(shoal.audit, marked, **said).complementary.tolist() == found.complementary.tolist()
    with pytest.raises(shoal.InputError, match="name the pattern"):
        quietly(shoal.audit, CELLS, **SAID)


def test_records_need_no_call_of_tabulate() -> None:
    firms = pl.DataFrame({"r": [*"nnsssn"], "s": [*"abbaba"], "v": [90.0, 40, 30, 20, 10, 5]})
    one = shoal.suppress(firms, dimensions=["r", "s"], value="v", rules="frequency(2)")
    two = shoal.suppress(shoal.tabulate(firms, ["r", "s"], value="v", rules="frequency(2)"))
    assert one.pattern.rows() == two.pattern.rows()


WRONG = CELLS.with_columns(pl.when(pl.int_range(pl.len()) == 4).then(46).otherwise("TOT").alias("TOT"))


@pytest.mark.parametrize(
    ("given", "said", "words"),
    [
        (WRONG, SAID, "the cell ACTIVITY 'A', SIZE 's' is likely wrong"),
        (WRONG, SAID, "tolerance="),
        (CELLS, {**SAID, "hierarchies": {}}, "name its hierarchies="),
        (CELLS, {**SAID, "hierarchies": {"ACTIVITY": 3}}, "a frame or the path of a file, not int"),
        (CELLS, {"value": "TOT"}, "name their dimensions="),
        (shoal.tabulate(CELLS, **SAID), {"dimensions": ["SIZE"]}, "not Tabulation"),
        (CELLS, {**SAID, "contributors_column": None, "largest_columns": (), "rules": None}, NO_RULE),
        (CELLS, {**SAID, "dimensions": ["ACTIVITY", "SIZ"]}, "did you mean 'SIZE'"),
    ],
)
def test_what_is_wrong_is_said_by_cells_and_parameters(given, said, words) -> None:
    with pytest.raises(shoal.InputError) as refused:
        quietly(shoal.suppress, given, **said)
    assert words in str(refused.value) and "46" not in str(refused.value)


def test_a_keyword_that_nobody_knows_is_told_with_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"argument 'rule'\. Did you mean 'rules'"):
        shoal.suppress(CELLS, dimensions=["ACTIVITY"], rule="frequency(3)")
    with pytest.raises(shoal.InputError, match="largest_columns= must be a list of names, not int"):
        shoal.suppress(CELLS, dimensions=["ACTIVITY"], largest_columns=3)


def test_the_report_names_how_rows_became_a_table() -> None:
    told = str(quietly(shoal.suppress, CELLS, **SAID).report().html())
    assert "contributors_column" in told


def test_whatever_tabulate_takes_is_taken() -> None:
    shared = {"frame", "zeros", "rounding", "tolerance", "cost"}
    assert set(Building.__annotations__) == set(inspect.signature(shoal.tabulate).parameters) - shared


def test_files_of_argus_are_read_by_their_metadata(files) -> None:
    told = command(
        "suppress",
        files / "turnover.csv",
        *OPTIONS,
        *("--hierarchy", f"ACTIVITY={files / 'act.hrc'}", "--argus", files / "argus"),
    )
    assert told.code == 0, told.err
    table, metadata = (next((files / "argus").glob(name)) for name in ("*.tab", "*.rda"))
    apart = files / "rows.txt"
    apart.write_bytes(table.read_bytes())
    rules = ["frequency(3)"]
    wanted = json.loads(command("suppress", table, "--rule", *rules, "--json").out)
    for given, more in ((table, {}), (str(apart), {"metadata": metadata})):
        made = shoal.tabulate(given, **more)
        assert made.table.dimensions == ("ACTIVITY", "SIZE") and made.trees["ACTIVITY"].depth == 2
        found = quietly(shoal.suppress, given, rules=rules, **more)
        assert (found.cost, len(found.complementary)) == (wanted["cost"], wanted["complementary"])
        assert quietly(shoal.audit, given, found.pattern, rules=rules, **more).safe
        assert quietly(shoal.round_table, given, 5, seed=1, **more).audit.safe
    # What is said comes before what they say.
    with pytest.raises(shoal.InputError, match="total= of 'SIZE' is in no row"):
        shoal.tabulate(table, total={"SIZE": "everything"})
    for given, more, words in (
        (apart, {"metadata": files / "none.rda"}, "is not there"),
        (CELLS, {"metadata": metadata}, "give its path, not its rows"),
        (files / "none.tab", {}, "is not there"),
    ):
        with pytest.raises(shoal.InputError, match=words):
            quietly(shoal.suppress, given, **more)
    lonely = files / "lonely.asc"
    lonely.write_text("1 2 3\n")
    with pytest.raises(shoal.InputError, match="name them with metadata="):
        shoal.tabulate(lonely, ["a"])


def test_totals_that_cannot_be_are_told() -> None:
    odd = CELLS.with_columns(pl.when(pl.int_range(pl.len()) == 0).then(3).otherwise("MAX").alias("MAX"))
    notes = shoal.tabulate(odd, **SAID).notes
    assert len(notes) == 1 and "1 total has fewer contributors than one of the parts" in notes[0]
    assert "ACTIVITY 'ALL', SIZE '_T'" in notes[0]
    few = CELLS.with_columns(pl.when(pl.int_range(pl.len()) < 2).then(10).otherwise("N").alias("N"))
    assert "2 totals have fewer contributors" in shoal.tabulate(few, **SAID).notes[0]
    assert shoal.tabulate(CELLS, **SAID).notes == ()


def test_records_that_look_like_cells_are_told() -> None:
    cells = pl.DataFrame({"r": [*"nnss"], "s": [*"abab"], "v": [90.0, 40, 30, 20]})
    assert "every record is alone in its cell" in shoal.tabulate(cells, ["r", "s"], value="v").notes[0]
    named = cells.with_columns(firm=pl.Series([*"abcd"]))
    assert shoal.tabulate(named, ["r", "s"], value="v", contributor="firm").notes == ()
    assert shoal.tabulate(pl.concat([cells, cells]), ["r", "s"], value="v").notes == ()


def test_costs_of_single_cells_are_in_a_file(files) -> None:
    (files / "costs.csv").write_text("ACTIVITY,SIZE,cost\nA2,s,1000\n")
    base = [
        "suppress",
        files / "turnover.csv",
        *OPTIONS,
        "--hierarchy",
        f"ACTIVITY={files / 'act.hrc'}",
        "--force",
    ]
    plain, dear = files / "plain.csv", files / "dear.csv"
    assert command(*base, "-o", plain).code == 0
    told = command(*base, "-o", dear, "--cost", files / "costs.csv")
    assert told.code == 0, told.err
    hidden = [pl.read_csv(name).select("ACTIVITY", "SIZE").rows() for name in (plain, dear)]
    assert ("A2", "s") in hidden[0] and ("A2", "s") not in hidden[1]
    missing = command(*base, "-o", dear, "--cost", files / "nowhere.csv")
    assert missing.code == 2 and "cost" in missing.err


def test_a_change_since_nothing_is_refused() -> None:
    with pytest.raises(
        shoal.InputError, match=r"change= is how much figures changed .* name that one with beside="
    ):
        quietly(shoal.audit, CELLS, [("A1", "s")], change=0.1, **SAID)


def test_a_verdict_without_any_rule_says_so(files) -> None:
    """Nothing is sensitive then, and nothing unsafe."""
    said = {**SAID, "contributors_column": None, "largest_columns": (), "rules": None}
    with pytest.warns(UserWarning, match=f"{NO_RULE}; that a table is safe"):
        shoal.round_table(CELLS, 5, seed=1, **said)
    for call in (
        lambda: shoal.audit(CELLS, [("A1", "s")], **said),
        lambda: shoal.adjust_table(CELLS, seed=1, **said),
    ):
        with pytest.raises(shoal.InputError, match="sensitive"):
            quietly(call)
    told = command(
        *("round", files / "turnover.csv", "--base", "5", "--dimensions", "ACTIVITY,SIZE", "--value", "TOT"),
        *("--total", "ACTIVITY=ALL", "--hierarchy", f"ACTIVITY={files / 'act.hrc'}", "--seed", "1", "--json"),
    )
    assert told.code == 0 and told.json["sensitive"] == 0
    assert sum(NO_RULE in text for text in told.json["warnings"]) == 1


NARROW = pl.DataFrame(
    {
        "r": ["n", "n", "n", "s", "s", "s", "total", "total", "total"],
        "c": ["a", "b", "total"] * 3,
        "v": [1000, 1, 1001, 1, 25, 26, 1001, 26, 1027],
    }
)
BLOCK = pl.DataFrame(
    {"r": [*"nnss"], "c": [*"abab"], "kind": ["primary", "complementary", "complementary", "complementary"]}
)


def test_where_nothing_tells_what_is_sensitive_the_primary_cells_of_a_pattern_are(tmp_path) -> None:
    found = quietly(shoal.audit, NARROW, BLOCK, dimensions=["r", "c"], value="v")
    # 1000 can be computed to 975 … 1001: above, far less than the ten percent that are asked for.
    assert not found.safe and found.problem.sensitive.size == 1 and found.unsafe.size == 1
    assert quietly(shoal.audit, NARROW, BLOCK, dimensions=["r", "c"], value="v", protection=0.001).safe
    NARROW.write_csv(tmp_path / "cells.csv")
    BLOCK.write_csv(tmp_path / "pattern.csv")
    told = command(
        *("audit", tmp_path / "cells.csv", tmp_path / "pattern.csv", "--dimensions", "r,c"),
        *("--value", "v", "--json"),
    )
    assert told.code == 3 and json.loads(told.out)["sensitive"] == 1
    with pytest.raises(shoal.InputError, match="the pattern marks none as primary"):
        quietly(shoal.audit, NARROW, BLOCK.drop("kind"), dimensions=["r", "c"], value="v")


def test_primary_cells_that_no_rule_calls_sensitive_are_told_of(files) -> None:
    made = quietly(shoal.suppress, CELLS, **SAID).pattern
    fewer = {**SAID, "rules": ["frequency(2)"]}
    with pytest.warns(
        UserWarning, match="1 cell that the pattern calls primary is not sensitive .* sensitive= "
    ):
        found = shoal.audit(CELLS, made, **fewer)
    assert len(found.unasked) == 1
    assert quietly(shoal.audit, CELLS, made, **SAID).unasked == ()
    made.write_csv(files / "pattern.csv")
    told = command(
        *("audit", files / "turnover.csv", files / "pattern.csv", *OPTIONS[:6], "--rule", "frequency(2)"),
        *("--total", "ACTIVITY=ALL", "--hierarchy", f"ACTIVITY={files / 'act.hrc'}"),
    )
    assert told.err.count("calls primary is not sensitive") == 1 and "--sensitive that" in told.err


def test_a_file_of_costs_that_is_not_there_is_told_as_such(files) -> None:
    told = command(
        *("suppress", files / "turnover.csv", *OPTIONS, "--hierarchy", f"ACTIVITY={files / 'act.hrc'}"),
        *("--cost", "nowhere.csv"),
    )
    assert told.code == 2 and "neither a column of the data nor a file that is there" in told.err
    gone = command("suppress", files / "nowhere.tab")
    assert gone.code == 2 and "is not there" in gone.err and "metadata" not in gone.err


CHILDREN_FIRST = "Z\n@a1\n@a2\na\n@b1\n@b2\nb\n"
MEANT = {"Z": "", "a1": "a", "a2": "a", "a": "", "b1": "b", "b2": "b", "b": ""}


def test_data_decide_the_order_of_a_hierarchy_that_allows_both(tmp_path) -> None:
    path = tmp_path / "sector.hrc"
    path.write_text(CHILDREN_FIRST)
    records = pl.DataFrame({"s": ["Z", "a1", "a2", "b1", "b2"] * 2, "r": [*"nnnnnsssss"], "v": range(10, 20)})
    meant = shoal.tabulate(records, ["s", "r"], value="v", hierarchies={"s": MEANT}, rules="frequency(1)")
    read = shoal.tabulate(records, ["s", "r"], value="v", hierarchies={"s": path}, rules="frequency(1)")
    assert read.frame.rows() == meant.frame.rows()
    # The same rows as cells with their totals, of which sums decide.
    cells = meant.frame.select("s", "r", "value")
    said = {"value": "value", "source": "aggregated", "total": "total"}
    ready = shoal.tabulate(cells, ["s", "r"], hierarchies={"s": path}, **said)
    assert ready.table.relations == meant.table.relations
    # Nobody is in Z or b: both orders are possible, and parents are taken to come first.
    few = records.filter(pl.col("s") != "Z")
    assert "Z" in shoal.tabulate(few, ["s", "r"], value="v", hierarchies={"s": path}).trees["s"].codes
    # What fits in neither order is refused with what is wrong with the usual one.
    with pytest.raises(shoal.InputError, match="not in its hierarchy"):
        shoal.tabulate(
            records.with_columns(s=pl.lit("unheard")), ["s", "r"], value="v", hierarchies={"s": path}
        )


def test_the_audit_beside_another_table_has_the_order_that_the_data_decided(tmp_path) -> None:
    path = tmp_path / "s.hrc"
    path.write_text(CHILDREN_FIRST)
    records = pl.DataFrame({"s": ["Z", "a1", "a2", "b1", "b2"] * 2, "r": [*"nnnnnsssss"], "v": range(10, 20)})
    hidden = [("a1", "n"), ("a2", "n"), ("a1", "s"), ("a2", "s")]
    # Beside it stands what is hidden, without the subtotals.
    beside = pl.DataFrame({"s": ["a1"], "r": ["n"], "value": [11]})
    said = {"dimensions": ["s", "r"], "value": "v", "rules": "frequency(1)", "beside": beside}
    read = quietly(shoal.audit, records, hidden, hierarchies={"s": path}, **said)
    meant = quietly(shoal.audit, records, hidden, hierarchies={"s": MEANT}, **said)
    assert read.together[0].discloses
    assert read.together[0].figures["exact"] == meant.together[0].figures["exact"] == 4


def test_a_table_that_nothing_tells_the_sensitive_cells_of_is_not_adjusted() -> None:
    with pytest.raises(shoal.InputError, match=NO_RULE):
        quietly(shoal.adjust_table, NARROW, dimensions=["r", "c"], value="v")
    named = quietly(shoal.adjust_table, NARROW, dimensions=["r", "c"], value="v", sensitive=[("s", "b")])
    assert named.values[named.problem.table.values == 25] != 25


@pytest.mark.parametrize("how", [("round", "--base", "5"), ("adjust",)])
def test_commands_that_change_figures_tell_of_records_set_aside(tmp_path, how) -> None:
    lines = [f"{r},{s},{v}" for r in "nsw" for s in "abc" for v in (31, 42, 53, 64)]
    (tmp_path / "firms.csv").write_text("r,s,v\n" + "\n".join([*lines, "n,,7"]) + "\n")
    given = (
        *(how[0], tmp_path / "firms.csv", *how[1:], "--dimensions", "r,s", "--value", "v"),
        *("--rule", "frequency(2)", "--missing", "aside", "-o", tmp_path / "out.csv"),
    )
    told = command(*given)
    assert told.code == 0 and "note: 1 record with missing values was set aside" in told.err
    again = command(*given, "--force", "--json")
    assert json.loads(again.out)["notes"] == ["1 record with missing values was set aside"]


def test_tabulate_tells_what_is_worth_knowing_of_the_table(tmp_path) -> None:
    NARROW.write_csv(tmp_path / "cells.csv")
    (tmp_path / "firms.csv").write_text("r,s,v\nn,a,7\nn,b,8\ns,a,9\nn,,7\n")
    made = ("-o", tmp_path / "out.csv", "--force", "--value", "v")
    told = command("tabulate", tmp_path / "cells.csv", "--dimensions", "r,c", *made)
    assert told.code == 0 and told.err.count(NO_RULE) == 1
    # The list of cells remembers it, so that it looks no safer than the table it was made from.
    for step in ("suppress", "adjust"):
        refused = command(step, tmp_path / "out.csv", "-o", tmp_path / "done.csv")
        assert refused.code == 2 and f"shoal: {NO_RULE}; name" in refused.err, step
    aside = command(
        "tabulate", tmp_path / "firms.csv", "--dimensions", "r,s", "--missing", "aside", *made, "--json"
    )
    assert json.loads(aside.out)["notes"] == ["1 record with missing values was set aside"]
