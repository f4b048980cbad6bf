"""The three examples, copied with their data to where a test may change them."""

import runpy
import shutil
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str, folder: Path) -> Path:
    """The plan of an example, with its data made beside it."""
    place = folder / name
    shutil.copytree(EXAMPLES / name, place, ignore=shutil.ignore_patterns("*.csv", "*.db", "released"))
    runpy.run_path(str(place / "make_data.py"), run_name="__main__")
    return place / "plan.toml"
