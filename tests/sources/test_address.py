import pickle
from pathlib import Path

import pytest

from shoal import InputError, sources
from shoal.sources.address import FORMATS, FileAddress, TableAddress, parse, parse_database


@pytest.mark.parametrize("ending", FORMATS)
def test_the_ending_of_a_file_says_its_format(ending):
    assert parse(f"some/people{ending}") == FileAddress(Path(f"some/people{ending}"))
    assert parse(Path(f"PEOPLE{ending.upper()}")).format == FORMATS[ending]


def test_unknown_endings_are_refused_with_the_known_ones():
    with pytest.raises(InputError) as caught:
        parse("people.txt")
    for ending in FORMATS:
        assert ending in str(caught.value)
    with pytest.raises(InputError, match="no ending"):
        parse("people")
    with pytest.raises(InputError, match=r"write sqlite:///clinic\.db::people"):
        parse("clinic.db::people")
    with pytest.raises(InputError, match=r"write sqlite:///clinic\.sqlite::TABLE"):
        parse("clinic.sqlite")


def test_tables():
    address = parse("sqlite:///clinic.db::people")
    assert isinstance(address, TableAddress)
    assert (address.database.kind, address.database.database, address.table) == (
        "sqlite",
        "clinic.db",
        "people",
    )
    assert parse("sqlite:////var/clinic.db::people").database.database == "/var/clinic.db"
    address = parse("postgresql://ann@db.example.org:5433/clinic?sslmode=require::lab.people")
    database = address.database
    assert address.table == "lab.people"
    assert (database.user, database.host, database.port, database.database) == (
        "ann",
        "db.example.org",
        5433,
        "clinic",
    )
    assert database.query == (("sslmode", "require"),)
    for scheme in ("mysql", "mariadb", "mysql+pymysql", "mariadb+pymysql"):
        assert parse(f"{scheme}://localhost/clinic::people").database.kind == "mariadb"
    assert parse("postgres://[::1]:5432/clinic::people").database.host == "::1"
    assert parse("sqlite:///clinic.db:::odd").table == ":odd"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("oracle://host/db::t", "database 'oracle' is not supported"),
        ("https://example.org/people.csv", "database 'https' is not supported"),
        ("postgresq://host/db::t", "did you mean 'postgresql'"),
        ("postgresql://host/db", "names no table"),
        ("postgresql://[::1]/db", "names no table"),
        ("postgresql://host/db::", "names no table"),
        ("postgresql://host::t", "names no database"),
        ("postgresql://host:port/db::t", "cannot be read"),
        ("sqlite://::t", "a SQLite database is a file"),
        ("sqlite:///:memory:::t", "a SQLite database is a file"),
    ],
)
def test_what_is_wrong_with_an_address(text, message):
    with pytest.raises(InputError, match=message):
        parse(text)


@pytest.mark.parametrize("password", ["hunter2", "p@ss", "p:w/x?y#z", "a::b", "%41%40"])
def test_a_password_is_understood_and_never_shown(password):
    for text in (
        f"postgresql://ann:{password}@localhost/clinic::people",
        f"mysql://localhost/clinic?password={password.replace('%', '%25')}::people"
        if not set(password) & set(":@?#/")
        else "",
    ):
        if not text:
            continue
        address = parse(text)
        expected = "A@" if password == "%41%40" and "?" not in text else password
        assert address.database.password == expected
        for shown in (
            str(address),
            repr(address),
            str(address.database),
            repr(address.database),
            f"{address!s:>99}",
        ):
            assert password not in shown
            assert expected not in shown
            assert "***" in shown
        assert parse(address) is address
        assert pickle.loads(pickle.dumps(address)) == address


@pytest.mark.parametrize(
    "text",
    ["oracle://ann:hunter2@host/db::t", "mysql://ann:hunter2@host:x/db::t", "mysql://ann:hunter2@h::t"],
)
def test_messages_about_a_url_do_not_show_its_password(text):
    with pytest.raises(InputError) as caught:
        parse(text)
    assert "hunter2" not in str(caught.value)


def test_several_tables_are_numbered():
    assert [str(a) for a in sources.numbered("tabla.csv", 3)] == ["tabla0.csv", "tabla1.csv", "tabla2.csv"]
    assert [str(a) for a in sources.numbered("sqlite:///c.db::tabla", 2)] == [
        "sqlite:///c.db::tabla0",
        "sqlite:///c.db::tabla1",
    ]
    assert sources.numbered("mysql://u:pw@h/d::t", 2)[1].database.password == "pw"
    assert [str(a) for a in sources.numbered("tabla.csv", 1)] == ["tabla.csv"]
    for count in (0, -1, 10_001):
        with pytest.raises(InputError, match=f"must be 1 to 10,000, not {count:,}"):
            sources.numbered("tabla.csv", count)


def test_a_database_alone():
    assert parse_database("sqlite:///clinic.db").database == "clinic.db"


def test_several_files_are_for_other_engines(tmp_path):
    import polars as pl

    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "part-0.parquet")
    for name in (tmp_path, f"{tmp_path}/*.parquet"):
        with pytest.raises(InputError, match=r"engine='stream'.*otherwise name one file"):
            sources.read(name)
