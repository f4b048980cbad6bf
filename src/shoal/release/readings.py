"""Files and tables of a release, each opened once however many ask for it."""

from typing import Any

from shoal import sources


class Readings:
    """What was read, by its address; no file of a release is written again after it was read."""

    def __init__(self) -> None:
        self._data: dict[str, sources.Data] = {}

    def read(self, address: Any, **signs: Any) -> "sources.Data":
        """The data at an address, which the first who asks for it says the signs of."""
        key = str(address)
        if key not in self._data:
            self._data[key] = sources.read(address, **signs)
        return self._data[key]

    def listed(self, address: Any) -> "sources.Data":
        """A list that belongs to the data, whose first line may be no header."""
        key = f"list {address}"
        if key not in self._data:
            self._data[key] = sources.read_list(address)
        return self._data[key]
