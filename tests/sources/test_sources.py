"""The face of the package."""

import subprocess
import sys

import polars as pl
import pytest

from shoal import InputError, sources


def test_importing_is_light():
    program = (
        "import sys; import shoal, shoal.sources, shoal.sources.read_write, shoal.sources.address, shoal.sources.atomic\n"
        "heavy = {'polars', 'numpy', 'sqlalchemy', 'pyreadstat', 'pandas', 'fastexcel'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_all_names_are_there():
    for name in sources.__all__:
        assert getattr(sources, name) is not None
    assert set(sources.__all__) <= set(dir(sources))


def test_a_frame_without_columns_is_not_written(tmp_path):
    for place in (tmp_path / "x.csv", tmp_path / "x.parquet", f"sqlite:///{tmp_path}/x.db::t"):
        with pytest.raises(InputError, match="no columns"):
            sources.write(pl.DataFrame(), place)
    assert list(tmp_path.iterdir()) == []


def test_data_does_not_show_its_records(tmp_path):
    sources.write(pl.DataFrame({"name": ["SECRET"], "x": [1]}), tmp_path / "people.csv")
    data = sources.read(tmp_path / "people.csv")
    assert "SECRET" not in repr(data)
    assert "1 records × 2 columns" in repr(data)
