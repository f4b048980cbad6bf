"""Records on disk by a number of theirs: put down slice by slice, taken up again number by number."""

import shutil
from pathlib import Path

import numpy as np
import polars as pl

_ROW_GROUP = 8_192


class Spill:
    """A folder of files, each sorted by the number, and where in each file a number begins."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        self._folder = folder
        self._places: dict[int, list[tuple[Path, int, int]]] = {}
        self._files = 0

    @property
    def numbers(self) -> list[int]:
        """All numbers, from the smallest on."""
        return sorted(self._places)

    def records(self, number: int) -> int:
        """How many records have a number."""
        return sum(count for _, _, count in self._places[number])

    def put(self, frame: pl.DataFrame, numbers: np.ndarray) -> None:
        """Put records down under their numbers."""
        if not frame.height:
            return
        order = np.argsort(numbers, kind="stable")
        found, starts, counts = np.unique(numbers[order], return_index=True, return_counts=True)
        path = self._folder / f"{self._files}.parquet"
        self._files += 1
        frame[order].write_parquet(path, compression="lz4", row_group_size=_ROW_GROUP, statistics=False)
        for number, start, count in zip(found.tolist(), starts.tolist(), counts.tolist(), strict=True):
            self._places.setdefault(number, []).append((path, start, count))

    def take(self, number: int) -> pl.DataFrame:
        """All records of a number."""
        return pl.concat(
            [
                pl.scan_parquet(path, glob=False).slice(start, count).collect()
                for path, start, count in self._places[number]
            ]
        )

    def remove(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._places.clear()
