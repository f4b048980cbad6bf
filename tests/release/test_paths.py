"""One rule for every path of a plan: it begins in the plan's folder, from wherever somebody works."""

from pathlib import Path

import pytest
from tests.cli.running import shoal as command
from tests.release.firms import TURNOVER, firms
from tests.release.plans import SURVEY, people

from shoal.release.plan.reader import read_plan
from shoal.release.run.sweep import Choice, measure, variants
from shoal.runtime.secrets import Secret

NAMED = SURVEY.replace('do = "drop"\n', 'do = "pseudonymise"\nkey = "file:keys/outer.txt"\n').replace(
    'age = "intervals', 'sex = "trees/sexes.csv", age = "intervals'
)
REGIONS = "code,parent\nnorth,up\nwest,up\nsouth,down\neast,down\nup,\ndown,\n"


@pytest.fixture
def above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder above that of a plan, where somebody works."""
    for name in ("k2", "k2/keys", "k2/trees"):
        (tmp_path / name).mkdir()
    (tmp_path / "k2" / "keys" / "outer.txt").write_text("a key that nobody guesses")
    (tmp_path / "k2" / "trees" / "sexes.csv").write_text("f;*\nm;*\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("data", ["people.csv", "../people.csv"])
def test_a_plan_in_another_folder(above: Path, data: str):
    people().write_csv(above / "k2" / data)
    Path("k2/p.toml").write_text(NAMED.replace('"people.csv"', f'"{data}"'))
    for more in (["--dry-run"], []):
        done = command("release", "k2/p.toml", "-o", "k2/out", *more)
        assert done.code == 0, done.err
    for originals in ("k2", "k2/p.toml"):
        assert command("verify", "k2/out", "--originals", originals).code == 0


def test_a_variant_in_another_folder(above: Path):
    people().write_csv("k2/people.csv")
    Path("k2/p.toml").write_text(NAMED)
    values, variant = next(variants(read_plan("k2/p.toml"), [Choice("microaggregate", ("k",), (5,))]))
    assert not measure(values, variant, above / "one.json", Secret.of_seed(0)).failed


def test_a_hierarchy_is_verified_where_the_originals_are(above: Path):
    firms().write_csv("k2/firms.csv")
    Path("k2/trees/regions.csv").write_text(REGIONS)
    head, steps = TURNOVER.split("[[steps]]", 1)
    own = steps.split("[[steps]]")[0].replace(
        'do = "tabulate"', 'do = "suppress"\nhierarchy = {region = "trees/regions.csv"}'
    )
    gates = "[gates" + steps.split("[gates", 1)[1]
    Path("k2/p.toml").write_text(f"{head}[[steps]]{own}{gates}")
    assert command("release", "k2/p.toml", "-o", "out").code == 0
    found = command("verify", "out", "--originals", "k2", "--json")
    assert found.code == 0, found.err
    assert [gate["name"] for gate in found.json["gates"]] == ["safe"]
