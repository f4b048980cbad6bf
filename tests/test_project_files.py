"""What a project shows beside its code says the same everywhere."""

import re
import tomllib
from pathlib import Path

import shoal

ROOT = Path(__file__).parents[1]


def test_the_version_is_the_same_everywhere() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^version: {re.escape(shoal.__version__)}$", cited, re.MULTILINE)
    changed = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{shoal.__version__}]" in changed


def test_the_licence_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^license: {re.escape(project['license'])}$", cited, re.MULTILINE)
    assert "Apache License" in (ROOT / project["license-files"][0]).read_text(encoding="utf-8")
