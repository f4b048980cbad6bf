import os
from pathlib import Path

import pytest


def benchmark_file(relative: str) -> Path:
    """A file of the benchmark data; the test skips, saying which file is missing, where there is none."""
    folder = os.environ.get("SHOAL_DATA")
    if not folder:
        pytest.skip(f"SHOAL_DATA is not set; it should name a folder with {relative}")
    path = Path(folder) / relative
    if not path.exists():
        pytest.skip(f"SHOAL_DATA has no {relative}; its README says where the file comes from")
    return path
