"""No message shows a value: every command, right and wrong, on data in which every value is a marker."""

import io
import itertools
import json
import logging
import sqlite3
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests import markers

import shoal
from shoal.cli.main import main
from shoal.errors import ShoalError

TABLE = """region,a,b,c
zqRowOne,918273645,918281564,918289483
zqRowTwo,918297402,918305321,918313240
zqRowThree,918321159,918329078,918336997
"""


class Terminal(io.StringIO):
    """Standard error as people see it, with the bars of progress."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("markers")
    people = markers.people()
    people.write_csv(place / "people.csv")
    people.write_parquet(place / "people.parquet")
    people.write_excel(place / "people.xlsx")
    people.head(7).write_csv(place / "few.csv")
    people.sort("income").with_columns(pl.col("income") + 1).write_csv(place / "other.csv")
    people.with_columns(income=pl.concat_str(pl.lit("zqN"), "income")).write_csv(place / "texts.csv")
    late = [str(n) for n in people["income"]]
    late[33] = "zqLate"
    people.with_columns(income=pl.Series(late)).write_csv(place / "late.csv")
    gaps = people.with_columns(
        income=pl.when(pl.col("income").rank() > 5).then("income"),
        city=pl.when(pl.int_range(pl.len()) != 9).then("city"),
    )
    gaps.write_csv(place / "gaps.csv")
    people.with_columns(
        rent=pl.when(pl.col("rent").rank() > 2).then("rent").otherwise(float("inf"))
    ).write_parquet(place / "infinite.parquet")
    people.with_columns(rent=-pl.col("rent")).write_csv(place / "negative.csv")
    people.with_columns(several=pl.concat_list("city", "school")).write_parquet(place / "lists.parquet")
    people.with_columns(born=pl.col("born").dt.strftime("%d/%m/%Y")).write_csv(place / "dates.csv")
    plain = (place / "people.csv").read_text()
    (place / "ragged.csv").write_text(plain.replace("zqPerson011,", "zqPerson011,zqExtra,"))
    (place / "quotes.csv").write_text(plain.replace("zqPerson011,", 'zq"Person011,'))
    (place / "nul.csv").write_text(plain.replace("zqPerson011,", "zqPer\0son011,"))
    (place / "latin.csv").write_bytes(plain.replace("zqPerson011", "zqPersoñ011").encode("latin-1"))
    (place / "bytes.csv").write_bytes(plain.encode().replace(b"zqPerson011", b"zqPerson\x81\xff"))
    (place / "damaged.parquet").write_bytes(
        (place / "people.parquet").read_bytes()[:400] + b"zqMarker918273645"
    )
    (place / "damaged.xlsx").write_bytes(b"PK\3\4zqMarker918273645" * 9)
    (place / "bare.csv").write_text("\n".join(str(markers.number(n)) for n in range(9)))
    with sqlite3.connect(place / "people.db") as base:
        base.execute(
            "CREATE TABLE people (person TEXT PRIMARY KEY, income REAL, rent REAL, city TEXT, school TEXT)"
        )
        rows = people.select("person", "income", "rent", "city", "school").rows()
        base.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
        base.execute("CREATE TABLE mixed (person TEXT, income)")
        base.executemany(
            "INSERT INTO mixed VALUES (?, ?)", [("zqPerson001", 918273645), ("zqPerson002", "zqText")]
        )
        base.execute("CREATE TABLE narrow (person TEXT CHECK (person = ''), income REAL)")
    base.close()
    _tables(place)
    _appointments(place)
    return place


def _tables(place: Path) -> None:
    files = {
        "table.csv": TABLE,
        "gap.csv": TABLE.replace("918305321", ""),
        "twice.csv": TABLE.replace("zqRowTwo", "zqRowOne"),
        "text.csv": TABLE.replace("918305321", "zqText"),
        "minus.csv": TABLE.replace("918305321", "-918305321"),
        "sum.csv": TABLE + "total,918273645,918281564,918289483\n",
        "one.csv": "region,a,b\nzqRowOne,918273645,918281564\n",
        "span.csv": "region,a,b\nzqRowOne,918273645,0.000001\nzqRowTwo,918281564,918289483\n",
        "zeros.csv": "region,a,b,c\nzqRowOne,918273645,0,0\nzqRowTwo,0,918281564,8\nzqRowThree,0,9,918289483\n",
        "cells.csv": "row,column\nzqRowTwo,b\n",
        "first.csv": "row,column\nzqRowOne,a\n",
        "nowhere.csv": "row,column\nzqRowTwo,b\nzqRowNone,b\n",
        "again.csv": "row,column\nzqRowTwo,b\nzqRowTwo,b\n",
        "levels.csv": "row,column,lower,upper\nzqRowTwo,b,zqText,1\n",
        "below.csv": "row,column,lower,upper\nzqRowTwo,b,-918273645,1\n",
        "status.csv": "row,column,status\nzqRowTwo,b,zqStatus\n",
        "pattern.csv": "row,column,kind\nzqRowTwo,b,primary\nzqRowOne,a,complementary\n",
        "safe.csv": "row,column,kind\nzqRowTwo,b,primary\nzqRowOne,b,complementary\nzqRowOne,a,complementary\n"
        "zqRowTwo,a,complementary\n",
        "pattern2.csv": "row,column,kind\nzqRowTwo,b,primary\nzqRowTwo,b,zqKind\n",
        "pattern3.csv": "row,column,kind\nzqRowTwo,b,primary\nzqRowNone,a,complementary\n",
        "costs.csv": "row,column,cost\nzqRowTwo,b,zqText\n",
        "costs2.csv": "row,column,cost\nzqRowNone,b,918273645\n",
        "upwards.csv": "code,parent\nzqCityAlpha,zqNorth\nzqCityBeta,zqNorth\nzqCityGamma,zqSouth\n",
        "circle.csv": "code,parent\nzqCityAlpha,zqCityBeta\nzqCityBeta,zqCityAlpha\nzqCityGamma,\nzqCityDelta,\n",
        "subtotal.csv": "code,parent\nzqCityAlpha,zqCityBeta\nzqCityBeta,\nzqCityGamma,\nzqCityDelta,\n",
        "three.csv": "code,parent,zqThree\nzqCityAlpha,,\n",
        "apriori.csv": "city,school,status\nzqCityAlpha,zqSchoolLow,zqStatus\n",
        "apriori2.csv": "city,school,status\nzqCityNone,zqSchoolLow,s\n",
        "apriori3.csv": "city,school,lower\nzqCityAlpha,zqSchoolLow,zqText\n",
        "apriori4.csv": "city,school,cost\nzqCityAlpha,zqSchoolLow,-918273645\n",
        "list.csv": "city,value,status\ntotal,918281564,s\nzqCityAlpha,918273645,s\nzqCityBeta,7919,u\n",
        "list2.csv": "city,value,status\ntotal,918281564,s\nzqCityAlpha,918273645,zqStatus\nzqCityBeta,7919,u\n",
        "list3.csv": "city,value,status\ntotal,918281564,s\nzqCityAlpha,918273645,s\nzqCityAlpha,7919,u\n",
        "list4.csv": "city,value,status\ntotal,918281564,s\nzqCityAlpha,918273645,s\nzqCityBeta,8919,u\n",
        "list5.csv": "city,value,status\ntotal,zqText,s\nzqCityAlpha,918273645,s\nzqCityBeta,8919,u\n",
        "good.jj": "0\n3\n1 918281564 9 s 0 918289483 0 0 0 \n2 918273645 5 u 0 918289483 918273 918273 0 \n"
        "3 7919 3 s 0 918289483 0 0 0 \n1\n0 3 : 1 (-1) 2 (1) 3 (1)\n",
    }
    good = files["good.jj"]
    files |= {
        "sum.jj": good.replace("7919", "8919"),
        "status.jj": good.replace("5 u", "5 zqStatus"),
        "text.jj": good.replace("7919", "zqText"),
        "relation.jj": good.replace("3 (1)", "zqCell (918273645)"),
        "member.jj": good.replace("3 (1)", "918273645 (1)"),
        "bounds.jj": good.replace("918273645 5 u 0 918289483", "918273645 5 u 918281564 918289483"),
        "short.jj": "0\n918273645\n1 zqText\n",
    }
    for name, text in files.items():
        (place / name).write_text(text)
    (place / "structure.csv").write_text(files["list.csv"])
    (place / "structure.structure.json").write_text(
        '{"dimensions": ["city"], "hierarchies": {"city": "zqBroken'
    )


def _appointments(place: Path) -> None:
    begin = "1743-05-17T0{}:00"
    slots = pl.DataFrame(
        {
            "slot": [f"vqSlot{n}" for n in range(8)],
            "capacity": [6] * 8,
            "centre": ["north", "south"] * 4,
            "start": [begin.format(n) for n in range(8)],
            "end": [begin.format(n + 1) for n in range(8)],
        }
    )
    slots.write_csv(place / "slots.csv")
    slots.head(3).write_csv(place / "scarce.csv")
    pl.concat([slots, slots.head(1)]).write_csv(place / "slots2.csv")
    slots.with_columns(capacity=pl.lit("zqMany")).write_csv(place / "slots3.csv")
    slots.with_columns(capacity=pl.lit(-918273645)).write_csv(place / "slots4.csv")
    slots.with_columns(start=pl.lit("zqNoon")).write_csv(place / "slots5.csv")
    slots.with_columns(capacity=pl.lit(918273645.25)).write_csv(place / "slots6.csv")
    people = markers.people()
    pinned = [None] * 38 + ["vqSlot1", "vqSlotNowhere"]
    came = ["yes", "no"] * 19 + ["yes", "zqPerhaps"]
    people.with_columns(
        pinned=pl.Series(pinned),
        came=pl.Series(came),
        may=pl.Series(["north"] * 39 + ["zqCentre"]),
    ).write_csv(place / "patients.csv")
    people.with_columns(slot=pl.lit("vqSlot1")).write_csv(place / "booked.csv")
    eligible = people.select("person").with_columns(slot=pl.lit("vqSlotNowhere"))
    eligible.write_csv(place / "eligible.csv")
    (place / "labels.txt").write_text("zqLabel\n" * 40)
    (place / "labels2.txt").write_text("918273645\n" * 13)
    (place / "labels3.txt").write_text("".join(f"{markers.number(n)}\n" for n in range(40)))
    (place / "links.csv").write_text("original,released\n1,zqTwo\n")
    (place / "links2.csv").write_text("original,released\n1,918273645\n918281564,1\n")
    (place / "instance.json").write_text('{"groups": ["zqText"], "capacities": [918273645]}')
    (place / "instance2.json").write_text('{"zqText": 918273645')
    (place / "slots.ics").write_text(
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:zqNoon\nSUMMARY:zqText\nEND:VEVENT\n"
    )
    (place / "bundle.json").write_text(
        json.dumps({"resourceType": "Bundle", "type": "zqType", "entry": "zqEntry"})
    )


ORDER = "school=zqSchoolLow<zqSchoolMiddle"
SHORT = ["--iterations", "15"]
GROUPING = ["-k", "4", "--columns", "income,rent"]
READ = [
    "people.csv", "people.parquet", "people.xlsx", "few.csv", "texts.csv", "late.csv", "gaps.csv", "infinite.parquet",
    "negative.csv", "lists.parquet", "dates.csv", "ragged.csv", "quotes.csv", "nul.csv", "latin.csv", "bytes.csv",
    "damaged.parquet", "damaged.xlsx", "bare.csv", "sqlite:///people.db::people", "sqlite:///people.db::mixed",
    "sqlite:///people.db::absent", "table.csv", "good.jj", "list.csv", "slots.ics", "bundle.json", "labels.txt",
]  # fmt: skip

RUNS: dict[str, list[list[str]]] = {
    "anonymity": [[name, "--quasi", "city,income", "--require-k", "2"] for name in READ]
    + [
        [
            "people.csv",
            "--quasi",
            "city,school",
            "--confidential",
            "income",
            "--report",
            "out.html",
            "--force",
        ],
        ["people.csv", "--quasi", "city", "--unit", "person", "--null", "wildcard"],
        ["gaps.csv", "--quasi", "city,income", "--null", "own", "--rank"],
        ["people.csv", "--quasi", "city", "--tables", "3"],
        ["lists.parquet", "--quasi", "several"],
        ["people.csv", "--quasi", "ctiy"],
    ],
    "microaggregate": [[name, *GROUPING, *SHORT, "-o", "out.csv", "--force"] for name in READ]
    + [
        ["people.csv", *GROUPING, *SHORT, *more]
        for more in (
            ["--by", "city"],
            ["--by", "city,school"],
            ["--by", "person"],
            ["--by", "born,city"],
            ["--by", "city", "-k", "11"],
            ["--ordinal", ORDER, "--columns", "income,school"],
            ["--ordinal", f"{ORDER}<zqSchoolHigh", "--columns", "income,school"],
            ["--ordinal", "school", "--columns", "income,school"],
            ["--ordinal", "born=zqOne<zqTwo"],
            ["--columns", "income,person"],
            ["--columns", "income,born"],
            ["--sample-weights", "rent"],
            ["--sample-weights", "city"],
            ["--attribute-weights", "income=2,rent=0"],
            ["--start", "labels.txt"],
            ["--start", "labels2.txt"],
            ["--start", "labels3.txt"],
            ["--largest", "4"],
            ["--quasi", "city,school", "--require-k", "30", "-o", "out.csv", "--force"],
            ["--unit", "person"],
            ["--groups", "income;rent"],
            ["--groups", "auto"],
            ["--aggregate", "rounded-mean", "--report", "out.html", "--force"],
            [
                "--order",
                "sorted",
                "-o",
                "out.parquet",
                "--labels",
                "out.txt",
                "--record-links",
                "l.csv",
                "--force",
            ],
            ["-o", "sqlite:///people.db::people"],
            ["-o", "sqlite:///people.db::narrow", "--force"],
            ["-o", "sqlite:///people.db::release", "--force"],
            ["-o", "out.xlsx", "--force"],
            ["-o", "out.sav", "--force"],
            ["-o", "out.csv", "--encoding", "ascii", "--force"],
            ["-o", "people.csv"],
        )
    ]
    + [["sqlite:///people.db::mixed", "-k", "2", "--columns", "income"], ["people.csv", "-k", "5", *SHORT]]
    + [
        ["gaps.csv", *GROUPING, *SHORT, "--missing", missing, *by]
        for missing, by in itertools.product(("aside", "impute", "refuse"), ([], ["--by", "city"]))
    ],
    "compare": [
        ["people.csv", other, "--columns", "income,rent", *more]
        for other in ("people.csv", "other.csv", "gaps.csv", "texts.csv", "few.csv", "infinite.parquet")
        for more in (
            ["--key", "person"],
            ["--key", "city"],
            ["--key", "born", "--quasi", "city,school", "--max-risk", "1"],
            ["--paired-by-position"],
            ["--record-links", "links.csv"],
            ["--record-links", "links2.csv"],
        )
    ],
    "group": [[name, *GROUPING, "--method", "correlated"] for name in READ[:9]]
    + [["people.csv", "-k", "4", *SHORT, "--columns", "income,rent,city"]],
    "hierarchy": [[name, "-o", "drafts", "--force"] for name in READ]
    + [
        ["people.csv", "--columns", "city,school,income,born,person", *more]
        for more in (
            ["--ordinal", ORDER],
            ["--ordinal", f"{ORDER}<zqSchoolHigh", "-o", "drafts", "--force"],
            ["--ordinal", "school"],
            *(
                ["--hierarchy", text]
                for text in (
                    *(
                        "city=intervals(5)",
                        "city=dates",
                        "city=prefix(1,length=3)",
                        "born=prefix",
                        "income=quantiles",
                    ),
                    *("school=order(zqSchoolLow<zqSchoolLow)", "school=order(zqSchoolLow<zqSchoolMiddle)"),
                    *(
                        "city=upwards.csv",
                        "city=circle.csv",
                        "city=subtotal.csv",
                        "city=three.csv",
                        "city=nul.csv",
                    ),
                    *(
                        "city=people.csv",
                        "city=people.parquet",
                        "city=absent.csv",
                        "city=",
                        "ctiy=star",
                        "city",
                    ),
                )
            ),
        )
    ],
    "tabulate": [
        [name, "--dimensions", "city,school", "--value", "income", "-o", "made.csv", "--force"]
        for name in READ
    ]
    + [
        ["people.csv", "--dimensions", "city,school", "-o", "made.csv", "--force", *more]
        for more in (
            [],
            ["--value", "person"],
            ["--value", "rent", "--contributor", "person", "--rule", "p-percent(10)"],
            ["--value", "rent", "--weight", "city"],
            ["--value", "rent", "--weight", "income", "--cost", "born"],
            ["--value", "income", "--cost", "rent", "--holding", "school"],
            ["--rule", "frequency(many)"],
            *(
                ["--hierarchy", f"city={name}"]
                for name in ("upwards.csv", "circle.csv", "subtotal.csv", "three.csv")
            ),
            *(["--apriori", f"apriori{name}.csv"] for name in ("", "2", "3", "4")),
        )
    ]
    + [["negative.csv", "--dimensions", "city", "--value", "rent", "-o", "made.csv", "--force"]]
    + [["people.csv", "--dimensions", "person,born,income", "-o", "made.csv", "--force"]],
    "suppress": [
        [name, "--sensitive", "cells.csv", "-o", "hidden.csv", "--force"]
        for name in (
            *("table.csv", "gap.csv", "twice.csv", "text.csv", "minus.csv", "sum.csv", "one.csv", "span.csv"),
            *("zeros.csv", "people.csv", "people.xlsx", "good.jj"),
        )
    ]
    + [
        ["zeros.csv", "--sensitive", "first.csv", *more]
        for more in ([], ["--counts"], ["--zeros", "suppressible"])
    ]
    + [[name, "-o", "hidden.csv", "--force"] for name in ("list.csv", "list2.csv", "list3.csv", "list4.csv")]
    + [[name, "-o", "hidden.csv", "--force"] for name in ("list5.csv", "structure.csv", "people.csv")]
    + [[f"{name}.jj"] for name in ("good", "sum", "status", "text", "relation", "member", "bounds", "short")]
    + [
        ["table.csv", "--sensitive", name]
        for name in (
            "nowhere.csv",
            "again.csv",
            "levels.csv",
            "below.csv",
            "status.csv",
            "people.csv",
            "nul.csv",
        )
    ]
    + [
        ["table.csv", "--sensitive", "cells.csv", *more]
        for more in (
            ["--previous", "pattern.csv"],
            ["--previous", "pattern3.csv"],
            ["--cost", "costs.csv"],
            ["--cost", "costs2.csv"],
            ["--linked", "gap.csv"],
            ["--linked", "list.csv"],
            ["--low", "918281564"],
            ["--high", "918281564"],
            ["--method", "hypercube", "--compare", "general"],
            ["--published", "out.csv", "--report", "out.html", "--force"],
            ["--rounding", "5"],
            ["--counts"],
        )
    ],
    "audit": [
        ["table.csv", pattern, "--sensitive", "cells.csv"]
        for pattern in ("pattern2.csv", "pattern3.csv", "people.csv", "labels.txt", "good.jj", "safe.csv")
    ]
    + [["good.jj", "good.jj"], ["list.csv", "pattern.csv"], ["gap.csv", "pattern.csv"]],
    "assign": [
        ["people.csv", name, "--quasi", "city,school", *SHORT, "-o", "plan.csv", "--force"]
        for name in (
            *(
                "slots.csv",
                "scarce.csv",
                "slots2.csv",
                "slots3.csv",
                "slots4.csv",
                "slots5.csv",
                "slots6.csv",
            ),
            *("slots.ics", "bundle.json", "people.csv", "sqlite:///people.db::people"),
        )
    ]
    + [[name, "slots.csv", "--quasi", "city,school", *SHORT, "-k", "3"] for name in READ]
    + [
        ["patients.csv", "slots.csv", "--quasi", "city", *SHORT, *more]
        for more in (
            ["--pinned", "pinned"],
            ["--pinned", "city"],
            ["--attended", "came"],
            ["--attended", "income"],
            ["--eligible", "may"],
            ["--eligible", "centre"],
            ["--eligible", "eligible.csv"],
            ["--diverse", "school=2"],
            ["--diverse", "person=41"],
            ["--key", "city"],
            ["--require-k", "30"],
            ["--known", "centre"],
            ["--calendar", "calendars"],
            ["--fhir", "plan.json", "--force"],
            ["--objective", "vector", "--report", "out.html", "--force"],
        )
    ]
    + [
        ["booked.csv", "slots.csv", "--quasi", "city"],
        ["people.csv", "slots5.csv", "--quasi", "city", "--calendar", "c"],
    ]
    + [["--instance", "instance.json"], ["--instance", "instance2.json"]]
    + [
        ["sqlite:///people.db::people", "slots.csv", "--quasi", "city", "--update", "--key", "person", *SHORT]
    ],
}
# What a cell of a table is called stands in these fields of a result, which is asked for.
RESULTS = {"audit": ("unsafe", "disclosed")}


def messages(arguments: list[str]) -> tuple[int, str, str]:
    """The exit code, what was said (errors, bars, notes, warnings, logs), and the figures of the result."""
    out, err, log = io.StringIO(), Terminal(), io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    code = 0
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(out), redirect_stderr(err):
        warnings.simplefilter("always")
        try:
            main(arguments)
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        finally:
            logging.getLogger().removeHandler(handler)
    said = [err.getvalue(), log.getvalue(), *(str(item.message) for item in caught)]
    if "--json" not in arguments:
        return code, "\n".join(said), out.getvalue()
    told = json.loads(out.getvalue())
    said += [json.dumps(told.get(name, ""), ensure_ascii=False) for name in ("error", "notes", "warnings")]
    rest = {name: told[name] for name in told if name not in RESULTS.get(arguments[0], ())}
    return code, "\n".join(said), json.dumps(rest, ensure_ascii=False)


@pytest.mark.parametrize("command", sorted(RUNS))
def test_no_message_shows_a_value(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    codes = set()
    wrong = []
    for number, arguments in enumerate(RUNS[command]):
        # The same words in another form: now and then is enough.
        for form in ([], ["--json"]) if number % 5 == 0 else ([],):
            code, said, figures = messages([command, *arguments, *form])
            codes.add(code)
            # The figures of a result are what was asked for: a sum may be one value. No text of the data is among them.
            shown = markers.said(said) + markers.texts_in(figures)
            if shown or code not in (0, 2, 3):
                wrong.append(
                    f"shoal {' '.join([command, *arguments, *form])} → {code} {shown[:3]}: {said} {figures[:900]}"
                )
    assert not wrong, "\n\n".join(wrong)
    assert {0, 2} <= codes, "the runs reach what works and what does not"


def test_a_small_stratum_is_found_by_its_record(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    asked = ["microaggregate", "gaps.csv", *GROUPING, "--by", "city", "--missing", "aside"]
    _, said, _ = messages(asked)
    alone = pl.read_csv(folder / "gaps.csv")["city"].is_null().arg_max() + 1
    assert (
        f"1 of 5 strata by city have fewer than k = 4 records, the smallest 1; the first of them is that of record {alone}"
        in said
    )


def test_progress_and_history_number_the_strata() -> None:
    phases: set[str] = set()
    people = markers.people()
    shoal.microaggregate(
        people,
        4,
        columns=["income", "rent"],
        by=["city"],
        observer=lambda progress: phases.add(progress.phase),
    )
    assert {f"stratum {number} of 4" for number in (1, 2, 3, 4)} <= phases
    assert not markers.said(" ".join(phases))


@pytest.mark.parametrize(
    ("made", "where"),
    [
        (
            lambda: shoal.tabulate(markers.people(), ["city"], hierarchies={"city": {"zqCityAlpha": ""}}),
            "record 2",
        ),
        (
            lambda: shoal.suppress(np.array([[1.0, 2], [3, np.nan]]), sensitive=[("1", "1")]),
            "row 2, column",
        ),
        (lambda: shoal.suppress(np.ones((3, 3)), sensitive=[("zqRow", "1")]), "record 1"),
        (lambda: shoal.microaggregate(markers.people(), 4, columns=["income"], by=["person"]), "record 1"),
        (lambda: shoal.anonymity(markers.people(), ["zqText"]), None),
    ],
)
def test_errors_of_the_python_functions_carry_no_value_either(made: Any, where: str | None) -> None:
    with pytest.raises(ShoalError) as caught:
        made()
    told = "".join(traceback.format_exception_only(caught.value))
    if where is None:
        assert "zqText" in told, "a name that the caller wrote is said again"
        return
    assert where in told and not markers.said(told)
    # What is shown below an error is what caused it: nothing that quotes data may be left there.
    assert caught.value.__cause__ is None and (
        caught.value.__suppress_context__ or caught.value.__context__ is None
    )
