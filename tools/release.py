"""Builds the wheel and the source archive into dist/, and checks them as somebody who has nothing else.

python tools/release.py        what `make release` runs
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_DIST = _ROOT / "dist"
# What somebody who has the archive alone cannot use.
_NOT_PACKED = (".ci/",)


def build() -> tuple[Path, Path]:
    """The wheel, which is built from the source archive, and that archive."""
    shutil.rmtree(_DIST, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--outdir", str(_DIST), str(_ROOT))
    return next(_DIST.glob("*.whl")), next(_DIST.glob("*.tar.gz"))


def missing_files(archive: Path) -> list[str]:
    """The files of the repository that the source archive lacks."""
    listed = _run("git", "-C", str(_ROOT), "ls-files", capture=True).splitlines()
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    return [name for name in listed if name not in names and not name.startswith(_NOT_PACKED)]


def try_wheel(wheel: Path) -> None:
    """Install the wheel into a new environment, and run the tour in an empty folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        programs = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        _run(str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel))
        tour = folder / "tour"
        tour.mkdir()
        _run(str(programs / "shoal"), "--version", folder=tour)
        _run(str(programs / "shoal"), "demo", folder=tour)


def _run(*words: str, folder: Path | None = None, capture: bool = False) -> str:
    done = subprocess.run(
        words, cwd=folder, check=True, text=True, stdout=subprocess.PIPE if capture else None
    )
    return done.stdout or ""


def main() -> None:
    """Build, check, and say where it all is."""
    wheel, archive = build()
    lacking = missing_files(archive)
    if lacking:
        sys.exit(f"{archive.name} lacks {len(lacking)} files of the repository, {lacking[0]} among them")
    try_wheel(wheel)
    for made in (wheel, archive):
        print(f"{made.relative_to(_ROOT)}: {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
