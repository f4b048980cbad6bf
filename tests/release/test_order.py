"""The order of released records tells nothing: neither where they stood, nor what was removed from them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal

_PLAN = """\
[release]
name = "homes"
[sources.people]
data = "homes.csv"
[sources.people.roles]
home = "household"
name = "identifier"
region = "quasi-identifier"
sex = "quasi-identifier"
[[steps]]
do = "recode"
quasi = ["region", "sex"]
k = 3
[[steps]]
do = "drop"
columns = ["home"]
[gates.drop]
k = 3
[outputs]
"homes.csv" = "drop"
"""
_PSEUDONYMS = 'do = "pseudonymise"\ncolumns = ["name", "home"]\nkey = "env:OUTER_KEY"'
_SHOWN = ["region", "sex", "illness"]


def _homes(folder: Path, text: str) -> Path:
    rng = np.random.default_rng(2)
    size = 120
    pl.DataFrame(
        {
            "name": [f"Person {number}" for number in range(size)],
            "home": rng.permutation(size) // 2,
            "region": rng.choice(["north", "south"], size),
            "sex": rng.choice(["f", "m"], size),
            "illness": rng.choice(["flu", "cold", "none"], size),
        }
    ).write_csv(folder / "homes.csv")
    plan = folder / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    return plan


_BARE = _PLAN.replace('[[steps]]\ndo = "recode"\nquasi = ["region", "sex"]\nk = 3\n', "")


@pytest.mark.parametrize(
    "text",
    [_PLAN, _BARE.replace('["home"]', '["home", "name"]')],
    ids=["sorted by what is removed later", "nothing but columns is removed"],
)
def test_removed_columns_and_former_places_are_not_told(tmp_path: Path, text: str):
    done = shoal.release(_homes(tmp_path, text))
    frame = pl.read_csv(done.folder / "public" / "homes.csv")
    assert frame.columns == _SHOWN
    assert frame.equals(frame.sort(frame.columns))
    # Records are still followed to those they came from.
    assert shoal.verify_release(done.folder, originals=tmp_path).verified


def test_pseudonyms_are_in_the_order_of_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OUTER_KEY", "a long key from elsewhere")
    text = _BARE.replace('do = "drop"\ncolumns = ["home"]', _PSEUDONYMS).replace(
        "gates.drop", "gates.pseudonymise"
    )
    done = shoal.release(
        _homes(tmp_path, text.replace('"homes.csv" = "drop"', '"homes.csv" = "pseudonymise"'))
    )
    frame = pl.read_csv(done.folder / "public" / "homes.csv")
    assert frame.equals(frame.sort(frame.columns))
    assert shoal.verify_release(done.folder, originals=tmp_path).verified


def test_whoever_asks_for_it_keeps_the_order(tmp_path: Path):
    text = _BARE.replace('["home"]', '["home", "name"]\norder = "keep"')
    done = shoal.release(_homes(tmp_path, text))
    before = pl.read_csv(tmp_path / "homes.csv").select(_SHOWN)
    assert pl.read_csv(done.folder / "public" / "homes.csv").equals(before)
